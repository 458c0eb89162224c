"""StairClimber: climb the stairs to the marker, and never leave them.

Stairs rise from the bottom left to the top right. Karel stands on a random step, facing East; the marker
lies on a random later one. Reaching it pays 1 and ends the rollout; stepping off the stairs pays −1 and
ends it too. On the stairs means: on a step, or on the cell above one, from which the next step is reached.

    # # # # # # #
    # . . . . 1 #
    # . . . . # #
    # . . . # # #
    # . > # # # #
    # . # # # # #
    # # # # # # #
"""

from leaps.karel.world import EAST, EXIT, FLOOR, WALL, World, clear, place_karel
from leaps.randomness import Stream, below
from leaps.tasks.task import Task


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    steps = min(height, width) - 2
    for step in range(1, width - 1):  # step i is the cell (height − 1 − i, i); below it is wall
        for row in range(max(1, height - min(step, steps)), height - 1):
            world.ground[row, step] = WALL
    start = 1 + below(stream, steps - 1)
    goal = start + 1 + below(stream, steps - start)
    world.markers[height - 1 - goal, goal] = 1
    place_karel(world, height - 1 - start, start, EAST)


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if world.ground[row, column] == FLOOR:
                above = height - 1 - column - row  # cells above the step of this column
                if above not in (0, 1) or world.markers[row, column] > 0:
                    world.ground[row, column] = EXIT


def value(world: World, start: World) -> float:
    row, column = world.pose[0], world.pose[1]
    if world.ground[row, column] != EXIT:
        return 0.0
    return 1.0 if start.markers[row, column] > 0 else -1.0


STAIR_CLIMBER = Task(
    name="stair-climber",
    summary="climb the stairs to the marker without stepping off them",
    size=(12, 12),
    smallest=(4, 4),
    sample=sample,
    begin=begin,
    value=value,
)
