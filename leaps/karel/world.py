"""Karel's world: a walled grid, markers and Karel, independent of tasks.

Printing (`print(world)`), the interpreter and compiled code use the same arrays: a `World` is a tuple of
arrays, which numba supports.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from leaps.base.jit import inlined, jit
from leaps.base.randomness import Stream, below, seed_stream, uniform
from leaps.domain import Domain
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution

LANGUAGE = Language(
    actions=("move", "turnRight", "turnLeft", "pickMarker", "putMarker"),
    perceptions=("frontIsClear", "leftIsClear", "rightIsClear", "markersPresent", "noMarkersPresent"),
    opposites=(("noMarkersPresent", "markersPresent"),),
)
PROGRAMS = ProgramDistribution(actions=(0.5, 0.15, 0.15, 0.1, 0.1), perceptions=(0.5, 0.15, 0.15, 0.1, 0.1))
"""distribution of the paper's random programs"""
KAREL = Domain("karel", LANGUAGE, PROGRAMS, space="leaps", compiled=True, extras_module="leaps.karel.extras")

MOVE, TURN_RIGHT, TURN_LEFT, PICK_MARKER, PUT_MARKER = range(5)

NORTH, EAST, SOUTH, WEST = range(4)
HEADINGS = "NESW"
ARROWS = "^>v<"

FLOOR, WALL, EXIT = range(3)
"""kinds of ground; reaching an EXIT ends a rollout, and the task defines its value"""

MAX_MARKERS = 10


