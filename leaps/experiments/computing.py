"""Compute the values of one cell, in one worker."""

import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaps import __version__
from leaps.base.files import locked
from leaps.base.tensors import read_about
from leaps.base.user_code import digest_of, split_name
from leaps.domain import SHARE, read_size
from leaps.experiments.cell import Cell, Result
from leaps.experiments.commit import commit
from leaps.experiments.spaces import RECIPES, SEEDS, Trained, open_space
from leaps.search.ladder import IDEAS

if TYPE_CHECKING:
    from leaps.base.checkpoint import Differences

Values = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """All inputs that a worker needs to compute one cell."""

    cell: Cell
    compute: Callable[["Job"], Values]
    needed: tuple["Job", ...] = ()
    """finished jobs whose results this one depends on"""
    result: Result | None = None
    """set once the job is finished"""
    work: Path = Path("out/experiments")
    """folder of training checkpoints; if workers share it, any of them can resume an interrupted training"""
    device: str = "cpu"
    user_method: str | None = None
    """`FILE.py:NAME` if the cell's method is user-defined"""

    @property
    def folder(self) -> Path:
        return self.work / self.cell.name

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of a finished job."""
        assert self.result is not None
        return self.result.values


def do(job: Job) -> Result:
    """Compute a cell."""
    _check_device(job.device)
    source = commit()  # read first, since source files may change during hours of training
    begin = time.perf_counter()
    if job.user_method is None:
        values = job.compute(job)
    else:  # the digest distinguishes these cells from those of another file or an earlier version
        digest = digest_of(job.user_method)
        values = {"config": {"method": job.user_method}} | job.compute(job) | {"method_digest": digest}
    seconds = time.perf_counter() - begin
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    found = Result(job.cell, values, seconds, __version__, machine(job.device), finished, source)
    return replace(found, seconds=found.all_seconds)


def _check_device(device: str) -> None:
    """Reject an unavailable device: stable-baselines3 would silently use the CPU instead."""
    if device == "cpu":
        return
    import torch

    if device != "cuda" or not torch.cuda.is_available():
        raise ValueError(
            f"device {device!r} is not available on this worker; expected cpu, or cuda on a worker with a GPU"
        )


@cache
def machine(device: str) -> dict[str, Any]:
    """Hardware and library versions that results and computing times depend on."""
    import numpy as np
    import torch

    about: dict[str, Any] = {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
    }
    return about | ({"gpu": torch.cuda.get_device_name()} if device == "cuda" else {})


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # Linux only
        pass
    return platform.processor() or platform.machine()


@dataclass(frozen=True)
class SearchRow:
    """A table row that is a program search."""

    method: str
    limit: str = ""
    """suffix of the task's name that limits the rollout length"""
    space: str = "leaps"
    """the recipe of the space that is searched"""
    max_length: int = 45
    also: tuple[tuple[int, int], ...] = ()
    """world sizes on which programs are scored in addition to the task's own size"""

    @property
    def in_space(self) -> bool:
        """Whether it searches a trained space, so that its results depend on the training."""
        return self.method.startswith(("leaps", "random")) and split_name(self.method) is None

    @property
    def uses_space(self) -> bool:
        """Whether it decodes programs from a space; CEBS and Ladder use the space in the package."""
        return split_name(self.method) is None and self.method not in ("hc", "ladder-space")


