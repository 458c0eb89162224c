"""One environment, played an action at a time: the only place that resets and steps it."""

import inspect
from collections.abc import Callable
from copy import copy
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from leaps.dsl.interpreter import Outcome
from leaps.dsl.syntax import Condition

if TYPE_CHECKING:
    from PIL.Image import Image

    from leaps.gym.task import GymTask


class Episode(NamedTuple):
    """An episode: the argument of the task's `value`."""

    rewards: list[float]
    observation: Any
    """the last"""
    info: dict[str, Any]
    """of the last step, or of the reset"""
    terminated: bool
    truncated: bool


class GymScene:
    """See `leaps.domain.Scene`. `begin` has to be called first; it may be called again."""

    def __init__(self, task: "GymTask", environment: Any) -> None:
        self.task, self.environment = task, environment
        self._perceptions, self._moves = list(task.sensors.values()), list(task.actions.values())

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.seed = seed
        self.observation, self.info = self.environment.reset(seed=seed)
        self.done: list[int] = []
        """actions"""
        self.rewards: list[float] = []
        self.terminated = self.truncated = False

    def look(self, sense: int) -> bool:
        """Look whether the perception of a sense holds now."""
        perception = self._perceptions[sense]
        try:
            holds = self.value(perception)
        except Exception as error:
            self._blame(perception, f"{type(error).__name__}: {error}", error)
        if not isinstance(holds, bool | np.bool_):
            self._blame(perception, f"expected True or False, found {holds!r}")
        return bool(holds)

    def value(self, perception: Any) -> Any:
        """What a perception returns now."""
        hidden = privileged_function(perception) is not None
        return perception(self.environment.unwrapped if hidden else self.observation)

    def holds(self, condition: Condition) -> bool:
        language = self.task.domain.language
        number = language.perceptions.index(condition.perception)
        return (
            self.look(int(language.sense_of[number])) != bool(language.inverted[number])
        ) != condition.negated

    def act(self, action: int) -> Outcome | None:
        """Do one action; say how the episode ended, if it did."""
        move = copy(self._moves[action])
        try:
            found = self.environment.step(move)
            self.observation, reward, self.terminated, self.truncated, self.info = found
        except Exception as error:
            name = list(self.task.actions)[action]
            raise ValueError(
                f"{self.task.name}: the environment refused action {name} ({move!r}) in step "
                f"{len(self.done) + 1} of the episode with seed {self.seed}: {type(error).__name__}: {error}"
            ) from error
        if reward.__class__ is not float and not is_number(reward):
            self._refuse_reward(reward, len(self.done))
        self.done.append(action)
        self.rewards.append(float(reward))
        if self.terminated:
            return Outcome.ENDED
        return Outcome.CUT_OFF if self.truncated else None

    def worth(self) -> float:
        """What the episode is worth, if it ends now."""
        value = self.task.value
        if value is None:
            earned = sum(self.rewards)
            if not np.isfinite(earned):
                step = int(np.isfinite(self.rewards).argmin())
                self._refuse_reward(self.rewards[step], step)
            return earned
        episode = Episode(
            self.rewards, self.observation, self.info, bool(self.terminated), bool(self.truncated)
        )
        worth = value(episode)
        if not is_number(worth):
            self._blame(value, f"expected a finite number, found {worth!r}")
        return float(worth)

    def plain(self) -> dict[str, Any]:
        return {"observation": _plain(self.observation)}

    def text(self) -> str:
        return str(self.observation)

    def image(self) -> "Image":
        from PIL import Image

        picture = self.environment.render()
        if not isinstance(picture, np.ndarray):
            raise ValueError(f"{self.task.name}: expected a picture from the environment, found {picture!r}")
        return Image.fromarray(picture)

    def _refuse_reward(self, reward: Any, step: int) -> NoReturn:
        raise ValueError(
            f"{self.task.name}: expected a finite reward, found {reward!r} in step {step + 1} of the "
            f"episode with seed {self.seed}"
        )

    def _blame(self, function: Any, why: str, error: Exception | None = None) -> NoReturn:
        """Name the user's function and its line."""
        inner = privileged_function(function) or function
        known = {id(value): name for name, value in self.task.sensors.items()}
        what = f"perception {known[id(function)]}" if id(function) in known else "value"
        where = ""
        if (code := getattr(inspect.unwrap(inner), "__code__", None)) is not None:
            where = f" ({code.co_filename}, line {code.co_firstlineno})"
        raise ValueError(
            f"{self.task.name}: {what}{where}: {why}, after step {len(self.done)} of the episode with seed "
            f"{self.seed}"
        ) from error


def privileged_function(perception: Any) -> Callable[[Any], Any] | None:
    """Return the function of a perception that looks into the environment; None if it does not."""
    return getattr(perception, "privileged_function", None)


def is_number(value: Any) -> bool:
    return isinstance(value, Real | np.number) and bool(np.isfinite(float(value)))


def _plain(observation: Any) -> Any:
    """Write an observation as JSON can."""
    if isinstance(observation, dict):
        return {str(name): _plain(value) for name, value in observation.items()}
    if isinstance(observation, tuple | list):
        return [_plain(value) for value in observation]
    if isinstance(observation, np.ndarray | np.generic):
        return observation.tolist()
    return observation if isinstance(observation, bool | int | float | str | None) else str(observation)
