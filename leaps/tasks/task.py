"""What a task is: where Karel starts, what happens after an action, what a state is worth.

A task is written as plain Python functions on a `World`: they can be read, stepped through, and run by the
interpreter as they are. For the executor they are compiled, when first needed, to functions of one fixed
type that it calls through pointers. So a task of one's own is as fast as those that ship, and the world
knows no task.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import types

from leaps.jit import address_of, function_at, jit
from leaps.karel.executor import REACT_TYPE, VALUE_TYPE, Hooks
from leaps.karel.world import WORLD_TYPE, World, Worlds, world_at
from leaps.parallel import share
from leaps.randomness import Stream, scramble, seed_stream

STREAM_TYPE = types.Array(types.uint64, 1, "C")
SAMPLE_TYPE = types.void(STREAM_TYPE, WORLD_TYPE)
CONFIGURATION_TYPE = types.int64(WORLD_TYPE)
sample_at, configuration_at = function_at(SAMPLE_TYPE), function_at(CONFIGURATION_TYPE)

LARGEST = 1000
"""cells along a side that a world may have"""
SHARE = "@"
"""stands between a task's name and the share of its configurations that are seen"""


def nothing_more(stream: Stream, world: World) -> None:
    """Begin a task that has nothing to set up."""


def never(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    """React to nothing."""
    return False


def configuration_zero(world: World) -> int:  # noqa: ARG001
    """Number the configurations of a task that isn't split."""
    return 0


class Sampler(NamedTuple):
    """How a task draws initial states: addresses of native functions."""

    sample: int
    begin: int
    configuration: int


@dataclass(frozen=True)
class Task:
    """One task. The functions are called in the order of the fields."""

    name: str
    summary: str
    """what Karel has to do, in a sentence"""
    size: tuple[int, int]
    """height and width by default, with the border wall"""
    smallest: tuple[int, int]
    """the least height and width for which the task makes sense"""
    sample: Callable[[Stream, World], None]
    """draw an initial state into a world of any legal size"""
    value: Callable[[World, World], float]
    """(world, the world at the start) → what the state is worth; the return is the value at the end"""
    begin: Callable[[Stream, World], None] = nothing_more
    """set up what can't be seen (exits, memory) from what can; so a world drawn by hand can be played too"""
    react: Callable[[World, int, int, int], bool] = never
    """after an action: (world, what changed, the row and column Karel acted from) → is the task decided?"""
    events: int = 0
    """which changes to react to: MOVED, PICKED, PUT, added up"""
    memory: int = 0
    """numbers that the task has to remember"""
    resizable: bool = True
    configuration: Callable[[World], int] = configuration_zero
    """number the initial configurations (0 to 2^configuration_bits − 1), for `seen`"""
    configuration_bits: Callable[[tuple[int, int]], int] | None = None
    seen_share: float = 1.0
    """share of the configurations that `worlds` draws from"""
    variant_of: str | None = None
    """the task that this one differs from only in how a world is drawn"""

    def horizon(self, size: tuple[int, int] | None = None) -> int:
        """How many actions a rollout may take: ten times the cells of the grid."""
        height, width = size or self.size
        return 10 * height * width

    def check_size(self, size: tuple[int, int] | None) -> tuple[int, int]:
        """Return the size to use, or say what is wrong with the one asked for."""
        if size is None:
            return self.size
        height, width = size
        if not self.resizable and size != self.size:
            raise ValueError(
                f"{self.name} is one fixed flat of {self.size[0]}x{self.size[1]}; found {height}x{width}"
            )
        if height < self.smallest[0] or width < self.smallest[1]:
            raise ValueError(
                f"{self.name} needs at least {self.smallest[0]}x{self.smallest[1]} cells "
                f"(with the border wall), found {height}x{width}"
            )
        if max(size) > LARGEST:
            raise ValueError(f"a world has at most {LARGEST} cells a side, found {height}x{width}")
        return size

    def seen(self, fraction: float) -> "Task":
        """The same task, drawing only from a fixed share of its initial configurations.

        The paper's appendix "Generalization to Unseen Configurations": search with this, test without.
        """
        if self.configuration_bits is None:
            raise ValueError(f"{self.name} has no configurations to split; top-off and harvester-subsets do")
        if not 0 < fraction <= 1:
            raise ValueError(f"the share of seen configurations must be in (0, 1], found {fraction}")
        return replace(
            self,
            name=f"{self.name}{SHARE}{fraction:g}",
            seen_share=fraction,
            variant_of=self.variant_of or self.name,
        )

    @cached_property
    def hooks(self) -> Hooks:
        """React and value as the executor takes them."""
        return Hooks(self.events, address_of(self.react, REACT_TYPE), address_of(self.value, VALUE_TYPE))

    def worlds(self, count: int, seed: int, size: tuple[int, int] | None = None, *, first: int = 0) -> Worlds:
        """Draw initial states. World `i` depends on the seed and on `first + i` alone."""
        if seed < 0:
            raise ValueError(f"a seed is 0 or more, found {seed}")
        size = self.check_size(size)
        worlds = Worlds.empty(count, size, self.memory)
        sampler = self.sampler
        bits = self.configuration_bits(size) if self.configuration_bits else 0
        share(
            lambda start, stop: _draw_range(sampler, worlds, seed, first, bits, self.seen_share, start, stop),
            count,
            grain=64,
        )
        return worlds

    @cached_property
    def sampler(self) -> Sampler:
        """Sample and begin as compiled code takes them."""
        return Sampler(
            address_of(self.sample, SAMPLE_TYPE),
            address_of(self.begin, SAMPLE_TYPE),
            address_of(self.configuration, CONFIGURATION_TYPE),
        )

    def prepare(self, world: World, seed: int = 0) -> World:
        """Make a world drawn by hand playable: a copy with the task's exits and memory set up."""
        playable = World(
            world.ground.copy(), world.markers.copy(), world.pose.copy(), np.zeros(self.memory, np.int64)
        )
        stream = np.zeros(1, np.uint64)
        seed_stream(stream, seed, 0)
        self.begin(stream, playable)
        return playable


@jit
def is_seen(configuration: int, bits: int, fraction: float) -> bool:
    """Split the numbers 0 to 2^bits − 1: exactly that share of them is seen, the same for all seeds.

    The numbers are shuffled by a few rounds of steps that are one to one (multiply by an odd number, fold
    the high bits down), and the first ones are taken.
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
    while True:
        sample(stream, world)
        if seen_share >= 1.0 or is_seen(configuration(world), bits, seen_share):
            break
    sample_at(sampler.begin)(stream, world)


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
