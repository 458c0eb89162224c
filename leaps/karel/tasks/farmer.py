"""Farmer: plant a field and harvest it, ten times (KAREL-LONG, of the HIPO paper).

An empty room; Karel in the bottom left corner, facing East, and one marker in the top right corner. While
planting, each marker put into an empty cell counts. Once 5/6 of the cells hold a marker, Karel may pick one
up. That starts the harvest, in which each marker picked counts. When the field is empty, a marker appears in
the top right corner, and planting begins again. After ten harvests the rollout ends. The return is the count
divided by 720, twice the number of cells in ten rounds.

    # # # # # # # #
    # . . . . . 1 #
    # . . . . . . #
    # . . . . . . #
    # . . . . . . #
    # . . . . . . #
    # > . . . . . #
    # # # # # # # #

Three actions change nothing: a pick before the field is full enough, a put during the harvest, and a second
marker in a cell.

At best 35 puts and 36 picks count in a round, since the first marker is there already: 710 / 720 = 0.986 in
all. The published code differs in two ways, which look like oversights. The first marker of each later round
can be put again, so that 0.999 is possible, and a pick on an empty cell can start the harvest. The published
return also subtracts 0.0001 for every action, as `farmer~cost` does.
"""

from leaps.base.randomness import Stream
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.task import LONG, KarelTask
from leaps.karel.world import EAST, WALL, World, clear, place_karel

ROUNDS = 10
COUNT, PLANTED, HARVESTING, HARVESTS, CELLS, MEMORY = range(6)


def sample(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    clear(world)
    world.markers[1, width - 2] = 1
    place_karel(world, height - 2, 1, EAST)


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    world.memory[:] = 0
    world.memory[PLANTED] = (world.markers > 0).sum()
    world.memory[CELLS] = (world.ground != WALL).sum()


def react(world: World, change: int, row: int, column: int) -> bool:
    height, width = world.ground.shape
    memory, markers = world.memory, world.markers
    if change == PUT:
        if memory[HARVESTING] or markers[row, column] > 1:
            markers[row, column] -= 1
        else:
            memory[COUNT] += 1
            memory[PLANTED] += 1
        return False
    side = max(height, width) - 2
    if not memory[HARVESTING]:
        if side * memory[PLANTED] < (side - 1) * memory[CELLS]:
            markers[row, column] += 1
            return False
        memory[HARVESTING] = 1
    memory[COUNT] += 1
    memory[PLANTED] -= 1
    if memory[PLANTED] > 0:
        return False
    memory[HARVESTS] += 1
    if memory[HARVESTS] == ROUNDS:
        return True
    markers[1, width - 2] = 1
    memory[PLANTED] = 1
    memory[HARVESTING] = 0
    return False


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[COUNT] / (2 * ROUNDS * world.memory[CELLS]))


def obstacle(world: World) -> str | None:
    """Check that the top right corner is free for a marker, and that no cell has more than one marker."""
    if world.ground[1, -2] == WALL:
        return "needs a free cell in the top right corner, found a wall"
    if world.markers.max() > 1:
        return f"needs at most one marker in a cell, found {world.markers.max()}"
    return None


FARMER = KarelTask(
    name="farmer",
    summary="plant a field of markers and harvest it, ten times",
    size=(8, 8),
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
