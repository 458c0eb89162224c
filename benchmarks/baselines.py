"""Train baselines on tasks: `python -m benchmarks.baselines --methods drl,drl-abs --seeds 5 --jobs 2`.

Each training runs in a process of its own on one core, in a folder of its own under --work, and goes on
where it was when the command is given again; its result is written to --results once it is there, and is not
computed again. drl-abs-t is trained from every other task, on policies of half the steps; viper imitates the
best of a task's drl policies.
"""

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from leaps import parallel
from leaps.baselines.methods import METHODS, Options, get_method
from leaps.baselines.train import RESULT_FILE, BaselineConfig, Training
from leaps.files import write_atomically

TASKS = ("stair-climber", "four-corner", "top-off", "maze", "clean-house", "harvester")
HALF = "half"
"""in the names of trainings that a transfer begins from"""


@dataclass(frozen=True)
class Cell:
    """One training."""

    name: str
    config: BaselineConfig
    work: Path
    device: str
    origins: tuple[Path, ...] = ()
    """it begins from the best of these, which were trained before"""


def train(cell: Cell) -> tuple[str, dict[str, Any] | str]:
    """Train one, on one core: its name, and its result or what went wrong."""
    import torch

    parallel.set_threads(1)
    torch.set_num_threads(1)
    try:
        origin = max(cell.origins, key=return_in) if cell.origins else None
        trainer = get_method(cell.config.method).build(cell.config, Options(cell.device, origin))
        training = Training(cell.config, trainer, cell.work / cell.name)
        training.resume()
        return cell.name, training.run()
    except Exception as error:  # the others go on
        return cell.name, f"{type(error).__name__}: {error}"


def return_in(folder: Path) -> float:
    return float(json.loads((folder / RESULT_FILE).read_text())["return"])


def stages(given: argparse.Namespace) -> tuple[list[Cell], list[Cell]]:
    """The trainings that stand alone, and those that begin from others of them."""
    alone: dict[str, Cell] = {}
    after: dict[str, Cell] = {}
    tasks, methods = given.tasks.split(","), given.methods.split(",")

    def cell(method: str, task: str, seed: int, word: str = "", origins: tuple[Path, ...] = ()) -> Cell:
        steps = given.steps or METHODS[method].steps
        if word and given.steps:
            steps //= 2
        elif word == HALF:
            steps = METHODS["drl-abs-t"].steps
        name = "-".join(filter(None, (method, word, task, str(seed))))
        return Cell(name, BaselineConfig(method, task, seed, steps), given.work, given.device, origins)

    def add(chosen: dict[str, Cell], new: Cell) -> Path:
        chosen[new.name] = new
        return new.work / new.name

    for seed in range(given.seeds):
        for task in tasks:
            for method in methods:
                if method == "drl-abs-t":
                    for source in TASKS:
                        if source != task:
                            origin = add(alone, cell("drl-abs", source, seed, HALF))
                            add(after, cell(method, task, seed, f"from-{source}", (origin,)))
                elif method == "viper":
                    teachers = tuple(
                        add(alone, cell("drl", task, number)) for number in range(given.teachers)
                    )
                    add(after, cell(method, task, seed, "", teachers))
                else:
                    add(alone, cell(method, task, seed))
    return list(alone.values()), list(after.values())


def run(cells: Iterable[Cell], given: argparse.Namespace, until: float) -> None:
    """Train in several processes at once."""
    wanted = [cell for cell in cells if not (given.work / cell.name / RESULT_FILE).exists()]
    # A process that was forked can't use a GPU. Leaving the pool ends its processes: they can go on.
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        results = pool.imap_unordered(train, wanted)
        for _ in wanted:
            try:
                name, result = results.next(max(0.0, until - time.monotonic()))
            except multiprocessing.TimeoutError:
                sys.exit("time is up; the same command goes on")
            if isinstance(result, str):
                print(f"{name} failed: {result}", file=sys.stderr, flush=True)
            else:
                said = f"{name}: {result['return']:.3f} in {result['seconds']:.0f} s"
                print(said, file=sys.stderr, flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--methods", default=",".join(METHODS))
    arguments.add_argument("--tasks", default=",".join(TASKS))
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--teachers", type=int, default=5, help="seeds of drl that viper chooses from")
    arguments.add_argument("--steps", type=int, help="of each training; the method's own by default")
    arguments.add_argument("--device", default="cpu")
    arguments.add_argument("--jobs", type=int, default=parallel.available_cores())
    arguments.add_argument("--minutes", type=float, default=1e6, help="stop then; what is done is kept")
    arguments.add_argument("--work", type=Path, default=Path("out/baselines"))
    arguments.add_argument("--results", type=Path, default=Path("results/baselines"))
    given = arguments.parse_args()
    until = time.monotonic() + 60 * given.minutes
    alone, after = stages(given)
    try:
        run(alone, given, until)
        run(after, given, until)
    finally:
        for cell in [*alone, *after]:
            file = given.work / cell.name / RESULT_FILE
            if file.exists() and f"-{HALF}-" not in cell.name:
                write_atomically(given.results / f"{cell.name}.json", file.read_bytes())
        for method in given.methods.split(","):
            print(f"| {method} | " + " | ".join(summary(given, method, t) for t in given.tasks.split(",")))


def summary(given: argparse.Namespace, method: str, task: str) -> str:
    """Mean and deviation over the seeds; of a transfer, from the task that it is best from."""
    found: dict[str, list[float]] = {}
    for file in sorted(given.results.glob(f"{method}-*.json")):
        result = json.loads(file.read_text())
        if (result["method"], result["task"]) == (method, task):
            found.setdefault(file.stem.rpartition("-")[0], []).append(result["return"])
    if not found:
        return "–"
    best = max(found.values(), key=mean)
    return f"{mean(best):.2f} ({stdev(best) if len(best) > 1 else 0.0:.2f}, {len(best)})"


if __name__ == "__main__":
    main()
