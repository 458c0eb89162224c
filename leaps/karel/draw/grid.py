"""From rows and columns of a world to x and y of a picture."""

from leaps.karel.draw.shapes import Point
from leaps.karel.world import EAST, NORTH, SOUTH, WEST, World

LARGEST_CELL = 40
MOST_PIXELS = 960
"""along a picture's longer side, when the size of a cell is not asked for"""
DETAILED_CELL = 10
"""pixels below which a cell shows neither the grid nor how many markers there are"""

STEPS = {NORTH: (0, -1), EAST: (1, 0), SOUTH: (0, 1), WEST: (-1, 0)}
"""heading → how x and y change"""

Cell = tuple[int, int]
"""row and column"""


def cell_size(
    world: World, asked: int | None, *, largest: int = LARGEST_CELL, most_pixels: int = MOST_PIXELS
) -> int:
    """Choose the pixels along a cell's side, unless they are asked for."""
    if asked is None:
        return max(1, min(largest, most_pixels // max(world.size)))
    if asked < 1:
        raise ValueError(f"a cell is at least 1 pixel wide, found {asked}")
    return asked


def centre(place: Cell, cell: int) -> Point:
    """Find the middle of a cell."""
    row, column = place
    return (column + 0.5) * cell, (row + 0.5) * cell
