"""A rollout as a strip of states side by side, as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaps.karel.draw import palette
from leaps.karel.draw.grid import Cell
from leaps.karel.draw.layout import lay_out
from leaps.karel.draw.shapes import Area, Disc, Label, Line, Picture, Point, Shape
from leaps.karel.draw.trail import Trail
from leaps.karel.draw.vectors import write_svg
from leaps.karel.world import World

WIDTH, GAP = 1440, 30
"""width of a strip and gap between two states, in pixels"""
LARGEST_CELL = 32
LETTERS = 20.0
"""font size of a caption in pixels"""
ROOM = 40
"""height of a caption below a state, in pixels"""


@dataclass(frozen=True)
class Frame:
    """A state of a rollout."""

    world: World
    way: tuple[Cell, ...]
    """cells that Karel crossed since the previous state"""
    caption: str


def frame_of(state: Mapping[str, Any], caption: str) -> Frame:
    """Read a state from an experiment's stored values."""
    row, column, heading = (int(number) for number in state["karel"])
    way = zip(state["way_rows"], state["way_columns"], strict=True)
    return Frame(World.of(list(state["rows"]), row, column, heading), tuple(way), caption)


def lay_out_strip(frames: Sequence[Frame], title: str) -> Picture:
    """Lay out states side by side in order of time."""
    height, width = frames[0].world.size
    count = len(frames)
    cell = min(LARGEST_CELL, (WIDTH - (count - 1) * GAP) // (count * width))
    layers: dict[str, list[Shape]] = {}
    for number, frame in enumerate(frames):
        aside = number * (width * cell + GAP)
        for name, shapes in lay_out(frame.world, cell, Trail(frame.way), "").layers.items():
            layers.setdefault(name, []).extend(_moved(shape, aside) for shape in shapes)
        middle = aside + width * cell / 2, height * cell + 0.6 * ROOM
        layers.setdefault("caption", []).append(Label(middle, frame.caption, LETTERS, palette.INK))
    return Picture(
        count * width * cell + (count - 1) * GAP,
        height * cell + ROOM,
        title,
        {name: tuple(shapes) for name, shapes in layers.items()},
    )


def draw_strip(frames: Sequence[Frame], title: str) -> bytes:
    """Draw states as SVG; equal states give equal bytes."""
    return write_svg(lay_out_strip(frames, title)).encode()


def _moved(shape: Shape, aside: float) -> Shape:
    def move(point: Point) -> Point:
        return point[0] + aside, point[1]

    match shape:
        case Area(loops, colour, radius):
            return Area(tuple(tuple(map(move, loop)) for loop in loops), colour, radius)
        case Line(points, width, colour):
            return Line(tuple(map(move, points)), width, colour)
        case Disc(centre, radius, colour):
            return Disc(move(centre), radius, colour)
        case Label(centre, text, size, colour):
            return Label(move(centre), text, size, colour)
