"""Run experiments: compute cells that are not stored, and continue after failures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from leaps import __version__
from leaps.base.user_code import digest_of
from leaps.experiments.backends import Backend, Failure
from leaps.experiments.catalogue import file_of, get_experiment
from leaps.experiments.cell import Cell, Result
from leaps.experiments.computing import Job, do
from leaps.experiments.store import Store


@dataclass
class RunResults:
    """Results and failures of a run."""

    results: dict[Cell, Result] = field(default_factory=dict)
    failures: dict[Cell, str] = field(default_factory=dict)
    computed: int = 0
    """number of results computed in this run"""


@dataclass(frozen=True)
class Progress:
    """Progress report of a run, sent after each cell."""

    cell: Cell
    done: int
    cells: int
    """total number of cells, including those that others depend on"""
    result: Result | None
    failure: str | None


def needed_by(cells: Sequence[Cell], known: Callable[[Cell], object] = lambda cell: None) -> list[list[Cell]]:  # noqa: ARG005
    """Sort cells and their dependencies into waves; each wave depends on earlier waves only.

    known: the result of a cell, or None. A cell with a result needs no dependencies.
    """
    depth: dict[Cell, int] = {}

    def measure(cell: Cell) -> int:
        if cell not in depth:
            needs = get_experiment(cell.experiment).needs(cell) if known(cell) is None else ()
            depth[cell] = 1 + max((measure(other) for other in needs), default=-1)
        return depth[cell]

    for cell in cells:
        measure(cell)
    return [
        [cell for cell, found in depth.items() if found == wave]
        for wave in range(max(depth.values(), default=-1) + 1)
    ]


def job_of(
    cell: Cell, known: Callable[[Cell], Result | None], work: Path, device: str, files: Mapping[str, str]
) -> Job:
    """Make a cell's job with the stored results of its dependencies, including indirect ones.

    With them a worker without a needed policy can retrain it. files: `FILE.py:NAME` of user-defined searches
    by name.
    """
    experiment = get_experiment(cell.experiment)
    needed = tuple(
        job_of(other, known, work, device, files)
        for other in experiment.needs(cell)
        if known(other) is not None
    )
    return Job(cell, experiment.compute, needed, known(cell), work, device, files.get(cell.method))


def _check_file(found: Result, store: Store, method: str) -> None:
    """Reject a stored cell of a user-defined search from another file or an earlier version of this file."""
    stored, file, digest = file_of(found), store.file(found.cell), found.values.get("method_digest")
    folders = f"{store.folder}/*/{found.cell.method}"
    remedy = f"rename your search, remove {folders}, or choose another folder with --results"
    if stored is None or Path(stored).resolve() != Path(method).resolve():
        raise ValueError(f"{file} is a result of {stored or 'another method'}, not of {method}; {remedy}")
    if digest != digest_of(method):
        raise ValueError(f"{file} is a result of {method} before the file was edited; {remedy}")


def run(
    cells: Sequence[Cell],
    store: Store,
    backend: Backend,
    work: Path = Path("out/experiments"),
    device: str = "cpu",
    listener: Callable[[Progress], object] = id,
    files: Mapping[str, str] = MappingProxyType({}),
) -> RunResults:
    """Compute cells that are not stored, after their dependencies, and return all results.

    files: `FILE.py:NAME` of user-defined searches, by their method names in cells.
    """
    outcome, read = RunResults(), dict[Cell, Result]()

    def known(cell: Cell) -> Result | None:
        if cell not in read and (found := store.read(cell)) is not None:
            if cell.method in files:
                _check_file(found, store, files[cell.method])
            read[cell] = found
        return read.get(cell)

    def report(cell: Cell) -> None:
        done = len(outcome.results) + len(outcome.failures)
        listener(Progress(cell, done, total, outcome.results.get(cell), outcome.failures.get(cell)))

    waves = needed_by(cells, known)
    total = sum(len(wave) for wave in waves)
    if any(known(cell) is None for wave in waves for cell in wave):
        store.check_writable()
    for wave in waves:
        todo: list[Job] = []
        for cell in wave:
            if (found := known(cell)) is not None:
                outcome.results[cell] = found
                report(cell)
                continue
            needs = get_experiment(cell.experiment).needs(cell)
            if broken := [other for other in needs if other in outcome.failures]:
                outcome.failures[cell] = f"depends on {broken[0].name}, which failed"
                report(cell)
                continue
            todo.append(job_of(cell, known, work, device, files))
        for number, answer in backend.run(do, todo):
            cell = todo[number].cell
            if isinstance(answer, Failure):
                outcome.failures[cell] = answer.message
            elif answer.version != __version__:
                outcome.failures[cell] = (
                    f"the worker has leaps {answer.version}, but this process has {__version__}; expected "
                    "the same version on all workers"
                )
            else:
                store.write(answer)
                read[cell] = outcome.results[cell] = answer
                outcome.computed += 1
            report(cell)
    return outcome
