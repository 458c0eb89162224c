"""A user-defined task with invalid values: NaN, and above the maximum."""

import numpy as np

from leaps.base.randomness import Stream
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, World, clear, place_karel


def sample(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, 1, 1, EAST)


def spoiled(world: World, start: World) -> float:  # noqa: ARG001
    """Return NaN at the right wall, and more than the maximum one cell before it."""
    column, width = world.pose[1], world.ground.shape[1]
    if column == width - 2:
        return np.nan
    return 1.5 if column == width - 3 else 0.5


SPOILED = KarelTask("spoiled", "stay where you are", (5, 9), (5, 5), sample, spoiled)
