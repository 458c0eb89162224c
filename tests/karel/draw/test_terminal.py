import io

import pytest
from rich.console import Console

from leaps.karel.draw.terminal import to_text
from leaps.karel.world import EAST, NORTH, SOUTH, WEST, World
from tests.karel.draw.looking import ROOM, room


def test_text_has_a_line_per_row_and_two_columns_per_cell() -> None:
    assert [len(line) for line in to_text(room()).plain.split("\n")] == [12] * 5


def test_text_shows_walls_floor_markers_and_karel() -> None:
    assert to_text(room()).plain.split("\n")[1:4] == ["██· 2 · · ██", "██· ██· · ██", "██· · ► · ██"]


def test_text_says_how_many_markers_karel_stands_on() -> None:
    world = room()
    world.markers[3, 3] = 3
    assert "►3" in to_text(world).plain


def test_text_writes_ten_markers_as_ten() -> None:
    assert to_text(World.parse(ROOM.replace("2", "A"))).plain.split("\n")[1] == "██· 10· · ██"


@pytest.mark.parametrize(("heading", "arrow"), [(NORTH, "▲"), (EAST, "►"), (SOUTH, "▼"), (WEST, "◄")])
def test_text_points_where_karel_looks(heading: int, arrow: str) -> None:
    world = room()
    world.pose[2] = heading
    assert arrow in to_text(world).plain


def test_text_in_a_terminal_has_colours() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80)
    with console.capture() as capture:
        console.print(to_text(room()))
    assert "38;2;226;87;30m►" in capture.get()
