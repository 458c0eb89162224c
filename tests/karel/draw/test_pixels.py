import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.karel.draw import palette, to_image
from leaps.karel.draw.pixels import render
from leaps.karel.draw.shapes import Area, Disc, Line, Picture, Shape
from leaps.karel.world import NORTH, World
from tests.karel.draw.looking import CORRIDOR, cell_of, empty_room, has_colour, is_colour, pixels, room

RED = "#ff0000"


def red(shape: Shape, width: int = 40, height: int = 30) -> NDArray[np.bool_]:
    """Draw one shape, and find the pixels that are all of it."""
    return is_colour(pixels(render(Picture(width, height, "", {"room": (shape,)}))), RED)


def square(left: float, top: float, right: float, bottom: float) -> tuple[tuple[float, float], ...]:
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def test_an_area_covers_what_is_inside_and_no_more() -> None:
    expected = np.zeros((30, 40), np.bool_)
    expected[5:20, 10:30] = True
    np.testing.assert_array_equal(red(Area((square(10, 5, 30, 20),), RED)), expected)


def test_an_area_in_an_area_is_a_hole() -> None:
    expected = np.zeros((30, 40), np.bool_)
    expected[5:20, 10:30] = True
    expected[10:15, 15:20] = False
    area = Area((square(10, 5, 30, 20), square(15, 10, 20, 15)), RED)
    np.testing.assert_array_equal(red(area), expected)


def test_rounding_takes_from_the_corners_only() -> None:
    sharp, rounded = (red(Area((square(10, 5, 30, 20),), RED, radius)) for radius in (0.0, 4.0))
    gone = sharp & ~rounded
    assert gone[[5, 5, 19, 19], [10, 29, 10, 29]].all()
    assert not gone[9:16].any()
    assert not gone[:, 14:26].any()


def test_a_line_has_the_given_width() -> None:
    assert np.flatnonzero(red(Line(((5, 10), (35, 10)), 4, RED))[:, 20]).tolist() == [8, 9, 10, 11]


def test_a_disc_is_round_about_its_centre() -> None:
    disc = red(Disc((20, 15), 10, RED))
    np.testing.assert_array_equal(disc, disc[::-1])
    np.testing.assert_array_equal(disc, disc[:, ::-1])
    assert disc.sum() == pytest.approx(np.pi * 10**2, rel=0.1)


@pytest.mark.parametrize("cell", [5, 28])
def test_a_wall_covers_its_cells_and_no_more(cell: int) -> None:
    is_wall = is_colour(pixels(to_image(empty_room(6, 9), cell=cell)), palette.WALL)
    across, down = is_wall[3 * cell + cell // 2], is_wall[:, 3 * cell + cell // 2]
    assert across.tolist() == [x < cell or x >= 8 * cell for x in range(9 * cell)]
    assert down.tolist() == [y < cell or y >= 5 * cell for y in range(6 * cell)]


def test_walls_that_touch_in_a_corner_are_joined() -> None:
    world = World.parse("######\n#....#\n#.#..#\n#..#.#\n#>...#\n######")
    assert has_colour(pixels(to_image(world, cell=28))[84:85, 84:85], palette.WALL)


def test_walls_that_touch_along_a_side_have_no_seam() -> None:
    world = World.parse("######\n#....#\n#.##.#\n#.##.#\n#>...#\n######")
    inside = pixels(to_image(world, cell=28))[2 * 28 + 6 : 4 * 28 - 6, 2 * 28 + 6 : 4 * 28 - 6]
    assert is_colour(inside, palette.WALL).all()


@pytest.mark.parametrize("cell", [3, 8, 28])
def test_the_four_headings_are_four_pictures(cell: int) -> None:
    pictures = set()
    for heading in range(4):
        world = room()
        world.pose[2] = heading
        pictures.add(to_image(world, cell=cell).tobytes())
    assert len(pictures) == 4


def test_karel_points_north_as_a_triangle_does() -> None:
    world = room()
    world.pose[2] = NORTH
    breadth = is_colour(cell_of(to_image(world, cell=40), 3, 3, 40), palette.KAREL).sum(axis=1)
    assert 0 < breadth[8] < breadth[16] < breadth[24]


@pytest.mark.parametrize("colour", [palette.KAREL, palette.MARKER])
def test_karel_and_the_marker_below_can_both_be_seen(colour: str) -> None:
    world = room()
    world.markers[3, 3] = 1
    assert has_colour(cell_of(to_image(world, cell=28), 3, 3, 28), colour)


def test_karel_can_be_seen_in_the_largest_world() -> None:
    assert has_colour(pixels(to_image(empty_room(1000, 1000))), palette.KAREL)


def test_a_caption_is_below_the_world() -> None:
    plain, captioned = to_image(room()), to_image(room(), caption="Here")
    assert (pixels(captioned)[: plain.height - 1] == pixels(plain)[:-1]).all()
    assert pixels(captioned)[plain.height :].min() < 100


def test_a_path_fades_from_new_to_old() -> None:
    world = World.parse(CORRIDOR.replace(">....", "....>"))
    image = pixels(to_image(world, cell=28, path=[(1, column) for column in range(1, 6)])).astype(int)
    old, new = image[42, 2 * 28], image[42, 4 * 28]
    floor = np.array([*palette.rgb(palette.FLOOR)])
    assert 0 < np.abs(floor - old).sum() < np.abs(floor - new).sum()
