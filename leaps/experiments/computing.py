"""From a cell to its values: what a worker does, wherever it is."""

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
from leaps.experiments.cell import Cell, Result
from leaps.files import locked
from leaps.tasks.task import SHARE

if TYPE_CHECKING:
    from leaps.baselines.checkpoint import Differences

Values = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """All that a worker has to know."""

    cell: Cell
    compute: Callable[["Job"], Values]
    needed: tuple["Job", ...] = ()
    """those that were done before, as it needs what they came to"""
    result: Result | None = None
    """once it is done"""
    work: Path = Path("out/experiments")
    """where trainings live: in a folder that all workers share, an interrupted one goes on anywhere"""
    device: str = "cpu"

    @property
    def folder(self) -> Path:
        return self.work / self.cell.name

    @property
    def values(self) -> Mapping[str, Any]:
        """What it came to."""
        assert self.result is not None
        return self.result.values


def do(job: Job) -> Result:
    """Compute a cell."""
    _check_device(job.device)
    begin = time.perf_counter()
    values = job.compute(job)
    seconds = time.perf_counter() - begin
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    found = Result(job.cell, values, seconds, __version__, machine(job.device), finished)
    return replace(found, seconds=found.all_seconds)


def _check_device(device: str) -> None:
    """Refuse a device that isn't there: stable-baselines3 would take the CPU instead, and not say so."""
    if device == "cpu":
        return
    import torch

    if device != "cuda" or not torch.cuda.is_available():
        raise ValueError(
            f"no device {device!r} is available on this worker; expected cpu, or cuda where it is"
        )


@cache
def machine(device: str) -> dict[str, Any]:
    """Where this is, as far as numbers and seconds depend on it."""
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
    except OSError:  # not everywhere
        pass
    return platform.processor() or platform.machine()


SEARCHES = {
    "leaps-rand-8": "random-8",
    "leaps-rand-64": "random-64",
    "leaps": "cem",
    "hc": "hc",
    "cebs": "cebs",
    "ours": "climbs",
}
"""what the rows of tables are called, and what searches are"""
LENGTHS = {"leaps-45": 45, "leaps-100": 100}
"""rows, and the tokens of the longest program that they may find"""
SIZES = {"ours-sizes": ((9, 9), (16, 16), (40, 40))}
"""rows, and the sizes of worlds at which programs had to hold besides their task's own"""
SPACES = {"leaps-p": "p", "leaps-p+r": "pr", "leaps-p+l": "pl", "leaps": "leaps"}
"""rows, and the spaces that were learned with only some of the losses"""


def search(job: Job) -> Values:
    """Search for a program on a task."""
    from leaps.search.solve import SolveConfig, solve

    cell = job.cell
    methods = SEARCHES | dict.fromkeys(LENGTHS, "cem") | dict.fromkeys(SIZES, "climbs")
    config = SolveConfig(
        cell.task,
        methods[cell.method],
        cell.seed,
        budget=cell.option("budget"),
        max_length=LENGTHS.get(cell.method, 45),
        also=SIZES.get(cell.method, ()),
    )
    return _timed(lambda: solve(config).summary())


def _timed(search: Callable[[], Values]) -> Values:
    """What a search found, with the seconds that it kept a core busy: others may share the cores."""
    begin = time.process_time()
    found = search()
    return found | {"core_seconds": time.process_time() - begin}


def baseline(job: Job) -> Values:
    """Train a baseline on a task; an interrupted training goes on."""
    return _trained(job)[0]


def trained_at_size(job: Job) -> Values:
    """Train a baseline in worlds of the cell's size, and judge it there."""
    cell = job.cell
    episodes = cell.option("episodes", EPISODES_ELSEWHERE)
    return _trained(job, cell.option("size"), episodes)[0] | {"episodes": episodes}


def _trained(job: Job, size: str | None = None, judged: int | None = None) -> tuple[Values, Any]:
    """Train the cell's baseline: its result, and the trainer. By default at the task's own size."""
    from leaps.baselines.methods import Options, get_method
    from leaps.baselines.train import BaselineConfig, Training

    cell, method = job.cell, get_method(job.cell.method)
    config = BaselineConfig(
        cell.method,
        cell.task,
        cell.seed,
        cell.option("steps", method.steps),
        size=None if size is None else _parsed(size),
        judged=cell.option("judged") if judged is None else judged,
    )
    origin = best_of(job) if job.needed else None
    training = Training(config, method.build(config, Options(job.device, origin)), job.folder)
    training.resume()
    return training.run(), training.trainer


def best_of(job: Job) -> Path:
    """The folder of the best policy that a cell needs; trained anew if it is on another machine."""
    from leaps.baselines.checkpoint import told

    best = max(job.needed, key=_worth)
    with locked(best.folder):  # several workers may need it at once
        if _foreign(best):
            baseline(best)
            if foreign := _foreign(best):
                raise ValueError(
                    f"{best.folder} holds another training than that of the stored {best.cell.name}: "
                    f"{told(foreign)}; remove the one or the other"
                )
    return best.folder


def _worth(job: Job) -> float:
    """What a policy is chosen by: never by configurations that it is not to have seen."""
    return float(job.values.get("return_on_seen", job.values["return"]))


