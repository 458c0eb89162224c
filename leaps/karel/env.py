"""Gymnasium environments of Karel's tasks: one world, or thousands that step together in compiled code.

    import gymnasium, leaps

    env = gymnasium.make("Karel/Maze-v0", observation="perceptions")
    many = gymnasium.make_vec("Karel/Maze-v0", num_envs=1024, observation="grid", size=(8, 8))

A step's reward is the change in the task's value (0 before the first step), minus the task's cost per action,
if any. So the rewards of an episode add up to its return. `terminated`: the task has ended the episode.
`truncated`: the horizon is reached.
"""

import operator
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from leaps.karel.draw import to_image
from leaps.karel.observe import PERCEPTIONS, PLANES
from leaps.karel.simulation import Arrays, Observation, Simulation
from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE, World
from leaps.tasks import get


def observation_space(observation: Observation, size: tuple[int, int]) -> spaces.Space[Arrays]:
    """Return the observation space of one world."""
    if observation == "grid":
        return spaces.Box(0, 1, (*size, PLANES), np.uint8)
    if observation == "perceptions":
        return spaces.Box(0, 1, (PERCEPTIONS,), np.uint8)
    raise ValueError(f"observation: expected 'grid' or 'perceptions', found {observation!r}")


def _checked(seed: SupportsIndex | None) -> int | None:
    """Convert a seed from any integer type, which Gymnasium does not; ValueError if it is negative."""
    if seed is None:
        return None
    number = operator.index(seed)
    if number < 0:
        raise ValueError(f"seed must be 0 or more, found {number}")
    return number


