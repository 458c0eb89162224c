"""Recompute stored cells and compare the values bit for bit."""

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
"""fields with times or durations, at any depth, which always differ"""
PARTS_OF_A_MACHINE = ("processor", "gpu", "python", "numpy", "torch")
"""parts of the machine on which the last bits of a float may depend"""


class _Missing:
    """Marker for a field that is absent from one of the two values."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


@dataclass(frozen=True)
class Difference:
    """A field whose recomputed value differs from the stored one."""

    path: str
    """such as values.history[3].score"""
    expected: Any
    """stored value, or MISSING"""
    found: Any
    """recomputed value, or MISSING"""

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
"""printed characters of a value; --json is not shortened"""


def _shown(value: Any) -> str:
    text = "nothing" if value is MISSING else json.dumps(value)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " …"


@dataclass(frozen=True)
class Checked:
    """A stored cell and the outcome of recomputing it."""

    stored: Result
    differences: tuple[Difference, ...] = ()
    machines: tuple[str, ...] = ()
    """descriptions of the machine parts that differ"""
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
    """Read an experiment's stored results, optionally only some methods, tasks and first seeds."""
    methods, files = read_methods(methods)
    found = list(store.all(name))
    rows = files_of(found) | files
    get_experiment(name).with_methods(rows).cells(methods, tasks, seeds)  # raises for unknown names
    return [
        result
        for result in found
        if (methods is None or result.cell.method in methods)
        and (tasks is None or result.cell.task in tasks)
        and (seeds is None or result.cell.seed < seeds)
    ]


def draw(results: Sequence[Result], count: int, seed: int) -> list[Result]:
    """Draw up to `count` results at random, and keep their order."""
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
    """Recompute cells in temporary folders and compare them with the store, which is not changed.

    Needed policies are read from `work`; missing ones are trained there, as in `run`.
    """
    checked: dict[Cell, Checked] = {}
    todo: list[tuple[Result, Job]] = []

    def report(one: Checked) -> None:
        checked[one.stored.cell] = one
        listener(one)

    for result in results:
        needs = get_experiment(result.cell.experiment).needs(result.cell)
        if missing := [other.name for other in needs if store.read(other) is None]:
            report(Checked(result, failure=f"depends on {missing[0]}, which is not stored or unreadable"))
        else:
            todo.append((result, job_of(result.cell, store.read, work, device, files_of([result]))))
    for number, answer in backend.run(recompute, [job for _, job in todo]):
        report(_compared(todo[number][0], answer))
    return [checked[result.cell] for result in results]


def recompute(job: Job) -> Result:
    """Recompute a stored cell in a temporary folder.

    Trained spaces are shared through a link, since they belong to no single cell.
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
        return Checked(stored, failure=f"the worker has leaps {answer.version}, expected {__version__}")
    # Stored values went through JSON, which turns tuples into lists and keys into strings.
    found = json.loads(json.dumps(answer.values))
    return Checked(stored, tuple(differences(stored.values, found)), machine_changes(stored, answer))


def differences(expected: Any, found: Any, path: str = "values") -> Iterator[Difference]:
    """Compare two JSON values except for TIMES, down to the last bit of every float."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name in sorted({*expected, *found} - TIMES):
            yield from differences(expected.get(name, MISSING), found.get(name, MISSING), f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(found, list):
        for number in range(max(len(expected), len(found))):
            before, now = (side[number] if number < len(side) else MISSING for side in (expected, found))
            yield from differences(before, now, f"{path}[{number}]")
    # Compared as text: 1 differs from 1.0, 0.0 from -0.0, and NaN equals NaN. All digits are written.
    elif MISSING in (expected, found) or json.dumps(expected) != json.dumps(found):
        yield Difference(path, expected, found)


def machine_changes(stored: Result, found: Result) -> tuple[str, ...]:
    """Describe how the machine of the stored result differs from that of the recomputed one."""
    return tuple(
        f"{part} {before or 'none'} when stored, {now or 'none'} now"
        for part in PARTS_OF_A_MACHINE
        if (before := stored.machine.get(part)) != (now := found.machine.get(part))
    )
