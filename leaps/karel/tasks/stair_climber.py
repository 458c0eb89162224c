"""StairClimber: climb the stairs to the marker, and never leave them.

Stairs rise from the bottom left to the top right. Karel starts on a random step, facing East; the marker is
on a random later step. Reaching it pays 1 and ends the rollout; leaving the stairs pays −1 and also ends it.
Cells of the stairs are the steps, and the cells above them, from which the next step is reached.

    # # # # # # #
    # . . . . 1 #
    # . . . . # #
    # . . . # # #
    # . > # # # #
    # . # # # # #
    # # # # # # #

The paper's authors ran another task (`STAIR_CLIMBER_AS_RUN`, "stair-climber-as-run"): leaving the stairs
costs nothing, and the return is 1 if the rollout ends with the action that first brings Karel to the marker,
else 0.

In `STAIR_CLIMBER_FREE`, "stair-climber-free", leaving the stairs neither costs anything nor ends the rollout.
It shows the effect of the penalty on learned policies.
"""

from dataclasses import replace

import numpy as np

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below
from leaps.domain import States
from leaps.karel.physics import EVENTS
from leaps.karel.tasks.states import can_list
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, EXIT, FLOOR, WALL, World, Worlds, clear, place_karel


@jit
def build_stairs(world: World) -> int:
    """Build the stairs in an empty world; return the number of steps."""
    height, width = world.ground.shape
    clear(world)
    steps: int = min(height, width) - 2
    for step in range(1, width - 1):  # step i is the cell (height − 1 − i, i); below it is wall
        for row in range(max(1, height - min(step, steps)), height - 1):
            world.ground[row, step] = WALL
    return steps


def sample(stream: Stream, world: World) -> None:
    height = world.ground.shape[0]
    steps = build_stairs(world)
    start = 1 + below(stream, steps - 1)
    goal = start + 1 + below(stream, steps - start)
    world.markers[height - 1 - goal, goal] = 1
    place_karel(world, height - 1 - start, start, EAST)


def states(size: tuple[int, int]) -> States | None:
    height, steps = size[0], min(size) - 2
    if not can_list(steps * (steps - 1) // 2, size):
        return None
    start, goal = (each + 1 for each in np.triu_indices(steps, 1))
    count = len(start)
    worlds = Worlds.empty(count, size)
    build_stairs(worlds.world(0))
    worlds.ground[:] = worlds.ground[0]
    worlds.markers[np.arange(count), height - 1 - goal, goal] = 1
    worlds.pose[:] = np.stack([height - 1 - start, start, np.full(count, EAST)], axis=1)
    return States(worlds, 1 / ((steps - 1) * (steps - start)))  # first a step, then a later one


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


def begin_free(stream: Stream, world: World) -> None:  # noqa: ARG001
    for row in range(world.ground.shape[0]):
        for column in range(world.ground.shape[1]):
            if world.markers[row, column] > 0:
                world.ground[row, column] = EXIT


GOAL_ROW, GOAL_COLUMN, ARRIVED, MEMORY = range(4)


def begin_as_run(stream: Stream, world: World) -> None:  # noqa: ARG001
    for row in range(world.ground.shape[0]):
        for column in range(world.ground.shape[1]):
            if world.markers[row, column] > 0:
                world.memory[GOAL_ROW], world.memory[GOAL_COLUMN] = row, column


def react_as_run(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if world.memory[ARRIVED] > 0:
        world.memory[ARRIVED] = 2  # one action too many
    elif world.pose[0] == world.memory[GOAL_ROW] and world.pose[1] == world.memory[GOAL_COLUMN]:
        world.memory[ARRIVED] = 1
    return False


def value_as_run(world: World, start: World) -> float:  # noqa: ARG001
    return 1.0 if world.memory[ARRIVED] == 1 else 0.0


STAIR_CLIMBER = KarelTask(
    name="stair-climber",
    summary="climb the stairs to the marker without stepping off them",
    size=(12, 12),
    smallest=(4, 4),
    sample=sample,
    listing=states,
    begin=begin,
    value=value,
)

STAIR_CLIMBER_AS_RUN = replace(
    STAIR_CLIMBER,
    name="stair-climber-as-run",
    summary="climb to the marker, and stop; as the paper's authors ran it",
    variant_of="stair-climber",
    begin=begin_as_run,
    react=react_as_run,
    events=EVENTS,
    memory=MEMORY,
    value=value_as_run,
)

STAIR_CLIMBER_FREE = replace(
    STAIR_CLIMBER,
    name="stair-climber-free",
    summary="climb to the marker; leaving the stairs costs nothing",
    variant_of="stair-climber",
    begin=begin_free,
)
