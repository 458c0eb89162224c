"""InfDoorKey: carry keys through four rooms, round and round (KAREL-LONG, of the HIPO paper).

Two walls make four rooms, each with a marker on a random cell. Karel starts on a random cell of the top left
room that touches neither of the two walls, facing East. Clockwise from there the markers are key 1, target 1,
key 2 and target 2. Karel has to pick up key 1, put a marker on target 1, pick up key 2, put a marker on
target 2, and start over. Each of these steps opens the door to the next room, closes the previous door, and
makes the next marker appear in its cell, which is always the same. A step pays 0.01; the hundredth ends the
rollout.

    # # # # # # # #
    # . . 1 # . . #
    # . > . # . . #
    # . . . # 1 . #
    # # # # # # # #
    # . 1 . # . . #
    # . . . # . 1 #
    # # # # # # # #

All other puts change nothing. A pick that is not the next step only removes the marker. The published code
ends after 99 steps, with 0.99, and subtracts 0.0001 for every action, as `inf-door-key~cost` does.
"""

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below
from leaps.domain import size_text
from leaps.karel.physics import PICKED, PUT
from leaps.karel.tasks.task import LONG, KarelTask
from leaps.karel.world import EAST, FLOOR, WALL, World, clear, place_karel

STEPS_WANTED = 100
ROOMS = 4
SMALLEST = (6, 6)
# For each room, clockwise from the top left, the row and column of its key or target.
STEPS, CELLS = range(2)
MEMORY = CELLS + 2 * ROOMS


def sample(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    middle_row, middle_column = height // 2, width // 2
    clear(world)
    world.ground[middle_row, :] = WALL
    world.ground[:, middle_column] = WALL
    for room in range(ROOMS):
        if room in (0, 1):
            row = 1 + below(stream, middle_row - 1)
        else:
            row = middle_row + 1 + below(stream, height - 2 - middle_row)
        if room in (0, 3):
            column = 1 + below(stream, middle_column - 1)
        else:
            column = middle_column + 1 + below(stream, width - 2 - middle_column)
        world.markers[row, column] = 1
    place_karel(world, 1 + below(stream, middle_row - 2), 1 + below(stream, middle_column - 2), EAST)


@jit
def room_of(world: World, row: int, column: int) -> int:
    """Number the room of a cell, clockwise from the top left; -1 in the walls between the rooms."""
    middle_row, middle_column = world.ground.shape[0] // 2, world.ground.shape[1] // 2
    if row == middle_row or column == middle_column:
        return -1
    if row < middle_row:
        return 0 if column < middle_column else 1
    return 2 if column > middle_column else 3


@jit
def door_of(world: World, room: int) -> tuple[int, int]:
    """Return the cell of the door from a room to the next."""
    height, width = world.ground.shape
    if room == 0:
        return 2, width // 2
    if room == 1:
        return height // 2, width - 2
    if room == 2:
        return height - 2, width // 2
    return height // 2, 2


def begin(stream: Stream, world: World) -> None:  # noqa: ARG001
    height, width = world.ground.shape
    world.memory[:] = 0
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            room = room_of(world, row, column)
            if world.markers[row, column] > 0 and room >= 0:
                world.memory[CELLS + 2 * room] = row
                world.memory[CELLS + 2 * room + 1] = column


def react(world: World, change: int, row: int, column: int) -> bool:
    memory, markers = world.memory, world.markers
    room = memory[STEPS] % ROOMS
    if change == PUT:
        markers[row, column] -= 1
    wanted = PUT if room % 2 == 1 else PICKED
    if change != wanted or row != memory[CELLS + 2 * room] or column != memory[CELLS + 2 * room + 1]:
        return False
    memory[STEPS] += 1
    if memory[STEPS] == STEPS_WANTED:
        return True
    markers[row, column] = 0
    opened, closed = door_of(world, room), door_of(world, (room + ROOMS - 1) % ROOMS)
    world.ground[opened[0], opened[1]] = FLOOR
    world.ground[closed[0], closed[1]] = WALL
    room = memory[STEPS] % ROOMS
    markers[memory[CELLS + 2 * room], memory[CELLS + 2 * room + 1]] = 1
    return False


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.memory[STEPS] / STEPS_WANTED)


def obstacle(world: World) -> str | None:
    """Check that the world is large enough for the doors, and that each room has one marker."""
    height, width = world.size
    if height < SMALLEST[0] or width < SMALLEST[1]:
        return f"needs at least {size_text(SMALLEST)} cells (with the border wall), found {height}x{width}"
    left, top = slice(1, width // 2), slice(1, height // 2)
    right, bottom = slice(width // 2 + 1, width - 1), slice(height // 2 + 1, height - 1)
    for name, rows, columns in (
        ("top left", top, left),
        ("top right", top, right),
        ("bottom right", bottom, right),
        ("bottom left", bottom, left),
    ):
        count = world.markers[rows, columns].sum()
        if count != 1:
            return f"needs one marker in each of the four rooms, found {count} in the {name} one"
    return None


INF_DOOR_KEY = KarelTask(
    name="inf-door-key",
    summary="carry keys through four rooms, round and round, a hundred steps",
    size=(8, 8),
    smallest=SMALLEST,
    sample=sample,
    begin=begin,
    react=react,
    events=PICKED | PUT,
    memory=MEMORY,
    value=value,
    obstacle=obstacle,
    actions=LONG,
)
