"""FourCorner: put one marker into each corner, and none anywhere else.

An empty room; Karel in the bottom row, one cell from the left corner, facing East. The value of a state is
the share of corners that hold exactly one marker, or 0 if there is a marker anywhere else.

    # # # # # #
    # . . . . #
    # . . . . #
    # . . . . #
    # . > . . #
    # # # # # #
"""

from leaps.base.randomness import Stream
from leaps.domain import States
from leaps.karel.tasks.states import karel_in
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, World, clear, place_karel


def sample(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, world.ground.shape[0] - 2, 2, EAST)


def states(size: tuple[int, int]) -> States | None:
    return karel_in(range(size[0] - 2, size[0] - 1), range(2, 3), size)


def value(world: World, start: World) -> float:  # noqa: ARG001
    height, width = world.ground.shape
    right = 0
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if world.markers[row, column] > 0:
                if row not in (1, height - 2) or column not in (1, width - 2):
                    return 0.0
                right += world.markers[row, column] == 1
    return right / 4


FOUR_CORNER = KarelTask(
    name="four-corner",
    summary="put one marker into each of the four corners, and none elsewhere",
    size=(12, 12),
    smallest=(4, 4),
    sample=sample,
    listing=states,
    value=value,
)
