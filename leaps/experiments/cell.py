"""A cell: one method on one task with one seed, which is one number of a table; and what came of it."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Option = str | int | float | bool
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.@~_-]*")


def is_name(text: str) -> bool:
    """Whether a cell's experiment, method or task may be called so: it is part of a file's name."""
    return _NAME.fullmatch(text) is not None


@dataclass(frozen=True, order=True)
class Cell:
    """What is to be computed. It depends on nothing else, and two that are equal are the same number."""

    experiment: str
    method: str
    task: str
    """or whatever else stands at the head of the table's column: a test program, a split"""
    seed: int = 0
    options: tuple[tuple[str, Option], ...] = ()
    """what else distinguishes it, by name: a size, a share"""

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
        """The task with its options: what all seeds of a table's entry share."""
        return "-".join([self.task, *(f"{name}={value}" for name, value in self.options)])

    @property
    def name(self) -> str:
        """As people read it, and as its file is called."""
        return f"{self.experiment}/{self.method}/{self.column}-{self.seed}"

    def option(self, name: str, otherwise: Option | None = None) -> Any:
        return dict(self.options).get(name, otherwise)


def cell(experiment: str, method: str, task: str, seed: int = 0, **options: Option) -> Cell:
    """Make a cell; its options in any order."""
    return Cell(experiment, method, task, seed, tuple(sorted(options.items())))


@dataclass(frozen=True)
class Result:
    """What a cell came to, and where."""

    cell: Cell
    values: Mapping[str, Any]
    """`return`, or whatever the table is of, and what it was found with"""
    seconds: float
    """it took"""
    version: str
    """of leaps"""
    machine: Mapping[str, Any] = field(default_factory=dict)
    finished: str = ""
    """when, as ISO 8601 writes it"""
    commit: str = ""
    """git hash of the source that computed it, "+changed" if that differed; "" if unknown"""

    @property
    def all_seconds(self) -> float:
        """Also those of a training's earlier sessions, which only its own count of seconds knows."""
        return max(self.seconds, float(self.values.get("seconds", 0.0)))

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"cell": asdict(self.cell) | {"options": dict(self.cell.options)}}

    @staticmethod
    def of_json(said: Any) -> "Result":
        """Read what `as_json` wrote; KeyError, TypeError or ValueError if it is something else."""
        known = dict(said["cell"])
        options = dict(known.pop("options"))
        if not isinstance(said["values"], dict):
            raise TypeError(f"values: expected an object, found {type(said['values']).__name__}")
        return Result(
            cell(**known, **options),
            said["values"],
            float(said["seconds"]),
            str(said["version"]),
            dict(said["machine"]),
            str(said["finished"]),
            str(said.get("commit", "")),  # older files have none
        )
