"""The rules of Karel's world: its five actions and five perceptions; see `leaps.compiled.rules`.

They work on flat grids: a cell's position is `row * width + column`, plus the cells of all worlds before it.
A step ahead adds `ahead[heading]` to the position. Karel's position and heading are the registers.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from leaps.base.jit import function_at, inlined, jit
from leaps.karel.world import (
    EXIT,
    LANGUAGE,
    MAX_MARKERS,
    MOVE,
    PICK_MARKER,
    TURN_LEFT,
    TURN_RIGHT,
    WALL,
    WORLD_TYPE,
    FlatWorlds,
    World,
    Worlds,
)
from leaps.karel.world import copy_flat as copy_flat
from leaps.karel.world import flatten as flatten
from leaps.karel.world import same_state as same_state
from leaps.karel.world import world_at as world_at

MOVED, PICKED, PUT, FAILED, TURNED = 1, 2, 4, 8, 16
"""results of an action, as bits; a task chooses the ones that it reacts to. FAILED: a move into a wall, which
turns Karel around, or a marker that could not be picked up or put down"""
EVENTS = MOVED | PICKED | PUT | FAILED | TURNED
STATEFUL = PICKED | PUT
FINAL = MOVED

FRONT_CLEAR, LEFT_CLEAR, RIGHT_CLEAR, MARKERS = 1, 2, 4, 8
"""Karel's senses, as bits of one code"""
assert LANGUAGE.senses == ("frontIsClear", "leftIsClear", "rightIsClear", "markersPresent")
CODES = 16
TRUTH = LANGUAGE.truth
"""[perceptions, codes] whether a perception holds when the code is perceived"""

REACT_TYPE = types.boolean(WORLD_TYPE, types.int64, types.int64, types.int64)
"""react(world, change, row and column before the action) → whether the rollout is over"""
VALUE_TYPE = types.float64(WORLD_TYPE, WORLD_TYPE)
"""value(world, initial world) → the task's value of this state"""
react_at, value_at = function_at(REACT_TYPE), function_at(VALUE_TYPE)

# Positions and headings are unsigned in compiled code: a signed index costs a test for negative values.
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
Registers = tuple[np.uint64, np.uint64]
"""Karel's position and heading"""


class Layout(NamedTuple):
    """Constants for worlds of one size."""

    ahead: NDArray[np.uint64]
    """[headings] offset of the next cell in a flat grid (modulo 2^64: North and West are negative)"""
    width: np.uint64
    cells: np.uint64
    memory: np.uint64


@jit
def layout_of(worlds: World | Worlds) -> Layout:
    height, width = worlds.ground.shape[-2], worlds.ground.shape[-1]
    ahead = np.array([-width, 1, width, -1]).astype(np.uint64)
    return Layout(ahead, np.uint64(width), np.uint64(height * width), np.uint64(worlds.memory.shape[-1]))


@inlined
def copy_world(source: FlatWorlds, read: int, target: FlatWorlds, write: int, layout: Layout) -> None:
    copy_flat(source, read, target, write, layout.cells, layout.memory)


@inlined
def load(flat: FlatWorlds, number: int, layout: Layout) -> Registers:
    row, column, heading = flat.pose[number * 3], flat.pose[number * 3 + 1], flat.pose[number * 3 + 2]
    position = np.uint64(number) * layout.cells + np.uint64(row) * layout.width + np.uint64(column)
    return position, np.uint64(heading)


@inlined
def store(flat: FlatWorlds, number: int, layout: Layout, registers: Registers) -> None:
    position, heading = registers
    inside = position - np.uint64(number) * layout.cells
    flat.pose[number * 3] = inside // layout.width
    flat.pose[number * 3 + 1] = inside % layout.width
    flat.pose[number * 3 + 2] = heading


@inlined
def perceive(flat: FlatWorlds, layout: Layout, registers: Registers) -> np.uint64:
    """Return the code of Karel's perceptions: front, left, right and the markers below."""
    position, heading = registers
    front = flat.ground[position + layout.ahead[heading]] != WALL
    left = flat.ground[position + layout.ahead[(heading + _THREE) & _THREE]] != WALL
    right = flat.ground[position + layout.ahead[(heading + _ONE) & _THREE]] != WALL
    return np.uint64(
        front * FRONT_CLEAR + left * LEFT_CLEAR + right * RIGHT_CLEAR + (flat.markers[position] > 0) * MARKERS
    )


@inlined
def act(flat: FlatWorlds, layout: Layout, registers: Registers, action: int) -> tuple[Registers, int]:
    """Take one action; return Karel's new position and heading, and the result of the action."""
    position, heading = registers
    if action == MOVE:
        front = position + layout.ahead[heading]
        if flat.ground[front] == WALL:
            return (position, heading ^ _TWO), FAILED  # Karel turns around
        return (front, heading), MOVED
    if action == TURN_RIGHT:
        return (position, (heading + _ONE) & _THREE), TURNED
    if action == TURN_LEFT:
        return (position, (heading + _THREE) & _THREE), TURNED
    if action == PICK_MARKER:
        if flat.markers[position] == 0:
            return registers, FAILED
        flat.markers[position] -= 1
        return registers, PICKED
    if flat.markers[position] >= MAX_MARKERS:
        return registers, FAILED
    flat.markers[position] += 1
    return registers, PUT


@inlined
def is_over(flat: FlatWorlds, layout: Layout, registers: Registers) -> bool:  # noqa: ARG001
    """Whether Karel stands on an exit."""
    return bool(flat.ground[registers[0]] == EXIT)


@inlined
def react(hook: Any, world: World, number: int, layout: Layout, change: int, before: Registers) -> bool:
    inside = before[0] - np.uint64(number) * layout.cells
    return bool(hook(world, change, np.int64(inside // layout.width), np.int64(inside % layout.width)))
