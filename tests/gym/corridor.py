"""A simple environment with tasks: walk to the right end of a corridor."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from leaps.gym import GymTask, privileged

LENGTH = 6


class Corridor(gymnasium.Env[Any, Any]):
    """Observations: the cell, and whether the light is on, at random. The reward at the end is 1."""

    def __init__(self, length: int = LENGTH, render_mode: str | None = None) -> None:
        self.length, self.render_mode = length, render_mode
        self.observation_space = spaces.Box(0, 1, (2,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place = int(self.np_random.integers(self.length - 1))
        return self._seen(), {}

    def _seen(self) -> Any:
        self.light = bool(self.np_random.random() < 0.5)
        return np.array([self.place / (self.length - 1), self.light], np.float32)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action not in (0, 1):
            raise ValueError(f"no action {action}")
        self.place = max(self.place + (1 if action else -1), 0)
        arrived = self.place == self.length - 1
        return self._seen(), float(arrived), arrived, False, {}

    def render(self) -> Any:
        picture = np.zeros((8, 8 * self.length, 3), np.uint8)
        picture[:, 8 * self.place : 8 * self.place + 8] = 255
        return picture


def light_is_on(seen: Any) -> bool:
    return bool(seen[1] > 0.5)


def at_the_end(environment: Any) -> bool:
    return bool(environment.place == environment.length - 1)


def long(render_mode: str | None = None) -> Corridor:
    return Corridor(12, render_mode)


def corridor(**settings: Any) -> GymTask:
    given: dict[str, Any] = {
        "name": "corridor",
        "make": Corridor,
        "actions": {"left": 0, "right": 1},
        "perceptions": {"lightIsOn": light_is_on, "atTheEnd": privileged(at_the_end)},
        "opposites": {"lightIsOff": "lightIsOn"},
        "variants": {"long": long},
        "best": 1.0,
        "steps": 30,
    }
    return GymTask(**(given | settings))


CORRIDOR = corridor()