def _foreign(job: Job) -> "Differences":
    """How the policy in a cell's folder differs from the one that its result is of."""
    from leaps.baselines.checkpoint import differences
    from leaps.baselines.train import POLICY_FILE
    from leaps.tensors import read_about

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
    except (FileNotFoundError, ValueError):  # there is none that can be read
        return differences({}, asked)


def unseen(job: Job) -> Values:
    """Search or train on a share of a task's configurations, and judge the result on all."""
    from leaps.baselines.policies import load_policy
    from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, evaluate, evaluate_policy

    cell = job.cell
    whole, episodes = cell.task.partition(SHARE)[0], cell.option("judged", UNSEEN)
    settings: dict[str, Any] = {"episodes": episodes, "seed": UNSEEN_SEEDS + cell.seed}
    if cell.method in SEARCHES:
        values = search(job)
        judged = evaluate(values["program"], whole, **settings)
    else:
        values = baseline(job)
        judged = evaluate_policy(load_policy(job.folder, job.device), whole, **settings)
    return values | {"return": float(judged.mean_return[0]), "return_on_seen": values["return"]}


def reconstruction(job: Job) -> Values:
    """Look for a program that behaves as a test program: R_mat with the paper's bonus for a valid program."""
    from leaps.embedding.space import Space
    from leaps.search.cem import ROBUST
    from leaps.search.random_search import PAPER as PAPER_RANDOM
    from leaps.search.reconstruct import TEST_PROGRAMS, Reconstruction, reconstruct, reconstruct_at_random
    from leaps.search.search import VALID_BONUS

    cell = job.cell
    if cell.method == "naive":
        values, trainer = _trained(job)
        own = trainer.naive.answer()[1]
        return values | {"return": own + VALID_BONUS, "r_mat": own, "r_mat_unseen": values["return"]}
    program = TEST_PROGRAMS[cell.task]
    space = Space.load(SPACES.get(cell.method, "leaps"))
    found: Reconstruction
    if cell.method.startswith("leaps-rand-"):
        samples = int(cell.method.rpartition("-")[2])
        found = reconstruct_at_random(space, program, PAPER_RANDOM[samples][cell.task], cell.seed)
    else:
        found = reconstruct(space, program, ROBUST, cell.seed, cell.option("iterations", 1000))
    return {
        "return": found.r_mat + VALID_BONUS,
        "r_mat": found.r_mat,
        "program": space.text(found.program),
        "iterations": found.iterations,
    }


def smoothness(job: Job) -> Values:
    """How alike programs behave that are close in a space."""
    from leaps.dataset import DataConfig, make_dataset
    from leaps.embedding.space import Space
    from leaps.explore import smoothness as measure

    data = make_dataset(DataConfig(programs=job.cell.option("programs", 50_000)))
    return {"return": measure(Space.load(SPACES[job.cell.method]), data, job.cell.task)}


def debugging(job: Job) -> Values:
    """Judge a program of the study, or make it better with a few edits."""
    from leaps.analysis.repair import BUDGET, repair
    from leaps.dsl.text import to_line
    from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, evaluate
    from leaps.experiments.study import EDITS, ORIGINAL, STUDY

    cell = job.cell
    program = STUDY[cell.task].program
    if cell.method == ORIGINAL:
        episodes = cell.option("judged", UNSEEN)
        judged = evaluate(program, cell.task, episodes=episodes, seed=UNSEEN_SEEDS + cell.seed)
        return {"return": float(judged.mean_return[0]), "program": to_line(program)}
    budget = cell.option("budget", BUDGET)
    edits = EDITS[cell.method]
    return _timed(lambda: repair(program, cell.task, edits, seed=cell.seed, budget=budget).summary())


def _parsed(size: str) -> tuple[int, int]:
    """Read the size of a cell's worlds, such as 100x100."""
    height, width = size.split("x")
    return int(height), int(width)


def elsewhere(job: Job) -> Values:
    """What was found on a task's own size, or on some, in worlds of another."""
    from leaps.evaluate import UNSEEN_SEEDS, evaluate, evaluate_policy

    cell = job.cell
    found = search(job) if cell.method in SIZES else job.needed[0].values
    settings: dict[str, Any] = {
        "episodes": cell.option("episodes", EPISODES_ELSEWHERE),
        "seed": UNSEEN_SEEDS + cell.seed,
        "size": _parsed(cell.option("size")),
    }
    said: Values
    if "program" in found:
        judged = evaluate(found["program"], cell.task, **settings)
        said = {"return_at_own_size": found["return"], "program": found["program"]}
        if cell.method in SIZES:
            told = ("elsewhere", "solved", "evaluations", "rollouts", "seconds", "core_seconds")
            said["search"] = {name: found[name] for name in told}
    else:
        from leaps.baselines.policies import load_policy
        from leaps.baselines.train import POLICY_FILE
        from leaps.tensors import read_about

        folder = best_of(job)
        judged = evaluate_policy(load_policy(folder, job.device), cell.task, **settings)
        # Trained on another machine it may be another policy than the one that the stored result is of.
        about = read_about(folder / POLICY_FILE)
        said = {
            "return_at_own_size": about["return"],
            "trained": {name: about[name] for name in ("steps", "seconds", "finished") if name in about},
        }
    return {"return": float(judged.mean_return[0]), "episodes": settings["episodes"], **said}


EPISODES_ELSEWHERE = 100
"""worlds that something is judged on in another size: rollouts are a hundred times as long there"""
