"""Rules for worlds of cells and numbers, from `perceive` and `act` alone.

A corridor, for example, is a row of cells with dirt, and the robot's place is the first of the numbers:

@jit
def perceive(world):
    return (world.cells[0, 0, world.numbers[0]] > 0,)

@jit
def act(world, action):
    ...
    return 1  # something has changed

ENGINE = Engine(plain_rules(perceive, act), __file__)

`leaps.compiled.task` makes a whole task from such functions.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from leaps.base.jit import as_bits, function_at, inlined, jit


class World(NamedTuple):
    """One world."""

    cells: NDArray[np.uint8]
    """[planes, height, width]"""
    numbers: NDArray[np.int64]
    """where the agent is, what it carries, what a task remembers"""


class Worlds(NamedTuple):
    """Worlds of one size."""

    cells: NDArray[np.uint8]
    """[worlds, planes, height, width]"""
    numbers: NDArray[np.int64]
    """[worlds, numbers]"""

    @property
    def count(self) -> int:  # type: ignore[override]  # nobody counts arrays in a tuple
        return len(self.numbers)

    @property
    def size(self) -> tuple[int, int]:
        _, _, height, width = self.cells.shape
        return height, width

    def room(self, count: int) -> "Worlds":
        """Make room for worlds of the same size."""
        return Worlds(
            np.zeros((count, *self.cells.shape[1:]), np.uint8),
            np.zeros((count, self.numbers.shape[1]), np.int64),
        )

    def take(self, indices: NDArray[np.integer] | slice) -> "Worlds":
        """Some of the worlds, in the order given."""
        return Worlds(np.ascontiguousarray(self.cells[indices]), np.ascontiguousarray(self.numbers[indices]))

    @staticmethod
    def join(parts: "list[Worlds]") -> "Worlds":
        """Put batches one after the other."""
        return Worlds(
            np.concatenate([part.cells for part in parts]), np.concatenate([part.numbers for part in parts])
        )

    def world(self, index: int) -> World:
        """World `index`, as a view: what changes there changes here."""
        return World(self.cells[index], self.numbers[index])


WORLD_TYPE = types.NamedTuple((types.Array(types.uint8, 3, "C"), types.Array(types.int64, 1, "C")), World)
"""a `World` to compiled code"""
REACT_TYPE = types.int64(WORLD_TYPE, types.int64)
"""react(world, what changed) → whether the rollout is over: 0 or 1, or FAILED"""
FAILED = -1
"""what a reaction returns that raised an error, which can't pass through a pointer"""
VALUE_TYPE = types.float64(WORLD_TYPE, WORLD_TYPE)
"""value(world, the world at the start) → what the task pays in this state"""
ALL_CHANGES = 2**62 - 1


@inlined
def world_at(worlds: Worlds, number: int) -> World:
    return World(worlds.cells[number], worlds.numbers[number])


@jit
def layout_of(worlds: Worlds) -> int:
    return int(worlds.numbers.shape[1])


@inlined
def flatten(worlds: Worlds) -> Worlds:
    return worlds


@jit
def copy_world(source: Worlds, read: int, target: Worlds, write: int, layout: int) -> None:
    ours, theirs = world_at(source, read), world_at(target, write)
    for number in range(layout):
        theirs.numbers[number] = ours.numbers[number]
    planes, height, width = ours.cells.shape
    for plane in range(planes):
        for row in range(height):
            for column in range(width):
                theirs.cells[plane, row, column] = ours.cells[plane, row, column]


@jit
def same_state(one: Worlds, other: Worlds) -> bool:
    ours, theirs = world_at(one, 0), world_at(other, 0)
    for number in range(len(ours.numbers)):
        if ours.numbers[number] != theirs.numbers[number]:
            return False
    planes, height, width = ours.cells.shape
    for plane in range(planes):
        for row in range(height):
            for column in range(width):
                if ours.cells[plane, row, column] != theirs.cells[plane, row, column]:
                    return False
    return True


@inlined
def load(flat: Worlds, number: int, layout: int) -> tuple[int]:  # noqa: ARG001
    return (number,)


@inlined
def store(flat: Worlds, number: int, layout: int, registers: tuple[int]) -> None:
    pass


@inlined
def react(hook: Any, world: World, number: int, layout: int, change: int, before: Any) -> bool:  # noqa: ARG001
    over = hook(world, change)
    if over < 0:
        raise RuntimeError("react failed")
    return bool(over > 0)


def plain_rules(
    perceive: Callable[[World], Any],
    act: Callable[[World, int], int],
    is_over: Callable[[World], bool] | None = None,
    codes: int = 0,
) -> SimpleNamespace:
    """Make the rules of a domain whose worlds are a `World` each.

    perceive: compiled; returns what `as_bits` takes. act: compiled; does an action in the world, and returns
    what has changed as bits, 0 for nothing. is_over: compiled; whether the world itself ends a rollout.
    codes: 2 to the number of senses, if the language has FEW_SENSES.
    """
    ended = _never if is_over is None else is_over

    @inlined
    def perceive_at(flat: Worlds, layout: int, registers: tuple[int]) -> np.uint64:  # noqa: ARG001
        return as_bits(perceive(world_at(flat, registers[0])))

    @inlined
    def act_at(flat: Worlds, layout: int, registers: tuple[int], action: int) -> tuple[tuple[int], int]:  # noqa: ARG001
        return registers, int(act(world_at(flat, registers[0]), action))

    @inlined
    def is_over_at(flat: Worlds, layout: int, registers: tuple[int]) -> bool:  # noqa: ARG001
        return bool(ended(world_at(flat, registers[0])))

    return SimpleNamespace(
        STATEFUL=ALL_CHANGES,
        FINAL=ALL_CHANGES,
        CODES=codes,
        layout_of=layout_of,
        flatten=flatten,
        world_at=world_at,
        copy_world=copy_world,
        same_state=same_state,
        load=load,
        store=store,
        perceive=perceive_at,
        act=act_at,
        is_over=is_over_at,
        react=react,
        react_at=function_at(REACT_TYPE),
        value_at=function_at(VALUE_TYPE),
    )


@jit
def _never(world: World) -> bool:  # noqa: ARG001
    return False
