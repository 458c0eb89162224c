"""WallAvoider: put one marker into every cell that touches no wall (LLM-GS, ICLR 2025).

An empty room; Karel on a random cell, with a random heading. The value of a state is the share of the inner
cells that hold a marker; when all do, the rollout ends. Putting a marker next to a wall, putting a second
marker in a cell, or removing a marker costs 1 and ends the rollout.

    # # # # #
    # . . . #
    # . . . #
    # . . . #
    # . . < #
    # . . . #
    # . . . #
    # # # # #

The published code can start Karel inside the wall, since its random cell is off by one. Here Karel always
starts in the room.
"""

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import WALL, World, clear, place_karel

MARKED, LOST, CELLS, MEMORY = range(4)


@jit
def is_inner(world: World, row: int, column: int) -> bool:
    """Check whether a cell is free and touches no wall."""
    ground = world.ground
    return bool(
        ground[row, column] != WALL
        and ground[row - 1, column] != WALL
        and ground[row + 1, column] != WALL
        and ground[row, column - 1] != WALL
        and ground[row, column + 1] != WALL
    )


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    place_karel(world, 1 + below(stream, height - 2), 1 + below(stream, width - 2), below(stream, 4))


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    world.memory[:] = 0
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if is_inner(world, row, column):
                world.memory[CELLS] += 1
                world.memory[MARKED] += world.markers[row, column] > 0


def react(world: World, change: int, row: int, column: int) -> bool:
    if change == PICKED or world.markers[row, column] > 1 or not is_inner(world, row, column):
        world.memory[LOST] = 1
        return True
    world.memory[MARKED] += 1
    return bool(world.memory[MARKED] == world.memory[CELLS])


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[MARKED] / max(world.memory[CELLS], 1) - world.memory[LOST])


WALL_AVOIDER = KarelTask(
    name="wall-avoider",
    summary="put one marker into every cell that touches no wall, and none elsewhere",
    size=(8, 5),
    smallest=(5, 5),
    sample=sample,
    begin=begin,
    react=react,
    events=PICKED | PUT,
    memory=MEMORY,
    value=value,
)
