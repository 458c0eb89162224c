"""Recompute stored cells and compare them with what is stored, bit for bit."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from leaps import __version__
from leaps.experiments.backends import Backend, Failure
from leaps.experiments.catalogue import files_of, get_experiment, read_methods
from leaps.experiments.cell import Cell, Result
from leaps.experiments.computing import Job, do
from leaps.experiments.run import job_of
from leaps.experiments.spaces import TRAINED_SPACES
from leaps.experiments.store import Store

TIMES = frozenset({"seconds", "core_seconds", "finished"})
"""fields that say when something was computed or how long it took, at any depth: they always differ"""
PARTS_OF_A_MACHINE = ("processor", "gpu", "python", "numpy", "torch")
"""on which the last bits of a float may depend"""


class _Missing:
    """A field that one of the two does not have."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


@dataclass(frozen=True)
class Difference:
    """A field whose recomputed value is not the stored one."""

    path: str
    """such as values.history[3].score"""
    expected: Any
    """stored, or MISSING"""
    found: Any
    """recomputed, or MISSING"""

    def __str__(self) -> str:
        if self.expected is MISSING:
            return f"{self.path}: not stored, found {_shown(self.found)}"
        return f"{self.path}: expected {_shown(self.expected)}, found {_shown(self.found)}"

    def as_json(self) -> dict[str, Any]:
        sides = {"expected": self.expected, "found": self.found}
        return {
            "path": self.path,
            "stored": self.expected is not MISSING,
            **{name: value for name, value in sides.items() if value is not MISSING},
        }


LONGEST_TEXT = 200
"""characters of a value that are printed; --json has all"""


def _shown(value: Any) -> str:
    text = "nothing" if value is MISSING else json.dumps(value)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " …"


@dataclass(frozen=True)
class Checked:
    """A stored cell and what recomputing it came to."""

    stored: Result
    differences: tuple[Difference, ...] = ()
    machines: tuple[str, ...] = ()
    """parts of the machine that differ, in words"""
    failure: str | None = None
    """why it could not be recomputed"""

    @property
    def equal(self) -> bool:
        return not self.differences and self.failure is None


def stored_cells(
    store: Store,
    name: str,
    methods: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    seeds: int | None = None,
) -> list[Result]:
    """Read the stored results of an experiment, or of some of its methods, tasks and first seeds."""
    methods, files = read_methods(methods)
    found = list(store.all(name))
    rows = files_of(found) | files
    get_experiment(name).with_methods(rows).cells(methods, tasks, seeds)  # refuses unknown names
    return [
        result
        for result in found
        if (methods is None or result.cell.method in methods)
        and (tasks is None or result.cell.task in tasks)
        and (seeds is None or result.cell.seed < seeds)
    ]


def draw(results: Sequence[Result], count: int, seed: int) -> list[Result]:
    """Draw results at random, in their order; all if there are no more than `count`."""
    drawn = random.Random(seed).sample(range(len(results)), min(count, len(results)))
    return [results[number] for number in sorted(drawn)]


def check(
    results: Sequence[Result],
    store: Store,
    backend: Backend,
    work: Path = Path("out/experiments"),
    device: str = "cpu",
    listener: Callable[[Checked], object] = id,
) -> list[Checked]:
    """Recompute cells in fresh folders, and compare. The store stays as it is.

    Policies that a cell needs are those in `work`; missing ones are trained there, as by `run`.
    """
    checked: dict[Cell, Checked] = {}
    todo: list[tuple[Result, Job]] = []

    def tell(one: Checked) -> None:
        checked[one.stored.cell] = one
        listener(one)

    for result in results:
        needs = get_experiment(result.cell.experiment).needs(result.cell)
        if missing := [other.name for other in needs if store.read(other) is None]:
            tell(Checked(result, failure=f"it needs {missing[0]}, which is not stored or can't be read"))
        else:
            todo.append((result, job_of(result.cell, store.read, work, device, files_of([result]))))
    for number, answer in backend.run(recompute, [job for _, job in todo]):
        tell(_compared(todo[number][0], answer))
    return [checked[result.cell] for result in results]


def recompute(job: Job) -> Result:
    """Compute a cell that is stored already, in a folder of its own that is removed afterwards.

    Trained spaces stay where they are: they belong to no cell.
    """
    spaces = job.work / TRAINED_SPACES
    spaces.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="check-", dir=job.work, ignore_cleanup_errors=True) as folder:
        (Path(folder) / TRAINED_SPACES).symlink_to(spaces.absolute())
        return do(replace(job, work=Path(folder), result=None))


def _compared(stored: Result, answer: Result | Failure) -> Checked:
    if isinstance(answer, Failure):
        return Checked(stored, failure=answer.message)
    if answer.version != __version__:
        return Checked(stored, failure=f"its worker has leaps {answer.version}, and this is {__version__}")
    # What is stored went through JSON: tuples are lists there, and names of fields are texts.
    found = json.loads(json.dumps(answer.values))
    return Checked(stored, tuple(differences(stored.values, found)), machine_changes(stored, answer))


def differences(expected: Any, found: Any, path: str = "values") -> Iterator[Difference]:
    """Compare two values of JSON, all but TIMES, down to the last bit of every float."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name in sorted({*expected, *found} - TIMES):
            yield from differences(expected.get(name, MISSING), found.get(name, MISSING), f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(found, list):
        for number in range(max(len(expected), len(found))):
            before, now = (side[number] if number < len(side) else MISSING for side in (expected, found))
            yield from differences(before, now, f"{path}[{number}]")
    # As text 1 is not 1.0, nor 0.0 -0.0, and NaN is NaN; all digits of a float are written.
    elif MISSING in (expected, found) or json.dumps(expected) != json.dumps(found):
        yield Difference(path, expected, found)


def machine_changes(stored: Result, found: Result) -> tuple[str, ...]:
    """Say in words how the machine of the stored result differs from that of the recomputed one."""
    return tuple(
        f"{part} {before or 'none'} when stored, {now or 'none'} now"
        for part in PARTS_OF_A_MACHINE
        if (before := stored.machine.get(part)) != (now := found.machine.get(part))
    )
