"""Draw a picture in pixels, with Pillow."""

import itertools
import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from leaps.karel.draw import palette
from leaps.karel.draw.lettering import BASELINE, font
from leaps.karel.draw.shapes import Area, Disc, Label, Line, Picture, Point, Points, Shape, corners


def render(picture: Picture) -> Image.Image:
    """Draw a picture at a larger scale and shrink it, for smooth edges."""
    scale = min(4, max(2, 3000 // max(picture.width, picture.height)))
    room, *things = picture.layers.values()
    image = _background(room, picture.width, picture.height, scale).copy()
    for shapes in things:
        _paint(image, shapes, scale)
    return image.reduce(scale)


@lru_cache(maxsize=1)  # most frames of a film have the same background
def _background(room: tuple[Shape, ...], width: int, height: int, scale: int) -> Image.Image:
    image = Image.new("RGB", (width * scale, height * scale), palette.PAGE)
    _paint(image, room, scale)
    return image


def _paint(image: Image.Image, shapes: Iterable[Shape], scale: int) -> None:
    brush = ImageDraw.Draw(image)

    def disc(centre: Point, radius: float, colour: str) -> None:
        x, y = centre[0] * scale - 0.5, centre[1] * scale - 0.5  # Pillow counts from the centre of a pixel
        brush.circle((x, y), radius * scale - 0.5, colour)

    for shape in shapes:
        match shape:
            case Area(loops, colour, radius):
                rounded = [list(_rounded(loop, radius)) for loop in loops]
                image.paste(colour, *_fill(rounded, scale))
            case Line(points, width, colour):
                for begin, end in itertools.pairwise(points):
                    image.paste(colour, *_fill([_stroke(begin, end, width)], scale))
                for point in points:
                    disc(point, width / 2, colour)
            case Disc(centre, radius, colour):
                disc(centre, radius, colour)
            case Label((x, y), text, size, colour):
                baseline = x * scale, (y + BASELINE * size) * scale
                brush.text(baseline, text, colour, font(size * scale), "ms")


def _rounded(loop: Points, radius: float) -> Iterator[Point]:
    """Yield the points of a loop with its corners rounded by quadratic curves, as in SVG."""
    for before, corner, after in corners(loop, radius):
        for t in (0.0, 0.25, 0.5, 0.75, 1.0) if radius else (0.0,):
            a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
            yield a * before[0] + b * corner[0] + c * after[0], a * before[1] + b * corner[1] + c * after[1]


def _stroke(begin: Point, end: Point, width: float) -> list[Point]:
    """Return the outline of a straight line as a rectangle."""
    (x, y), (next_x, next_y) = begin, end
    half = width / 2 / math.dist(begin, end)
    aside_x, aside_y = half * (y - next_y), half * (next_x - x)
    return [
        (x + aside_x, y + aside_y),
        (next_x + aside_x, next_y + aside_y),
        (next_x - aside_x, next_y - aside_y),
        (x - aside_x, y - aside_y),
    ]


def _fill(loops: list[list[Point]], scale: int) -> tuple[tuple[int, int], Image.Image]:
    """Find the pixels whose centre is inside an odd number of loops; return their corner and their mask.

    Pillow's polygons have no holes, and are half a pixel too large on all sides. Here each side of a loop
    flips all pixels below it.
    """
    begins = np.array([point for loop in loops for point in loop]) * scale
    ends = np.array([point for loop in loops for point in (*loop[1:], loop[0])]) * scale
    left, top = np.floor(begins.min(axis=0)).astype(int).tolist()
    right, bottom = np.ceil(begins.max(axis=0)).astype(int).tolist()
    begins, ends = begins - (left, top), ends - (left, top)
    first, last = np.ceil(np.sort([begins[:, 0], ends[:, 0]], axis=0) - 0.5).astype(int)
    side = np.repeat(np.arange(len(begins)), last - first)  # a side flips a pixel in each column it crosses
    column = np.arange(len(side)) - np.repeat(np.cumsum(last - first) - last, last - first)
    (x, y), (next_x, next_y) = begins[side].T, ends[side].T
    row = np.ceil(y + (column + 0.5 - x) * (next_y - y) / (next_x - x) - 0.5).astype(int)
    flips = np.zeros((bottom - top + 1, right - left), np.uint8)
    np.bitwise_xor.at(flips, (row, column), 255)
    return (left, top), Image.fromarray(np.bitwise_xor.accumulate(flips, axis=0) > 0)
