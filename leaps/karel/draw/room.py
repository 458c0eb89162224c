"""Shapes of the room: the floor, its grid, and the walls as one area."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from leaps.karel.draw import palette
from leaps.karel.draw.grid import DETAILED_CELL, STEPS
from leaps.karel.draw.shapes import Area, Line, Shape
from leaps.karel.world import EAST, NORTH, SOUTH, WALL, WEST, World


def room_shapes(world: World, cell: int) -> tuple[Shape, ...]:
    """Return the shapes of floor, grid and walls, which change rarely during a rollout."""
    return _shapes(world.ground.tobytes(), world.size, cell)


@lru_cache(maxsize=1)  # most frames of a film have the same room
def _shapes(ground: bytes, size: tuple[int, int], cell: int) -> tuple[Shape, ...]:
    height, width = size
    right, bottom = width * cell, height * cell
    radius = 0.2 * cell if cell >= DETAILED_CELL else 0.0
    floor = Area((((0, 0), (right, 0), (right, bottom), (0, bottom)),), palette.FLOOR, radius)
    grid: list[Line] = []
    if cell >= DETAILED_CELL:
        thin, half = max(1.0, cell / 32), cell / 2  # a line ends under the border wall
        grid += [
            Line(((half, y * cell), (right - half, y * cell)), thin, palette.GRID) for y in range(1, height)
        ]
        grid += [
            Line(((x * cell, half), (x * cell, bottom - half)), thin, palette.GRID) for x in range(1, width)
        ]
    solid = np.frombuffer(ground, np.uint8).reshape(size) == WALL
    loops = tuple(tuple((x * cell, y * cell) for x, y in loop) for loop in outlines(solid))
    return (floor, *grid, Area(loops, palette.WALL, radius)) if loops else (floor, *grid)


def outlines(solid: NDArray[np.bool_]) -> list[list[tuple[int, int]]]:
    """Trace the outlines of solid cells: loops of corners (x, y), clockwise around solid areas.

    Cells that touch only at a corner are joined there, since Karel can't pass between them.
    """
    padded = np.pad(solid, 1)
    sides = (  # of a cell: heading of the outline, neighbour beyond it, and corner where it begins
        (EAST, padded[:-2, 1:-1], (0, 0)),
        (SOUTH, padded[1:-1, 2:], (1, 0)),
        (WEST, padded[2:, 1:-1], (1, 1)),
        (NORTH, padded[1:-1, :-2], (0, 1)),
    )
    edges = [
        (column + right, row + down, heading)
        for heading, beyond, (right, down) in sides
        for row, column in np.argwhere(solid & ~beyond).tolist()
    ]
    known, traced = set(edges), set[tuple[int, int, int]]()
    loops = []
    for edge in edges:
        loop = []
        x, y, heading = edge
        while (x, y, heading) not in traced:
            traced.add((x, y, heading))
            x, y = x + STEPS[heading][0], y + STEPS[heading][1]
            left_first = ((heading + turn) % 4 for turn in (3, 0, 1))
            following = next(turned for turned in left_first if (x, y, turned) in known)
            if following != heading:
                loop.append((x, y))
            heading = following
        if loop:
            loops.append(loop)
    return loops