CALLS = "~220calls"
"""rollout limit of the paper's authors: 220 calls"""
SEARCHES = {
    "leaps-rand-8": SearchRow("random-8"),
    "leaps-rand-64": SearchRow("random-64"),
    "leaps-220": SearchRow("leaps", CALLS),
    "leaps": SearchRow("leaps"),
    "leaps+": SearchRow("leaps+"),
    "hc": SearchRow("hc"),
    "cebs": SearchRow("cebs"),
    "ladder": SearchRow("ladder"),
}
"""searches by row name"""
CUMULATIVE = ("setting", "restart", "whitened", "best", "stop")
STEPS = {
    "leaps-220": SEARCHES["leaps-220"],
    "leaps": SEARCHES["leaps"],
    **{
        name: SearchRow(name)
        for name in ("+".join(["leaps", *CUMULATIVE[:count]]) for count in range(1, len(CUMULATIVE)))
    },
    "leaps+": SEARCHES["leaps+"],
    **{f"leaps+{change}": SearchRow(f"leaps+{change}") for change in CUMULATIVE[1:]},
}
"""from leaps to leaps+: changes added one after another, then each change alone"""
LENGTHS = {
    "leaps-45": SearchRow("leaps"),
    "leaps-100": SearchRow("leaps", max_length=100),
    "leaps+-45": SearchRow("leaps+"),
    "leaps+-100": SearchRow("leaps+", max_length=100),
}
"""searches that differ in the maximum program length, in tokens"""
AUTHORS = "leaps+ties+negative+redraw"
"""the published search with three details of its authors' code"""
DEPENDS = {
    "leaps": SEARCHES["leaps"],
    **{name: SearchRow(name) for name in ("leaps+x2", "leaps+x3", "leaps+ties", "leaps+redraw", AUTHORS)},
    **{f"in-{recipe}": SearchRow("leaps", space=recipe) for recipe in RECIPES if recipe != "leaps"},
}
"""variants of `leaps`: longer distances, details of the authors' code, other spaces"""
SIZES = {"ladder-sizes": SearchRow("ladder", also=((9, 9), (16, 16), (40, 40)))}
ABLATION = {
    "ladder": SEARCHES["ladder"],
    **{name: SearchRow(name) for name in (f"ladder-{idea}" for idea in IDEAS)},
}
"""Ladder, then Ladder with one of its ideas removed at a time"""
SEARCH_ROWS = {**SEARCHES, **STEPS, **LENGTHS, **DEPENDS, **SIZES, **ABLATION}
SPACES = {"leaps-p": "p", "leaps-p+r": "pr", "leaps-p+l": "pl", "leaps": "leaps"}
"""row → recipe of a space, three of them trained with only some of the losses"""


def search(job: Job, worlds: int | None = None, task: str | None = None) -> Values:
    """Search for a program on a task.

    worlds: number of worlds on which programs are scored; None for the method's default. task: None for the
    cell's task with the row's rollout limit.
    """
    from leaps.search.objective import perfect
    from leaps.search.solve import SolveConfig, solve
    from leaps.tasks import get

    cell = job.cell
    row = SearchRow(job.user_method) if job.user_method else SEARCH_ROWS[cell.method]
    seed, trained = cell.seed, None
    if row.in_space:
        trained, seed = space_of(job, row.space)
    elif row.uses_space:
        trained = open_space(row.space, 0, job.work, job.device)
    space = row.space if trained is None else trained.path
    config = SolveConfig(
        task or cell.task + row.limit,
        row.method,
        seed,
        budget=cell.option("budget"),
        space=space,
        max_length=row.max_length,
        worlds=worlds,
        also=row.also,
    )
    found = _timed(lambda: solve(config).summary())
    if trained is not None:  # a path is meaningless on another machine
        found["config"]["space"] = trained.name
        found["space"] = trained.about
    enough = perfect(get(config.task))
    reached = [entry["evaluations"] for entry in found["history"] if entry["score"] >= enough]
    found["evaluations_to_perfect"] = reached[0] if reached else None
    found["history"] = thinned(found["history"])
    return found


PER_DECADE = 16
"""stored history entries per factor of ten in evaluations"""
_HISTORY = ("evaluations", "rollouts", "score", "program")


def thinned(history: list[Values]) -> list[Values]:
    """Keep the last entry of each logarithmic bin of evaluations, enough for a curve on a log scale.

    >>> other = {"rollouts": 0, "score": 0.0, "program": ""}
    >>> history = [{"evaluations": count, **other} for count in (10, 100, 101, 200)]
    >>> [entry["evaluations"] for entry in thinned(history)]
    [10, 101, 200]
    """
    last = {int(PER_DECADE * math.log10(entry["evaluations"])): entry for entry in history}
    return [{name: entry[name] for name in _HISTORY} for entry in last.values()]


