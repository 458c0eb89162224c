"""Searches under way, as files: one that was interrupted, or killed, goes on where it was.

Each search has a file of its own, so that one with other settings in the same folder takes nothing from it.
"""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.base.user_code import digest_of, split_name
from leaps.search.objective import Objective
from leaps.search.run import Round, Run
from leaps.search.search import State

FORMAT = 6
"""of a state: one of another format is not resumed"""
EVERY = 1.0
"""seconds between two checkpoints, at least"""
TIME_FRACTION = 0.02
"""of the time that may go into them: some milliseconds each, and more where worlds are large"""


def can_be_saved(run: Run) -> bool:
    """Whether the search of a run has a state."""
    return run.search.state() is not None


def state_of(run: Run) -> State:
    """All that the rest of a run depends on, between two rounds."""
    return {
        "round": run.round,
        "solved": run.solved,
        "_asked": run.asked,
        "_next_check": run.next_check,
        "_next_refinement": run.next_refinement,
        "perceptions": run.domain.language.perceptions,
        "drawn": run.trial.drawn,
        "evaluations": run.objective.evaluations,
        "rollouts": run.objective.rollouts,
        "steps": run.objective.steps,
        "seconds": run.seconds,
        "worlds": [batch._asdict() for batch in run.objective.batches],
        "known": [list(program) for program in run.objective.known],
        "best": None if run.best is None else list(run.best),
        "shortlist": [
            [list(program), score, run.first_scored[program]] for program, score in run.shortlist.items()
        ],
        "history": run.history,
        "search": run.search.state(),
    }


def restore(run: Run, state: State) -> None:
    """Go on as the run that this is the state of: it has the same configuration."""
    run.speak(state["perceptions"])
    run.search.restore(state["search"])
    run.round, run.solved = state["round"], state["solved"]
    run.asked, run.next_check = state["_asked"], state["_next_check"]
    run.next_refinement = state["_next_refinement"]
    run.trial.drawn = state["drawn"]
    like = run.objective.worlds
    counted = state["evaluations"], state["rollouts"], state["steps"]
    first, *others = (
        type(like)(*(_array(batch[name], getattr(like, name)) for name in like._fields))
        for batch in state["worlds"]
    )
    run.objective = Objective(run.task, first, tuple(others), *counted)
    run.objective.recall(bytes(program) for program in state["known"])
    run.seconds_before = state["seconds"]
    run.best = state["best"] and (state["best"][0], np.array(state["best"][1], np.uint8))
    run.shortlist = {bytes(program): score for program, score, _ in state["shortlist"]}
    run.first_scored = {bytes(program): first for program, _, first in state["shortlist"]}
    run.history = list(state["history"])


def _array(values: Any, like: NDArray[Any]) -> NDArray[Any]:
    """An array of the same kind, which a checkpoint has as a list; texts are as long as they are."""
    return np.array(values, None if like.dtype.kind == "U" else like.dtype)


class Checkpoints:
    """Keep a search's state in its folder while it runs; a listener of its steps."""

    def __init__(self, run: Run, folder: Path) -> None:
        settings = json.dumps(run.config.plain(), sort_keys=True)
        name = hashlib.sha256(settings.encode()).hexdigest()[:8]
        self.run, self.file = run, folder / f"unfinished-{name}.json"
        self._due = time.monotonic()
        names = {run.config.task, run.config.method}
        self._files = {name: digest_of(name) for name in sorted(names) if split_name(name) is not None}
        """the user's files by name, and a digest of each when the search began; see `digest_of`"""

    def resume(self) -> bool:
        """Go on from the folder's checkpoint; False if there is none of this very search.

        A `ValueError` if the task or the method was edited since: its scores don't hold any more.
        """
        try:
            said = json.loads(self.file.read_bytes())
            expected = (FORMAT, __version__, self.run.config.plain())
            if (said["format"], said["version"], said["config"]) != expected:
                return False
            state = said["state"]
            files, tokens = said.get("files", {}), said.get("tokens")  # older ones have neither
            edited = [name for name, digest in self._files.items() if files.get(name, digest) != digest]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False  # none, or half of one: it was of no use anyway
        words = self.run.task.fitting(state.get("perceptions", ())).domain.language.tokens
        if edited or tokens not in (None, list(words)):
            what = "the task's actions or perceptions"
            if edited:
                what = f"{edited[0].rpartition(':')[0]}, or a file that it imports,"
            raise ValueError(
                f"{what} changed since this search was interrupted, so its scores may not hold any more. "
                f"Undo the change to go on with it, or delete {self.file} to search from the beginning"
            )
        restore(self.run, state)
        return True

    def __call__(self, step: Round) -> None:  # noqa: ARG002
        if time.monotonic() >= self._due and can_be_saved(self.run):
            self.write()

    def write(self) -> None:
        begin = time.monotonic()
        said = {
            "format": FORMAT,
            "version": __version__,
            "config": self.run.config.plain(),
            "files": self._files,
            "tokens": self.run.domain.language.tokens,
            "state": state_of(self.run),
        }
        write_atomically(self.file, json.dumps(said, default=lambda array: array.tolist()).encode())
        end = time.monotonic()
        self._due = end + max(EVERY, (end - begin) / TIME_FRACTION)

    def remove(self) -> None:
        """It is finished: there is nothing to go on with."""
        self.file.unlink(missing_ok=True)
