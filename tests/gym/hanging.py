"""An environment that hangs in a step or reset, and its tasks."""

import ctypes
import time
from typing import Any

from leaps.gym import GymTask
from tests.gym.corridor import Corridor, corridor


class Hanging(Corridor):
    """A corridor in which the third bump into the left wall never ends."""

    bumps = 0

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.bumps = self.bumps + 1 if self.place == 0 and action == 0 else 0
        if self.bumps == 3:
            self.hang()
        return super().step(action)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.bumps = 0
        return super().reset(seed=seed, options=options)

    def hang(self) -> None:
        while True:
            time.sleep(3600)


class Spinning(Hanging):
    """An infinite loop that catches all errors."""

    def hang(self) -> None:
        number = 0
        while True:
            try:
                number += 1
            except Exception:
                number = 0


class Holding(Hanging):
    """A call that blocks the interpreter, like compiled code."""

    def hang(self) -> None:
        ctypes.PyDLL(None).sleep(3600)


class HangingReset(Corridor):
    """One reset in ten never returns."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None and seed % 10 == 3:
            time.sleep(3600)
        return super().reset(seed=seed, options=options)


def task(make: Any) -> GymTask:
    return corridor(make=make, name="hanging", seconds=0.4, variants={})


ASLEEP, SPINNING, HOLDING, RESET = map(task, (Hanging, Spinning, Holding, HangingReset))
