"""Lay out the picture of a world: room, path, markers, Karel and caption."""

from collections.abc import Iterator

import numpy as np

from leaps.karel.draw import palette
from leaps.karel.draw.grid import DETAILED_CELL, STEPS, centre
from leaps.karel.draw.lettering import caption_size, printable, wrap
from leaps.karel.draw.room import room_shapes
from leaps.karel.draw.shapes import Area, Disc, Label, Line, Picture, Shape
from leaps.karel.draw.trail import Trail, trail_shapes
from leaps.karel.world import World


def lay_out(
    world: World, cell: int, trail: Trail, caption: str, *, lines: int = 0, fade: int | None = None
) -> Picture:
    """Make the picture of a world, with room for a caption of at least `lines` lines.

    `fade`: number of steps over which the path fades; all by default.
    """
    height, width = world.size
    layers: dict[str, tuple[Shape, ...]] = {
        "room": room_shapes(world, cell),
        "path": tuple(trail_shapes(trail, cell, fade)),
        "markers": tuple(_markers(world, cell)),
        "karel": tuple(_karel(world, cell)),
    }
    bottom = height * cell
    wrapped = wrap(caption, width * cell)
    if wrapped or lines:
        size = caption_size(width * cell)
        layers["caption"] = tuple(
            Label((width * cell / 2, bottom + size * (1.25 + 1.35 * number)), line, size, palette.INK)
            for number, line in enumerate(wrapped)
        )
        bottom += round(size * (1.15 + 1.35 * max(len(wrapped), lines)))
    title = printable(" ".join(caption.split())) or f"Karel in a world of {height} by {width} cells"
    return Picture(width * cell, bottom, title, layers)


def _markers(world: World, cell: int) -> Iterator[Shape]:
    for row, column in np.argwhere(world.markers > 0).tolist():
        middle = centre((row, column), cell)
        count = int(world.markers[row, column])
        if (row, column) == world.place[:2]:  # a larger disc around Karel, who shows the number
            yield Disc(middle, 0.43 * cell, palette.MARKER)
            continue
        yield Disc(middle, 0.3 * cell if cell >= DETAILED_CELL else max(0.5, 0.4 * cell), palette.MARKER)
        if count > 1 and cell >= DETAILED_CELL:
            yield Label(middle, str(count), cell * (0.4 if count < 10 else 0.34), palette.FLOOR)


def _karel(world: World, cell: int) -> Iterator[Shape]:
    row, column, heading = world.place
    x, y = centre((row, column), cell)
    reach = max(0.39 * cell, 6.0)  # large enough to see Karel in the largest worlds
    (forward_x, forward_y), (right_x, right_y) = STEPS[heading], STEPS[(heading + 1) % 4]
    arrow = tuple(
        (x + reach * (ahead * forward_x + aside * right_x), y + reach * (ahead * forward_y + aside * right_y))
        for ahead, aside in ((0.95, 0.0), (-0.85, 0.8), (-0.5, 0.0), (-0.85, -0.8))
    )
    closed = *arrow, arrow[0]
    yield Line(closed, 0.45 * reach, palette.FLOOR)  # sets Karel off from the path and from a marker
    yield Area((arrow,), palette.KAREL)
    yield Line(closed, 0.15 * reach, palette.KAREL)  # rounds the corners
    count = int(world.markers[row, column])
    if count > 1 and cell >= DETAILED_CELL:
        badge = x + 0.31 * cell, y + 0.31 * cell
        yield Disc(badge, 0.2 * cell, palette.FLOOR)
        yield Disc(badge, 0.17 * cell, palette.MARKER)
        yield Label(badge, str(count), cell * (0.26 if count < 10 else 0.21), palette.FLOOR)
