import pytest

from leaps.karel.draw import palette
from leaps.karel.draw.layout import lay_out
from leaps.karel.draw.shapes import Area, Disc, Label, Picture, Shape
from leaps.karel.draw.trail import Trail
from leaps.karel.world import World
from tests.karel.draw.looking import ROOM, room

CELL = 28


def picture(world: World, caption: str = "", *, cell: int = CELL, lines: int = 0) -> Picture:
    return lay_out(world, cell, Trail(), caption, lines=lines)


def labels(shapes: tuple[Shape, ...]) -> list[str]:
    return [shape.text for shape in shapes if isinstance(shape, Label)]


def discs(shapes: tuple[Shape, ...]) -> list[Disc]:
    return [shape for shape in shapes if isinstance(shape, Disc)]


def test_karel_is_above_the_markers_and_these_above_the_path() -> None:
    assert list(picture(room(), "Here").layers) == ["room", "path", "markers", "karel", "caption"]


def test_there_is_one_karel() -> None:
    areas = [shape for shape in picture(room()).layers["karel"] if isinstance(shape, Area)]
    assert [area.colour for area in areas] == [palette.KAREL]


def test_several_markers_are_one_disc_with_their_count() -> None:
    markers = picture(room()).layers["markers"]
    assert (len(discs(markers)), labels(markers)) == (1, ["2"])


def test_a_single_marker_has_no_count() -> None:
    assert labels(picture(World.parse(ROOM.replace("2", "1"))).layers["markers"]) == []


def test_small_cells_have_no_count() -> None:
    assert labels(picture(room(), cell=9).layers["markers"]) == []


def test_the_count_of_markers_under_karel_is_shown_on_top() -> None:
    world = room()
    world.markers[3, 3] = 10
    layers = picture(world).layers
    assert (labels(layers["markers"]), labels(layers["karel"])) == (["2"], ["10"])


def test_a_marker_under_karel_is_larger() -> None:
    world = World.parse(ROOM.replace("2", "1"))
    world.markers[3, 3] = 1
    beside, under = discs(picture(world).layers["markers"])
    assert under.radius > beside.radius


def test_a_picture_without_a_caption_is_as_large_as_the_world() -> None:
    assert picture(room())[:2] == (6 * CELL, 5 * CELL)


def test_all_lines_of_a_caption_are_inside_the_picture_below_the_world() -> None:
    captioned = picture(room(), "one\ntwo\nthree")
    heights = [shape.centre[1] for shape in captioned.layers["caption"] if isinstance(shape, Label)]
    assert heights == sorted(heights)
    assert 5 * CELL < heights[0] < heights[-1] < captioned.height


@pytest.mark.parametrize("caption", ["", "one", "one\ntwo"])
def test_room_for_more_caption_lines_can_be_reserved(caption: str) -> None:
    assert picture(room(), caption, lines=3).height == picture(room(), "one\ntwo\nthree").height


def test_unprintable_characters_are_left_out_of_a_caption() -> None:
    assert labels(picture(room(), "a\x00\x1bb").layers["caption"]) == ["ab"]


def test_the_title_is_the_caption_in_one_line() -> None:
    assert picture(room(), "one\n two\x00").title == "one two"


def test_a_picture_without_a_caption_has_a_title_too() -> None:
    assert picture(room()).title == "Karel in a world of 5 by 6 cells"
