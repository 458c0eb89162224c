"""A user's task whose values are not numbers."""

import numpy as np

from leaps.base.randomness import Stream
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, World, clear, place_karel


def place(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, 1, 1, EAST)


def spoiled(world: World, start: World) -> float:  # noqa: ARG001
    """No number at the right wall, too much beside it."""
    column, width = world.pose[1], world.ground.shape[1]
    if column == width - 2:
        return np.nan
    return 1.5 if column == width - 3 else 0.5


SPOILED = KarelTask("spoiled", "stay where you are", (5, 9), (5, 5), place, spoiled)
