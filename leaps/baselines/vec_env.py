"""The tasks as a vector environment of stable-baselines3: thousands of worlds in one process.

The library's algorithms step all worlds with one compiled call instead of one Python object per world.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from leaps.karel.env import observation_space
from leaps.karel.simulation import Observation, Simulation
from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE

Stepped = tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]
"""observations, rewards, whether each episode has ended, and infos on those that have"""


class KarelVecEnv(VecEnv):
    """A vector environment of a task. A world whose episode has ended begins another at once."""

    def __init__(
        self,
        task: KarelTask,
        count: int,
        observation: Observation = "grid",
        size: tuple[int, int] | None = None,
        seed: int = 0,
        horizon: int | None = None,
    ) -> None:
        """horizon: actions per episode; the task's own by default."""
        self.simulation = Simulation(task, count, size, horizon)
        self.observation: Observation = observation
        self.episodes: list[float] = []
        """returns of the episodes that have ended; the caller empties the list after reading it"""
        self._returns = np.zeros(count)
        self._everyone = np.ones(count, np.bool_)
        self._actions = np.zeros(count, np.int64)
        super().__init__(
            count,
            observation_space(observation, self.simulation.size),
            spaces.Discrete(len(LANGUAGE.actions)),
        )
        self.seed(seed)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Draw the initial states of world `i` from stream `i` of the seed, from its next episode on."""
        for index in range(self.num_envs):
            self.simulation.seed(index, seed or 0, index)
        return [seed] * self.num_envs

    def reset(self) -> NDArray[np.uint8]:
        self.simulation.renew(self._everyone)
        self._returns[:] = 0.0
        return self.observe()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> Stepped:
        rewards, terminated, truncated = self.simulation.advance(self._actions, self._everyone)
        return self._report(rewards, terminated | truncated, truncated)

    def _report(
        self, rewards: NDArray[np.float64], ended: NDArray[np.bool_], truncated: NDArray[np.bool_]
    ) -> Stepped:
        """Return a step's results, and begin another episode where one has ended."""
        self._returns += rewards
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if ended.any():
            last = self.observe()
            for index in np.flatnonzero(ended):
                infos[index] = {
                    "terminal_observation": last[index],
                    "TimeLimit.truncated": bool(truncated[index]),
                }
            self.episodes += self._returns[ended].tolist()
            self.begin_episodes(ended)
        return self.observe(), rewards.astype(np.float32), ended, infos

    def begin_episodes(self, ended: NDArray[np.bool_]) -> None:
        """Begin another episode in each world whose episode has ended."""
        self._returns[ended] = 0.0
        self.simulation.renew(ended)

    def observe(self) -> NDArray[np.uint8]:
        """Return the current observations."""
        return self.simulation.observe(self.observation)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state of the worlds and of their random streams."""
        simulation = self.simulation
        worlds = {f"worlds.{name}": array for name, array in simulation.worlds._asdict().items()}
        starts = {f"starts.{name}": array for name, array in simulation.starts._asdict().items()}
        streams = simulation.streams.view(np.int64)  # torch supports few operations on unsigned integers
        rest = {"values": simulation.values, "steps": simulation.steps, "streams": streams}
        return worlds | starts | rest | {"returns": self._returns}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        for name, array in self.state().items():
            array[...] = state[name]

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        return [getattr(self, attr_name, None) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:  # noqa: ARG002
        raise AttributeError(f"can't set {attr_name}: all worlds share their settings")

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:
        raise AttributeError(f"can't call {method_name}: the worlds are not separate environments")

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:  # noqa: ARG002
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        return [None] * self.num_envs
