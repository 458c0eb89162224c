"""Convert rows and columns of a world to x and y of a picture."""

from leaps.karel.draw.shapes import Point
from leaps.karel.world import EAST, NORTH, SOUTH, WEST, World

LARGEST_CELL = 40
MOST_PIXELS = 960
"""maximum length of a picture's longer side, unless the size of a cell is given"""
DETAILED_CELL = 10
"""smallest size in pixels of a cell with grid lines and the number of markers"""

STEPS = {NORTH: (0, -1), EAST: (1, 0), SOUTH: (0, 1), WEST: (-1, 0)}
"""heading → change of x and y"""

Cell = tuple[int, int]
"""row and column"""


def cell_size(
    world: World, asked: int | None, *, largest: int = LARGEST_CELL, most_pixels: int = MOST_PIXELS
) -> int:
    """Choose the size of a cell in pixels, unless it is given."""
    if asked is None:
        return max(1, min(largest, most_pixels // max(world.size)))
    if asked < 1:
        raise ValueError(f"a cell must be at least 1 pixel wide, found {asked}")
    return asked


def centre(position: Cell, cell: int) -> Point:
    """Return the centre of a cell in the picture. cell: size of a cell in pixels."""
    row, column = position
    return (column + 0.5) * cell, (row + 0.5) * cell
