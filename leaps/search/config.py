"""The configuration of a search."""

import json
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

from leaps.base.seeds import SPAN
from leaps.domain import Size
from leaps.dsl.mask import SHORTEST
from leaps.dsl.syntax import MOST_TOKENS
from leaps.search.methods import METHODS, get_method


@dataclass(frozen=True)
class SolveConfig:
    """The configuration of a search: the same configuration always gives the same program."""

    task: str
    method: str = "ladder"
    seed: int = 0
    budget: int | None = None
    """maximum number of evaluations; None: the method's default"""
    size: Size | None = None
    space: str | None = None
    """a program space of the task's language; None: the domain's default. A task with numeric perceptions
    keeps the space's constants"""
    max_length: int = 45
    """maximum length of a program in tokens"""
    worlds: int | None = None
    """number of worlds that programs are scored on; None: the method's default"""
    origin: str | None = None
    """a program to repair; None: search for one from scratch"""
    edits: int = 3
    """maximum number of edits to `origin`, each one statement"""
    also: tuple[Size, ...] = ()
    """other sizes of worlds at which the program has to succeed"""

    def __post_init__(self) -> None:
        # Configurations read from JSON have lists instead of tuples.
        if self.size is not None:
            object.__setattr__(self, "size", _pair(self.size, "size"))
        also: Any = self.also
        if not isinstance(also, list | tuple):
            raise ValueError(f"also: expected sizes such as [(16, 16)], found {also!r}")
        object.__setattr__(self, "also", tuple(_pair(size, "also") for size in also))
        method = get_method(self.method)
        if self.origin is not None and not method.repairs:
            known = ", ".join(name for name, other in METHODS.items() if other.repairs)
            raise ValueError(f"{self.method} can't stay close to a program; expected {known}")
        for name, least in (
            ("budget", 1),
            ("worlds", 1),
            ("seed", 0),
            ("max_length", SHORTEST),
            ("edits", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, found {value}")
        for name, most in (("seed", SPAN - 1), ("max_length", MOST_TOKENS)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most}, found {getattr(self, name)}")

    def plain(self) -> dict[str, Any]:
        """Return the configuration as plain values, as read back from JSON."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self), default=int))  # int: for numpy
        return values


def _pair(size: Any, name: str) -> Size:
    """Convert a size to a pair of height and width; return the name of a variant unchanged."""
    if isinstance(size, str):
        return size
    if not isinstance(size, list | tuple) or len(size) != 2 or not all(isinstance(n, Integral) for n in size):
        raise ValueError(f"{name}: expected height and width such as (8, 8), found {size!r}")
    return int(size[0]), int(size[1])
