"""Run experiments: what is in the store is not computed again, what fails doesn't stop the rest."""

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


def needed_by(cells: Sequence[Cell], known: Callable[[Cell], object] = lambda cell: None) -> list[list[Cell]]:  # noqa: ARG005
    """These cells and all that they need, in an order in which they can be computed: wave after wave.

    known: what a cell came to. One that has a result needs nothing any more.
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
    """Make a cell's job with all stored results that it needs, and those that they needed.

    So a worker that lacks a policy can train it again. files: `FILE.py:NAME` of users' searches, by name.
    """
    experiment = get_experiment(cell.experiment)
    needed = tuple(
        job_of(other, known, work, device, files)
        for other in experiment.needs(cell)
        if known(other) is not None
    )
    return Job(cell, experiment.compute, needed, known(cell), work, device, files.get(cell.method))


def _check_file(found: Result, store: Store, method: str) -> None:
    """Refuse a stored cell of a user's search that another file computed, or this one before an edit."""
    stored, file, digest = file_of(found), store.file(found.cell), found.values.get("method_digest")
    folders = f"{store.folder}/*/{found.cell.method}"
    remedy = f"rename your search, remove {folders}, or choose another folder with --results"
    if stored is None or Path(stored).resolve() != Path(method).resolve():
        raise ValueError(f"{file} is a result of {stored or 'something else'}, not of {method}; {remedy}")
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
    """Compute the cells that are not in the store, and those that they need. Returns them all.

    files: `FILE.py:NAME` of the methods that are users' searches, by their names in cells.
    """
    outcome, read = RunResults(), dict[Cell, Result]()

    def known(cell: Cell) -> Result | None:
        if cell not in read and (found := store.read(cell)) is not None:
            if cell.method in files:
                _check_file(found, store, files[cell.method])
            read[cell] = found
        return read.get(cell)

    def tell(cell: Cell) -> None:
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
                tell(cell)
                continue
            needs = get_experiment(cell.experiment).needs(cell)
            if broken := [other for other in needs if other in outcome.failures]:
                outcome.failures[cell] = f"it needs {broken[0].name}, which failed"
                tell(cell)
                continue
            todo.append(job_of(cell, known, work, device, files))
        for number, answer in backend.run(do, todo):
            cell = todo[number].cell
            if isinstance(answer, Failure):
                outcome.failures[cell] = answer.message
            elif answer.version != __version__:
                outcome.failures[cell] = (
                    f"its worker has leaps {answer.version}, and this is {__version__}: expected the same "
                    "version on all workers"
                )
            else:
                store.write(answer)
                read[cell] = outcome.results[cell] = answer
                outcome.computed += 1
            tell(cell)
    return outcome
