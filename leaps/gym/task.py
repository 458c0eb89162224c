"""A Gymnasium environment as a task: names for its actions, and functions for its perceptions.

The environment is used unmodified. The same seed and the same actions must lead to the same episode, which
Gymnasium requires of every environment that is reset with a seed.
"""

import threading
import warnings
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base import parallel
from leaps.base.user_code import raised_at
from leaps.domain import (
    LIMIT,
    SHARE,
    Domain,
    Programs,
    Reworded,
    Rollouts,
    States,
    size_text,
)
from leaps.dsl.compiler import Compiled
from leaps.dsl.interpreter import Course
from leaps.dsl.language import MOST_SENSES
from leaps.dsl.syntax import Program
from leaps.gym.check import check_environment, check_fields
from leaps.gym.constants import (
    MORE,
    Number,
    Scale,
    exchange,
    fitted,
    sample,
    scale,
    split,
)
from leaps.gym.film import save_film
from leaps.gym.memory import Remembering
from leaps.gym.perceptions import Perception, domain_of, sensors_of
from leaps.gym.play import Asked, Played, play_all
from leaps.gym.resets import Resets
from leaps.gym.scene import Episode, GymScene
from leaps.gym.seeds import Seeds, draw_seeds
from leaps.gym.workers import NotSentError, check_in_worker, play_shared

WORTH_SHARING = 32
"""minimum number of episodes in a batch for worker processes"""

Maker = str | Callable[..., Any]
"""the id of a registered environment, or a function that makes one and takes `render_mode`"""


