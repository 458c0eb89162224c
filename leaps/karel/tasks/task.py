"""Tasks in Karel's world: initial states, reactions to actions, and values of states.

A task is written as plain Python functions on a `World`. They can be read, stepped through, and run by the
interpreter without compilation. For the executor they are compiled at first use to functions of a fixed type,
which it calls through pointers. So a user-defined task is nearly as fast as a built-in one, and the world's
code is independent of tasks.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from numbers import Real
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from leaps.base.jit import address_of, function_at, is_ours, jit
from leaps.base.parallel import run_sliced
from leaps.base.randomness import Stream, scramble, seed_stream
from leaps.compiled.checks import (
    check_draws,
    check_name,
    check_seed,
    check_weights,
    read_number,
    whole_number,
)
from leaps.compiled.engine import GRAIN, LONGEST
from leaps.compiled.kernels import Hooks
from leaps.domain import LIMIT, SHARE, Domain, Programs, Rollouts, States, size_text
from leaps.dsl.compiler import Compiled, check_calls
from leaps.dsl.interpreter import Course
from leaps.dsl.syntax import Program
from leaps.dsl.text import parse
from leaps.karel.executor import run
from leaps.karel.physics import EVENTS, REACT_TYPE, VALUE_TYPE
from leaps.karel.tasks.flaws import SOUND, find_flaw, flaw_of, guarded_reaction, guarded_value
from leaps.karel.tasks.scene import KarelScene
from leaps.karel.world import KAREL, LANGUAGE, WORLD_TYPE, World, Worlds, world_at

STREAM_TYPE = types.Array(types.uint64, 1, "C")
SAMPLE_TYPE = types.void(STREAM_TYPE, WORLD_TYPE)
CONFIGURATION_TYPE = types.int64(WORLD_TYPE)
sample_at, configuration_at = function_at(SAMPLE_TYPE), function_at(CONFIGURATION_TYPE)

LARGEST = 1000
"""maximum number of cells along a side of a world"""
CALLS = "calls"
"""suffix of a limit of calls in a task's name"""
COST = "cost"
"""follows LIMIT in the name of a task with PUBLISHED_COST"""
PUBLISHED_COST = 0.0001
"""cost per action in the published returns of KAREL-LONG"""
SMALLEST_SHARE = 0.01
"""smallest share of a task's configurations; smaller shares take ever longer to draw from"""
MOST_DRAWS = 1_000_000
"""maximum number of draws until a world has a seen configuration. With equally likely configurations, the
smallest share takes a hundred draws on average"""
LONG = 10_000
"""actions of a rollout in KAREL-LONG, whose authors allow 1,000 calls of programs with several actions"""
BEST = 1.0 + 1e-9
"""maximum value of a state, with a tolerance for rounding errors"""
CHECKED_DRAWS = 16
"""number of drawn worlds that the listing of a user-defined task must contain"""
BROKEN_HINT = " (or `value` or `react` failed, or left a world that can't be played in)"
REHEARSAL = "DEF run m( REPEAT R=4 r( move putMarker pickMarker turnLeft r) m)"
"""program that takes different actions"""
REHEARSED = 100
"""maximum number of actions of a rehearsal: enough for its program, regardless of the task's own limit"""


def nothing_more(stream: Stream, world: World) -> None:
    """Set up nothing: the default for `KarelTask.begin`."""


