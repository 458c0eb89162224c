"""A world of a compiled task, run one action at a time in plain Python; see `leaps.domain.Scene`.

It runs the same `perceive`, `act`, `react`, `is_over` and `value` as the executor, but not compiled. So an
index out of range raises an error here, which is reported with the function, its file and its line.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from leaps.base.jit import as_bits, python_of
from leaps.base.user_code import raised_at
from leaps.compiled.draw import to_image, to_text
from leaps.compiled.plain import World
from leaps.dsl.interpreter import Outcome
from leaps.dsl.syntax import Condition

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.text import Text

    from leaps.compiled.task import CompiledTask

SHORT = 80
"""maximum characters of a value quoted in a message"""
OVERFLOW_HINT = "; cells are uint8, so convert them with int() before you subtract"


class CompiledScene:
    """A copy of a world, in which a task's functions are called as plain Python."""

    def __init__(self, task: "CompiledTask", world: World) -> None:
        self.task = task
        self.world, self.actions = world, 0
        self.world, self.start = self._copy(), self._copy()

    def _copy(self) -> World:
        return World(self.world.cells.copy(), self.world.numbers.copy())

    def _is(self, before: World) -> bool:
        same = np.array_equal(before.cells, self.world.cells)
        return same and np.array_equal(before.numbers, self.world.numbers)

    def perceived(self) -> int:
        """Return the perceptions: bit k is 1 if sense k holds."""
        seen = self._look("perceive")
        senses = self.task.domain.language.senses
        if isinstance(seen, tuple):
            if len(seen) != len(senses):
                self._blame("perceive", f"expected {len(senses)} truth values, found {len(seen)}")
        elif not isinstance(seen, Integral | np.bool_) or not 0 <= int(seen) < 1 << len(senses):
            self._blame(
                "perceive",
                f"expected a truth value for each of {', '.join(senses)}, or the bits of one number; "
                f"found {_shown(seen)}",
            )
        return int(as_bits(seen))

    def look(self, sense: int) -> bool:
        """Whether the perception of a sense holds."""
        return bool(self.perceived() >> sense & 1)

    def holds(self, condition: Condition) -> bool:
        language = self.task.domain.language
        number = language.perceptions.index(condition.perception)
        opposite = bool(language.inverted[number]) != condition.negated
        return self.look(int(language.sense_of[number])) != opposite

    def act(self, action: int) -> Outcome | None:
        before = self._copy()
        change = self._call("act", self.world, action)
        self.actions += 1
        if not isinstance(change, Integral | np.bool_):
            self._blame("act", f"expected a number, 0 if nothing has changed, found {_shown(change)}")
        if not int(change):
            if not self._is(before):
                self._blame("act", "it changed the world and returned 0; expected another number then")
            return None
        over = False
        if self.task.react is not None and int(change) & self.task.events:
            over = bool(self._call("react", self.world, int(change)))
        if self.task.is_over is not None:
            over |= bool(self._look("is_over"))
        return Outcome.ENDED if over else None

    def worth(self) -> float:
        value = self._look("value", self.start)
        if not isinstance(value, Real | np.bool_) or not np.isfinite(float(value)):
            self._blame("value", f"expected a finite number, found {_shown(value)}")
        if float(value) > self.task.most:
            self._blame(
                "value",
                f"expected at most highest={self.task.highest:g}, found {float(value):g}; raise highest",
            )
        return float(value) - self.task.cost * self.actions

    def plain(self) -> dict[str, Any]:
        return {"cells": self.world.cells.tolist(), "numbers": self.world.numbers.tolist()}

    def text(self) -> "Text":
        from rich.text import Text

        return Text(self._drawn())

    def image(self) -> "Image":
        if self.task.picture is not None:
            picture: Image = self._call("picture", self.world)
            return picture
        return to_image(self._drawn())

    def _drawn(self) -> str:
        return to_text(self.world) if self.task.draw is None else str(self._call("draw", self.world))

    def _look(self, name: str, *more: Any) -> Any:
        """Call a function that must not change the world."""
        before = self._copy()
        found = self._call(name, self.world, *more)
        if not self._is(before):
            self._blame(name, "it changed the world, which only act and react may do")
        return found

    def _call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the task; report its exceptions with file and line."""
        function: Callable[..., Any] = python_of(getattr(self.task, name))
        try:
            # Overflow would give other results than compiled code. Infinite values are rejected later.
            with np.errstate(over="raise", divide="ignore", invalid="ignore"):
                return function(*arguments)
        except Exception as error:
            hint = OVERFLOW_HINT if isinstance(error, FloatingPointError | OverflowError) else ""
            self._blame(name, f"{type(error).__name__}: {error}{hint}", error)

    def _blame(self, name: str, why: str, error: Exception | None = None) -> NoReturn:
        """Raise an error that names the user's function with its file and line."""
        code = getattr(python_of(getattr(self.task, name)), "__code__", None)
        at = "" if error is None else raised_at(error)
        if not at and code is not None:
            at = f" ({code.co_filename}, line {code.co_firstlineno})"
        actions = f"{self.actions} {'action' if self.actions == 1 else 'actions'}"
        raise ValueError(f"{self.task.name}: {name}{at}: {why}, after {actions}") from error


def _shown(value: Any) -> str:
    text = f"{float(value):g}" if isinstance(value, Real) else repr(value)
    return text if len(text) <= SHORT else f"{text[:SHORT]} …"
