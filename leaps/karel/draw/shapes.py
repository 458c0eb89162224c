"""What a picture consists of: layers of areas, lines, discs and labels."""

import math
from collections.abc import Iterator
from typing import NamedTuple

Point = tuple[float, float]
"""x and y in pixels, y downwards"""
Points = tuple[Point, ...]


class Area(NamedTuple):
    """What lies inside an odd number of loops. Corners are rounded."""

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
    """Shapes to be drawn, those of the first layer first."""

    width: int
    height: int
    title: str
    layers: dict[str, tuple[Shape, ...]]
    """the first is the room: its floor, grid and walls"""


def corners(loop: Points, radius: float) -> Iterator[tuple[Point, Point, Point]]:
    """Where rounding begins, the corner itself, and where rounding ends; for each corner."""

    def towards(point: Point, other: Point) -> Point:
        share = radius / math.dist(point, other)
        return point[0] + (other[0] - point[0]) * share, point[1] + (other[1] - point[1]) * share

    for before, corner, after in zip((loop[-1], *loop), loop, (*loop[1:], loop[0]), strict=False):
        yield towards(corner, before), corner, towards(corner, after)