def never(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    """React to nothing: the default for `KarelTask.react`."""
    return False


def configuration_zero(world: World) -> int:  # noqa: ARG001
    """Return 0: the default for `KarelTask.configuration`, for tasks without a split."""
    return 0


def nothing_against(world: World) -> str | None:  # noqa: ARG001
    """Accept any world: the default for `KarelTask.obstacle`."""
    return None


class Sampler(NamedTuple):
    """Native functions that draw a task's initial states, as addresses."""

    sample: int
    begin: int
    configuration: int
    checked: bool
    """whether to check each world drawn: True for user-defined tasks, since built-in tasks are tested"""


@dataclass(frozen=True)
class KarelTask:
    """A task in Karel's world, made of plain functions; `docs/tasks.md` shows how to write one.

    The functions are not called in the order of the fields:

    - For a drawn world: `sample`, then `begin`. If `seen_share` is below 1, `configuration` comes in between,
      and `sample` is repeated until the configuration is seen.
    - For listed worlds: `listing`, then `configuration` if needed, then `begin`.
    - For a world drawn by hand: `obstacle`, then `begin`.
    - In a rollout: `react` after each action whose change is in `events`, and `value` at the end.
      Environments and traces also call `value` between actions.
    """

    name: str
    summary: str
    """goal of the task, in one sentence"""
    size: tuple[int, int]
    """default height and width, with the border wall"""
    smallest: tuple[int, int]
    """smallest possible height and width, with the border wall"""
    sample: Callable[[Stream, World], None]
    """draw an initial state into a world of any legal size"""
    value: Callable[[World, World], float]
    """(world, initial world) → value of the state; the return is the value at the end, minus `cost` for every
    action"""
    begin: Callable[[Stream, World], None] = nothing_more
    """set up the hidden state (exits, memory) from the visible one, so that worlds drawn by hand work, too"""
    react: Callable[[World, int, int, int], bool] = never
    """after an action: (world, change, row and column before the action) → whether the rollout ends"""
    events: int = 0
    """changes to react to: the sum of some of MOVED, PICKED, PUT, FAILED, TURNED"""
    memory: int = 0
    """number of integers in the world's memory"""
    resizable: bool = True
    """whether worlds of other sizes than `size` are possible"""
    actions: int | None = None
    """maximum number of actions of a rollout; ten times the cells of the grid by default"""
    calls: int | None = None
    """limit of calls in a program's run, instead of a limit of actions; see `leaps.dsl.interpreter.Calls`"""
    configuration: Callable[[World], int] = configuration_zero
    """return the number of an initial configuration (0 to 2^configuration_bits − 1), for `seen`"""
    configuration_bits: Callable[[tuple[int, int]], int] | None = None
    """size → number of bits of a configuration; None if the task has no configurations to split"""
    seen_share: float = 1.0
    """share of the configurations that `worlds` draws from"""
    cost: float = 0.0
    """subtracted from the return for every action; see `with_cost`"""
    variant_of: str | None = None
    """name of the task that this one is a variant of, with other initial states, rules, limits or costs"""
    listing: Callable[[tuple[int, int]], States | None] | None = None
    """list the initial states of a size with their probabilities under `sample`, before `begin`; None if
    there are too many. With a listing, `begin` must not draw random numbers"""
    obstacle: Callable[[World], str | None] = nothing_against
    """the reason why a world drawn by hand can't be played, if any: "needs …, found …\""""

    def __post_init__(self) -> None:
        check_name(self.name)
        for field in ("size", "smallest"):
            size = getattr(self, field)
            if len(size) != 2 or not all(3 <= side <= LARGEST for side in size):
                raise ValueError(
                    f"{self.name}: {field} must be a height and a width from 3 (with the border wall) "
                    f"to {LARGEST}, found {size}"
                )
            object.__setattr__(self, field, (int(size[0]), int(size[1])))
        if self.size[0] < self.smallest[0] or self.size[1] < self.smallest[1]:
            raise ValueError(
                f"{self.name}: size must be at least smallest, {size_text(self.smallest)}, "
                f"found {size_text(self.size)}"
            )
        if self.memory < 0:
            raise ValueError(f"{self.name}: memory must be 0 or more, found {self.memory}")
        if not 0 <= self.events <= EVENTS:
            raise ValueError(
                f"{self.name}: events must be of MOVED, PICKED, PUT, FAILED and TURNED, found {self.events}"
            )
        if not SMALLEST_SHARE <= self.seen_share <= 1:
            raise ValueError(
                f"{self.name}: the share of seen configurations must be from {SMALLEST_SHARE} to 1, "
                f"found {self.seen_share}"
            )
        if self.actions is not None and not (
            isinstance(self.actions, int | np.integer) and 1 <= self.actions <= LONGEST
        ):
            raise ValueError(f"{self.name}: actions must be from 1 to {LONGEST:,}, found {self.actions}")
        if self.calls is not None:
            try:
                check_calls(self.calls)
            except ValueError as error:
                raise ValueError(f"{self.name}: {error}") from None
            if self.actions is not None:
                raise ValueError(f"{self.name}: expected a limit of actions or of calls, found both")
        if not 0 <= self.cost < np.inf:
            raise ValueError(f"{self.name}: cost must be a finite number of 0 or more, found {self.cost}")
        for function in (*self._functions, *([self.listing] if self.listing else [])):
            if not isinstance(function, FunctionType):
                raise ValueError(
                    f"{self.name}: expected plain Python functions, which are compiled at first use; "
                    f"found {function!r}"
                )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out addresses of compiled functions, which mean nothing in another process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def _functions(self) -> list[Callable[..., Any]]:
        """Functions of the task that are compiled."""
        return [self.sample, self.value, self.begin, self.react, self.configuration]

    @property
    def ships(self) -> bool:
        """Whether all functions of the task are built in, and so need no checks."""
        return all(map(is_ours, self._functions))

    def horizon(self, size: tuple[int, int] | None = None) -> int:
        """Maximum number of actions of a rollout; by default ten times the cells of the grid."""
        if self.actions is not None:
            return self.actions
        if self.calls is not None:  # each action is a call
            return self.calls
        height, width = size or self.size
        return 10 * height * width

    def check_size(self, size: tuple[int, int] | None) -> tuple[int, int]:
        """Return the size to use, the default for None; ValueError if the size is not possible."""
        if size is None:
            return self.size
        if isinstance(size, str) or len(size) != 2:
            raise ValueError(
                f"{self.name}: expected height and width, such as 8x8 on the command line or (8, 8) in "
                f"Python, found {size!r}"
            )
        height, width = size
        if not self.resizable and (height, width) != self.size:
            raise ValueError(
                f"{self.name} has a fixed size of {size_text(self.size)}; found {size_text(size)}"
            )
        if height < self.smallest[0] or width < self.smallest[1]:
            raise ValueError(
                f"{self.name} needs at least {size_text(self.smallest)} cells "
                f"(with the border wall), found {size_text(size)}"
            )
        if max(size) > LARGEST:
            raise ValueError(f"a world must have at most {LARGEST} cells a side, found {size_text(size)}")
        return height, width

    @property
    def domain(self) -> Domain:
        return KAREL

    @property
    def best(self) -> float:
        """The return that counts as solved."""
        return 1.0

    @property
    def highest(self) -> float:
        """Highest possible return of an episode."""
        return 1.0

    @property
    def checked(self) -> int:
        return 1000

    def compile(self, programs: Programs) -> Compiled:
        """Compile programs for this task, with its limit of calls if it has one."""
        return KAREL.compile(programs, calls=self.calls)

    def run(
        self,
        compiled: Compiled,
        episodes: Worlds,
        *,
        horizon: int | None = None,
        needed: NDArray[np.float64] | None = None,
        want_actions: bool = False,
        want_used: bool = False,
        grain: int = GRAIN,
    ) -> Rollouts:
        """Run every program in every world; see `leaps.domain.Task`. horizon: replaces the task's own."""
        if compiled.limit != (self.calls or 0):
            raise ValueError(
                f"{self.name}: expected programs compiled with calls={self.calls}, "
                f"found {compiled.limit or None}"
            )
        rollouts = run(
            compiled,
            episodes,
            self.horizon(episodes.size) if horizon is None else horizon,
            self.hooks,
            needed=needed,
            want_actions=want_actions,
            want_used=want_used,
            grain=grain,
        )
        assert rollouts.returns is not None
        self.check_values(rollouts.returns)
        return rollouts

    def film(self, compiled: Compiled, episodes: Worlds, file: Path) -> None:
        """Save the first program's rollout in the first world as a GIF."""
        from leaps.karel.draw import frames_of_program, save_gif

        horizon = self.horizon(episodes.size)
        save_gif(frames_of_program(episodes.world(0), compiled, horizon, self.hooks), file)

    def check_values(self, values: NDArray[np.float64]) -> None:
        """Raise a ValueError for values that are above 1 or not finite."""
        if not values.size or (values.min() > -np.inf and values.max() <= BEST):  # NaN would be in both
            return
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            hint = "" if self.ships else BROKEN_HINT
            raise ValueError(f"{self.name}: a state's value must be a finite number, found {wrong}{hint}")
        raise ValueError(
            f"{self.name}: a state's value must be at most 1, which is perfect; found {values.max()}"
        )

    def changed(self, changes: Sequence[tuple[str, str]]) -> "KarelTask":
        """Apply the changes after a task's name, as in `top-off@0.25~100~cost`; see `leaps.tasks.get`."""
        symbols = [symbol + COST if value == COST else symbol for symbol, value in changes]
        if len(set(symbols)) < len(symbols):
            found = self.name + "".join(symbol + value for symbol, value in changes)
            raise ValueError(
                f"expected {SHARE}, a limit after {LIMIT}, and {LIMIT}{COST} once each at most, "
                f"found {found!r}"
            )
        task = self
        for symbol, value in changes:
            if symbol == SHARE:
                task = task.seen(read_number(value, float, "share of configurations", symbol))
            elif value == COST:
                task = task.with_cost()
            elif value.endswith(CALLS):
                task = task.within_calls(read_number(value, _whole_calls, "number of calls", symbol))
            else:
                what = f"number of actions, a number of calls such as 220{CALLS}, or {COST!r}"
                task = task.within(read_number(value, whole_number, what, symbol))
        return task

    def fitting(self, words: Iterable[str]) -> "KarelTask":  # noqa: ARG002
        """Return the task itself, since Karel's language is fixed."""
        return self

    def refined(self, programs: NDArray[np.uint8], generator: np.random.Generator) -> None:
        """Return None, since Karel's language is fixed."""

    def seen(self, fraction: float) -> "KarelTask":
        """Return the task restricted to a fixed share of its initial configurations.

        For the paper's appendix "Generalization to Unseen Configurations": search on the restricted task, and
        test on the full one.
        """
        if self.configuration_bits is None:
            raise ValueError(f"{self.name} has no configurations to split; top-off and harvester-subsets do")
        return replace(
            self,
            name=f"{self.name}{SHARE}{fraction:g}",
            seen_share=fraction,
            variant_of=self.variant_of or self.name,
        )

    def within(self, actions: int) -> "KarelTask":
        """Return the task with a limit of actions per rollout."""
        return replace(
            self,
            name=f"{self.name}{LIMIT}{actions}",
            actions=actions,
            calls=None,
            variant_of=self.variant_of or self.name,
        )

    def within_calls(self, calls: int) -> "KarelTask":
        """Return the task with a limit of calls in a program's run, instead of a limit of actions.

        The paper authors' interpreter stops after 220 calls; see `leaps.dsl.interpreter.Calls`.
        """
        return replace(
            self,
            name=f"{self.name}{LIMIT}{calls}{CALLS}",
            actions=None,
            calls=calls,
            variant_of=self.variant_of or self.name,
        )

    def with_cost(self) -> "KarelTask":
        """Return the task with 0.0001 subtracted from the return for every action.

        The published returns of KAREL-LONG have this cost. Every rollout with an action then returns less
        than 1, so no program is perfect, and no search ends as solved.
        """
        if self.cost:
            raise ValueError(f"{self.name}: expected a task without a cost per action, found {self.cost:g}")
        return replace(
            self,
            name=f"{self.name}{LIMIT}{COST}",
            cost=PUBLISHED_COST,
            variant_of=self.variant_of or self.name,
        )

    def return_after(self, world: World, start: World, actions: int) -> float:
        """Compute the return of a rollout that ends in this world after this number of actions."""
        return float(self.value(world, start) - self.cost * actions)

    def check_policies(self) -> None:
        """Raise a ValueError if the task limits calls, which policies and environments do not make."""
        if self.calls is not None:
            raise ValueError(
                f"{self.name}: the limit of calls is for programs; for policies and environments, limit the "
                f"actions, as in {LIMIT}100"
            )

    @cached_property
    def hooks(self) -> Hooks:
        """Compiled `react` and `value`, in the form for the executor."""
        rehearse(self)
        react, value = address_of(self.react, REACT_TYPE), address_of(self.value, VALUE_TYPE)
        if not self.ships:
            react = address_of(guarded_reaction(self.react), REACT_TYPE)
            value = address_of(guarded_value(self.value), VALUE_TYPE)
        return Hooks(self.events, react, value, float(self.cost))

    @cached_property
    def sampler(self) -> Sampler:
        """Compiled `sample`, `begin` and `configuration`, in the form for compiled code."""
        rehearse(self)
        return Sampler(
            address_of(self.sample, SAMPLE_TYPE),
            address_of(self.begin, SAMPLE_TYPE),
            address_of(self.configuration, CONFIGURATION_TYPE),
            not self.ships,
        )

    def worlds(self, count: int, seed: int, size: tuple[int, int] | None = None, *, first: int = 0) -> Worlds:
        """Draw initial states. World `i` depends on the seed and on `first + i` alone."""
        check_seed(seed)
        check_draws(count, first)
        size = self.check_size(size)
        worlds = Worlds.empty(count, size, self.memory)
        sampler = self.sampler
        bits = self.configuration_bits(size) if self.configuration_bits else 0

        def draw(start: int, stop: int) -> None:
            _draw_range(sampler, worlds, seed, first, bits, self.seen_share, start, stop)

        try:
            run_sliced(draw, count, grain=64)
        except ValueError:
            for index in range(count):  # draw one by one to find the invalid world
                try:
                    draw(index, index + 1)
                except ValueError as error:
                    flaw = flaw_of(worlds.world(index)) or str(error)
                    which = f"world {first + index} of seed {seed}, {size_text(size)}"
                    raise ValueError(f"{self.name}: {which}: {flaw}") from None
            raise
        return worlds

    def states(self, size: tuple[int, int] | None = None) -> States | None:
        """List the initial states of a size with their probabilities; None if they can't be listed."""
        size = self.check_size(size)
        listed = None if self.listing is None else self.listing(size)
        if listed is None:
            return None
        worlds = listed.worlds._replace(memory=np.zeros((listed.worlds.count, self.memory), np.int64))
        checked = not (self.ships and self.listing is not None and is_ours(self.listing))
        if checked:
            _check_listed(self, worlds, listed.weights, size)
        bits = self.configuration_bits(size) if self.configuration_bits else 0
        seen = np.empty(worlds.count, np.bool_)
        _begin_all(self.sampler, worlds, bits, self.seen_share, seen)
        if checked:
            _check_worlds(self, worlds)
            _check_covers(self, worlds)
        weights = np.asarray(listed.weights, np.float64)
        if not seen.all():
            worlds, weights = worlds.take(np.flatnonzero(seen)), weights[seen]
        return States(worlds, weights / weights.sum()) if len(weights) else None

    def course(self, program: Program, episodes: Worlds, *, horizon: int | None = None) -> Course:
        """Run a program from the first of these states, one action at a time."""
        limit = self.horizon(episodes.size) if horizon is None else horizon
        return self.play(program, episodes.world(0).clone(), limit)

    def play(self, program: Program, world: World, horizon: int) -> Course:
        """Run a program with the interpreter in a world, which it changes."""
        react = self.react if self.ships else self._checked_reaction
        scene = KarelScene(self, world, react)
        return Course(program, scene, LANGUAGE.actions, horizon, calls=self.calls)

    def _checked_reaction(self, world: World, change: int, row: int, column: int) -> bool:
        over = self.react(world, change, row, column)
        self.check_world(world)
        return over

    def prepare(self, world: World, seed: int = 0) -> World:
        """Return a copy of a world drawn by hand with the task's exits and memory set up."""
        check_seed(seed)
        self.check_world(world)
        if obstacle := self.obstacle(world):
            raise ValueError(f"{self.name} {obstacle}")
        playable = World(
            world.ground.copy(), world.markers.copy(), world.pose.copy(), np.zeros(self.memory, np.int64)
        )
        stream = np.zeros(1, np.uint64)
        seed_stream(stream, seed, 0)
        self.begin(stream, playable)
        self.check_world(playable)
        return playable

    def check_world(self, world: World) -> None:
        """Raise a ValueError if a world is invalid."""
        if flaw := flaw_of(world):
            raise ValueError(f"{self.name}: {flaw}")


@cache
def rehearse(task: KarelTask) -> None:
    """Play in one world of a user-defined task in plain Python, so that errors are raised.

    Compiled functions can't pass exceptions on to their caller.
    """
    if task.ships:
        return
    stream = np.zeros(1, np.uint64)
    seed_stream(stream, 0, 0)
    world = Worlds.empty(1, task.size, task.memory).world(0)
    task.sample(stream, world)
    task.check_world(world)
    task.configuration(world)
    task.begin(stream, world)
    task.check_world(world)
    start = world.clone()
    _check_value(task, world, start)
    for _ in replace(task, calls=None).play(parse(REHEARSAL, LANGUAGE), world, REHEARSED):
        task.check_world(world)
        _check_value(task, world, start)


def _check_value(task: KarelTask, world: World, start: World) -> None:
    value = task.value(world, start)
    if not isinstance(value, Real | np.bool_):
        raise ValueError(f"{task.name}: a state's value must be a finite number, found {value!r}")


def _check_listed(
    task: KarelTask, worlds: Worlds, weights: NDArray[np.float64], size: tuple[int, int]
) -> None:
    """Check the shape, the probabilities and the worlds of a user-defined listing."""
    if worlds.size != size or np.shape(weights) != (worlds.count,):
        raise ValueError(
            f"{task.name}: listing: expected worlds of {size_text(size)} and a probability for each, found "
            f"{worlds.count} of {size_text(worlds.size)} and probabilities {list(np.shape(weights))}"
        )
    check_weights(task.name, weights)
    _check_worlds(task, worlds)


def _check_covers(task: KarelTask, worlds: Worlds) -> None:
    """Check that drawn worlds are in the listing; it may not match `sample`, or `begin` may be random."""
    drawn = task.worlds(CHECKED_DRAWS, 0, worlds.size)
    for world in map(drawn.world, range(drawn.count)):
        alike = worlds.take(np.flatnonzero((worlds.pose == world.pose).all(axis=1)))
        same = (alike.memory == world.memory).all(axis=1)
        same &= (alike.markers == world.markers).all(axis=(1, 2)) & (alike.ground == world.ground).all(
            axis=(1, 2)
        )
        if not same.any():
            raise ValueError(
                f"{task.name}: listing: expected every world that the task draws, but this one is missing; "
                f"list it, or leave the listing out:\n{world}"
            )


def _check_worlds(task: KarelTask, worlds: Worlds) -> None:
    for index in range(worlds.count):
        try:
            task.check_world(worlds.world(index))
        except ValueError as error:
            raise ValueError(f"{error} (world {index} of the listing)") from None


@jit
def is_seen(configuration: int, bits: int, fraction: float) -> bool:
    """Check whether a number from 0 to 2^bits − 1 is seen: exactly this fraction is, the same for all seeds.

    The numbers are permuted by a few rounds of one-to-one steps (multiply by an odd number, fold the high
    bits down), and the first ones are taken.
    """
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    half = np.uint64((bits + 1) // 2)
    x = np.uint64(configuration)
    for round_number in range(4):
        x = (x * (scramble(np.uint64(round_number)) | np.uint64(1)) + np.uint64(round_number)) & mask
        x ^= x >> half
    return float(x) < fraction * 2.0**bits


@jit
def draw_world(sampler: Sampler, stream: Stream, world: World, bits: int, seen_share: float) -> None:
    """Draw one initial state, among the seen configurations."""
    sample, configuration = sample_at(sampler.sample), configuration_at(sampler.configuration)
    for _ in range(MOST_DRAWS):
        sample(stream, world)
        if sampler.checked and find_flaw(world)[0] != SOUND:  # before `begin`, which may use it as an index
            raise ValueError("the task drew a world that can't be played")
        if seen_share >= 1.0 or is_seen(configuration(world), bits, seen_share):
            break
    else:
        raise ValueError("the task drew none of its seen configurations in a million draws")
    sample_at(sampler.begin)(stream, world)
    if sampler.checked and find_flaw(world)[0] != SOUND:
        raise ValueError("the task's begin made a world that can't be played")


@jit
def _draw_range(
    sampler: Sampler,
    worlds: Worlds,
    seed: int,
    first: int,
    bits: int,
    seen_share: float,
    start: int,
    stop: int,
) -> None:
    stream = np.zeros(1, np.uint64)
    for index in range(start, stop):
        seed_stream(stream, seed, first + index)
        draw_world(sampler, stream, world_at(worlds, index), bits, seen_share)


@jit
def _begin_all(
    sampler: Sampler, worlds: Worlds, bits: int, seen_share: float, seen: NDArray[np.bool_]
) -> None:
    """Call `begin` in every world, and record which configurations are seen."""
    begin, configuration = sample_at(sampler.begin), configuration_at(sampler.configuration)
    stream = np.zeros(1, np.uint64)
    for index in range(len(worlds.pose)):
        world = world_at(worlds, index)
        seen[index] = seen_share >= 1.0 or is_seen(configuration(world), bits, seen_share)
        begin(stream, world)


def _whole_calls(text: str) -> int:
    return whole_number(text.removesuffix(CALLS))
