"""Tasks that no sensible person would write, for tests of what a task may do."""

from leaps.base.randomness import Stream
from leaps.karel.physics import MOVED, PICKED, PUT
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, EXIT, MAX_MARKERS, SOUTH, WALL, World, clear, place_karel


def begin_in_a_room(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, 1, 1, EAST)


def play_tricks(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    height, width = world.ground.shape
    world.memory[0] += 1
    count = world.memory[0]
    if count % 3 == 1:  # a portal to the other side
        to_row, to_column = height - 1 - world.pose[0], width - 1 - world.pose[1]
        if world.ground[to_row, to_column] != WALL:
            world.pose[0], world.pose[1] = to_row, to_column
    if count % 4 == 2:
        world.pose[2] = (world.pose[2] + 2) % 4
    if count % 5 == 3:
        world.markers[row, column] = (world.markers[row, column] + 1) % (MAX_MARKERS + 1)
    if count % 7 == 6:
        world.ground[world.pose[0], world.pose[1]] = EXIT
    return bool(count == 16)


def value_of_everything(world: World, start: World) -> float:  # noqa: ARG001
    place = world.pose[0] + 10 * world.pose[1] + 100 * world.pose[2]
    # At most 1, and divided by a power of two, so that rewards add up exactly.
    return float((place + 1000 * world.markers.sum() + 100000 * world.memory[0]) / 2**21)


TRICKY = KarelTask(
    name="tricky",
    summary="be moved, turned, robbed and thrown out",
    size=(6, 6),
    smallest=(3, 3),
    sample=begin_in_a_room,
    react=play_tricks,
    events=MOVED | PICKED | PUT,
    memory=1,
    value=value_of_everything,
)


def open_portal(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if world.pose[1] == 2:
        world.pose[0], world.pose[1] = world.ground.shape[0] - 2, world.ground.shape[1] - 2
    return False


def value_of_the_last_cell(world: World, start: World) -> float:  # noqa: ARG001
    height, width = world.ground.shape
    return 1.0 if world.pose[0] == height - 2 and world.pose[1] == width - 2 else 0.0


PORTAL = KarelTask(
    name="portal",
    summary="find the portal, which leads to the last cell",
    size=(6, 6),
    smallest=(3, 5),
    sample=begin_in_a_room,
    react=open_portal,
    events=MOVED,
    value=value_of_the_last_cell,
)


def value_of_facing_south(world: World, start: World) -> float:  # noqa: ARG001
    return 1.0 if world.pose[2] == SOUTH else 0.0


COMPASS = KarelTask(
    name="compass",
    summary="face South",
    size=(6, 6),
    smallest=(3, 3),
    sample=begin_in_a_room,
    value=value_of_facing_south,
)
