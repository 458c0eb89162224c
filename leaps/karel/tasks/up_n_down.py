"""UpNDown: climb stairs up and down to a goal that moves (KAREL-LONG, of the HIPO paper).

Stairs rise from the bottom left to the top right. Karel starts on the second step, facing East. The goal, a
marker, is first on the top step. When Karel reaches it, it moves to a random stair cell strictly below, next
time to one strictly above, and so on. A stair cell is a step, or the cell above one. Each goal reached pays
0.01; the hundredth ends the rollout. A move to a cell above the stairs costs 0.0005. The return is at least
−1.

    # # # # # # # #
    # . . . . . 1 #
    # . . . . . # #
    # . . . . # # #
    # . . . # # # #
    # . > # # # # #
    # . # # # # # #
    # # # # # # # #

The published code differs in three ways: every action above the stairs costs 0.0005, including turns; the
return has no lower bound; and 0.0001 is subtracted for every action, as in `up-n-down~cost`.
"""

import numpy as np

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below, draw, seed_stream
from leaps.domain import size_text
from leaps.karel.physics import MOVED
from leaps.karel.tasks.task import LONG, KarelTask
from leaps.karel.world import EAST, FLOOR, WALL, World, clear, place_karel

GOALS = 100
COST = 0.0005
"""cost of a move to a cell above the stairs"""
SMALLEST = (5, 5)
REACHED, STRAYED, ROW, COLUMN, SEED, MEMORY = range(6)


def sample(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    clear(world)
    world.ground[:] = WALL
    steps = min(height, width) - 2
    for step in range(1, steps + 1):  # step i is the cell (height − 1 − i, i)
        world.ground[1 : height - step, step] = FLOOR
    world.markers[height - 1 - steps, steps] = 1
    place_karel(world, height - 3, 2, EAST)


def begin(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    world.memory[:] = 0
    world.memory[SEED] = np.int64(draw(stream) >> np.uint64(1))  # for later goals
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if world.markers[row, column] > 0:
                world.memory[ROW], world.memory[COLUMN] = row, column


@jit
def move_goal(world: World) -> None:
    """Move the goal to a random stair cell: below after an odd number of goals reached, else above."""
    height, width = world.ground.shape
    memory = world.memory
    stream = np.zeros(1, np.uint64)
    seed_stream(stream, memory[SEED], memory[REACHED])
    while True:
        step = 1 + below(stream, min(height, width) - 2)
        row = height - 1 - step - below(stream, 2)
        down = memory[REACHED] % 2 == 1
        if row > 0 and (row > memory[ROW] if down else row < memory[ROW]):
            break
    world.markers[memory[ROW], memory[COLUMN]] = 0
    world.markers[row, step] = 1
    memory[ROW], memory[COLUMN] = row, step


def react(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    memory = world.memory
    if world.ground.shape[0] - 1 - world.pose[1] - world.pose[0] > 1:
        memory[STRAYED] += 1
    if world.pose[0] != memory[ROW] or world.pose[1] != memory[COLUMN]:
        return False
    memory[REACHED] += 1
    if memory[REACHED] == GOALS:
        return True
    move_goal(world)
    return False


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(max(-1.0, world.memory[REACHED] / GOALS - COST * world.memory[STRAYED]))


def obstacle(world: World) -> str | None:
    """Check that the stairs are free for the goal, and that the only marker is on them."""
    height, width = world.size
    if height < SMALLEST[0] or width < SMALLEST[1]:
        return f"needs at least {size_text(SMALLEST)} cells (with the border wall), found {height}x{width}"
    steps = range(1, min(height, width) - 1)
    stairs = [(row, i) for i in steps for row in (height - 1 - i, height - 2 - i) if row > 0]
    for row, column in stairs:
        if world.ground[row, column] == WALL:
            return f"needs stairs from the bottom left to the top right, found a wall at ({row}, {column})"
    goals = [(int(row), int(column)) for row, column in np.argwhere(world.markers)]
    if len(goals) != 1 or goals[0] not in stairs or goals[0][0] == height - 2:
        return f"needs one marker, on the stairs above the lowest step, found markers at {goals}"
    return None


UP_N_DOWN = KarelTask(
    name="up-n-down",
    summary="climb stairs up and down to a hundred goals without leaving them",
    size=(8, 8),
    smallest=SMALLEST,
    sample=sample,
    begin=begin,
    react=react,
    events=MOVED,
    memory=MEMORY,
    value=value,
    obstacle=obstacle,
    actions=LONG,
)
