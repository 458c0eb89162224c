"""CleanHouse: pick up the litter along the walls of a flat.

The floor plan below is always the same. Karel starts in the doorway at the top, facing South. Ten random
cells that touch a wall, in the left two thirds, hold one marker each. The dustbin, two markers, is beside the
doorway. The value of a state is the share of the ten cells that are empty.
"""

import numpy as np

from leaps.base.randomness import Stream, below
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import SOUTH, WALL, World, clear, place_karel

PLAN = """
######################
#..##########.#......#
#..#..........#####.##
##.#................##
##........#.........##
###.#.###.#..###.#.###
#...#...#....#...#..##
#...#...#....#...#...#
#...#...#....#...##..#
#...#...##..##...##.##
#...#...##..##...#..##
#...#...##..##...#..##
#...#...##..##...#..##
######################
""".strip().split("\n")

WALLS = np.array([[cell == "#" for cell in line] for line in PLAN])
DUSTBIN = (2, 12)
LITTER = 10
LAST_COLUMN = 12
CLEAN = ((3, 10), (4, 11), (5, 11), (6, 10))  # touch a wall, but the way around never visits them


def _litter_cells() -> np.ndarray:
    """[cells, 2] cells that may hold litter."""
    cells = [
        (row, column)
        for row in range(1, WALLS.shape[0] - 1)
        for column in range(1, LAST_COLUMN + 1)
        if not WALLS[row, column]
        and (
            WALLS[row - 1, column]
            or WALLS[row + 1, column]
            or WALLS[row, column - 1]
            or WALLS[row, column + 1]
        )
        and (row, column) not in (DUSTBIN, *CLEAN)
    ]
    return np.array(cells)


CELLS = _litter_cells()


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    for row in range(height):
        for column in range(width):
            if WALLS[row, column]:
                world.ground[row, column] = WALL
    world.markers[DUSTBIN[0], DUSTBIN[1]] = 2
    place_karel(world, 1, 13, SOUTH)
    left = LITTER
    while left > 0:
        row, column = CELLS[below(stream, len(CELLS))]
        if world.markers[row, column] == 0:
            world.markers[row, column] = 1
            left -= 1


def value(world: World, start: World) -> float:
    height, width = world.ground.shape
    dirty = cleaned = 0
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if start.markers[row, column] == 1:
                dirty += 1
                cleaned += world.markers[row, column] == 0
    return cleaned / max(dirty, 1)


CLEAN_HOUSE = KarelTask(
    name="clean-house",
    summary="pick up the ten pieces of litter that lie along the walls of a flat",
    size=(14, 22),
    smallest=(14, 22),
    sample=sample,
    value=value,
    resizable=False,
)