@dataclass(frozen=True, eq=False)
class GymTask:
    """A task in a Gymnasium environment.

    >>> task = GymTask(
    ...     "cart-pole",
    ...     make="CartPole-v1",
    ...     actions={"left": 0, "right": 1},
    ...     perceptions={"leansRight": lambda seen: seen[2] > 0, "fallsRight": lambda seen: seen[3] > 0},
    ...     best=500,
    ... )
    >>> program = "DEF run m( WHILE c( leansRight c) w( right w) left m)"
    >>> bool(task.run(task.compile(program), task.worlds(3, seed=0)).returns.min() > 0)
    True
    """

    name: str
    make: Maker
    actions: Mapping[str, Any]
    """the environment's actions, by name"""
    perceptions: Mapping[str, Perception | Number]
    """functions of the observation that return True or False, by name; or `leaps.number` of a function that
    returns a number, which programs compare with constants: `angle>0.05`"""
    opposites: Mapping[str, str] = field(default_factory=dict)
    """further perceptions, each the opposite of one in `perceptions`"""
    variants: Mapping[str, Maker] = field(default_factory=dict)
    """other environments with the same actions and observations, by name, such as other sizes"""
    best: float = np.inf
    """the return that counts as solved, if there is one"""
    steps: int | None = None
    """maximum actions of an episode; None: the environment's own limit"""
    highest: float = np.inf
    """maximum value of an episode, if known; a search can then reject programs earlier"""
    value: Callable[[Episode], float] | None = None
    """value of an episode; None: the sum of its rewards"""
    variant_of: str | None = None
    checked: int = 100
    """number of fresh episodes in one check of a good program"""
    key: Callable[[Any], Hashable] | None = None
    """a key for the complete state of an environment (`env.unwrapped`). Runs that return to an earlier state
    are then cut short, with the same result"""
    repeats: bool = False
    """whether a program that has ended restarts until the episode is over; else the episode ends with it"""
    remembers: bool = False
    """whether steps are cached, so that the same steps are not run again; useful for an environment that
    takes 0.1 ms or more for a step"""
    seconds: float = 60.0
    """maximum time of a step or a reset, in seconds; exceeding it is an error"""
    constants: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """initial constants that numbers are compared with, by name; default: quantiles of the values in rollouts
    with random actions"""
    _local: threading.local = field(default_factory=threading.local, init=False, repr=False)
    """the environments of each thread"""
    _memory: "_Memory" = field(default_factory=lambda: _Memory(), init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or set(self.name) & set("/\\:@~"):
            raise ValueError(f"a task's name must not be empty or contain / \\ : @ ~, found {self.name!r}")
        check_fields(self)
        for name, perception in self.perceptions.items():
            if not callable(perception.function if isinstance(perception, Number) else perception):
                raise ValueError(
                    f"{self.name}: perception {name}: expected a function of the observation, "
                    f"found {perception!r}"
                )
            if isinstance(perception, Number) and MORE in name:
                raise ValueError(f"{self.name}: expected the name of a number without {MORE}, found {name!r}")
        if unknown := sorted(set(self.constants) - set(self.numbers)):
            raise ValueError(f"{self.name}: constants: expected names of numbers, found {unknown[0]!r}")
        if empty := [name for name, constants in self.constants.items() if not len(constants)]:
            raise ValueError(f"{self.name}: constants: expected at least one constant of {empty[0]}")
        if not set(self.numbers) <= set(self.constants):
            # Choosing constants takes time, so postpone it: the task may only be listed.
            self.with_constants(dict.fromkeys(self.numbers, (0.0,)))
            return
        try:
            _ = self.domain
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the environments: another process makes its own."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _local=threading.local(), _memory=_Memory())

    @cached_property
    def domain(self) -> Domain:
        return domain_of(self.name, self.actions, self.perceptions, self.opposites, self.compared)

    @cached_property
    def numbers(self) -> dict[str, Perception]:
        """The functions of the perceptions that are numbers, by name."""
        return {name: one.function for name, one in self.perceptions.items() if isinstance(one, Number)}

    @cached_property
    def compared(self) -> dict[str, tuple[float, ...]]:
        """The constants of each number, in ascending order."""
        return {
            name: tuple(sorted({float(constant) for constant in self.constants[name]}))
            if name in self.constants
            else self.scales[name].quantiles
            for name in self.numbers
        }

    @cached_property
    def sensors(self) -> dict[str, Perception]:
        """Functions that return True or False, by the sense of the language."""
        return sensors_of(self.perceptions, self.compared)

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """The ranges and quantiles of numbers in rollouts with random actions."""
        room = (MOST_SENSES - (len(self.perceptions) - len(self.numbers))) // len(self.numbers)
        return {name: scale(values, room) for name, values in sample(self).items()}

    def with_constants(self, constants: Mapping[str, Sequence[float]]) -> "GymTask":
        """Return the task with other constants; it shares the environments of this one."""
        task = replace(self, constants=constants)
        object.__setattr__(task, "_local", self._local)
        object.__setattr__(task, "_memory", self._memory)
        if "scales" in self.__dict__:
            task.__dict__["scales"] = self.scales
        return task

    def fitting(self, words: Iterable[str]) -> "GymTask":
        """Return the task with the constants of these words; each replaces the nearest unwanted constant."""
        wanted: dict[str, set[float]] = {}
        for text in words:
            try:
                found = split(text, self.numbers)
            except ValueError as error:
                raise ValueError(f"{self.name}: {error}") from None
            if found is not None:
                wanted.setdefault(found[0], set()).add(found[1])
        if all(constants <= set(self.compared[name]) for name, constants in wanted.items()):
            return self
        return self.with_constants(fitted(self.compared, wanted))

    def refined(self, programs: NDArray[np.uint8], generator: np.random.Generator) -> Reworded | None:
        """Replace constants by others close to those that programs use; see `leaps.gym.constants`."""
        return exchange(self, programs, generator) if self.numbers else None

    @property
    def privileged(self) -> list[str]:
        """Names of the privileged perceptions."""
        return list(self.domain.privileged)

    def check_size(self, size: Any) -> str:
        """Return the name of the variant to use; ValueError with the known names if there is none."""
        if size is None or size == "":
            return ""
        name = size_text(size)  # a variant may be called 8x8, too
        if name not in self.variants:
            expected = f"one of: {', '.join(self.variants)}" if self.variants else "no size"
            raise ValueError(f"{self.name} has no variant {name!r}; expected {expected}")
        return name

    def environment(self, variant: str = "", render_mode: str | None = None) -> Any:
        """Make an environment."""
        import gymnasium

        maker = self.variants[variant] if variant else self.make
        settings: dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
        try:
            if isinstance(maker, str):
                return gymnasium.make(maker, disable_env_checker=True, **settings)
            return maker(**settings)
        except Exception as error:
            what = f"variant {variant}" if variant else "make"
            raise ValueError(
                f"{self.name}: {what}: the environment could not be made{raised_at(error)}: "
                f"{type(error).__name__}: {error}"
            ) from error

    @property
    def _environments(self) -> "_Environments":
        """The environments of this thread."""
        found: _Environments = self._local.__dict__.setdefault("environments", _Environments())
        return found

    def _environment(self, variant: str) -> Any:
        """Return this thread's environment of a variant."""
        known = self._environments.made
        if variant not in known:
            environment = self.environment(variant)
            known[variant] = Remembering(environment) if self.remembers else environment
        return known[variant]

    def close(self) -> None:
        """Close the environments of this thread; new ones are made when needed."""
        self._environments.close()

    def check(self, variant: str = "", *, here: bool = False) -> None:
        """Raise a ValueError for an environment that breaks the rules of `leaps.gym.check`.

        Each variant is checked once, before its first episodes are drawn. here: check in this process. By
        default a worker process is used, so that a crash does no harm.
        """
        with self._memory.lock:
            if variant in self._memory.checked:
                return
            workers = self._workers
            try:
                if workers > 1 and not here:
                    check_in_worker(self, variant, workers)
                else:
                    self.check_here(variant)
            except NotSentError as error:
                self._stay_here(error)
                self.check_here(variant)
            self._memory.checked.add(variant)

    def check_here(self, variant: str) -> None:
        """Check an environment in this process."""
        made = self._environment(variant)
        check_environment(self, variant, made.environment if isinstance(made, Remembering) else made)

    @property
    def _workers(self) -> int:
        """Number of processes for large batches."""
        return 1 if self._memory.stays_here else parallel.threads()

    def _stay_here(self, why: NotSentError) -> None:
        """Run all batches in this process from now on, with a warning."""
        self._memory.stays_here = True
        warnings.warn(
            f"{self.name} can't be sent to worker processes, so it runs in this process only, on one core: "
            f"{why}. To avoid this, put the task into a file and load it as FILE.py:NAME",
            stacklevel=2,
        )

    def changed(self, changes: Sequence[tuple[str, str]]) -> "GymTask":
        """Raise a ValueError: only tasks of Karel have suffixes of the name."""
        found = "".join(sign + value for sign, value in changes)
        raise ValueError(f"{self.name}: {SHARE} and {LIMIT} are for tasks of Karel, found {found}")

    def horizon(self, size: Any = None) -> int:
        if self.steps is not None:
            return self.steps
        spec = getattr(self._environment(self.check_size(size)), "spec", None)
        if spec is None or spec.max_episode_steps is None:
            raise ValueError(
                f"{self.name}: the environment has no limit of steps per episode; expected `steps`"
            )
        return int(spec.max_episode_steps)

    def worlds(self, count: int, seed: int, size: Any = None, *, first: int = 0) -> Seeds:
        """Draw seeds. Seed `i` depends only on the given seed and `first + i`."""
        variant = self.check_size(size)
        self.check(variant, here=count == 1)  # for one episode, starting workers takes too long
        return draw_seeds(count, seed, variant, first)

    def states(self, size: Any = None) -> States | None:  # noqa: ARG002
        """Return None: an environment doesn't list its initial states."""
        return None

    def compile(self, programs: Programs) -> Compiled:
        return self.domain.compile(programs)

    def run(
        self,
        compiled: Compiled,
        episodes: Seeds,
        *,
        horizon: int | None = None,
        needed: NDArray[np.float64] | None = None,
        want_actions: bool = False,
        want_used: bool = False,
        grain: int = WORTH_SHARING,  # noqa: ARG002
    ) -> Rollouts:
        """Run every program from every initial state, on all cores; see `leaps.domain.Task`."""
        if (compiled.entry < 0).any():
            raise ValueError(f"row {int((compiled.entry < 0).argmax())} of the batch is not a program")
        limit = self.horizon(episodes.size) if horizon is None else horizon
        asked = Asked(episodes, limit, needed, want_actions, want_used)
        if self._workers == 1 or compiled.count * episodes.count < WORTH_SHARING:
            played = self.play_here(compiled, asked)
        else:
            try:
                played = play_shared(self, compiled, asked, self._workers)
            except NotSentError as error:
                self._stay_here(error)
                played = self.play_here(compiled, asked)
        return Rollouts(
            played.outcome,
            played.steps,
            played.returns,
            played.actions if want_actions else None,
            used=played.used if want_used else None,
            tried=None if needed is None else played.tried,
        )

    def play_here(self, compiled: Compiled, asked: Asked) -> Played:
        """Run a batch in this process."""
        variant = asked.episodes.size
        environment = self._environment(variant)
        if self.remembers:  # which caches resets, too
            return play_all(GymScene(self, environment), compiled, asked)
        resets = self._environments.resets.setdefault(variant, Resets(environment))
        return play_all(GymScene(self, environment, resets), compiled, asked)

    def course(self, program: Program, episodes: Seeds, *, horizon: int | None = None) -> Course:
        """Run a program from the first of these seeds, one action at a time, in a separate environment."""
        limit = self.horizon(episodes.size) if horizon is None else horizon
        environment = self._shown(episodes.size)
        scene = GymScene(self, environment)
        weakref.finalize(scene, environment.close)
        scene.begin(int(episodes.seeds[0]))
        return Course(program, scene, self.domain.language.actions, limit, repeats=self.repeats)

    def _shown(self, variant: str) -> Any:
        """Make an environment that renders pictures, if it can."""
        modes = getattr(self._environment(variant), "metadata", {}).get("render_modes", ())
        return self.environment(variant, "rgb_array" if "rgb_array" in modes else None)

    def film(self, compiled: Compiled, episodes: Seeds, file: Path) -> None:
        """Save the first program's rollout from the first initial state as a GIF."""
        save_film(self, compiled, episodes, file)


class _Environments:
    """Environments by variant, closed on garbage collection or at the end of the process."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}
        self.resets: dict[str, Resets] = {}
        weakref.finalize(self, _close, self.made)

    def close(self) -> None:
        self.resets.clear()
        _close(self.made)


def _close(environments: dict[str, Any]) -> None:
    while environments:
        _, environment = environments.popitem()
        with suppress(Exception):  # an error here affects no result
            environment.close()


class _Memory:
    """State of a task in this process: checked variants, and whether workers can be used."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.checked: set[str] = set()
        """variants whose environment passed the check"""
        self.stays_here = False
        """whether the task can't be sent to other processes"""
