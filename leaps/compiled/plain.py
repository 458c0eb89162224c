"""Rules for worlds of cells and numbers, made from `perceive` and `act` alone.

A corridor, for example, is a row of cells with dirt, and the robot's position is the first of the numbers:

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
    """other state: the agent's position, the things it carries, the task's own variables"""


class Worlds(NamedTuple):
    """Worlds of one size."""

    cells: NDArray[np.uint8]
    """[worlds, planes, height, width]"""
    numbers: NDArray[np.int64]
    """[worlds, numbers]"""

    @property
    def count(self) -> int:  # type: ignore[override]  # hides tuple.count, which is not needed
        return len(self.numbers)

    @property
    def size(self) -> tuple[int, int]:
        _, _, height, width = self.cells.shape
        return height, width

    def room(self, count: int) -> "Worlds":
        """Allocate worlds of the same size, filled with zeros."""
        return Worlds(
            np.zeros((count, *self.cells.shape[1:]), np.uint8),
            np.zeros((count, self.numbers.shape[1]), np.int64),
        )

    def take(self, indices: NDArray[np.integer] | slice) -> "Worlds":
        """Return some of the worlds, in the given order."""
        return Worlds(np.ascontiguousarray(self.cells[indices]), np.ascontiguousarray(self.numbers[indices]))

    @staticmethod
    def join(parts: "list[Worlds]") -> "Worlds":
        """Concatenate batches."""
        return Worlds(
            np.concatenate([part.cells for part in parts]), np.concatenate([part.numbers for part in parts])
        )

    def world(self, index: int) -> World:
        """Return world `index` as a view, which shares its memory."""
        return World(self.cells[index], self.numbers[index])


WORLD_TYPE = types.NamedTuple((types.Array(types.uint8, 3, "C"), types.Array(types.int64, 1, "C")), World)
"""numba's type of a `World`"""
REACT_TYPE = types.int64(WORLD_TYPE, types.int64)
"""react(world, change) → whether the rollout is over: 0 or 1, or FAILED"""
FAILED = -1
"""result of a reaction that raised an exception, which can't pass through a pointer"""
VALUE_TYPE = types.float64(WORLD_TYPE, WORLD_TYPE)
"""value(world, initial world) → the value of this state"""
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
    original, copied = world_at(source, read), world_at(target, write)
    for number in range(layout):
        copied.numbers[number] = original.numbers[number]
    planes, height, width = original.cells.shape
    for plane in range(planes):
        for row in range(height):
            for column in range(width):
                copied.cells[plane, row, column] = original.cells[plane, row, column]


@jit
def same_state(one: Worlds, other: Worlds) -> bool:
    left, right = world_at(one, 0), world_at(other, 0)
    for number in range(len(left.numbers)):
        if left.numbers[number] != right.numbers[number]:
            return False
    planes, height, width = left.cells.shape
    for plane in range(planes):
        for row in range(height):
            for column in range(width):
                if left.cells[plane, row, column] != right.cells[plane, row, column]:
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
    """Make the rules of a domain in which each world is a `World`.

    perceive: compiled; returns an argument for `as_bits`. act: compiled; does an action in the world, and
    returns the changes as bits, 0 for none. is_over: compiled; whether the world itself ends a rollout.
    codes: 2 to the power of the number of senses, if the language has at most FEW_SENSES, else 0.
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
