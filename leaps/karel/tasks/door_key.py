"""DoorKey: fetch the key, go through the door it opens, and put a marker on the goal.

A wall divides the room. The key, a marker, is on the left; Karel starts there on a random cell, facing East.
The goal, also a marker, is on the right. Picking up the key opens two cells of the wall and pays 0.5. Putting
a second marker on the goal pays 0.5 more and ends the rollout. Putting one anywhere else, or picking up the
goal's marker, costs 1 and ends the rollout.

    # # # # # # # #
    # . . . # . . #
    # . 1 . # . . #
    # . . . # . . #
    # . . . # . 1 #
    # . . > # . . #
    # . . . # . . #
    # # # # # # # #
"""

import numpy as np

from leaps.base.randomness import Stream, below
from leaps.domain import States
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.states import can_list, combinations, empty_rooms, equally_likely
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, FLOOR, WALL, World, clear, place_karel

DOOR_ROWS = (2, 3)
SMALLEST = (6, 6)
HAS_KEY, AT_GOAL, LOST, MEMORY = range(4)


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    wall = (width + 1) // 2
    world.ground[:, wall] = WALL
    key_row, key_column = 1 + below(stream, height - 2), 1 + below(stream, wall - 1)
    world.markers[key_row, key_column] = 1
    world.markers[1 + below(stream, height - 2), wall + 1 + below(stream, width - 2 - wall)] = 1
    while True:
        row, column = 1 + below(stream, height - 2), 1 + below(stream, wall - 1)
        if row != key_row or column != key_column:
            break
    place_karel(world, row, column, EAST)


def states(size: tuple[int, int]) -> States | None:
    height, width = size
    wall = (width + 1) // 2
    rows, left, right = range(1, height - 1), range(1, wall), range(wall + 1, width - 1)
    cells = len(rows) * len(left)
    if not can_list(cells * len(rows) * len(right) * (cells - 1), size):
        return None
    drawn = combinations(rows, left, rows, right, rows, left)  # the key, the goal, Karel
    apart = (drawn[0] != drawn[4]) | (drawn[1] != drawn[5])
    key_row, key_column, goal_row, goal_column, row, column = (each[apart] for each in drawn)
    worlds = empty_rooms(size, row, column)
    worlds.ground[:, :, wall] = WALL
    numbers = np.arange(worlds.count)
    worlds.markers[numbers, key_row, key_column] = 1
    worlds.markers[numbers, goal_row, goal_column] = 1
    return equally_likely(worlds)


def react(world: World, change: int, row: int, column: int) -> bool:
    wall = (world.ground.shape[1] + 1) // 2
    if change == PICKED:
        if column > wall:
            world.memory[LOST] = 1
            return True
        world.memory[HAS_KEY] = 1
        for door in DOOR_ROWS:
            world.ground[door, wall] = FLOOR
        return False
    if column > wall and world.markers[row, column] == 2:
        world.memory[AT_GOAL] = 1
    else:
        world.memory[LOST] = 1
    return True


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(0.5 * world.memory[HAS_KEY] + 0.5 * world.memory[AT_GOAL] - world.memory[LOST])


def obstacle(world: World) -> str | None:
    """Check that the door, whose position is fixed, is inside the border."""
    height, width = world.size
    if height < SMALLEST[0] or width < SMALLEST[1]:
        return (
            f"needs at least {SMALLEST[0]}x{SMALLEST[1]} cells (with the border wall), found {height}x{width}"
        )
    return None


DOOR_KEY = KarelTask(
    name="door-key",
    summary="fetch the key, go through the door it opens, and put a marker on the goal",
    size=(8, 8),
    smallest=SMALLEST,
    sample=sample,
    listing=states,
    react=react,
    events=PICKED | PUT,
    memory=MEMORY,
    value=value,
    obstacle=obstacle,
)
