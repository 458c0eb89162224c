"""TopOff: double every marker in the bottom row, and end in its last cell.

Karel starts in the bottom left corner, facing East. Each cell of the row but the last holds a marker with
probability 0.25. A cell is right if it has two markers where there was one, and none where there was none.
The value counts the right cells from the left, up to Karel or the first wrong cell. It adds one if all are
right and Karel is on the last cell, and divides by the number of cells in the row plus one.

    # # # # # # # #
    # . . . . . . #
    # . . . . . . #
    # > 1 . 1 1 . #
    # # # # # # # #

In the worlds that the paper's authors searched in, the last cell always has a marker, too, and is right with
two (`TOP_OFF_AS_RUN`, "top-off-as-run"). Their reset draws such worlds, unlike the paper's text.
"""

from dataclasses import replace

import numpy as np

from leaps.base.jit import jit
from leaps.base.randomness import Stream, uniform
from leaps.domain import States
from leaps.karel.tasks.states import can_list, empty_rooms, subsets
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, World, clear, place_karel

MARKER_DENSITY = 0.25


@jit
def draw_row(stream: Stream, world: World) -> None:
    """Draw the markers of the row: any cell but the last may have one."""
    height, width = world.ground.shape
    clear(world)
    place_karel(world, height - 2, 1, EAST)
    for column in range(1, width - 2):
        world.markers[height - 2, column] = uniform(stream) < MARKER_DENSITY


def sample(stream: Stream, world: World) -> None:
    draw_row(stream, world)


def sample_as_run(stream: Stream, world: World) -> None:
    draw_row(stream, world)
    height, width = world.ground.shape
    world.markers[height - 2, width - 2] = 1


def states(size: tuple[int, int]) -> States | None:
    height, width = size
    cells = width - 3
    if not can_list(2**cells, size):
        return None
    marked = subsets(cells)
    worlds = empty_rooms(size, np.full(len(marked), height - 2), np.ones(len(marked), np.int64))
    worlds.markers[:, height - 2, 1 : width - 2] = marked
    return States(worlds, np.where(marked, MARKER_DENSITY, 1 - MARKER_DENSITY).prod(axis=1))


def states_as_run(size: tuple[int, int]) -> States | None:
    height, width = size
    listed = states(size)
    if listed is not None:
        listed.worlds.markers[:, height - 2, width - 2] = 1
    return listed


def value(world: World, start: World) -> float:
    height, width = world.ground.shape
    row, last = height - 2, width - 2
    right = 0
    for column in range(1, world.pose[1] + 1):
        if world.markers[row, column] != 2 * (start.markers[row, column] > 0):
            break
        right += 1
    if right == last and world.pose[0] == row:
        right += 1
    return float(right / (width - 1))


def configuration(world: World) -> int:
    height, width = world.ground.shape
    number = 0
    for column in range(1, width - 2):
        number = 2 * number + (world.markers[height - 2, column] > 0)
    return number


def configuration_bits(size: tuple[int, int]) -> int:
    return min(size[1] - 3, 62)


TOP_OFF = KarelTask(
    name="top-off",
    summary="make every marker of the bottom row two, and end in its last cell",
    size=(12, 12),
    smallest=(3, 4),
    sample=sample,
    listing=states,
    value=value,
    configuration=configuration,
    configuration_bits=configuration_bits,
)

TOP_OFF_AS_RUN = replace(
    TOP_OFF,
    name="top-off-as-run",
    summary="make every marker of the bottom row two, and end in its last cell, which has one as well",
    variant_of="top-off",
    sample=sample_as_run,
    listing=states_as_run,
)
