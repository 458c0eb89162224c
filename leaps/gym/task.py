"""A Gymnasium environment as a task: names for its actions, and functions that say what is perceived.

The environment is stepped as it is. The same seed and the same actions have to lead to the same episode,
which Gymnasium asks of every environment that is reset with a seed.
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
from leaps.gym.workers import NotSentError, check_elsewhere, play_shared

WORTH_SHARING = 32
"""episodes from which on a batch is handed to other processes"""

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
    """names of the actions, and what the environment takes for each"""
    perceptions: Mapping[str, Perception | Number]
    """names of what is perceived, and functions of the observation that return True or False; or
    `leaps.number` of one that returns a number, which programs compare with constants: `angle>0.05`"""
    opposites: Mapping[str, str] = field(default_factory=dict)
    """more perceptions, each the opposite of one of these"""
    variants: Mapping[str, Maker] = field(default_factory=dict)
    """other environments with the same actions and observations, by what they are called: other sizes, say"""
    best: float = np.inf
    """the return that counts as solved, if there is one"""
    steps: int | None = None
    """actions that an episode may take; the environment's own limit if not given"""
    highest: float = np.inf
    """what an episode can be worth at most, if that is known: a search then gives up sooner on programs that
    can't catch up with a good one"""
    value: Callable[[Episode], float] | None = None
    """what an episode is worth; the sum of its rewards if not given"""
    variant_of: str | None = None
    checked: int = 100
    """fresh episodes that a good program is checked on at a time"""
    key: Callable[[Any], Hashable] | None = None
    """a name for the state of an environment (`env.unwrapped`), the same only if all that can follow is; runs
    that come back to a state are then cut short, with the same result"""
    repeats: bool = False
    """whether a program that has come to its end starts over, until the episode is over; else the episode is
    worth what was earned until then"""
    remembers: bool = False
    """whether steps that were taken before are remembered instead of played again: worth it for an
    environment that takes 0.1 ms or more for a step"""
    seconds: float = 60.0
    """that a step or a reset of the environment may take; one that takes longer is an error"""
    constants: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """what numbers are compared with at first, by the number's name; if not given, quantiles of what is seen
    in rollouts with random actions"""
    _local: threading.local = field(default_factory=threading.local, init=False, repr=False)
    """the environments of each thread"""
    _memory: "_Memory" = field(default_factory=lambda: _Memory(), init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or set(self.name) & set("/\\:@~"):
            raise ValueError(f"a task's name is not empty and has none of / \\ : @ ~; found {self.name!r}")
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
            raise ValueError(f"{self.name}: constants: found {unknown[0]!r}, which is no number of the task")
        if empty := [name for name, constants in self.constants.items() if not len(constants)]:
            raise ValueError(f"{self.name}: constants: expected at least one constant of {empty[0]}")
        if not set(self.numbers) <= set(self.constants):
            # Choosing constants takes a while, which a task that is only listed need not.
            self.with_constants(dict.fromkeys(self.numbers, (0.0,)))
            return
        try:
            _ = self.domain
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the environments behind: another process makes its own."""
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
        """What numbers are like in rollouts with random actions."""
        room = (MOST_SENSES - (len(self.perceptions) - len(self.numbers))) // len(self.numbers)
        return {name: scale(values, room) for name, values in sample(self).items()}

    def with_constants(self, constants: Mapping[str, Sequence[float]]) -> "GymTask":
        """The task with other constants; its environments are the same."""
        task = replace(self, constants=constants)
        object.__setattr__(task, "_local", self._local)
        object.__setattr__(task, "_memory", self._memory)
        if "scales" in self.__dict__:
            task.__dict__["scales"] = self.scales
        return task

    def fitting(self, words: Iterable[str]) -> "GymTask":
        """Return the task with the constants of these words; each replaces the nearest that is not wanted."""
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
        """Exchange constants for others around those that programs use; see `leaps.gym.constants`."""
        return exchange(self, programs, generator) if self.numbers else None

    @property
    def privileged(self) -> list[str]:
        """Names of the perceptions that look into the environment."""
        return list(self.domain.privileged)

    def check_size(self, size: Any) -> str:
        """Return the name of the variant to use, or say which there are."""
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
        """Those of this thread."""
        found: _Environments = self._local.__dict__.setdefault("environments", _Environments())
        return found

    def _environment(self, variant: str) -> Any:
        """The environment of this thread."""
        known = self._environments.made
        if variant not in known:
            environment = self.environment(variant)
            known[variant] = Remembering(environment) if self.remembers else environment
        return known[variant]

    def close(self) -> None:
        """Close the environments that this thread has made; it makes others when they are needed."""
        self._environments.close()

    def check(self, variant: str = "", *, here: bool = False) -> None:
        """Refuse an environment in which a program's return would mean nothing; see `leaps.gym.check`.

        Once for each variant, before its first episodes are drawn. here: not in a worker process, where an
        environment that crashes does no harm.
        """
        with self._memory.lock:
            if variant in self._memory.checked:
                return
            workers = self._workers
            try:
                if workers > 1 and not here:
                    check_elsewhere(self, variant, workers)
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
        """Processes that large batches are played in."""
        return 1 if self._memory.stays_here else parallel.threads()

    def _stay_here(self, why: NotSentError) -> None:
        """Play in this process from now on."""
        self._memory.stays_here = True
        warnings.warn(
            f"{self.name} can't be sent to worker processes, and is played in this one only, on one core: "
            f"{why}. A task in a file, as FILE.py:NAME, need not be sent",
            stacklevel=2,
        )

    def changed(self, changes: Sequence[tuple[str, str]]) -> "GymTask":
        """Refuse changes behind the name: they are for tasks of Karel."""
        found = "".join(sign + value for sign, value in changes)
        raise ValueError(f"{self.name}: {SHARE} and {LIMIT} are for tasks of Karel, found {found}")

    def horizon(self, size: Any = None) -> int:
        if self.steps is not None:
            return self.steps
        spec = getattr(self._environment(self.check_size(size)), "spec", None)
        if spec is None or spec.max_episode_steps is None:
            raise ValueError(
                f"{self.name}: the environment says no number of steps after which an episode is over; "
                "expected `steps`"
            )
        return int(spec.max_episode_steps)

    def worlds(self, count: int, seed: int, size: Any = None, *, first: int = 0) -> Seeds:
        """Draw seeds. Seed `i` depends on the seed given and on `first + i` alone."""
        variant = self.check_size(size)
        self.check(variant, here=count == 1)  # not worth the start of workers
        return draw_seeds(count, seed, variant, first)

    def states(self, size: Any = None) -> States | None:  # noqa: ARG002
        """None: an environment doesn't list its initial states."""
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
        """Play a batch in this process."""
        variant = asked.episodes.size
        environment = self._environment(variant)
        if self.remembers:  # resets, too
            return play_all(GymScene(self, environment), compiled, asked)
        resets = self._environments.resets.setdefault(variant, Resets(environment))
        return play_all(GymScene(self, environment, resets), compiled, asked)

    def course(self, program: Program, episodes: Seeds, *, horizon: int | None = None) -> Course:
        """Run a program from the first of these seeds, an action at a time, in an environment of its own."""
        limit = self.horizon(episodes.size) if horizon is None else horizon
        environment = self._shown(episodes.size)
        scene = GymScene(self, environment)
        weakref.finalize(scene, environment.close)
        scene.begin(int(episodes.seeds[0]))
        return Course(program, scene, self.domain.language.actions, limit, repeats=self.repeats)

    def _shown(self, variant: str) -> Any:
        """Make an environment that can be seen, if it has pictures."""
        modes = getattr(self._environment(variant), "metadata", {}).get("render_modes", ())
        return self.environment(variant, "rgb_array" if "rgb_array" in modes else None)

    def film(self, compiled: Compiled, episodes: Seeds, file: Path) -> None:
        """Save the first program's rollout from the first initial state as a GIF."""
        save_film(self, compiled, episodes, file)


class _Environments:
    """Environments by variant, which are closed when nobody needs them any more, or the process ends."""

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
        with suppress(Exception):  # it is of no use any more, and what matters has been done
            environment.close()


class _Memory:
    """What a task has found out in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.checked: set[str] = set()
        """variants whose environment keeps the rules"""
        self.stays_here = False
        """whether other processes can't have the task"""
