"""One environment, run one action at a time: the only module that resets and steps it."""

import inspect
from collections.abc import Callable
from copy import copy
from numbers import Real
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import gymnasium
import numpy as np

from leaps.base.user_code import raised_at
from leaps.dsl.interpreter import Outcome
from leaps.dsl.syntax import Condition
from leaps.gym.watchdog import HangError, Pulse, watch

if TYPE_CHECKING:
    from PIL.Image import Image

    from leaps.gym.resets import Resets
    from leaps.gym.task import GymTask

SHORT = 80
"""maximum characters of a value quoted in a message"""


class Episode(NamedTuple):
    """An episode: the argument of the task's `value`."""

    rewards: list[float]
    observation: Any
    """the last observation"""
    info: dict[str, Any]
    """info of the last step, or of the reset"""
    terminated: bool
    truncated: bool


class GymScene:
    """An episode in an environment; see `leaps.domain.Scene`. Call `begin` before each episode."""

    def __init__(self, task: "GymTask", environment: Any, resets: "Resets | None" = None) -> None:
        """resets: a source of initial states; None: reset the environment."""
        self.task, self.environment, self._resets = task, environment, resets
        self._perceptions, self._moves = list(task.sensors.values()), list(task.actions.values())
        self.time_limit = time_limit(environment)
        self._pulse = Pulse(task.name, task.seconds)
        watch(self._pulse)

    def begin(self, seed: int) -> None:
        """Start an episode."""
        self.seed = seed
        self.restart()
        if self._resets is None:
            self.reset()
        else:
            self._resets.begin(self)

    def restart(self) -> None:
        """Clear the record of the episode."""
        self.done: list[int] = []
        """actions so far"""
        self.rewards: list[float] = []
        self.terminated = self.truncated = False
        self._pulse.done = self.done

    def reset(self) -> None:
        """Reset the environment with the episode's seed."""
        pulse = self._pulse
        pulse.seed, pulse.thread, pulse.resetting = self.seed, get_ident(), True
        pulse.calls += 1
        try:
            found = self.environment.reset(seed=self.seed)
        except HangError:
            raise ValueError(str(pulse)) from None
        except Exception as error:
            raise ValueError(
                f"{self.task.name}: reset(seed={self.seed}) of the environment failed{raised_at(error)}: "
                f"{type(error).__name__}: {error}"
            ) from error
        finally:
            pulse.calls += 1
            pulse.resetting = False
        if not isinstance(found, tuple) or len(found) != 2:
            raise ValueError(
                f"{self.task.name}: expected (observation, info) from reset(seed={self.seed}) of the "
                f"environment, found {shown(found)}"
            )
        self.observation, self.info = found

    def look(self, sense: int) -> bool:
        """Whether the perception of a sense holds now."""
        perception = self._perceptions[sense]
        try:
            holds = self.value(perception)
        except Exception as error:
            self._blame(perception, f"{type(error).__name__}: {error}", error)
        if not is_truth(holds):
            self._blame(perception, f"expected True or False, found {shown(holds)}")
        return bool(holds)

    def value(self, perception: Any) -> Any:
        """Return the present value of a perception."""
        hidden = privileged_function(perception) is not None
        return perception(self.environment.unwrapped if hidden else self.observation)

    def holds(self, condition: Condition) -> bool:
        language = self.task.domain.language
        number = language.perceptions.index(condition.perception)
        return (
            self.look(int(language.sense_of[number])) != bool(language.inverted[number])
        ) != condition.negated

    def act(self, action: int) -> Outcome | None:
        """Do one action; return the outcome of the episode if it ended, else None."""
        move, pulse = copy(self._moves[action]), self._pulse
        pulse.calls += 1
        try:
            found = self.environment.step(move)
        except HangError:
            raise ValueError(str(pulse)) from None
        except Exception as error:
            name = list(self.task.actions)[action]
            raise ValueError(
                f"{self.task.name}: the environment refused action {name} ({shown(move)}) in step "
                f"{len(self.done) + 1} of the episode with seed {self.seed}{raised_at(error)}: "
                f"{type(error).__name__}: {error}"
            ) from error
        finally:
            pulse.calls += 1
        try:
            self.observation, reward, terminated, truncated, self.info = found
            self.terminated, self.truncated = bool(terminated), bool(truncated)
        except (TypeError, ValueError):
            self._refuse_step(found)
        if reward.__class__ is not float:
            reward = self._reward(reward)
        self.done.append(action)
        self.rewards.append(reward)
        if self.terminated:
            return Outcome.ENDED
        if len(self.done) == self.time_limit:  # Gymnasium's wrapper does not count skipped steps
            self.truncated = True
        return Outcome.CUT_OFF if self.truncated else None

    def key(self) -> Any:
        """Return the key of the environment's state, from the task's `key`."""
        function = self.task.key
        assert function is not None
        try:
            key = function(self.environment.unwrapped)
            hash(key)
        except Exception as error:
            hint = "; expected what can be hashed, such as a tuple" if isinstance(error, TypeError) else ""
            self._blame(function, f"{type(error).__name__}: {error}{hint}", error)
        return key

    def skip(self, period: int, limit: int) -> None:
        """Repeat the last actions as often as they fit into the episode, without running the environment.

        period: actions after which the state repeats. At least one action is left, so that the episode ends
        in the environment.
        """
        end = limit if self.time_limit is None else min(limit, self.time_limit)
        times = max(0, end - 1 - len(self.done)) // period
        self.done += self.done[-period:] * times
        self.rewards += self.rewards[-period:] * times

    def worth(self) -> float:
        """Return the value of the episode if it ended now."""
        value = self.task.value
        if value is None:
            earned = sum(self.rewards)
            if not np.isfinite(earned):
                step = int(np.isfinite(self.rewards).argmin())
                self._refuse_reward(self.rewards[step], step)
            return earned
        episode = Episode(self.rewards, self.observation, self.info, self.terminated, self.truncated)
        try:
            worth = value(episode)
        except Exception as error:
            self._blame(value, f"{type(error).__name__}: {error}", error)
        if (number := as_number(worth)) is None:
            self._blame(value, f"expected a finite number, found {shown(worth)}")
        return number

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

    def _reward(self, reward: Any) -> float:
        """Convert the reward of the present step to a float; ValueError if it is not a finite number."""
        if (number := as_number(reward)) is None:
            self._refuse_reward(reward, len(self.done))
        return number

    def _refuse_reward(self, reward: Any, step: int) -> NoReturn:
        raise ValueError(
            f"{self.task.name}: expected a finite reward, found {shown(reward)} in step {step + 1} of the "
            f"episode with seed {self.seed}"
        )

    def _refuse_step(self, found: Any) -> NoReturn:
        what = f"a tuple of {len(found)}: {shown(found)}" if isinstance(found, tuple) else shown(found)
        hint = ""
        if isinstance(found, tuple) and len(found) == 4:
            hint = "; four values are the interface of the old Gym, with `done` in place of two values"
        raise ValueError(
            f"{self.task.name}: expected (observation, reward, terminated, truncated, info) from step "
            f"{len(self.done) + 1} of the episode with seed {self.seed}, found {what}{hint}"
        )

    def _blame(self, function: Any, why: str, error: Exception | None = None) -> NoReturn:
        """Raise an error that names the user's function and its line."""
        raise ValueError(
            f"{label(self.task, function)}: {why}, after step {len(self.done)} of the episode with seed "
            f"{self.seed}"
        ) from error


