"""InfHarvester: pick up markers that keep growing back (KAREL-LONG, of the HIPO paper).

One marker in each cell of a room; Karel in the bottom left corner, facing East. After each pick, with
probability 0.5, a marker appears on a random empty cell, perhaps Karel's own. The expected total is twice the
number of cells, 392 markers. So each pick pays 1/392, and the 392nd ends the rollout.

    # # # # # #
    # 1 1 1 1 #
    # 1 . 1 1 #
    # . 1 1 1 #
    # . . > 1 #
    # # # # # #

Often fewer markers grow: picking up all of them returns 0.98 on average. Putting a marker changes nothing
here. In the published code, Karel can put markers of its own, which don't count when they are picked. The
published return also subtracts 0.0001 for every action, as `inf-harvester~cost` does.
"""

import numpy as np

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below, draw, seed_stream, uniform
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.task import LONG, KarelTask
from leaps.karel.world import EAST, FLOOR, World, clear, place_karel

REGROWTH = 0.5
PICKS, GOAL, SEED, MEMORY = range(4)


def sample(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    world.markers[1:-1, 1:-1] = 1
    place_karel(world, world.ground.shape[0] - 2, 1, EAST)


def begin(stream: Stream, world: World) -> None:
    world.memory[PICKS] = 0
    world.memory[GOAL] = world.markers.sum() / (1 - REGROWTH)
    world.memory[SEED] = np.int64(draw(stream) >> np.uint64(1))  # for later markers


@jit
def regrow(world: World) -> None:
    """With probability REGROWTH, add a marker on a random empty cell."""
    height, width = world.ground.shape
    stream = np.zeros(1, np.uint64)
    seed_stream(stream, world.memory[SEED], world.memory[PICKS])
    if uniform(stream) >= REGROWTH:
        return
    while True:  # at least the cell of the last pick is empty
        row, column = 1 + below(stream, height - 2), 1 + below(stream, width - 2)
        if world.ground[row, column] == FLOOR and world.markers[row, column] == 0:
            world.markers[row, column] = 1
            return


def react(world: World, change: int, row: int, column: int) -> bool:
    if change == PUT:
        world.markers[row, column] -= 1
        return False
    world.memory[PICKS] += 1
    if world.memory[PICKS] == world.memory[GOAL]:
        return True
    regrow(world)
    return False


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[PICKS] / max(world.memory[GOAL], 1))


def obstacle(world: World) -> str | None:
    """Check that no cell has more than one marker: a pick must leave an empty cell for regrowth."""
    if world.markers.max() > 1:
        return f"needs at most one marker in a cell, found {world.markers.max()}"
    return None


INF_HARVESTER = KarelTask(
    name="inf-harvester",
    summary="pick up markers that keep growing back",
    size=(16, 16),
    smallest=(4, 4),
    sample=sample,
    begin=begin,
    react=react,
    events=PICKED | PUT,
    memory=MEMORY,
    value=value,
    obstacle=obstacle,
    actions=LONG,
)
