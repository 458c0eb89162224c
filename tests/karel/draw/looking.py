"""Worlds to draw, and ways to look at their pictures."""

from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor

from leaps.karel.draw import frames_of_actions
from leaps.karel.world import EAST, MOVE, TURN_LEFT, World

ROOM = """
######
#.2..#
#.#..#
#..>.#
######"""
CORRIDOR = """
#######
#>....#
#######"""
SVG = "{http://www.w3.org/2000/svg}"


def room() -> World:
    return World.parse(ROOM)


def corridor() -> World:
    return World.parse(CORRIDOR)


def empty_room(height: int, width: int) -> World:
    return World.of(["#" * width, *["#" + "." * (width - 2) + "#"] * (height - 2), "#" * width], 1, 1, EAST)


def walk(steps: int) -> list[World]:
    """Walk to and fro in the corridor."""
    actions = ([MOVE] * 4 + [TURN_LEFT] * 2) * steps
    return frames_of_actions(corridor(), actions[:steps])


def layer(svg: str, name: str) -> ElementTree.Element:
    found = ElementTree.fromstring(svg).find(f"{SVG}g[@class='{name}']")
    assert found is not None
    return found


def words(svg: str, name: str) -> list[str]:
    return [text.text or "" for text in layer(svg, name).iter(f"{SVG}text")]


def pixels(image: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(image.convert("RGB"))


def cell_of(image: Image.Image, row: int, column: int, cell: int) -> NDArray[np.uint8]:
    return pixels(image)[row * cell : (row + 1) * cell, column * cell : (column + 1) * cell]


def is_colour(part: NDArray[np.uint8], colour: str) -> NDArray[np.bool_]:
    return np.asarray((part == ImageColor.getrgb(colour)).all(axis=-1))


def has_colour(part: NDArray[np.uint8], colour: str) -> bool:
    return bool(is_colour(part, colour).any())