def space_of(job: Job, recipe: str) -> tuple[Trained, int]:
    """The space of a cell and the seed of its search. Each training of a space has SEEDS searches."""
    training, seed = divmod(job.cell.seed, SEEDS)
    return open_space(recipe, training, job.work, job.device), seed


def _timed(search: Callable[[], Values]) -> Values:
    """Run a search and add its CPU seconds, since other processes may share the cores."""
    begin = time.process_time()
    found = search()
    return found | {"core_seconds": time.process_time() - begin}


def step(job: Job) -> Values:
    """Search on a task, or reuse the cell of Table 3 with the same search."""
    return dict(job.needed[0].values) if job.needed else search(job)


def as_run(job: Job) -> Values:
    """Search on a task as the paper's authors did, and report the mean return on the search's own worlds."""
    from leaps.karel.tasks import AS_RUN

    found = search(job, task=AS_RUN[job.cell.task].name + CALLS)
    return found | {
        "return": found["search_return"],
        "judged": "the worlds of the search",
        "held_out_return": found["return"],
        "held_out_judged": found["judged"],
    }


def budget_curve(job: Job) -> Values:
    """Held-out returns of a search's best program so far, by number of evaluations."""
    from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, evaluate

    cell = job.cell
    found = job.needed[0].values if job.needed else {}
    if "history" not in found:  # older cells of HC have no history
        found = search(job, worlds=BUDGET_WORLDS)
    history = [*found["history"], {name: found[name] for name in ("evaluations", "rollouts", "program")}]
    history[-1]["score"] = found["search_return"]
    judged = evaluate(
        [entry["program"] for entry in history],
        cell.task,
        episodes=UNSEEN,
        seed=UNSEEN_SEEDS + found["seed"],
        prefer_exact=True,
    )
    curve = [
        [entry["evaluations"], entry["rollouts"], round(entry["score"], DIGITS), round(float(mean), DIGITS)]
        for entry, mean in zip(history, judged.mean_return, strict=True)
    ]
    kept = [point for i, point in enumerate(curve) if i == 0 or point[2:] != curve[i - 1][2:]]
    copied = (
        "return",
        "judged",
        "solved",
        "evaluations",
        "evaluations_to_found",
        "rollouts",
        "seconds",
        "core_seconds",
        "program",
        "config",
    )
    return {name: found[name] for name in copied} | {
        "curve": kept,
        **{name: found[name] for name in ("space",) if name in found},
        # Older cells of HC lack this field, but stop at their first perfect program.
        "evaluations_to_perfect": found.get("evaluations_to_perfect", _end_if_perfect(found)),
    }


def _end_if_perfect(found: Mapping[str, Any]) -> int | None:
    last = found["history"][-1]
    return int(last["evaluations"]) if last["score"] >= 1.0 else None


BUDGET_WORLDS = 16
"""worlds on which all methods of the budget table score programs; the default of HC and CEBS"""
DIGITS = 4


def baseline(job: Job) -> Values:
    """Train a baseline on a task, resuming an interrupted training."""
    return _trained(job)[0]


def without_penalty(job: Job) -> Values:
    """Train a policy on StairClimber without the penalty; evaluate it with the penalty, also at 100x100."""
    from leaps.baselines.evaluate import evaluate_policy
    from leaps.baselines.policies import load_policy
    from leaps.evaluate import UNSEEN_SEEDS

    found = _trained(job)[0]
    episodes = job.cell.option("judged", EPISODES_ELSEWHERE)
    default, large = (
        evaluate_policy(
            load_policy(job.folder, job.device),
            "stair-climber",
            episodes=episodes,
            seed=UNSEEN_SEEDS + job.cell.seed,
            size=size,
            prefer_exact=size is None,
        ).expected()
        for size in (None, LARGE)
    )
    return found | {
        "return": default.mean,
        "judged": str(default),
        "return_in_training": found["return"],
        "large_return": large.mean,
        "large_judged": str(large),
    }


def trained_at_size(job: Job) -> Values:
    """Train and evaluate a baseline in worlds of the cell's size."""
    cell = job.cell
    episodes = cell.option("episodes", EPISODES_ELSEWHERE)
    return _trained(job, cell.option("size"), episodes)[0] | {"episodes": episodes}


