"""A task in a domain of worlds of cells and numbers, made from a few functions.

The functions are plain Python. The interpreter, for traces and the studio, calls them as they are; the
executor compiles them. Functions of the package are trusted. A user's functions are tested before the first
run (`leaps.compiled.rehearsal`), and compiled with bounds checks.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.files import write_atomically
from leaps.base.jit import address_of, is_ours, python_of
from leaps.base.user_code import raised_at
from leaps.compiled.checks import (
    check_draws,
    check_name,
    check_seed,
    check_weights,
    read_number,
    whole_number,
)
from leaps.compiled.engine import GRAIN, LONGEST, Engine, check_horizon
from leaps.compiled.functions import engine_of, guarded_reaction, guarded_value, never
from leaps.compiled.kernels import Hooks
from leaps.compiled.plain import ALL_CHANGES, REACT_TYPE, VALUE_TYPE, World, Worlds
from leaps.compiled.rehearsal import find_fault, play, rehearse
from leaps.compiled.scene import CompiledScene
from leaps.compiled.starts import Starts, sound, stacked
from leaps.domain import LIMIT, Domain, Programs, Rollouts, Size, States, size_text
from leaps.dsl.compiler import Compiled
from leaps.dsl.interpreter import Course
from leaps.dsl.language import FEW_SENSES
from leaps.dsl.syntax import Program

if TYPE_CHECKING:
    from PIL.Image import Image

PER_CELL = 10
"""default maximum actions of a rollout per cell of the world"""
ROUNDING = 1e-9
"""tolerance by which a value may exceed `highest`, because of rounding"""
CHECKED_DRAWS = 16
"""drawn worlds that are looked up in the listing of a user's task"""
FRAMES, MILLISECONDS = 400, 120
"""maximum number of frames of a film, and the duration of each"""


