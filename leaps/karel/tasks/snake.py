"""Snake: eat twenty times without running into yourself.

Karel is the head of a snake that is two cells long and grows by one cell with each food. The body behind the
head is made of markers, and so is the food. When it is eaten, the next food appears on a random free cell.
Each food pays 0.05; the twentieth ends the rollout. Running into the body costs 1 and also ends the rollout.

    # # # # # # # #
    # . . . . . . #
    # . . 1 . . . #
    # . . . . . . #
    # . . > . . . #
    # . . . . . . #
    # . . . . . . #
    # # # # # # # #
"""

import numpy as np

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below, draw, seed_stream
from leaps.karel.physics import MOVED
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, FLOOR, World, clear, place_karel

FOODS = 20
INITIAL_LENGTH = 2

# The body is a list of cells in memory, the newest first; unused entries are NOTHING. So a snake that circles
# returns to exactly the same state, which the executor detects.
EATEN, LOST, FOOD, SEED, LENGTH, BODY = range(6)
CAPACITY = FOODS + INITIAL_LENGTH + 1
MEMORY = BODY + CAPACITY
NOTHING = -1
SPAN = 1024
"""a cell in memory is row * SPAN + column; a power of two, since division by the width would be slower"""


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    karel_row, karel_column = 1 + below(stream, height - 2), 2 + below(stream, width - 4)
    place_karel(world, karel_row, karel_column, EAST)
    while True:
        row, column = 1 + below(stream, height - 2), 1 + below(stream, width - 2)
        if row != karel_row or column != karel_column:
            world.markers[row, column] = 1
            return


def begin(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    world.memory[:BODY] = 0
    world.memory[BODY:] = NOTHING
    world.memory[SEED] = np.int64(draw(stream) >> np.uint64(1))  # seed of later foods
    world.memory[LENGTH] = 1
    world.memory[BODY] = world.pose[0] * SPAN + world.pose[1]
    world.memory[FOOD] = NOTHING
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if world.markers[row, column] > 0:
                world.memory[FOOD] = row * SPAN + column


@jit
def place_food(world: World) -> None:
    """Add the next food on a free cell. (Separate from `react`, which is called much more often.)"""
    height, width = world.ground.shape
    memory = world.memory
    stream = np.zeros(1, np.uint64)
    seed_stream(stream, memory[SEED], memory[EATEN])
    while True:
        row, column = 1 + below(stream, height - 2), 1 + below(stream, width - 2)
        free = world.ground[row, column] == FLOOR and world.markers[row, column] == 0
        if free and (row != world.pose[0] or column != world.pose[1]):
            world.markers[row, column] = 1
            memory[FOOD] = row * SPAN + column
            return


def react(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    memory, markers = world.memory, world.markers
    head = world.pose[0] * SPAN + world.pose[1]
    ate = head == memory[FOOD]
    if markers[world.pose[0], world.pose[1]] > 0:  # every cell of the body has a marker
        for i in range(memory[LENGTH]):
            if memory[BODY + i] == head:
                memory[LOST] = 1
                return True
    markers[row, column] = 1  # the cell that the head has left becomes body
    for i in range(CAPACITY - 1, 0, -1):
        memory[BODY + i] = memory[BODY + i - 1]
    memory[BODY] = head
    if ate:
        memory[EATEN] += 1
        markers[world.pose[0], world.pose[1]] = 0
    if memory[LENGTH] < INITIAL_LENGTH + memory[EATEN]:
        memory[LENGTH] += 1
    else:
        tail = memory[BODY + memory[LENGTH]]
        markers[tail // SPAN, tail % SPAN] = 0
        memory[BODY + memory[LENGTH]] = NOTHING
    if not ate:
        return False
    if memory[EATEN] == FOODS:
        memory[FOOD] = NOTHING
        return True
    place_food(world)
    return False


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[EATEN] / FOODS - world.memory[LOST])


def obstacle(world: World) -> str | None:
    """Check that a free cell always exists: the next food is drawn until it lands on one."""
    free = (world.ground == FLOOR) & (world.markers == 0)
    free[world.place[:2]] = False
    if free.sum() < CAPACITY:
        return f"needs at least {CAPACITY} empty cells, found {free.sum()}"
    return None


SNAKE = KarelTask(
    name="snake",
    summary="eat twenty times, growing by one cell each time, without running into yourself",
    size=(8, 8),
    smallest=(7, 7),
    sample=sample,
    begin=begin,
    react=react,
    events=MOVED,
    memory=MEMORY,
    value=value,
    obstacle=obstacle,
)
