"""Save and restore running searches, so that an interrupted or killed search resumes where it was.

Each configuration has its own file, so that searches with different settings can use the same folder.
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
"""version of the file format; checkpoints of other versions are ignored"""
EVERY = 1.0
"""minimum time between two checkpoints, in seconds"""
TIME_FRACTION = 0.02
"""maximum fraction of the time spent on checkpoints: each takes some milliseconds, more with large worlds"""


def can_be_saved(run: Run) -> bool:
    """Whether the search of a run can be saved."""
    return run.search.state() is not None


def state_of(run: Run) -> State:
    """Return all that the rest of a run depends on, between two rounds."""
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
    """Restore a run from the state of a run with the same configuration."""
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
    """Convert a checkpoint's list to an array with the dtype of `like`; texts keep their own length."""
    return np.array(values, None if like.dtype.kind == "U" else like.dtype)


class Checkpoints:
    """Write a search's state to its folder while it runs; used as a listener of its rounds."""

    def __init__(self, run: Run, folder: Path) -> None:
        settings = json.dumps(run.config.plain(), sort_keys=True)
        name = hashlib.sha256(settings.encode()).hexdigest()[:8]
        self.run, self.file = run, folder / f"unfinished-{name}.json"
        self._due = time.monotonic()
        names = {run.config.task, run.config.method}
        self._files = {name: digest_of(name) for name in sorted(names) if split_name(name) is not None}
        """digest of each user file when the search started, by name; see `digest_of`"""

    def resume(self) -> bool:
        """Resume from the folder's checkpoint; return False if there is none for this search.

        Raise a `ValueError` if the task or the method was edited since: the stored scores may be wrong.
        """
        try:
            stored = json.loads(self.file.read_bytes())
            expected = (FORMAT, __version__, self.run.config.plain())
            if (stored["format"], stored["version"], stored["config"]) != expected:
                return False
            state = stored["state"]
            files, tokens = stored.get("files", {}), stored.get("tokens")  # older files have neither
            edited = [name for name, digest in self._files.items() if files.get(name, digest) != digest]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False  # missing or incomplete
        words = self.run.task.fitting(state.get("perceptions", ())).domain.language.tokens
        if edited or tokens not in (None, list(words)):
            what = "the task's actions or perceptions"
            if edited:
                what = f"{edited[0].rpartition(':')[0]}, or a file that it imports,"
            raise ValueError(
                f"{what} changed since this search was interrupted, so its scores may not hold any more. "
                f"Undo the change to resume the search, or delete {self.file} to start again"
            )
        restore(self.run, state)
        return True

    def __call__(self, step: Round) -> None:  # noqa: ARG002
        if time.monotonic() >= self._due and can_be_saved(self.run):
            self.write()

    def write(self) -> None:
        begin = time.monotonic()
        stored = {
            "format": FORMAT,
            "version": __version__,
            "config": self.run.config.plain(),
            "files": self._files,
            "tokens": self.run.domain.language.tokens,
            "state": state_of(self.run),
        }
        write_atomically(self.file, json.dumps(stored, default=lambda array: array.tolist()).encode())
        end = time.monotonic()
        self._due = end + max(EVERY, (end - begin) / TIME_FRACTION)

    def remove(self) -> None:
        """Delete the checkpoint of a finished search."""
        self.file.unlink(missing_ok=True)
