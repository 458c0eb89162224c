"""Karel's five actions and five perceptions, written once for the interpreter and the executor.

They work on flat grids: a cell's position is `row * width + column`, so that stepping ahead is adding
`strides(width)[heading]`.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import inlined, jit
from leaps.karel.world import LANGUAGE, MAX_MARKERS, MOVE, PICK_MARKER, TURN_LEFT, TURN_RIGHT, WALL

MOVED, PICKED, PUT, FAILED, TURNED = 1, 2, 4, 8, 16
"""what became of an action, as bits: a task names those after which it reacts. FAILED: a move into a wall,
which turns Karel around, or a marker that could not be picked up or put down"""
EVENTS = MOVED | PICKED | PUT | FAILED | TURNED

FRONT_CLEAR, LEFT_CLEAR, RIGHT_CLEAR, MARKERS = 1, 2, 4, 8
"""what Karel perceives, as bits of one code: the senses of its language"""
assert LANGUAGE.senses == ("frontIsClear", "leftIsClear", "rightIsClear", "markersPresent")
CODES = 16
TRUTH = LANGUAGE.truth
"""[perceptions, codes] whether a perception holds when the code is perceived"""

Grid = NDArray[np.uint8]

# Positions and headings are unsigned in compiled code: a signed index costs a test for "from the end".
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@jit
def strides(width: int) -> NDArray[np.uint64]:
    """[headings] the way to the next cell in a flat grid (modulo 2^64: North and West are negative)."""
    return np.array([-width, 1, width, -1]).astype(np.uint64)


@inlined
def perceive(
    ground: Grid, markers: Grid, ahead: NDArray[np.uint64], position: np.uint64, heading: np.uint64
) -> np.uint64:
    """Look to the front, left and right, and down: the code of what Karel perceives."""
    front = ground[position + ahead[heading]] != WALL
    left = ground[position + ahead[(heading + _THREE) & _THREE]] != WALL
    right = ground[position + ahead[(heading + _ONE) & _THREE]] != WALL
    return np.uint64(
        front * FRONT_CLEAR + left * LEFT_CLEAR + right * RIGHT_CLEAR + (markers[position] > 0) * MARKERS
    )


@inlined
def act(
    ground: Grid,
    markers: Grid,
    ahead: NDArray[np.uint64],
    position: np.uint64,
    heading: np.uint64,
    action: int,
) -> tuple[np.uint64, np.uint64, int]:
    """Do one action: the new position and heading, and what became of it."""
    if action == MOVE:
        front = position + ahead[heading]
        if ground[front] == WALL:
            return position, heading ^ _TWO, FAILED  # Karel turns around
        return front, heading, MOVED
    if action == TURN_RIGHT:
        return position, (heading + _ONE) & _THREE, TURNED
    if action == TURN_LEFT:
        return position, (heading + _THREE) & _THREE, TURNED
    if action == PICK_MARKER:
        if markers[position] == 0:
            return position, heading, FAILED
        markers[position] -= 1
        return position, heading, PICKED
    if markers[position] >= MAX_MARKERS:
        return position, heading, FAILED
    markers[position] += 1
    return position, heading, PUT
