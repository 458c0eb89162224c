from xml.etree import ElementTree

import pytest

from leaps.karel.draw.shapes import Area, Disc, Label, Line, Picture, Shape
from leaps.karel.draw.vectors import write_svg
from tests.karel.draw.looking import SVG, layer

TRIANGLE = ((0.0, 0.0), (10.0, 0.0), (0.0, 10.0))


def svg(*shapes: Shape, title: str = "") -> str:
    return write_svg(Picture(60, 50, title, {"room": shapes}))


@pytest.mark.parametrize(
    ("shape", "tag", "attributes"),
    [
        (Area((TRIANGLE,), "#123456"), "path", {"d": "M0,0L10,0L0,10Z", "fill": "#123456"}),
        (
            Line(((1, 2), (3.5, 4)), 2, "#123456"),
            "polyline",
            {"points": "1,2 3.5,4", "fill": "none", "stroke": "#123456", "stroke-width": "2"},
        ),
        (Disc((1, 2), 3, "#123456"), "circle", {"cx": "1", "cy": "2", "r": "3", "fill": "#123456"}),
        (
            Label((1, 2), "A < B", 10, "#123456"),
            "text",
            {"x": "1", "y": "5.55", "font-size": "10", "fill": "#123456"},
        ),
    ],
)
def test_a_shape_is_an_element(shape: Shape, tag: str, attributes: dict[str, str]) -> None:
    (element,) = layer(svg(shape), "room")
    assert (element.tag, element.attrib) == (SVG + tag, attributes)


def test_a_loop_is_a_closed_path() -> None:
    (path,) = layer(svg(Area((TRIANGLE, TRIANGLE), "#123456")), "room")
    assert path.get("d") == "M0,0L10,0L0,10Z" * 2


def test_round_corners_are_curves() -> None:
    (path,) = layer(svg(Area((((0, 0), (10, 0), (10, 10), (0, 10)),), "#123456", 2)), "room")
    assert path.get("d") == "M0,2Q0,0 2,0L8,0Q10,0 10,2L10,8Q10,10 8,10L2,10Q0,10 0,8Z"


def test_words_are_escaped() -> None:
    root = ElementTree.fromstring(svg(Label((1, 2), "A & B < C", 10, "#123456"), title="C > B & A"))
    assert (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}g/{SVG}text")) == ("C > B & A", "A & B < C")


def test_an_svg_scales() -> None:
    root = ElementTree.fromstring(svg())
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("60", "50", "0 0 60 50")
