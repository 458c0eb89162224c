"""Cells and their results. A cell is one method on one task with one seed: one number of a table."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Option = str | int | float | bool
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.@~_-]*")


def is_name(text: str) -> bool:
    """Whether a text is valid as a cell's experiment, method or task, which are parts of a file name."""
    return _NAME.fullmatch(text) is not None


@dataclass(frozen=True, order=True)
class Cell:
    """The complete specification of one computation. Equal cells have equal results."""

    experiment: str
    method: str
    task: str
    """or another heading of the table's column: a test program, a split"""
    seed: int = 0
    options: tuple[tuple[str, Option], ...] = ()
    """further settings by name, such as a size or a fraction"""

    def __post_init__(self) -> None:
        for name in (self.experiment, self.method, self.task, *(name for name, _ in self.options)):
            if not is_name(name):
                raise ValueError(
                    f"expected names of letters, digits and +-._@~ in a cell, found {name!r} in {self}"
                )
        if list(self.options) != sorted(self.options):
            raise ValueError(f"expected options in alphabetical order, found {self.options}")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, found {self.seed}")

    @property
    def column(self) -> str:
        """The task with its options, common to all seeds of a table entry."""
        return "-".join([self.task, *(f"{name}={value}" for name, value in self.options)])

    @property
    def name(self) -> str:
        """The displayed name, which is also the file name without suffix."""
        return f"{self.experiment}/{self.method}/{self.column}-{self.seed}"

    def option(self, name: str, otherwise: Option | None = None) -> Any:
        return dict(self.options).get(name, otherwise)


def cell(experiment: str, method: str, task: str, seed: int = 0, **options: Option) -> Cell:
    """Make a cell from options in any order."""
    return Cell(experiment, method, task, seed, tuple(sorted(options.items())))


@dataclass(frozen=True)
class Result:
    """The values of a computed cell, with the machine and version that computed them."""

    cell: Cell
    values: Mapping[str, Any]
    """`return`, or another quantity of the table, and details such as the program"""
    seconds: float
    """computing time"""
    version: str
    """version of leaps"""
    machine: Mapping[str, Any] = field(default_factory=dict)
    finished: str = ""
    """time of completion in ISO 8601 format"""
    commit: str = ""
    """git hash of the source that computed it, "+changed" if that differed; "" if unknown"""

    @property
    def all_seconds(self) -> float:
        """Computing time including a training's earlier sessions, which only its own `seconds` include."""
        return max(self.seconds, float(self.values.get("seconds", 0.0)))

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"cell": asdict(self.cell) | {"options": dict(self.cell.options)}}

    @staticmethod
    def of_json(stored: Any) -> "Result":
        """Read the output of `as_json`; KeyError, TypeError or ValueError for anything else."""
        known = dict(stored["cell"])
        options = dict(known.pop("options"))
        if not isinstance(stored["values"], dict):
            raise TypeError(f"values: expected an object, found {type(stored['values']).__name__}")
        return Result(
            cell(**known, **options),
            stored["values"],
            float(stored["seconds"]),
            str(stored["version"]),
            dict(stored["machine"]),
            str(stored["finished"]),
            str(stored.get("commit", "")),  # missing in older files
        )
