"""Write a task: two plain functions, compiled like those of the tasks in the package.

Karel stands in a corridor of random length, and must leave a marker in its last cell.
"""

from leaps.base.randomness import Stream, below
from leaps.evaluate import evaluate
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, WALL, World, clear, place_karel


def sample(stream: Stream, world: World) -> None:
    """Draw an initial state."""
    _, width = world.ground.shape
    clear(world)
    world.ground[2:, :] = WALL
    world.ground[:, 4 + below(stream, width - 4) :] = WALL  # the corridor has a random length
    place_karel(world, 1, 1, EAST)


def value(world: World, start: World) -> float:  # noqa: ARG001
    """Return the value of a state: 1 if the only marker lies in the last cell."""
    last = 1
    while world.ground[1, last + 1] != WALL:
        last += 1
    return 1.0 if world.markers[1, last] == 1 and world.markers.sum() == 1 else 0.0


CORRIDOR = KarelTask(
    name="corridor",
    summary="leave a marker in the last cell of a corridor",
    size=(4, 12),
    smallest=(3, 6),
    sample=sample,
    value=value,
)


def main() -> None:
    print(CORRIDOR.worlds(1, seed=0).world(0))
    for program in (
        "DEF run m( REPEAT R=6 r( move r) putMarker m)",
        "DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)",
    ):
        result = evaluate(program, CORRIDOR, episodes=1000)
        print(f"{result.mean_return[0]:.3f}  {program}")


if __name__ == "__main__":
    main()