class KarelEnv(gymnasium.Env[Arrays, np.int64]):
    """One world of a task.

    observation: "grid", all of it as [height, width, 16] planes of 0 and 1 (Karel facing N, E, S, W; wall;
    0 to 10 markers), or "perceptions", the five that programs have. size: (height, width) with the border.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 8}  # noqa: RUF012  as in Gymnasium

    def __init__(
        self,
        task: str | KarelTask,
        observation: Observation = "grid",
        size: tuple[int, int] | None = None,
        horizon: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode: expected 'ansi' or 'rgb_array', found {render_mode!r}")
        self.task = get(task) if isinstance(task, str) else task
        self.simulation = Simulation(self.task, 1, size, horizon)
        self.observation: Observation = observation
        self.observation_space = observation_space(observation, self.simulation.size)
        self.action_space = spaces.Discrete(len(LANGUAGE.actions))
        self.render_mode = render_mode
        self._all = np.ones(1, np.bool_)

    @property
    def world(self) -> World:
        """The world as it is now."""
        return self.simulation.worlds.world(0)

    def reset(
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Arrays, dict[str, Any]]:
        """Draw an initial state; the same seed gives the same sequence of initial states."""
        super().reset(seed=_checked(seed), options=options)
        self.simulation.seed(0, int(self.np_random.integers(2**62)), 0)
        self.simulation.renew(self._all)
        return self.simulation.observe(self.observation)[0], {}

    def step(self, action: np.int64 | int) -> tuple[Arrays, float, bool, bool, dict[str, Any]]:
        """Take one action."""
        if not self.action_space.contains(action):
            raise ValueError(f"action must be from 0 to {len(LANGUAGE.actions) - 1}, found {action!r}")
        rewards, terminated, truncated = self.simulation.advance(np.array([action], np.int64), self._all)
        observation = self.simulation.observe(self.observation)[0]
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), {}

    def render(self) -> Any:
        """Draw the world, as text or as an image."""
        if self.render_mode == "ansi":
            return str(self.world)
        if self.render_mode == "rgb_array":
            return np.asarray(to_image(self.world).convert("RGB"))
        return None


class KarelVectorEnv(VectorEnv[Arrays, NDArray[np.int64], NDArray[Any]]):
    """Many worlds of a task that step together in compiled code. Arguments as for `KarelEnv`.

    autoreset_mode: when to reset after the end of an episode. "next-step" (Gymnasium's default): the next
    step ignores the action and returns the new initial state. "same-step": the last step returns the new
    initial state, and the final state is in info["final_obs"].
    """

    metadata = {  # noqa: RUF012
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 8,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        task: str | KarelTask,
        num_envs: int = 1,
        observation: Observation = "grid",
        size: tuple[int, int] | None = None,
        horizon: int | None = None,
        render_mode: str | None = None,
        autoreset_mode: Literal["next-step", "same-step"] = "next-step",
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, found {num_envs}")
        if autoreset_mode not in ("next-step", "same-step"):
            raise ValueError(f"autoreset_mode: expected 'next-step' or 'same-step', found {autoreset_mode!r}")
        self.task = get(task) if isinstance(task, str) else task
        self.simulation = Simulation(self.task, num_envs, size, horizon)
        self.observation: Observation = observation
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space = observation_space(observation, self.simulation.size)
        self.single_action_space = spaces.Discrete(len(LANGUAGE.actions))
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.same_step = autoreset_mode == "same-step"
        self.metadata = {
            **type(self).metadata,
            "autoreset_mode": AutoresetMode.SAME_STEP if self.same_step else AutoresetMode.NEXT_STEP,
        }
        self._all = np.ones(num_envs, np.bool_)
        self._ended = np.zeros(num_envs, np.bool_)
        self._seeded = False
        self._listed = False
        """whether the worlds were seeded with a list of seeds"""

    def reset(
        self,
        *,
        seed: SupportsIndex | Sequence[SupportsIndex | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Arrays, dict[str, Any]]:
        """Draw initial states. With one seed, world `i` uses stream `i` of it; a list has a seed per world.

        A world whose seed is None continues its random stream; if it never had a seed, it gets a random one.
        """
        if isinstance(seed, Sequence | np.ndarray):
            if len(seed) != self.num_envs:
                raise ValueError(f"expected {self.num_envs} seeds, one per world, found {len(seed)}")
            seeds = [_checked(one) for one in seed]
            if not self._seeded:
                self._seed_all()
            for index, one in enumerate(seeds):
                if one is not None:
                    self.simulation.seed(index, one % 2**63, 0)  # the largest range that a stream takes
            self._listed = True
        elif seed is not None or not self._listed:
            super().reset(seed=_checked(seed), options=options)
            self._seed_all()
            self._listed = False
        self.simulation.renew(self._all)
        self._ended = np.zeros(self.num_envs, np.bool_)
        return self.simulation.observe(self.observation), {}

    def _seed_all(self) -> None:
        """Seed world `i` with stream `i` of a seed from the environment's own generator."""
        base = int(self.np_random.integers(2**62))
        for index in range(self.num_envs):
            self.simulation.seed(index, base, index)
        self._seeded = True

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Arrays, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take one action in each world."""
        actions = np.asarray(actions, np.int64)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"expected {self.num_envs} actions, one per world, found shape {actions.shape}")
        if actions.min() < 0 or actions.max() >= len(LANGUAGE.actions):
            raise ValueError(
                f"actions must be from 0 to {len(LANGUAGE.actions) - 1}, "
                f"found {actions.min()} to {actions.max()}"
            )
        info: dict[str, Any] = {}
        if not self.same_step and self._ended.any():
            self.simulation.renew(self._ended)
            rewards, terminated, truncated = self.simulation.advance(actions, ~self._ended)
        else:
            rewards, terminated, truncated = self.simulation.advance(actions, self._all)
        self._ended = terminated | truncated
        if self.same_step and self._ended.any():
            info = {"final_obs": self.simulation.observe(self.observation), "_final_obs": self._ended}
            self.simulation.renew(self._ended)
        return self.simulation.observe(self.observation), rewards, terminated, truncated, info

    def render(self) -> tuple[Any, ...] | None:
        """Draw every world, as text or as an image."""
        worlds = [self.simulation.worlds.world(index) for index in range(self.num_envs)]
        if self.render_mode == "ansi":
            return tuple(str(world) for world in worlds)
        if self.render_mode == "rgb_array":
            return tuple(np.asarray(to_image(world).convert("RGB")) for world in worlds)
        return None
