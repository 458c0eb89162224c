"""A strip shows the states that it is given, side by side, each with its caption."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from leaps.experiments.cell import cell
from leaps.experiments.report.strip import (
    GAP,
    ROOM,
    WIDTH,
    Frame,
    draw_strip,
    frame_of,
    lay_out_strip,
)
from leaps.karel.draw.shapes import Disc, Label, Picture
from leaps.karel.world import EAST
from tests.experiments.report.synthetic import shown_values


def state(markers: str = "1", column: int = 1, way: tuple[int, ...] = (1,)) -> dict[str, Any]:
    """A corridor in which Karel walks to the east."""
    rows = ["######", f"#..{markers}.#", "######"]
    return {"rows": rows, "karel": [1, column, EAST], "way_rows": [1] * len(way), "way_columns": list(way)}


def frames(*states: dict[str, Any]) -> list[Frame]:
    return [frame_of(one, f"caption {number}") for number, one in enumerate(states)]


def discs(picture: Picture) -> list[float]:
    """Where markers lie."""
    return [shape.centre[0] for shape in picture.layers["markers"] if isinstance(shape, Disc)]


def test_a_state_is_read_as_it_was_kept() -> None:
    frame = frame_of(state("2", 3, (1, 2, 3)), "end")
    assert frame.world.rows()[1] == "#..2.#"
    assert frame.world.place == (1, 3, EAST)
    assert (frame.way, frame.caption) == (((1, 1), (1, 2), (1, 3)), "end")


def test_states_stand_side_by_side_in_the_order_of_time() -> None:
    picture = lay_out_strip(frames(state(), state(), state()), "title")
    side = picture.height - ROOM
    assert side % 3 == 0
    across = 6 * side // 3
    assert picture.width == 3 * across + 2 * GAP <= WIDTH
    assert np.diff(discs(picture)).tolist() == [across + GAP] * 2
    captions = [shape.text for shape in picture.layers["caption"] if isinstance(shape, Label)]
    assert captions == ["caption 0", "caption 1", "caption 2"]


def test_picked_marker_is_not_drawn() -> None:
    assert len(discs(lay_out_strip(frames(state("1"), state(".")), ""))) == 1


def test_the_way_since_the_state_before_is_drawn() -> None:
    still, walked = (lay_out_strip(frames(state(), one), "") for one in (state(), state(way=(1, 2, 3))))
    assert still.layers["path"] == ()
    assert len(walked.layers["path"]) > 0


@pytest.mark.parametrize("width", [5, 12, 22, 60])
def test_a_strip_fits_whatever_the_worlds(width: int) -> None:
    rows = ["#" * width, "#" + "." * (width - 2) + "#", "#" * width]
    wide = {"rows": rows, "karel": [1, 1, EAST], "way_rows": [1], "way_columns": [1]}
    assert lay_out_strip(frames(*[wide] * 5), "").width <= WIDTH


def test_an_svg_shows_states_with_their_captions() -> None:
    shown = frames(state("1", 1), state("2", 3, (1, 2, 3)))
    svg = draw_strip(shown, "a & b")
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"caption 0", "caption 1", "2"} <= set(texts)
    assert svg == draw_strip(shown, "a & b")
    assert svg != draw_strip(shown[:1], "a & b")


def test_the_states_of_a_cell_are_read() -> None:
    kept = shown_values(cell("rollouts", "ladder", "maze"))["frames"]
    assert [frame_of(one, "").world.place for one in kept] == [(1, 1, EAST), (1, 3, EAST)]
