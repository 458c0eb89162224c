"""Maze: find the marker in a random maze.

The maze is perfect (one path between any two cells), carved depth first on every other cell, counted from the
bottom left corner. The marker is on a random free cell, and Karel on another, facing East. Reaching the
marker pays 1 and ends the rollout.

    # # # # # # # #
    # # # # # # # #
    # . . . . . # #
    # # # . # # # #
    # . . . # 1 # #
    # . # # # . # #
    # > . . . . # #
    # # # # # # # #

In the paper's text Karel starts anywhere; in its authors' code, always in the bottom left corner. The variant
`MAZE_FROM_CORNER`, "maze-from-corner", has that start. In that code a rollout also continues when Karel
reaches the marker, and the return is 1 if Karel is on it at the end (`MAZE_AS_RUN`, "maze-as-run").
"""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below
from leaps.domain import States
from leaps.karel.tasks.states import can_list, empty_rooms
from leaps.karel.tasks.task import KarelTask, nothing_more
from leaps.karel.world import EAST, EXIT, FLOOR, WALL, World, clear, place_karel

MOST_LATTICE_CELLS = 16
"""maximum size of a maze whose carvings are listed; with a few more cells there are millions"""
Cell = tuple[int, int]


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
    """Draw a free cell without a marker."""
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


@cache
def all_mazes(size: tuple[int, int]) -> dict[frozenset[Cell], Fraction] | None:
    """List the free cells of every maze that `carve` can make, with its probability; None if too many.

    Follows all random choices of `carve` at once, one new lattice cell at a time. Carvings that have reached
    the same cells along the same trail continue alike, so their probabilities are added up. Depth-first
    carving makes only some of the perfect mazes: on 3x3 cells 88 of 192, and not all of those equally often.
    """
    height, width = size
    lattice = [(row, column) for row in range(height - 2, 0, -2) for column in range(1, width - 1, 2)]
    if len(lattice) > MOST_LATTICE_CELLS:
        return None
    carved: dict[tuple[frozenset[Cell], tuple[Cell, ...]], Fraction] = {
        (frozenset([cell]), (cell,)): Fraction(1, len(lattice)) for cell in lattice
    }
    for _ in range(len(lattice) - 1):
        following: defaultdict[tuple[frozenset[Cell], tuple[Cell, ...]], Fraction] = defaultdict(Fraction)
        for (free, trail), probability in carved.items():
            while not (ways := _next_cells(free, trail[-1], lattice)):
                trail = trail[:-1]
            for cell in ways:
                between = (trail[-1][0] + cell[0]) // 2, (trail[-1][1] + cell[1]) // 2
                following[free | {between, cell}, (*trail, cell)] += probability / len(ways)
        carved = following
    mazes: defaultdict[frozenset[Cell], Fraction] = defaultdict(Fraction)
    for (free, _), probability in carved.items():
        mazes[free] += probability
    return dict(mazes)


def _next_cells(free: frozenset[Cell], cell: Cell, lattice: list[Cell]) -> list[Cell]:
    """List the lattice cells next to `cell` that are still wall."""
    row, column = cell
    around = [(row - 2, column), (row, column + 2), (row + 2, column), (row, column - 2)]
    return [other for other in around if other in lattice and other not in free]


def states(size: tuple[int, int]) -> States | None:
    return _listed(size, None)


def states_from_corner(size: tuple[int, int]) -> States | None:
    return _listed(size, (size[0] - 2, 1))


def _listed(size: tuple[int, int], karel: Cell | None) -> States | None:
    """List every maze with every cell of the marker and of Karel (a given cell, or any other free cell)."""
    mazes = all_mazes(size)
    if mazes is None:
        return None
    lattice = ((size[0] - 1) // 2) * ((size[1] - 1) // 2)
    free = 2 * lattice - 1  # a perfect maze has one passage fewer than lattice cells
    placings = (free - 1) * (free if karel is None else 1)
    if not can_list(len(mazes) * placings, size):
        return None
    positions, grounds, weights = [], [], []
    for cells, probability in mazes.items():
        placed = [
            (*marker, *other)
            for marker in sorted(cells)
            for other in (sorted(cells) if karel is None else [karel])
            if marker != other
        ]
        positions.append(np.array(placed))
        ground = np.full(size, WALL, np.uint8)
        ground[tuple(np.array(sorted(cells)).T)] = FLOOR
        grounds.append(ground)
        weights.append(float(probability / placings))
    marker_row, marker_column, row, column = np.concatenate(positions).T
    worlds = empty_rooms(size, row, column)
    worlds.ground[:] = np.repeat(np.stack(grounds), placings, axis=0)
    worlds.markers[np.arange(worlds.count), marker_row, marker_column] = 1
    return States(worlds, np.repeat(weights, placings))


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if world.markers[row, column] > 0:
                world.ground[row, column] = EXIT


def value(world: World, start: World) -> float:  # noqa: ARG001
    return 1.0 if world.ground[world.pose[0], world.pose[1]] == EXIT else 0.0


def value_in_the_end(world: World, start: World) -> float:
    return 1.0 if start.markers[world.pose[0], world.pose[1]] > 0 else 0.0


MAZE = KarelTask(
    name="maze",
    summary="find the marker in a random maze",
    size=(8, 8),
    smallest=(5, 5),
    sample=sample,
    listing=states,
    begin=begin,
    value=value,
)

MAZE_FROM_CORNER = replace(
    MAZE,
    name="maze-from-corner",
    variant_of="maze",
    summary="find the marker in a random maze, starting in its bottom left corner",
    sample=sample_from_corner,
    listing=states_from_corner,
)

MAZE_AS_RUN = replace(
    MAZE_FROM_CORNER,
    name="maze-as-run",
    summary="find the marker in a random maze, and stop; as the paper's authors ran it",
    begin=nothing_more,
    value=value_in_the_end,
)
