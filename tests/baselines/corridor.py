"""A task that every baseline should learn: walk to the end of a corridor."""

from leaps.base.randomness import Stream, below
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, EXIT, WALL, World, clear, place_karel

LENGTH = 6


def sample(stream: Stream, world: World) -> None:
    clear(world)
    world.ground[2:, :] = WALL
    place_karel(world, 1, 1 + below(stream, LENGTH - 2), EAST)


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    world.ground[1, LENGTH] = EXIT


def value(world: World, start: World) -> float:  # noqa: ARG001
    return 1.0 if world.pose[1] == LENGTH else 0.0


CORRIDOR = KarelTask(
    name="corridor",
    summary="walk to the end",
    size=(5, LENGTH + 2),
    smallest=(5, LENGTH + 2),
    sample=sample,
    begin=begin,
    value=value,
)
