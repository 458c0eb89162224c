"""What a search depends on."""

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
    """All that a search depends on: the same, twice, gives the same program."""

    task: str
    method: str = "ladder"
    seed: int = 0
    budget: int | None = None
    """evaluations; the method's own if not given"""
    size: Size | None = None
    space: str | None = None
    """a program space of the task's language; the domain's own if not given. A task with numeric perceptions
    keeps the space's constants"""
    max_length: int = 45
    """tokens of the longest program"""
    worlds: int | None = None
    """that programs are tried on; the method's own number if not given"""
    origin: str | None = None
    """a program to make better, instead of looking for one anywhere"""
    edits: int = 3
    """statements that it may be changed by"""
    also: tuple[Size, ...] = ()
    """other sizes of worlds at which a program has to hold"""

    def __post_init__(self) -> None:
        # JSON, which a configuration may come from, has lists.
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
        """As JSON gives it back."""
        said: dict[str, Any] = json.loads(json.dumps(asdict(self), default=int))  # numpy has its own
        return said


def _pair(size: Any, name: str) -> Size:
    """Height and width, whatever they came in; or the name of a variant."""
    if isinstance(size, str):
        return size
    if not isinstance(size, list | tuple) or len(size) != 2 or not all(isinstance(n, Integral) for n in size):
        raise ValueError(f"{name}: expected height and width such as (8, 8), found {size!r}")
    return int(size[0]), int(size[1])
