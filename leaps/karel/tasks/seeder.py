"""Seeder: put one marker into every cell, never a second one.

An empty room; Karel on a random cell that does not touch the left or right wall, facing East. The value of a
state is the share of cells that hold a marker; when all do, the rollout ends. Putting a second marker in a
cell, or removing one, costs 1 and ends the rollout.

    # # # # # # #
    # . . . . . #
    # . . > . . #
    # . . . . . #
    # . . . . . #
    # # # # # # #
"""

from leaps.base.randomness import Stream, below
from leaps.domain import States
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.states import karel_in
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, FLOOR, World, clear, place_karel

SEEDED, LOST, CELLS, MEMORY = range(4)


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    place_karel(world, 1 + below(stream, height - 2), 2 + below(stream, width - 4), EAST)


def states(size: tuple[int, int]) -> States | None:
    return karel_in(range(1, size[0] - 1), range(2, size[1] - 2), size)


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    world.memory[SEEDED] = (world.markers > 0).sum()
    world.memory[CELLS] = (world.ground == FLOOR).sum()


def react(world: World, change: int, row: int, column: int) -> bool:
    if change == PICKED or world.markers[row, column] > 1:
        world.memory[LOST] = 1
        return True
    world.memory[SEEDED] += 1
    return bool(world.memory[SEEDED] == world.memory[CELLS])


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[SEEDED] / world.memory[CELLS] - world.memory[LOST])


SEEDER = KarelTask(
    name="seeder",
    summary="put one marker into every cell, never a second one",
    size=(8, 8),
    smallest=(4, 5),
    sample=sample,
    listing=states,
    begin=begin,
    react=react,
    events=PICKED | PUT,
    memory=MEMORY,
    value=value,
)