@dataclass(frozen=True)
class CompiledTask:
    """One task. `perceive`, `act`, `react`, `is_over` and `value` are compiled, so they may use numbers,
    arrays and loops only. All other functions are called as plain Python.
    """

    name: str
    domain: Domain
    """the language of its programs; `Domain.of` makes one from the names of actions and perceptions"""
    perceive: Callable[[World], Any]
    """return a tuple with a truth value for each sense of the language, or the bits of one number"""
    act: Callable[[World, int], int]
    """do an action, given its index in the language; return the changes as bits, 0 only for no change"""
    sample: Callable[[np.random.Generator, Any], World]
    """draw an initial state of a size: (height, width), or the name of a variant"""
    value: Callable[[World, World], float]
    """(world, initial world) → value of the state; the return is the value at the end, minus `cost` for every
    action"""
    size: Any
    """default height and width, or the name of the default variant"""
    summary: str = ""
    """the goal, in one sentence"""
    smallest: tuple[int, int] | None = None
    """minimum height and width; None if there is one size only"""
    variants: tuple[str, ...] = ()
    """names of variants in place of sizes, including the default"""
    is_over: Callable[[World], bool] | None = None
    """whether a state ends the rollout; called after every change"""
    react: Callable[[World, int], bool] | None = None
    """(world, changes) → whether the rollout is over. Called after the changes in `events` and before
    `is_over`; it may change the world"""
    events: int = ALL_CHANGES
    """change bits after which `react` is called"""
    steps: int | Callable[[Any], int] | None = None
    """maximum actions of a rollout, or a function of the size; None: ten per cell"""
    cost: float = 0.0
    """subtracted from the return for every action"""
    best: float = 1.0
    """the return that counts as solved"""
    highest: float = 1.0
    """maximum value of a state; infinity if unknown"""
    checked: int = 1000
    """number of fresh initial states in one check of a good program"""
    listing: Callable[[Any], Sequence[World] | tuple[Sequence[World], Sequence[float]] | None] | None = None
    """list the initial states of a size: all equally likely, or with their probabilities; None if too many"""
    draw: Callable[[World], str] | None = None
    """draw a world as a few lines of text; default: rows of digits"""
    picture: Callable[[World], "Image"] | None = None
    """draw a world as a picture; default: a picture of its text"""
    variant_of: str | None = None
    """the task that this one is a variant of, with another limit on the length of rollouts"""

    def __post_init__(self) -> None:
        check_name(self.name)
        self._check_functions()
        object.__setattr__(self, "domain", replace(self.domain, compiled=True))
        self._check_sizes()
        if self.steps is None and self.variants:
            raise ValueError(f"{self.name}: expected steps, the actions that a rollout may take")
        if self.steps is not None and not callable(self.steps):
            self._check_steps(self.steps)
        if not isinstance(self.checked, Integral) or self.checked < 1:
            raise ValueError(f"{self.name}: checked must be a whole number from 1, found {self.checked!r}")
        if not isinstance(self.events, Integral) or not 0 <= self.events <= ALL_CHANGES:
            raise ValueError(f"{self.name}: events must be bits of what act returns, found {self.events!r}")
        if not 0 <= self.cost < np.inf:
            raise ValueError(f"{self.name}: cost must be a finite number of 0 or more, found {self.cost}")
        if np.isnan(self.best) or not self.highest > -np.inf:
            raise ValueError(
                f"{self.name}: best and highest must be numbers, found {self.best} and {self.highest}"
            )
        if np.isfinite(self.best) and self.best > self.highest:
            raise ValueError(
                f"{self.name}: highest must be at least best={self.best:g}, found {self.highest:g}"
            )

    def _check_functions(self) -> None:
        for name in ("perceive", "act", "value", "is_over", "react"):
            function = getattr(self, name)
            if function is None and name in ("is_over", "react"):
                continue
            if not hasattr(python_of(function), "__code__"):
                raise ValueError(
                    f"{self.name}: {name}: expected a plain Python function, which is compiled when it is "
                    f"needed; found {function!r}"
                )
        for name in ("sample", "listing", "draw", "picture"):
            function = getattr(self, name)
            if not callable(function) and (function is not None or name == "sample"):
                raise ValueError(f"{self.name}: {name}: expected a function, found {function!r}")
        if not isinstance(self.domain, Domain):
            raise ValueError(f"{self.name}: domain: expected a leaps.domain.Domain, found {self.domain!r}")

    def _check_sizes(self) -> None:
        object.__setattr__(self, "variants", tuple(self.variants))
        if self.variants:
            if self.size not in self.variants:
                raise ValueError(
                    f"{self.name}: size must be one of the variants {', '.join(self.variants)}, "
                    f"found {self.size!r}"
                )
            return
        for name in ("size", "smallest"):
            sides = getattr(self, name)
            if name == "smallest" and sides is None:
                continue
            if not _is_size(sides):
                raise ValueError(f"{self.name}: {name} must be a height and a width from 1, found {sides!r}")
            object.__setattr__(self, name, (int(sides[0]), int(sides[1])))
        if self.smallest is not None and not _fits(self.size, self.smallest):
            raise ValueError(
                f"{self.name}: size must be at least smallest, {size_text(self.smallest)}, "
                f"found {size_text(self.size)}"
            )

    def _check_steps(self, steps: Any) -> int:
        if not isinstance(steps, int | np.integer) or not 1 <= steps <= LONGEST:
            raise ValueError(
                f"{self.name}: steps must be a whole number from 1 to {LONGEST:,}, found {steps!r}"
            )
        return int(steps)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out compiled functions, which are not valid in another process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def ships(self) -> bool:
        """Whether the task's functions come with the package, so that they need no rehearsal."""
        functions = (self.perceive, self.act, self.value, self.is_over, self.react)
        return all(is_ours(python_of(function)) for function in functions if function is not None)

    @property
    def resizable(self) -> bool:
        """Whether there are worlds of other heights and widths."""
        return self.smallest is not None

    @property
    def most(self) -> float:
        """The maximum accepted value."""
        return self.highest + ROUNDING

    def horizon(self, size: Size | None = None) -> int:
        size = self.check_size(size)
        if self.steps is None:
            return PER_CELL * int(size[0]) * int(size[1])
        return self._check_steps(self.steps(size) if callable(self.steps) else self.steps)

    def check_size(self, size: Size | None) -> Size:
        """Return the size or variant to use; ValueError if the task has none like it."""
        if size is None or size == "":
            return self.size
        if self.variants:
            name = size_text(size)  # a variant may be called 8x8, too
            if name not in self.variants:
                raise ValueError(
                    f"{self.name} has no variant {name!r}; expected one of: {', '.join(self.variants)}"
                )
            return name
        if not _is_size(size):
            raise ValueError(
                f"{self.name}: expected height and width, such as 8x8 on the command line or (8, 8) in "
                f"Python, found {size!r}"
            )
        size = int(size[0]), int(size[1])
        if self.smallest is None and size != self.size:
            raise ValueError(
                f"{self.name} has worlds of {size_text(self.size)} only, found {size_text(size)}"
            )
        if self.smallest is not None and not _fits(size, self.smallest):
            raise ValueError(
                f"{self.name} needs at least {size_text(self.smallest)} cells, found {size_text(size)}"
            )
        return size

    def changed(self, changes: Sequence[tuple[str, str]]) -> "CompiledTask":
        """Return a task with the maximum number of actions given after its name, as in `lift~100`."""
        if len(changes) != 1 or changes[0][0] != LIMIT:
            found = "".join(sign + value for sign, value in changes)
            raise ValueError(f"{self.name}: expected one number of actions after {LIMIT}, found {found!r}")
        steps = read_number(changes[0][1], whole_number, "number of actions", LIMIT)
        name = f"{self.name}{LIMIT}{steps}"
        return replace(self, name=name, steps=steps, variant_of=self.variant_of or self.name)

    def fitting(self, words: Iterable[str]) -> "CompiledTask":  # noqa: ARG002
        """Return the task itself: its language has no other words."""
        return self

    def refined(self, programs: NDArray[np.uint8], generator: np.random.Generator) -> None:
        """Return None: its language has no other words."""

    def compile(self, programs: Programs) -> Compiled:
        return self.domain.compile(programs)

    # Initial states

    def worlds(self, count: int, seed: int, size: Size | None = None, *, first: int = 0) -> Starts:
        """Draw initial states. World `i` depends only on the seed and `first + i`."""
        check_seed(seed)
        check_draws(count, first)
        size = self.check_size(size)
        drawn = [self._drawn(seed, number, size) for number in range(first, first + max(count, 1))]
        return stacked(drawn, size, self.name).take(slice(0, count))

    def _drawn(self, seed: int, number: int, size: Size) -> World:
        try:
            world = self.sample(np.random.default_rng([seed, number]), size)
        except Exception as error:
            raise ValueError(
                f"{self.name}: sample{raised_at(error)}: {type(error).__name__}: {error}, in world {number} "
                f"of seed {seed}"
            ) from error
        return sound(world, size, f"{self.name}: sample: world {number} of seed {seed}")

    def states(self, size: Size | None = None) -> States | None:
        """List the initial states of a size with their probabilities; None if they can't be listed."""
        size = self.check_size(size)
        found = None if self.listing is None else self.listing(size)
        if found is None:
            return None
        weighted = isinstance(found, tuple) and len(found) == 2 and not isinstance(found[0], World)
        listed, weights = found if weighted else (found, np.full(len(found), 1 / max(len(found), 1)))
        if not len(listed) or len(listed) != len(weights):
            raise ValueError(
                f"{self.name}: listing: expected worlds and as many probabilities, found {len(listed)} and "
                f"{len(weights)}"
            )
        weights = np.asarray(weights, np.float64)
        check_weights(self.name, weights)
        worlds = [
            sound(world, size, f"{self.name}: listing: world {number}") for number, world in enumerate(listed)
        ]
        starts = stacked(worlds, size, self.name)
        if not self.ships:
            self._check_covers(starts, size)
        return States(starts, weights / weights.sum())

    def _check_covers(self, listed: Starts, size: Size) -> None:
        """Raise a ValueError if a drawn world is missing in the list."""
        known = {world.cells.tobytes() + world.numbers.tobytes() for world in _each(listed)}
        for number, world in enumerate(_each(self.worlds(CHECKED_DRAWS, 0, size))):
            if world.cells.tobytes() + world.numbers.tobytes() not in known:
                raise ValueError(
                    f"{self.name}: listing: expected every world that the task draws, but world {number} of "
                    f"seed 0 is missing; list it, or leave the listing out:\n"
                    f"{CompiledScene(self, world).text()}"
                )

    # Rollouts

    @cached_property
    def engine(self) -> Engine:
        """The loops of the domain, with the task's `perceive`, `act` and `is_over` compiled into them."""
        senses = len(self.domain.language.senses)
        return engine_of(self.perceive, self.act, self.is_over, 1 << senses if senses <= FEW_SENSES else 0)

    @cached_property
    def hooks(self) -> Hooks:
        """The task's `react` and `value` as native functions for the executor."""
        react: Callable[[World, int], int] = never if self.react is None else python_of(self.react)
        value = python_of(self.value)
        if not is_ours(react):
            react = guarded_reaction(react)
        if not is_ours(value):
            value = guarded_value(value)
        events = 0 if self.react is None else int(self.events)
        return Hooks(events, address_of(react, REACT_TYPE), address_of(value, VALUE_TYPE), float(self.cost))

    @cached_property
    def rehearsed(self) -> bool:
        """True once the task may be run; the first access rehearses a user's task."""
        if not self.ships:
            rehearse(self)
        return True

    def run(
        self,
        compiled: Compiled,
        episodes: Starts,
        *,
        horizon: int | None = None,
        needed: NDArray[np.float64] | None = None,
        want_actions: bool = False,
        want_used: bool = False,
        grain: int = GRAIN,
    ) -> Rollouts:
        """Run every program in every world; see `leaps.domain.Task`. horizon: overrides the task's own."""
        limit = self.horizon(episodes.size) if horizon is None else horizon
        check_horizon(limit)
        assert self.rehearsed
        try:
            rollouts = self.engine.run(
                compiled,
                episodes.worlds,
                limit,
                self.hooks,
                needed=needed,
                want_actions=want_actions,
                want_used=want_used,
                grain=grain,
            )
        except Exception:  # from a user's function or from the engine's checks
            if not self.ships and not (compiled.entry < 0).any():
                find_fault(self, compiled, episodes.worlds, limit)
            raise
        assert rollouts.returns is not None
        self._check_returns(rollouts.returns, compiled, episodes.worlds, limit)
        return rollouts

    def _check_returns(
        self, returns: NDArray[np.float64], compiled: Compiled, worlds: Worlds, horizon: int
    ) -> None:
        """Raise a ValueError for returns that are not finite or exceed `highest`."""
        lowest, highest = returns.min(initial=0), returns.max(initial=-np.inf)
        if lowest > -np.inf and highest <= self.most and highest < np.inf:  # False for NaN
            return
        wrong = ~np.isfinite(returns) | (returns > self.most)
        program, number = np.argwhere(wrong)[0].tolist()
        scene, _ = play(self, compiled, program, worlds, number, horizon)
        scene.worth()  # which raises an error, unless compiled code fails where plain Python does not
        raise ValueError(
            f"{self.name}: expected finite returns of at most highest={self.highest:g}, found "
            f"{returns[program, number]:g}"
        )

    def course(self, program: Program, episodes: Starts, *, horizon: int | None = None) -> Course:
        """Run a program from the first of these states, one action at a time."""
        limit = self.horizon(episodes.size) if horizon is None else horizon
        return Course(program, CompiledScene(self, episodes.world(0)), self.domain.language.actions, limit)

    def film(self, compiled: Compiled, episodes: Starts, file: Path) -> None:
        """Save the first program's rollout from the first initial state as a GIF."""
        frames = self._frames(compiled, episodes)
        film = io.BytesIO()
        frames[0].save(film, "GIF", save_all=True, append_images=frames[1:], duration=MILLISECONDS, loop=0)
        write_atomically(file, film.getvalue())

    def _frames(self, compiled: Compiled, episodes: Starts) -> "list[Image]":
        """Draw each state of a rollout; of a long rollout, FRAMES states at equal intervals."""
        first = compiled.take(np.array([0]))
        start = episodes.take(slice(0, 1))
        rollouts = self.run(first, start, want_actions=True)
        assert rollouts.actions is not None
        taken = int(rollouts.steps[0, 0])
        states = self.engine.replay(start.worlds, rollouts.actions[0, :, :taken], self.hooks)
        shown = np.unique(np.linspace(0, taken, min(taken + 1, FRAMES)).round().astype(int))
        return [CompiledScene(self, states.world(step)).image().convert("RGB") for step in shown.tolist()]


def _each(starts: Starts) -> Iterable[World]:
    return map(starts.world, range(starts.count))


def _is_size(size: Any) -> bool:
    if isinstance(size, str) or not isinstance(size, list | tuple) or len(size) != 2:
        return False
    return all(isinstance(side, int | np.integer) and side >= 1 for side in size)


def _fits(size: tuple[int, int], smallest: tuple[int, int]) -> bool:
    return size[0] >= smallest[0] and size[1] >= smallest[1]