def _trained(job: Job, size: str | None = None, judged: int | None = None) -> tuple[Values, Any]:
    """Train the cell's baseline, by default at the task's own size. Return its result and the trainer."""
    from leaps.baselines.methods import Options, build_trainer, get_baseline
    from leaps.baselines.train import BaselineConfig, Training

    cell, method = job.cell, get_baseline(job.cell.method)
    config = BaselineConfig(
        cell.method,
        cell.task,
        cell.seed,
        cell.option("steps", method.steps),
        size=None if size is None else read_size(size),
        judged=cell.option("judged") if judged is None else judged,
    )
    origin = best_of(job) if job.needed else None
    training = Training(config, build_trainer(config, Options(job.device, origin)), job.folder)
    training.resume()
    result = training.run()
    kept = {**training.trainer.readable, "curve": training.compact_curve()}
    return result | kept, training.trainer


def best_of(job: Job) -> Path:
    """The folder of the best policy that a cell needs. A policy missing on this machine is retrained."""
    from leaps.base.checkpoint import describe

    best = max(job.needed, key=_worth)
    with locked(best.folder):  # several workers may need it at once
        if _foreign(best):
            baseline(best)
            if foreign := _foreign(best):
                raise ValueError(
                    f"{best.folder} holds a different training than the stored result {best.cell.name}: "
                    f"{describe(foreign)}; remove one of the two"
                )
    return best.folder


def _worth(job: Job) -> float:
    """The return by which a policy is chosen, without configurations held out from its training."""
    return float(job.values.get("return_on_seen", job.values["return"]))


def _foreign(job: Job) -> "Differences":
    """Differences between the policy in a cell's folder and the policy of its stored result."""
    from leaps.base.checkpoint import differences
    from leaps.baselines.train import POLICY_FILE

    cell = job.cell
    asked = {
        "version": __version__,
        "method": cell.method,
        "task": cell.task,
        "seed": cell.seed,
        "config": job.values.get("config"),
    }
    try:
        return differences(read_about(job.folder / POLICY_FILE), asked)
    except (FileNotFoundError, ValueError):  # no readable policy
        return differences({}, asked)


def unseen(job: Job) -> Values:
    """Search or train on a fraction of a task's configurations, and evaluate the result on all."""
    from leaps.baselines.evaluate import evaluate_policy
    from leaps.baselines.policies import load_policy
    from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, evaluate

    cell = job.cell
    whole, episodes = cell.task.partition(SHARE)[0], cell.option("judged", UNSEEN)
    settings: dict[str, Any] = {
        "episodes": episodes,
        "seed": UNSEEN_SEEDS + cell.seed,
        "prefer_exact": cell.option("judged") is None,
    }
    if cell.method in SEARCHES or job.user_method:
        values = search(job)
        judged = evaluate(values["program"], whole, **settings)
    else:
        values = baseline(job)
        judged = evaluate_policy(load_policy(job.folder, job.device), whole, **settings)
    return values | {
        "return": float(judged.mean_return[0]),
        "return_on_seen": values["return"],
        "judged": str(judged.expected()),
    }


def reconstruction(job: Job) -> Values:
    """Search for a program that behaves like a test program: R_mat plus the paper's bonus for validity."""
    from leaps.embedding.space import Space
    from leaps.karel.dataset import in_worlds, worlds_for
    from leaps.search.random_search import config_for
    from leaps.search.reconstruct import (
        PAPER_RECONSTRUCTION,
        PLUS,
        TEST_PROGRAMS,
        Reconstruction,
        reconstruct,
        reconstruct_at_random,
    )
    from leaps.search.search import VALID_BONUS

    cell = job.cell
    if cell.method == "naive":
        values, trainer = _trained(job)
        own = trainer.naive.answer()[1]
        return values | {"return": own + VALID_BONUS, "r_mat": own, "r_mat_unseen": values["return"]}
    program = TEST_PROGRAMS[cell.task]
    plus = cell.method.startswith(PLUS_ROWS)
    base = cell.method.replace(PLUS_ROWS, "leaps")
    trained, seed = space_of(job, SPACES.get(base, "leaps"))
    space = Space.load(trained.path, raw=not plus)
    execute = in_worlds(worlds_for(program, seed))
    found: Reconstruction
    if base.startswith("leaps-rand-"):
        config = config_for(cell.task, int(base.rpartition("-")[2]), plus)
        found = reconstruct_at_random(space, program, execute, config, seed)
    else:
        setting = PLUS if plus else PAPER_RECONSTRUCTION[cell.task]
        iterations = cell.option("iterations", 1000)
        found = reconstruct(space, program, execute, setting, seed, iterations, best_answers=plus)
    return {
        "return": found.r_mat + VALID_BONUS,
        "r_mat": found.r_mat,
        "program": space.text(found.program),
        "iterations": found.iterations,
        "evaluations_in_all": found.evaluations,
        "space": trained.about,
    }


