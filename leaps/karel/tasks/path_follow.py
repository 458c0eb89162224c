"""PathFollow: pick up a path of markers, never stepping away from it (LLM-GS, ICLR 2025).

A path of markers leads from the bottom left corner to the top right corner. Its steps go up or right, in
random order. Karel starts on its first marker, facing North. Each marker picked pays an equal share of 1; the
last one ends the rollout. Putting a marker costs 1 and ends the rollout, and so does a step to a cell that is
neither on the path nor next to it.

    # # # # # # # #
    # . . . . . 1 #
    # . . . . . 1 #
    # . . . 1 1 1 #
    # . . . 1 . . #
    # 1 1 1 1 . . #
    # ^ . . . . . #
    # # # # # # # #
"""

from leaps.base.randomness import Stream, below
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EXIT, FLOOR, NORTH, World, clear, place_karel

PICKS, LOST, TOTAL, MEMORY = range(4)


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    row, column = height - 2, 1
    place_karel(world, row, column, NORTH)
    world.markers[row, column] = 1
    while row > 1 or column < width - 2:  # every order of the steps is equally likely
        up, right = row - 1, width - 2 - column
        if below(stream, up + right) < up:
            row -= 1
        else:
            column += 1
        world.markers[row, column] = 1


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    markers = world.markers
    world.memory[:] = 0
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            world.memory[TOTAL] += markers[row, column]
            around = markers[row - 1, column] + markers[row + 1, column]
            around += markers[row, column - 1] + markers[row, column + 1]
            if world.ground[row, column] == FLOOR and markers[row, column] == 0 and around == 0:
                world.ground[row, column] = EXIT


def react(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if change == PUT:
        world.memory[LOST] = 1
        return True
    world.memory[PICKS] += 1
    return bool(world.memory[PICKS] == world.memory[TOTAL])


def value(world: World, start: World) -> float:  # noqa: ARG001
    lost = world.memory[LOST] > 0 or world.ground[world.pose[0], world.pose[1]] == EXIT
    return float(world.memory[PICKS] / max(world.memory[TOTAL], 1) - lost)


PATH_FOLLOW = KarelTask(
    name="path-follow",
    summary="pick up a path of markers without stepping away from it",
    size=(8, 8),
    smallest=(4, 4),
    sample=sample,
    begin=begin,
    react=react,
    events=PICKED | PUT,
    memory=MEMORY,
    value=value,
)
