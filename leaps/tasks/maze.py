"""Maze: find the marker in a random maze.

The maze is perfect (one way between any two cells), carved depth first on every other cell, counted from
the bottom left corner. The marker lies on a random free cell, Karel stands on another, facing East. Reaching
the marker pays 1 and ends the rollout.

    # # # # # # # #
    # # # # # # # #
    # . . . . . # #
    # # # . # # # #
    # . . . # 1 # #
    # . # # # . # #
    # > . . . . # #
    # # # # # # # #

The paper's text starts Karel anywhere; its authors' code always in the bottom left corner. That is
`MAZE_FROM_CORNER`, "maze-from-corner".
"""

from dataclasses import replace

import numpy as np

from leaps.jit import jit
from leaps.karel.world import EAST, EXIT, FLOOR, WALL, World, clear, place_karel
from leaps.randomness import Stream, below
from leaps.tasks.task import Task


@jit
def carve(stream: Stream, world: World) -> None:
    """Carve a perfect maze, depth first, from a random cell."""
    height, width = world.ground.shape
    clear(world)
    world.ground[:] = WALL
    trail = np.empty((height * width // 2, 2), np.int64)
    length = 1
    trail[0, 0] = height - 2 - 2 * below(stream, (height - 1) // 2)
    trail[0, 1] = 1 + 2 * below(stream, (width - 1) // 2)
    world.ground[trail[0, 0], trail[0, 1]] = FLOOR
    ways = np.empty((4, 2), np.int64)
    while length > 0:
        row, column = trail[length - 1]
        count = 0
        for rows, columns in ((-2, 0), (0, 2), (2, 0), (0, -2)):
            if (
                0 < row + rows < height - 1
                and 0 < column + columns < width - 1
                and world.ground[row + rows, column + columns] == WALL
            ):
                ways[count, 0], ways[count, 1] = rows, columns
                count += 1
        if count == 0:
            length -= 1
            continue
        rows, columns = ways[below(stream, count)]
        world.ground[row + rows // 2, column + columns // 2] = FLOOR
        world.ground[row + rows, column + columns] = FLOOR
        trail[length, 0], trail[length, 1] = row + rows, column + columns
        length += 1


@jit
def free_cell(stream: Stream, world: World) -> tuple[int, int]:
    """Draw a free cell where no marker lies."""
    height, width = world.ground.shape
    while True:
        row, column = 1 + below(stream, height - 2), 1 + below(stream, width - 2)
        if world.ground[row, column] == FLOOR and world.markers[row, column] == 0:
            return row, column


def sample(stream: Stream, world: World) -> None:
    carve(stream, world)
    row, column = free_cell(stream, world)
    world.markers[row, column] = 1
    row, column = free_cell(stream, world)
    place_karel(world, row, column, EAST)


def sample_from_corner(stream: Stream, world: World) -> None:
    height, _ = world.ground.shape
    carve(stream, world)
    while True:
        row, column = free_cell(stream, world)
        if row != height - 2 or column != 1:
            break
    world.markers[row, column] = 1
    place_karel(world, height - 2, 1, EAST)


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if world.markers[row, column] > 0:
                world.ground[row, column] = EXIT


def value(world: World, start: World) -> float:  # noqa: ARG001
    return 1.0 if world.ground[world.pose[0], world.pose[1]] == EXIT else 0.0


MAZE = Task(
    name="maze",
    summary="find the marker in a random maze",
    size=(8, 8),
    smallest=(5, 5),
    sample=sample,
    begin=begin,
    value=value,
)

MAZE_FROM_CORNER = replace(
    MAZE,
    name="maze-from-corner",
    variant_of="maze",
    summary="find the marker in a random maze, starting in its bottom left corner",
    sample=sample_from_corner,
)
