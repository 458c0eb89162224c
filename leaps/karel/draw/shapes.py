"""Shapes of a picture: areas, lines, discs and labels, in layers."""

import math
from collections.abc import Iterator
from typing import NamedTuple

Point = tuple[float, float]
"""x and y in pixels, y downwards"""
Points = tuple[Point, ...]


class Area(NamedTuple):
    """All points inside an odd number of loops, with rounded corners."""

    loops: tuple[Points, ...]
    colour: str
    radius: float = 0.0


class Line(NamedTuple):
    """A line with round ends and joins."""

    points: Points
    width: float
    colour: str


class Disc(NamedTuple):
    """A filled circle."""

    centre: Point
    radius: float
    colour: str


class Label(NamedTuple):
    """A line of text, centred on a point."""

    centre: Point
    text: str
    size: float
    colour: str


Shape = Area | Line | Disc | Label


class Picture(NamedTuple):
    """Layers of shapes, in the order of drawing."""

    width: int
    height: int
    title: str
    layers: dict[str, tuple[Shape, ...]]
    """shapes by name of the layer; the first layer is the room: floor, grid and walls"""


def corners(loop: Points, radius: float) -> Iterator[tuple[Point, Point, Point]]:
    """Yield three points for each corner: start of the rounding, the corner, and end of the rounding."""

    def towards(point: Point, other: Point) -> Point:
        fraction = radius / math.dist(point, other)
        return point[0] + (other[0] - point[0]) * fraction, point[1] + (other[1] - point[1]) * fraction

    for before, corner, after in zip((loop[-1], *loop), loop, (*loop[1:], loop[0]), strict=False):
        yield towards(corner, before), corner, towards(corner, after)
