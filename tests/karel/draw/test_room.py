import numpy as np
import pytest

from leaps.karel.draw import palette
from leaps.karel.draw.grid import DETAILED_CELL
from leaps.karel.draw.room import outlines, room_shapes
from leaps.karel.draw.shapes import Area, Line
from leaps.karel.world import EXIT, World
from tests.karel.draw.looking import empty_room, room

CELL = 20


def walls(world: World) -> list[Area]:
    shapes = room_shapes(world, CELL)
    return [shape for shape in shapes if isinstance(shape, Area) and shape.colour == palette.WALL]


def traced(picture: str) -> list[list[tuple[int, int]]]:
    return outlines(np.array([[cell == "#" for cell in row] for row in picture.split()]))


def test_a_solid_cell_is_walked_around_clockwise() -> None:
    assert traced("... .#. ...") == [[(2, 1), (2, 2), (1, 2), (1, 1)]]


def test_cells_along_a_side_have_one_outline_without_needless_corners() -> None:
    assert traced("##") == [[(2, 0), (2, 1), (0, 1), (0, 0)]]


def test_cells_that_touch_in_a_corner_have_one_outline() -> None:
    assert len(traced("#. .#")) == 1


def test_a_hole_has_its_own_outline() -> None:
    assert [len(loop) for loop in traced("### #.# ###")] == [4, 4]


def test_nothing_solid_has_no_outline() -> None:
    assert traced(".. ..") == []


@pytest.mark.parametrize("seed", range(20))
def test_outlines_enclose_the_solid_cells(seed: int) -> None:
    """The signed areas of the loops, by the shoelace formula, add up to the number of solid cells."""
    solid = np.random.default_rng(seed).random((6, 7)) < 0.5
    area = sum(
        (x * next_y - next_x * y) / 2
        for loop in outlines(solid)
        for (x, y), (next_x, next_y) in zip(loop, [*loop[1:], loop[0]], strict=True)
    )
    assert area == solid.sum()


def test_all_walls_are_one_shape_with_an_outline_per_boundary() -> None:
    assert [len(area.loops) for area in walls(room())] == [3]  # the border's two sides, and the pillar


def test_a_world_without_walls_has_none() -> None:
    world = room()
    world.ground[:] = 0
    assert walls(world) == []


def test_an_exit_looks_like_floor() -> None:
    world = room()
    world.ground[1, 1] = EXIT
    assert room_shapes(world, CELL) == room_shapes(room(), CELL)


@pytest.mark.parametrize(("cell", "lines"), [(DETAILED_CELL - 1, 0), (DETAILED_CELL, 16)])
def test_small_cells_have_no_grid(cell: int, lines: int) -> None:
    assert sum(isinstance(shape, Line) for shape in room_shapes(empty_room(9, 9), cell)) == lines


def test_a_removed_wall_disappears() -> None:
    """The room of the last picture is remembered; it must not be taken for that of another world."""
    world = room()
    before = walls(world)
    world.ground[2, 2] = 0
    assert walls(world) != before
