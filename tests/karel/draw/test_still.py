import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from leaps.karel.draw.still import save, to_image, to_svg
from tests.karel.draw.looking import SVG, empty_room, layer, room, words


@pytest.mark.parametrize("size", [(3, 3), (8, 8), (14, 22), (100, 100), (100, 12)])
def test_a_picture_stays_below_a_thousand_pixels(size: tuple[int, int]) -> None:
    assert max(to_image(empty_room(*size), caption="A caption").size) <= 1000


def test_the_size_of_a_cell_can_be_given() -> None:
    assert to_image(room(), cell=17).size == (6 * 17, 5 * 17)


def test_a_cell_without_pixels_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 pixel wide, found 0"):
        to_image(room(), cell=0)


def test_vectors_are_as_large_as_the_pixels() -> None:
    image = to_image(room(), cell=20, caption="Here")
    root = ElementTree.fromstring(to_svg(room(), cell=20, caption="Here"))
    assert (root.get("width"), root.get("height")) == (str(image.width), str(image.height))


def test_an_svg_has_its_caption_as_title_and_as_text() -> None:
    svg = to_svg(room(), caption="A & B < C")
    assert ElementTree.fromstring(svg).findtext(f"{SVG}title") == "A & B < C"
    assert words(svg, "caption") == ["A & B < C"]


def test_characters_invalid_in_xml_are_left_out_of_an_svg() -> None:
    assert words(to_svg(room(), caption="a\x00\x1bb"), "caption") == ["ab"]


def test_an_svg_shows_the_path() -> None:
    svg = to_svg(room(), cell=10, path=[(3, 1), (3, 2), (3, 3)])
    lines = [line.get("points") for line in layer(svg, "path").iter(f"{SVG}polyline")]
    assert lines == ["15,35 25,35", "25,35 35,35"]


@pytest.mark.parametrize("name", ["world.png", "world.PNG", "world.svg"])
def test_a_picture_is_saved_by_its_suffix_into_folders_made_for_it(tmp_path: Path, name: str) -> None:
    file = tmp_path / "deep" / "down" / name
    save(room(), file)
    assert file.read_bytes()[:4] == (b"<svg" if name.endswith("svg") else b"\x89PNG")


def test_a_picture_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"with \.png or \.svg, found '\.jpg'"):
        save(room(), tmp_path / "world.jpg")


@pytest.mark.parametrize("name", ["world.png", "world.svg"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError("not allowed")

    file = tmp_path / name
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="not allowed"):
        save(room(), file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: b"old"}
