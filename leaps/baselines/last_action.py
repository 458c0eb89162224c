"""The input of ppo-last-action: the five perceptions and the policy's own last action."""

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from leaps.baselines.vec_env import KarelVecEnv, Stepped
from leaps.karel.observe import BITS, PERCEIVED, PERCEPTIONS
from leaps.karel.simulation import Arrays
from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE

ACTIONS = len(LANGUAGE.actions)
NO_ACTION = ACTIONS
"""stands for the last action at the start of an episode"""
INPUTS = PERCEPTIONS + ACTIONS + 1
_ONE_HOT = np.eye(ACTIONS + 1, dtype=np.uint8)


def with_last_action(perceptions: Arrays, last: NDArray[np.int64]) -> Arrays:
    """Append the last action, one-hot: [worlds, 5] and [worlds] → [worlds, 11]."""
    return np.concatenate([perceptions, _ONE_HOT[last]], axis=1)


def every_input() -> Arrays:
    """List all inputs [192, 11]; the row is 32 · last action + number of the perceptions."""
    count = len(PERCEIVED)
    perceptions = np.tile(PERCEIVED, (ACTIONS + 1, 1))
    return with_last_action(perceptions, np.repeat(np.arange(ACTIONS + 1), count))


def input_number(perceptions: Arrays, last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of `every_input` [worlds] that matches each world's perceptions and last action."""
    return np.asarray(len(PERCEIVED) * last + perceptions @ BITS, np.int64)


class LastActionVecEnv(KarelVecEnv):
    """A vector environment of a task, observed as perceptions and the last action."""

    def __init__(
        self,
        task: KarelTask,
        count: int,
        size: tuple[int, int] | None = None,
        seed: int = 0,
        horizon: int | None = None,
    ) -> None:
        super().__init__(task, count, "perceptions", size, seed, horizon)
        self.observation_space = spaces.Box(0, 1, (INPUTS,), np.uint8)
        self._last = np.full(count, NO_ACTION, np.int64)

    def reset(self) -> Arrays:
        self._last[:] = NO_ACTION
        return super().reset()

    def step_wait(self) -> Stepped:
        self._last[:] = self._actions
        return super().step_wait()

    def begin_episodes(self, ended: NDArray[np.bool_]) -> None:
        super().begin_episodes(ended)
        self._last[ended] = NO_ACTION

    def observe(self) -> Arrays:
        return with_last_action(super().observe(), self._last)

    def state(self) -> dict[str, NDArray[np.generic]]:
        return super().state() | {"last": self._last}