PLUS_ROWS = "leaps+"
"""prefix of the rows of Table 1 that are searched with leaps+ instead of leaps"""


def smoothness(job: Job) -> Values:
    """Mean behavioural similarity of programs that are close in a space."""
    from leaps.embedding.space import Space
    from leaps.experiments.explore import smoothness as measure
    from leaps.karel.dataset import DataConfig, make_dataset

    data = make_dataset(DataConfig(programs=job.cell.option("programs", 50_000)))
    trained = open_space(SPACES[job.cell.method], job.cell.seed, job.work, job.device)
    return {"return": measure(Space.load(trained.path), data, job.cell.task), "space": trained.about}


def debugging(job: Job) -> Values:
    """Evaluate a program of the debugging study, or repair it with a few edits."""
    from leaps.analysis.repair import BUDGET, repair
    from leaps.dsl.text import to_line
    from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, evaluate
    from leaps.experiments.study import EDITS, ORIGINAL, STUDY

    cell = job.cell
    program = STUDY[cell.task].program
    if cell.method == ORIGINAL:
        episodes = cell.option("judged", UNSEEN)
        judged = evaluate(
            program,
            cell.task,
            episodes=episodes,
            seed=UNSEEN_SEEDS + cell.seed,
            prefer_exact=cell.option("judged") is None,
        )
        return {
            "return": float(judged.mean_return[0]),
            "judged": str(judged.expected()),
            "program": to_line(program),
        }
    budget = cell.option("budget", BUDGET)
    edits = EDITS[cell.method]
    return _timed(lambda: repair(program, cell.task, edits, seed=cell.seed, budget=budget).summary())


def elsewhere(job: Job) -> Values:
    """Evaluate a program or policy in worlds of the cell's size, other than the size it was found at."""
    from leaps.baselines.evaluate import evaluate_policy
    from leaps.evaluate import UNSEEN_SEEDS, evaluate

    cell = job.cell
    found = search(job) if cell.method in SIZES else job.needed[0].values
    settings: dict[str, Any] = {
        "episodes": cell.option("episodes", EPISODES_ELSEWHERE),
        "seed": UNSEEN_SEEDS + cell.seed,
        "size": read_size(cell.option("size")),
    }
    details: Values
    if "program" in found:
        judged = evaluate(found["program"], cell.task, **settings)
        details = {"return_at_own_size": found["return"], "program": found["program"]}
        if cell.method in SIZES:
            copied = ("elsewhere", "solved", "evaluations", "rollouts", "seconds", "core_seconds", "history")
            details["search"] = {name: found[name] for name in copied}
        details |= {name: found[name] for name in ("space",) if name in found}
    else:
        from leaps.baselines.policies import load_policy
        from leaps.baselines.train import POLICY_FILE

        folder = best_of(job)
        judged = evaluate_policy(load_policy(folder, job.device), cell.task, **settings)
        # A retrained policy may differ from that of the stored result, so its training is recorded.
        about = read_about(folder / POLICY_FILE)
        details = {
            "return_at_own_size": about["return"],
            "trained": {name: about[name] for name in ("steps", "seconds", "finished") if name in about},
        }
    return {"return": float(judged.mean_return[0]), "episodes": settings["episodes"], **details}


LARGE = (100, 100)
EPISODES_ELSEWHERE = 100
"""evaluation worlds at another size; few, since rollouts are a hundred times as long there"""
