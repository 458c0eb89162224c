"""OneStroke: walk through every cell once. The cell that Karel leaves becomes a wall.

An empty room, Karel on a random cell, facing East. The value of a state is the number of cells that Karel has
left, divided by the number of cells minus one. When Karel has left all cells but the last, the rollout ends.

    # # # # # #
    # . . . . #
    # . > . . #
    # . . . . #
    # . . . . #
    # # # # # #
"""

from leaps.base.randomness import Stream, below
from leaps.domain import States
from leaps.karel.physics import MOVED
from leaps.karel.tasks.states import karel_in
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, FLOOR, WALL, World, clear, place_karel

LEFT, TO_LEAVE, MEMORY = range(3)


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    place_karel(world, 1 + below(stream, height - 2), 1 + below(stream, width - 2), EAST)


def states(size: tuple[int, int]) -> States | None:
    return karel_in(range(1, size[0] - 1), range(1, size[1] - 1), size)


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    world.memory[LEFT] = 0
    world.memory[TO_LEAVE] = (world.ground == FLOOR).sum() - 1


def react(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    world.ground[row, column] = WALL
    world.memory[LEFT] += 1
    return bool(world.memory[LEFT] == world.memory[TO_LEAVE])


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[LEFT] / max(world.memory[TO_LEAVE], 1))


ONE_STROKE = KarelTask(
    name="one-stroke",
    summary="walk through every cell once: each cell that Karel leaves becomes a wall",
    size=(8, 8),
    smallest=(4, 4),
    sample=sample,
    listing=states,
    begin=begin,
    react=react,
    events=MOVED,
    memory=MEMORY,
    value=value,
)