class World(NamedTuple):
    """One world.

    >>> world = World.parse('''
    ... #####
    ... #.>2#
    ... #####''')
    >>> world.place
    (1, 2, 1)
    """

    ground: NDArray[np.uint8]
    """[height, width] FLOOR, WALL or EXIT"""
    markers: NDArray[np.uint8]
    """[height, width] number of markers in each cell"""
    pose: NDArray[np.int64]
    """[3] Karel's row, column and heading"""
    memory: NDArray[np.int64]
    """a task's own state, which Karel can't perceive"""

    @property
    def place(self) -> tuple[int, int, int]:
        """Karel's row, column and heading."""
        row, column, heading = self.pose.tolist()
        return row, column, heading

    @property
    def size(self) -> tuple[int, int]:
        height, width = self.ground.shape
        return height, width

    def clone(self) -> "World":
        return World(self.ground.copy(), self.markers.copy(), self.pose.copy(), self.memory.copy())

    @staticmethod
    def parse(picture: str) -> "World":
        """Read a picture: `#` wall, `.` floor, `1` to `9` and `A` that many markers, `^>v<` Karel.

        Karel on markers can't be drawn: use `World.of`.
        """
        rows = picture.strip().split("\n")
        karels = [(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell in ARROWS]
        if len(karels) != 1:
            raise ValueError(f"a world must have exactly one Karel (one of {ARROWS}), found {len(karels)}")
        row, column = karels[0]
        heading = ARROWS.index(rows[row][column])
        return World.of([line.replace(ARROWS[heading], ".") for line in rows], row, column, heading)

    @staticmethod
    def of(rows: list[str], row: int, column: int, heading: int) -> "World":
        """Make a world from a grid of `#`, `.`, `1`-`9`, `A`, and Karel's row, column and heading."""
        height, width = len(rows), len(rows[0]) if rows else 0
        if height < 3 or width < 3:
            raise ValueError(f"a world must be at least 3x3 with its walls, found {height}x{width}")
        for r, line in enumerate(rows):
            if len(line) != width:
                raise ValueError(
                    f"the rows of a world must be equally long; row 0 has {width}, row {r} has {len(line)}"
                )
            if strange := set(line) - set("#.123456789A"):
                raise ValueError(f"row {r} has {sorted(strange)[0]!r}; expected '#', '.', '1' to '9' or 'A'")
        cells = np.array([list(line) for line in rows])
        ground = np.where(cells == "#", WALL, FLOOR).astype(np.uint8)
        if not ((ground[[0, -1]] == WALL).all() and (ground[:, [0, -1]] == WALL).all()):
            raise ValueError("a world's border must be wall ('#') all around")
        if not (0 <= row < height and 0 <= column < width):
            raise ValueError(f"Karel at ({row}, {column}) is outside the {height}x{width} world")
        if ground[row, column] == WALL:
            raise ValueError(f"Karel at ({row}, {column}) is inside a wall")
        markers = np.zeros((height, width), np.uint8)
        for count, symbol in enumerate("123456789A", start=1):
            markers[cells == symbol] = count
        return World(ground, markers, np.array([row, column, heading]), np.zeros(0, np.int64))

    def rows(self) -> list[str]:
        """Return the grid without Karel, in the form that `World.of` reads."""
        symbols = np.array(list(".123456789A"))[self.markers]
        symbols[self.ground == WALL] = "#"
        return ["".join(row) for row in symbols]

    def __str__(self) -> str:
        row, column, heading = self.place
        lines = [list(line) for line in self.rows()]
        lines[row][column] = ARROWS[heading]
        return "\n".join("".join(line) for line in lines)


class Worlds(NamedTuple):
    """Many worlds of one size: the fields of `World`, each with the worlds along its first axis."""

    ground: NDArray[np.uint8]
    markers: NDArray[np.uint8]
    pose: NDArray[np.int64]
    memory: NDArray[np.int64]

    @staticmethod
    def stack(worlds: list[World]) -> "Worlds":
        return Worlds(*(np.stack(arrays) for arrays in zip(*worlds, strict=True)))

    @staticmethod
    def join(parts: "list[Worlds]") -> "Worlds":
        """Concatenate batches of worlds of one size."""
        return Worlds(
            np.concatenate([part.ground for part in parts]),
            np.concatenate([part.markers for part in parts]),
            np.concatenate([part.pose for part in parts]),
            np.concatenate([part.memory for part in parts]),
        )

    @staticmethod
    def empty(count: int, size: tuple[int, int], memory: int = 0) -> "Worlds":
        """Allocate `count` worlds of zeros, for a sampler to fill in."""
        return Worlds(
            np.zeros((count, *size), np.uint8),
            np.zeros((count, *size), np.uint8),
            np.zeros((count, 3), np.int64),
            np.zeros((count, memory), np.int64),
        )

    @property
    def count(self) -> int:  # type: ignore[override]  # hides tuple.count, which is of no use here
        return len(self.pose)

    @property
    def size(self) -> tuple[int, int]:
        _, height, width = self.ground.shape
        return height, width

    def world(self, index: int) -> World:
        """Return world `index` as a view, which shares its arrays with this batch."""
        return World(self.ground[index], self.markers[index], self.pose[index], self.memory[index])

    def clone(self) -> "Worlds":
        return Worlds(self.ground.copy(), self.markers.copy(), self.pose.copy(), self.memory.copy())

    def room(self, count: int) -> "Worlds":
        """Allocate worlds of the same size."""
        return Worlds.empty(count, self.size, self.memory.shape[1])

    def take(self, indices: NDArray[np.integer] | slice) -> "Worlds":
        """Select worlds, in the order given."""
        return Worlds(
            np.ascontiguousarray(self.ground[indices]),
            np.ascontiguousarray(self.markers[indices]),
            np.ascontiguousarray(self.pose[indices]),
            np.ascontiguousarray(self.memory[indices]),
        )


GRID = types.Array(types.uint8, 2, "C")
REGISTERS = types.Array(types.int64, 1, "C")
WORLD_TYPE = types.NamedTuple((GRID, GRID, REGISTERS, REGISTERS), World)
"""type of a `World` in compiled code"""


@inlined
def world_at(worlds: Worlds, index: int) -> World:
    """`Worlds.world` for compiled code."""
    return World(worlds.ground[index], worlds.markers[index], worlds.pose[index], worlds.memory[index])


@jit
def empty_world(like: Worlds) -> World:
    """Allocate one world of the same size as these."""
    return World(
        np.empty_like(like.ground[0]),
        np.empty_like(like.markers[0]),
        np.empty_like(like.pose[0]),
        np.empty_like(like.memory[0]),
    )


class FlatWorlds(NamedTuple):
    """One or many worlds with each field as a one-dimensional array.

    In compiled code, making a view costs more than copying a small world. So the kernels make flat views
    once, and then compute indices.
    """

    ground: NDArray[np.uint8]
    markers: NDArray[np.uint8]
    pose: NDArray[np.int64]
    memory: NDArray[np.int64]


@jit
def flatten(worlds: Any) -> FlatWorlds:
    """View a `World` or `Worlds` flat."""
    return FlatWorlds(
        worlds.ground.reshape(-1),
        worlds.markers.reshape(-1),
        worlds.pose.reshape(-1),
        worlds.memory.reshape(-1),
    )


@inlined
def _copy(source: NDArray[Any], read: int, target: NDArray[Any], write: int, count: int) -> None:
    """Copy `count` numbers. Indices are unsigned, since otherwise the loop is not vectorised."""
    source_start, target_start = np.uint64(read), np.uint64(write)
    for i in range(np.uint64(count)):
        target[target_start + i] = source[source_start + i]


@inlined
def copy_flat(source: FlatWorlds, read: int, target: FlatWorlds, write: int, cells: Any, memory: Any) -> None:
    """Copy world `read` of `source` to world `write` of `target`."""
    _copy(source.ground, read * cells, target.ground, write * cells, cells)
    _copy(source.markers, read * cells, target.markers, write * cells, cells)
    _copy(source.pose, read * 3, target.pose, write * 3, 3)
    _copy(source.memory, read * memory, target.memory, write * memory, memory)


@jit
def _equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Compare two arrays of the same length, up to the first difference."""
    for i in range(len(one)):  # noqa: SIM110  (no generators in compiled code)
        if one[i] != other[i]:
            return False
    return True


@jit
def same_state(one: FlatWorlds, other: FlatWorlds) -> bool:
    """Check whether two worlds are the same, apart from Karel's pose."""
    return (
        _equal(one.memory, other.memory)
        and _equal(one.markers, other.markers)
        and _equal(one.ground, other.ground)
    )


@jit
def place_karel(world: World, row: int, column: int, heading: int) -> None:
    world.pose[0] = row
    world.pose[1] = column
    world.pose[2] = heading


@jit
def clear(world: World) -> None:
    """Make the world an empty walled room, and reset the task's memory to 0."""
    world.ground[:] = WALL
    world.ground[1:-1, 1:-1] = FLOOR
    world.markers[:] = 0
    world.memory[:] = 0


WALL_DENSITY = 0.1
MARKER_DENSITY = 0.1


@jit
def _scatter(stream: Stream, world: World, wall_density: float) -> None:
    clear(world)
    height, width = world.ground.shape
    free = 0
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            if uniform(stream) < wall_density:
                world.ground[row, column] = WALL
            else:
                free += 1
                world.markers[row, column] = uniform(stream) < MARKER_DENSITY
    if free == 0:  # Karel must stand somewhere
        world.ground[1, 1] = FLOOR
    while True:
        row, column = 1 + below(stream, height - 2), 1 + below(stream, width - 2)
        if world.ground[row, column] == FLOOR:
            place_karel(world, row, column, below(stream, 4))
            return


@jit
def _scatter_all(worlds: Worlds, seed: int, first: int, wall_density: float) -> None:
    stream = np.zeros(1, np.uint64)
    for index in range(len(worlds.pose)):
        seed_stream(stream, seed, first + index)
        _scatter(stream, world_at(worlds, index), wall_density)


def random_worlds(
    count: int,
    seed: int,
    size: tuple[int, int] = (8, 8),
    *,
    first: int = 0,
    wall_density: float = WALL_DENSITY,
) -> Worlds:
    """Draw worlds as in the paper's data set, with random walls, markers and Karel's pose.

    World `i` depends on the seed and on `first + i` alone.
    """
    if min(size) < 3:
        raise ValueError(f"a world must be at least 3x3 with its walls, found {size[0]}x{size[1]}")
    worlds = Worlds.empty(count, size)
    _scatter_all(worlds, seed, first, wall_density)
    return worlds
