"""Seesaw: fetch markers from two rooms in turn (KAREL-LONG, of the HIPO paper).

A corridor joins two rooms. Karel starts in the left room, facing East, and the first marker is always in the
same cell of that room. Each marker picked makes the next one appear on a random cell of the other room. Each
pays 1/64; the 64th ends the rollout. Putting a marker changes nothing.

    # # # # # # # # # # # # # # # #
    # . . 1 . # # # # # # . . . . #
    # . . . . . . . . . . . . . . #
    # > . . . . . . . . . . . . . #
    # . . . . # # # # # # . . . . #
    # # # # # # # # # # # # # # # #

The published return also subtracts 0.0001 for every action, as `seesaw~cost` does. The return here does not,
so that 1 can be reached.
"""

import numpy as np

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below, draw, seed_stream
from leaps.domain import size_text
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.task import LONG, KarelTask
from leaps.karel.world import EAST, FLOOR, WALL, World, clear, place_karel

GOAL = 64
ROOM_HEIGHT = 4
SMALLEST = (6, 11)
PICKS, SEED, MEMORY = range(3)


def sample(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    room, middle = (width - 2) // 3, height // 2
    top, bottom = middle - ROOM_HEIGHT // 2, middle + ROOM_HEIGHT // 2
    clear(world)
    world.ground[:] = WALL
    world.ground[top:bottom, 1 : 1 + room] = FLOOR
    world.ground[top:bottom, width - 1 - room : width - 1] = FLOOR
    world.ground[middle - 1 : middle + 1, 1 : width - 1] = FLOOR
    world.markers[top, 3] = 1
    place_karel(world, middle, 1, EAST)


def begin(stream: Stream, world: World) -> None:
    world.memory[PICKS] = 0
    world.memory[SEED] = np.int64(draw(stream) >> np.uint64(1))  # for later markers


@jit
def place_next(world: World, column: int) -> None:
    """Add the next marker, in the room on the other side of the given column."""
    height, width = world.ground.shape
    room = (width - 2) // 3
    first = width - 1 - room if column < width // 2 else 1
    stream = np.zeros(1, np.uint64)
    seed_stream(stream, world.memory[SEED], world.memory[PICKS])
    row = height // 2 - ROOM_HEIGHT // 2 + below(stream, ROOM_HEIGHT)
    world.markers[row, first + below(stream, room)] = 1


def react(world: World, change: int, row: int, column: int) -> bool:
    if change == PUT:
        world.markers[row, column] -= 1
        return False
    world.memory[PICKS] += 1
    if world.memory[PICKS] == GOAL:
        return True
    place_next(world, column)
    return False


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[PICKS] / GOAL)


def obstacle(world: World) -> str | None:
    """Check that no wall is in the two rooms, where markers appear."""
    height, width = world.size
    if height < SMALLEST[0] or width < SMALLEST[1]:
        return f"needs at least {size_text(SMALLEST)} cells (with the border wall), found {height}x{width}"
    room, top = (width - 2) // 3, height // 2 - ROOM_HEIGHT // 2
    rows = world.ground[top : top + ROOM_HEIGHT]
    for first in (1, width - 1 - room):
        if (rows[:, first : first + room] == WALL).any():
            return (
                f"needs a room without walls in rows {top} to {top + ROOM_HEIGHT - 1}, "
                f"columns {first} to {first + room - 1}, found a wall in it"
            )
    return None


SEESAW = KarelTask(
    name="seesaw",
    summary="pick up 64 markers that appear in two rooms in turn",
    size=(16, 16),
    smallest=SMALLEST,
    sample=sample,
    begin=begin,
    react=react,
    events=PICKED | PUT,
    memory=MEMORY,
    value=value,
    obstacle=obstacle,
    actions=LONG,
)