def label(task: "GymTask", function: Any) -> str:
    """Return the name of a task's function with its file and line, for messages."""
    known = {id(value): f"perception {name}" for name, value in task.sensors.items()}
    known |= {id(task.key): "key", id(task.value): "value"}
    inner = privileged_function(function) or function
    where = ""
    if (code := getattr(inspect.unwrap(inner), "__code__", None)) is not None:
        where = f" ({code.co_filename}, line {code.co_firstlineno})"
    return f"{task.name}: {known.get(id(function), 'function')}{where}"


def shown(value: Any) -> str:
    """Return the text of a value for a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= SHORT else f"{text[:SHORT]} …"


def time_limit(environment: Any) -> int | None:
    """Return the number of actions after which Gymnasium's TimeLimit ends an episode; None without one."""
    limits = []
    while isinstance(environment, gymnasium.Wrapper):
        if isinstance(environment, gymnasium.wrappers.TimeLimit):
            limits.append(environment._max_episode_steps)
        environment = environment.env
    return min(limits, default=None)


def privileged_function(perception: Any) -> Callable[[Any], Any] | None:
    """Return the function of a privileged perception; None for others."""
    return getattr(perception, "privileged_function", None)


def is_truth(value: Any) -> bool:
    """Whether a value is True or False, of Python or of numpy."""
    return isinstance(value, bool | np.bool_)


def as_number(value: Any) -> float | None:
    """Convert a finite number, also in an array of one element, to a float; None for anything else."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not isinstance(value, Real | np.number | np.bool_):
        return None
    number = float(value)
    return number if np.isfinite(number) else None


def _plain(observation: Any) -> Any:
    """Convert an observation to JSON values."""
    if isinstance(observation, dict):
        return {str(name): _plain(value) for name, value in observation.items()}
    if isinstance(observation, tuple | list):
        return [_plain(value) for value in observation]
    if isinstance(observation, np.ndarray | np.generic):
        return observation.tolist()
    return observation if isinstance(observation, bool | int | float | str | None) else str(observation)
