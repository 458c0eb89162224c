"""Run experiments: what is in the store is not computed again, what fails doesn't stop the rest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from leaps.experiments.backends import Backend, Failure
from leaps.experiments.catalogue import get_experiment
from leaps.experiments.cell import Cell, Result
from leaps.experiments.computing import Job, do
from leaps.experiments.store import Store


@dataclass
class Outcome:
    """What came of a run."""

    results: dict[Cell, Result] = field(default_factory=dict)
    failures: dict[Cell, str] = field(default_factory=dict)
    computed: int = 0
    """results that were not there before"""


@dataclass(frozen=True)
class Progress:
    """What a run tells its caller whenever a cell is done."""

    cell: Cell
    done: int
    cells: int
    """of these, with those that others need"""
    result: Result | None
    failure: str | None


def needed_by(cells: Sequence[Cell]) -> list[list[Cell]]:
    """These cells and all that they need, in an order in which they can be computed: wave after wave."""
    depth: dict[Cell, int] = {}

    def measure(cell: Cell) -> int:
        if cell not in depth:
            needs = get_experiment(cell.experiment).needs(cell)
            depth[cell] = 1 + max((measure(other) for other in needs), default=-1)
        return depth[cell]

    for cell in cells:
        measure(cell)
    return [
        [cell for cell, found in depth.items() if found == wave]
        for wave in range(max(depth.values(), default=-1) + 1)
    ]


def run(
    cells: Sequence[Cell],
    store: Store,
    backend: Backend,
    work: Path = Path("out/experiments"),
    device: str = "cpu",
    listener: Callable[[Progress], object] = id,
) -> Outcome:
    """Compute the cells that are not in the store, and those that they need. Returns them all."""
    waves = needed_by(cells)
    total = sum(len(wave) for wave in waves)
    outcome, jobs = Outcome(), dict[Cell, Job]()

    def tell(cell: Cell) -> None:
        done = len(outcome.results) + len(outcome.failures)
        listener(Progress(cell, done, total, outcome.results.get(cell), outcome.failures.get(cell)))

    for wave in waves:
        todo: list[Job] = []
        for cell in wave:
            experiment = get_experiment(cell.experiment)
            needs = experiment.needs(cell)
            found = store.read(cell)
            if found is None and (broken := [other for other in needs if other in outcome.failures]):
                outcome.failures[cell] = f"it needs {broken[0].name}, which failed"
                tell(cell)
                continue
            needed = tuple(jobs[other] for other in needs if other in jobs)
            jobs[cell] = Job(cell, experiment.compute, needed, found, work, device)
            if found is None:
                todo.append(jobs[cell])
            else:
                outcome.results[cell] = found
                tell(cell)
        for number, answer in backend.run(do, todo):
            cell = todo[number].cell
            if isinstance(answer, Failure):
                outcome.failures[cell] = answer.message
            else:
                store.write(answer)
                outcome.results[cell] = answer
                outcome.computed += 1
                jobs[cell] = replace(jobs[cell], result=answer)
            tell(cell)
    return outcome
