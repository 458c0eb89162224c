"""Pictures of worlds: coloured text, PNG and SVG; and of rollouts: GIF.

A picture is laid out once, as layers of four kinds of shapes; one small function draws them with Pillow,
another writes them as SVG. Cells that a task calls exits are drawn as floor: Karel can't see them either.
"""

import io
import itertools
import math
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw, ImageFont
from rich.text import Text

from leaps.dsl.compiler import Compiled
from leaps.karel.executor import NO_ACTION, Hooks, replay, run
from leaps.karel.world import EAST, LANGUAGE, NORTH, SOUTH, WALL, WEST, World, Worlds

PAGE_COLOUR = "#ffffff"
FLOOR_COLOUR = "#fbfaf7"
GRID_COLOUR = "#e3e4e6"
WALL_COLOUR = "#525e73"
MARKER_COLOUR = "#2b6cb0"
KAREL_COLOUR = "#e2571e"
INK_COLOUR = "#2d3748"
"""of captions; the path has Karel's colour, mixed with the floor's where it is old"""

WALL_STYLE, FLOOR_STYLE, MARKER_STYLE, KAREL_STYLE = "#718096", "#8a8f98", "bold #3b82f6", "bold #e2571e"
"""of text: bright enough for a dark terminal, dark enough for a light one"""

LARGEST_CELL = 40
MOST_PIXELS = 960
"""along a picture's longer side, when the size of a cell is not asked for"""
LARGEST_FILM_CELL = 28
MOST_FILM_PIXELS = 640
DETAILED_CELL = 10
"""pixels below which a cell shows neither the grid nor how many markers there are"""
FILM_FADE = 24
"""steps in which a film's path fades; were it all of them, every frame would change all of the path"""

MOST_FRAMES = 300
HOLD_MILLISECONDS = 1500
LEAST_MILLISECONDS = 20
"""a GIF counts in hundredths of a second, and browsers slow down what is faster than two of them"""

Cell = tuple[int, int]
"""row and column"""
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


def to_text(world: World) -> Text:
    """Draw a world for a terminal, two columns per cell so that cells look square.

    Beside a Karel who stands on markers is their number; ten of them are an A, as in `World.parse`.
    """
    text = Text(no_wrap=True)
    karel_row, karel_column, heading = world.place
    for row, cells in enumerate(world.rows()):
        for column, cell in enumerate(cells):
            if (row, column) == (karel_row, karel_column):
                text.append("▲►▼◄"[heading], KAREL_STYLE)
                text.append(" " if cell == "." else cell, MARKER_STYLE)
            elif cell == "#":
                text.append("██", WALL_STYLE)
            elif cell == ".":
                text.append("· ", FLOOR_STYLE)
            else:
                text.append("10" if cell == "A" else f"{cell} ", MARKER_STYLE)
        if row < world.size[0] - 1:
            text.append("\n")
    return text


def to_image(
    world: World, *, cell: int | None = None, path: Sequence[Cell] = (), caption: str = ""
) -> Image.Image:
    """Draw a world in pixels.

    `cell`: pixels along a cell's side; chosen so that the picture stays below 1000 if not given. `path`:
    the cells (row, column) that Karel came through, oldest first; see `path_of`.
    """
    return _render(_lay_out(world, _cell_size(world, cell), Trail(path), caption))


def to_svg(world: World, *, cell: int | None = None, path: Sequence[Cell] = (), caption: str = "") -> str:
    """Draw the same picture as `to_image`, as vectors."""
    return _write_svg(_lay_out(world, _cell_size(world, cell), Trail(path), caption))


def save(
    world: World, file: Path, *, cell: int | None = None, path: Sequence[Cell] = (), caption: str = ""
) -> None:
    """Save a picture, as PNG or SVG by the file's suffix. Folders are made as needed."""
    match file.suffix.lower():
        case ".png":
            buffer = io.BytesIO()
            to_image(world, cell=cell, path=path, caption=caption).save(buffer, "PNG", optimize=True)
            _write_at_once(file, buffer.getvalue())
        case ".svg":
            _write_at_once(file, to_svg(world, cell=cell, path=path, caption=caption).encode())
        case suffix:
            raise ValueError(f"a picture is saved as .png or .svg, found {suffix!r} in {file}")


def save_gif(
    frames: Sequence[World],
    file: Path,
    *,
    milliseconds: int = 120,
    cell: int | None = None,
    captions: Sequence[str] | None = None,
) -> None:
    """Save a rollout as a GIF that loops and holds its last frame for a while.

    `captions`: one per frame. Of a long rollout only `MOST_FRAMES` frames are shown, evenly thinned; the
    path has all of it. Frames that look the same are stored as one that is shown for longer.
    """
    if not frames:
        raise ValueError("a film needs at least one frame, found none")
    if captions is not None and len(captions) != len(frames):
        raise ValueError(f"expected a caption per frame, found {len(captions)} for {len(frames)} frames")
    if strange := {frame.size for frame in frames} - {frames[0].size}:
        (height, width), (other_height, other_width) = frames[0].size, strange.pop()
        raise ValueError(
            f"the frames of a film are of one size, found {height}x{width} and {other_height}x{other_width}"
        )
    if milliseconds < LEAST_MILLISECONDS:
        raise ValueError(
            f"a frame is shown for at least {LEAST_MILLISECONDS} milliseconds, found {milliseconds}"
        )
    palette = _film_palette()
    images = [
        _render(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in _lay_out_film(frames, captions or [""] * len(frames), cell)
    ]
    buffer = io.BytesIO()
    images[0].save(
        buffer,
        "GIF",
        save_all=True,
        append_images=images[1:],
        duration=[milliseconds] * (len(images) - 1) + [max(milliseconds, HOLD_MILLISECONDS)],
        loop=0,
        palette=bytes(palette.getpalette() or ()),  # without it each frame gets one of its own
        optimize=True,  # leaves out the pixels that stay as they are
    )
    _write_at_once(file, buffer.getvalue())


def frames_of_actions(
    world: World, actions: Sequence[int] | NDArray[np.uint8], hooks: Hooks | None = None
) -> list[World]:
    """Do the actions, and return every state from the first to the last. With the hooks of the task, if any.

    A row of `Rollouts.actions` will do: what it is filled up with is left out. States share the arrays in
    which they agree; clone one before changing it.
    """
    done = np.asarray(actions, np.uint8)
    done = done[done != NO_ACTION]
    if (done >= len(LANGUAGE.actions)).any():
        raise ValueError(f"an action is a number below {len(LANGUAGE.actions)}, found {done.max()}")
    frames = [world.clone()]
    for start in range(0, len(done), _CHUNK):
        states = replay(Worlds.stack([frames[-1]]), done[None, start : start + _CHUNK], hooks)
        for index in range(1, states.count):
            frames.append(_shared(frames[-1], states.world(index)))
    return frames


_CHUNK = 256
"""actions replayed at a time: in a large world all states of a long rollout would fill the memory"""


def frames_of_program(
    world: World, program: Compiled, horizon: int, hooks: Hooks | None = None
) -> list[World]:
    """Run one program, and return every state from the first to the last; see `frames_of_actions`."""
    if program.count != 1:
        raise ValueError(f"expected one program, found {program.count}")
    rollouts = run(program, Worlds.stack([world]), horizon, hooks, want_actions=True)
    assert rollouts.actions is not None
    return frames_of_actions(world, rollouts.actions[0, 0], hooks)


def path_of(frames: Sequence[World]) -> list[Cell]:
    """The cells that Karel came through, oldest first."""
    places = [frame.place[:2] for frame in frames]
    return [place for place, _ in itertools.groupby(places)]


def _shared(before: World, after: World) -> World:
    """Copy `after`, but take over the arrays that haven't changed."""
    pairs: Any = zip(before, after, strict=True)
    return World(*(old if np.array_equal(old, new) else new.copy() for old, new in pairs))


# Layout: a world becomes shapes.


class Trail:
    """Where Karel came through."""

    def __init__(self, path: Iterable[Cell] = ()) -> None:
        self.start: Cell | None = None
        self.end: Cell | None = None
        self.steps: dict[frozenset[Cell], tuple[Cell, Cell]] = {}
        """those between two cells, each once, in the order in which they were last taken"""
        for place in path:
            self.visit(place)

    def visit(self, place: Cell) -> None:
        """Go on to a cell."""
        if self.end is None:
            self.start = place
        elif self.end != place:
            between = frozenset((self.end, place))
            self.steps.pop(between, None)  # the newest is to be the last
            self.steps[between] = self.end, place
        self.end = place


def _cell_size(
    world: World, asked: int | None, *, largest: int = LARGEST_CELL, most_pixels: int = MOST_PIXELS
) -> int:
    if asked is None:
        return max(1, min(largest, most_pixels // max(world.size)))
    if asked < 1:
        raise ValueError(f"a cell is at least 1 pixel wide, found {asked}")
    return asked


def _lay_out(
    world: World, cell: int, trail: Trail, caption: str, *, lines: int = 0, fade: int | None = None
) -> Picture:
    """Make a picture of a world, with room for at least so many lines of caption.

    `fade`: the steps in which the path fades; all, if not given.
    """
    height, width = world.size
    layers: dict[str, tuple[Shape, ...]] = {
        "room": _room(world.ground.tobytes(), world.size, cell),
        "path": tuple(_path(trail, cell, fade)),
        "markers": tuple(_markers(world, cell)),
        "karel": tuple(_karel(world, cell)),
    }
    bottom = height * cell
    size = _caption_size(width * cell)
    wrapped = _wrap(caption, width * cell - size, size)
    if wrapped or lines:
        layers["caption"] = tuple(
            Label((width * cell / 2, bottom + size * (1.25 + 1.35 * number)), line, size, INK_COLOUR)
            for number, line in enumerate(wrapped)
        )
        bottom += round(size * (1.15 + 1.35 * max(len(wrapped), lines)))
    title = _printable(" ".join(caption.split())) or f"Karel in a world of {height} by {width} cells"
    return Picture(width * cell, bottom, title, layers)


def _lay_out_film(frames: Sequence[World], captions: Sequence[str], cell: int | None) -> Iterator[Picture]:
    """Make a picture of each frame that is shown, all of one size."""
    cell = _cell_size(frames[0], cell, largest=LARGEST_FILM_CELL, most_pixels=MOST_FILM_PIXELS)
    width = frames[0].size[1] * cell
    size = _caption_size(width)
    lines = max(len(_wrap(caption, width - size, size)) for caption in captions)
    shown = set(np.linspace(0, len(frames) - 1, min(len(frames), MOST_FRAMES)).round().astype(int).tolist())
    trail = Trail()
    for index, frame in enumerate(frames):
        trail.visit(frame.place[:2])
        if index in shown:
            yield _lay_out(frame, cell, trail, captions[index], lines=lines, fade=FILM_FADE)


def _centre(place: Cell, cell: int) -> Point:
    row, column = place
    return (column + 0.5) * cell, (row + 0.5) * cell


@cache
def _mix(old: str, new: str, share: float) -> str:
    """Mix two colours."""
    pairs = zip(bytes.fromhex(old[1:]), bytes.fromhex(new[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


@lru_cache(maxsize=1)  # the frames of a film mostly have the same one
def _room(ground: bytes, size: tuple[int, int], cell: int) -> tuple[Shape, ...]:
    height, width = size
    right, bottom = width * cell, height * cell
    radius = 0.2 * cell if cell >= DETAILED_CELL else 0.0
    floor = Area((((0, 0), (right, 0), (right, bottom), (0, bottom)),), FLOOR_COLOUR, radius)
    grid: list[Line] = []
    if cell >= DETAILED_CELL:
        thin, half = max(1.0, cell / 32), cell / 2  # a line ends under the border wall
        grid += [
            Line(((half, y * cell), (right - half, y * cell)), thin, GRID_COLOUR) for y in range(1, height)
        ]
        grid += [
            Line(((x * cell, half), (x * cell, bottom - half)), thin, GRID_COLOUR) for x in range(1, width)
        ]
    solid = np.frombuffer(ground, np.uint8).reshape(size) == WALL
    loops = tuple(tuple((x * cell, y * cell) for x, y in loop) for loop in _outlines(solid))
    return (floor, *grid, Area(loops, WALL_COLOUR, radius)) if loops else (floor, *grid)


_STEPS = {NORTH: (0, -1), EAST: (1, 0), SOUTH: (0, 1), WEST: (-1, 0)}
"""heading → how x and y change"""


def _outlines(solid: NDArray[np.bool_]) -> list[list[tuple[int, int]]]:
    """Trace the outlines of solid cells: loops of corners (x, y), clockwise around what is solid.

    Cells that touch in a corner only are joined there: Karel can't pass between them.
    """
    padded = np.pad(solid, 1)
    sides = (  # of a cell: the heading of its outline there, the neighbour beyond, the corner where it begins
        (EAST, padded[:-2, 1:-1], (0, 0)),
        (SOUTH, padded[1:-1, 2:], (1, 0)),
        (WEST, padded[2:, 1:-1], (1, 1)),
        (NORTH, padded[1:-1, :-2], (0, 1)),
    )
    edges = [
        (column + right, row + down, heading)
        for heading, beyond, (right, down) in sides
        for row, column in np.argwhere(solid & ~beyond).tolist()
    ]
    known, traced = set(edges), set[tuple[int, int, int]]()
    loops = []
    for edge in edges:
        loop = []
        x, y, heading = edge
        while (x, y, heading) not in traced:
            traced.add((x, y, heading))
            x, y = x + _STEPS[heading][0], y + _STEPS[heading][1]
            left_first = ((heading + turn) % 4 for turn in (3, 0, 1))
            following = next(turned for turned in left_first if (x, y, turned) in known)
            if following != heading:
                loop.append((x, y))
            heading = following
        if loop:
            loops.append(loop)
    return loops


SHADES = 12
"""of the path, from its old end to its new one"""


def _path(trail: Trail, cell: int, fade: int | None) -> Iterator[Shape]:
    steps = list(trail.steps.values())
    if trail.start is None or not steps:
        return
    width = max(2.2, 0.13 * cell)

    def shade(number: int) -> int:
        age = (len(steps) - 1 - number) / min(len(steps), fade or len(steps))
        return min(int(age * SHADES), SHADES - 1)

    faintest = _shade(SHADES - 1)
    for age, numbers in itertools.groupby(range(len(steps)), shade):
        points: list[Point] = []
        for before, after in (steps[number] for number in numbers):
            if points and points[-1] != _centre(before, cell):
                yield Line(tuple(points), width, _shade(age))
                points = []
            points = points or [_centre(before, cell)]
            if len(points) > 1 and _straight(points[-2], points[-1], _centre(after, cell)):
                points.pop()
            points.append(_centre(after, cell))
        yield Line(tuple(points), width, _shade(age))
    if cell >= DETAILED_CELL:
        yield Disc(_centre(trail.start, cell), 1.35 * width, faintest)
        yield Disc(_centre(trail.start, cell), 0.75 * width, FLOOR_COLOUR)


def _straight(first: Point, second: Point, third: Point) -> bool:
    """Whether who goes from the first point to the second comes to the third without turning."""
    return first[0] == second[0] == third[0] or first[1] == second[1] == third[1]


def _shade(age: int) -> str:
    """Mix the colour of the path, 0 for its newest part."""
    return _mix(FLOOR_COLOUR, KAREL_COLOUR, 0.8 - 0.5 * age / (SHADES - 1))


def _markers(world: World, cell: int) -> Iterator[Shape]:
    for row, column in np.argwhere(world.markers > 0).tolist():
        centre = _centre((row, column), cell)
        count = int(world.markers[row, column])
        if (row, column) == world.place[:2]:  # let it be seen around Karel, who says the count
            yield Disc(centre, 0.43 * cell, MARKER_COLOUR)
            continue
        yield Disc(centre, 0.3 * cell if cell >= DETAILED_CELL else max(0.5, 0.4 * cell), MARKER_COLOUR)
        if count > 1 and cell >= DETAILED_CELL:
            yield Label(centre, str(count), cell * (0.4 if count < 10 else 0.34), FLOOR_COLOUR)


def _karel(world: World, cell: int) -> Iterator[Shape]:
    row, column, heading = world.place
    x, y = _centre((row, column), cell)
    reach = max(0.39 * cell, 6.0)  # also in the largest world Karel can be found
    (forward_x, forward_y), (right_x, right_y) = _STEPS[heading], _STEPS[(heading + 1) % 4]
    arrow = tuple(
        (x + reach * (ahead * forward_x + aside * right_x), y + reach * (ahead * forward_y + aside * right_y))
        for ahead, aside in ((0.95, 0.0), (-0.85, 0.8), (-0.5, 0.0), (-0.85, -0.8))
    )
    closed = *arrow, arrow[0]
    yield Line(closed, 0.45 * reach, FLOOR_COLOUR)  # sets Karel off from the path and from a marker
    yield Area((arrow,), KAREL_COLOUR)
    yield Line(closed, 0.15 * reach, KAREL_COLOUR)  # rounds the corners
    count = int(world.markers[row, column])
    if count > 1 and cell >= DETAILED_CELL:
        badge = x + 0.31 * cell, y + 0.31 * cell
        yield Disc(badge, 0.2 * cell, FLOOR_COLOUR)
        yield Disc(badge, 0.17 * cell, MARKER_COLOUR)
        yield Label(badge, str(count), cell * (0.26 if count < 10 else 0.21), FLOOR_COLOUR)


@cache
def _font(size: float) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _caption_size(width: int) -> float:
    return float(min(18, max(12, width // 32)))


def _printable(text: str) -> str:
    """Leave out what neither a font nor XML knows."""
    return "".join(character for character in text if character.isprintable())


def _wrap(caption: str, width: float, size: float) -> list[str]:
    """Break a caption into lines that fit."""
    font = _font(size)
    lines = []
    for paragraph in caption.splitlines():
        rest = _printable(paragraph).strip()
        while rest:
            fitting = len(rest)
            while fitting > 1 and font.getlength(rest[:fitting]) > width:
                fitting -= 1
            if fitting < len(rest) and " " in rest[: fitting + 1]:
                fitting = rest.rindex(" ", 0, fitting + 1)
            lines.append(rest[:fitting].rstrip())
            rest = rest[fitting:].lstrip()
    return lines


# Pixels.


def _render(picture: Picture) -> Image.Image:
    """Draw a picture larger than it is, and shrink it: so edges are smooth."""
    scale = min(4, max(2, 3000 // max(picture.width, picture.height)))
    room, *things = picture.layers.values()
    image = _background(room, picture.width, picture.height, scale).copy()
    for shapes in things:
        _paint(image, shapes, scale)
    return image.reduce(scale)


@lru_cache(maxsize=1)  # the frames of a film mostly have the same one
def _background(room: tuple[Shape, ...], width: int, height: int, scale: int) -> Image.Image:
    image = Image.new("RGB", (width * scale, height * scale), PAGE_COLOUR)
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
                outlines = [list(_rounded(loop, radius)) for loop in loops]
                image.paste(colour, *_fill(outlines, scale))
            case Line(points, width, colour):
                for begin, end in itertools.pairwise(points):
                    image.paste(colour, *_fill([_stroke(begin, end, width)], scale))
                for point in points:
                    disc(point, width / 2, colour)
            case Disc(centre, radius, colour):
                disc(centre, radius, colour)
            case Label((x, y), text, size, colour):
                baseline = x * scale, (y + _BASELINE * size) * scale
                brush.text(baseline, text, colour, _font(size * scale), "ms")


_BASELINE = 0.355
"""how far below the middle of a digit it stands, in font sizes"""


def _stroke(begin: Point, end: Point, width: float) -> list[Point]:
    """Outline a straight line."""
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
    """Find the pixels whose centre lies inside an odd number of loops: where to paste, and the mask.

    Pillow's polygons have no holes, and are half a pixel too large on all sides. Here each side of a loop
    flips what is below it.
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


def _corners(loop: Points, radius: float) -> Iterator[tuple[Point, Point, Point]]:
    """Where rounding begins, the corner itself, and where rounding ends; for each corner."""

    def towards(point: Point, other: Point) -> Point:
        share = radius / math.dist(point, other)
        return point[0] + (other[0] - point[0]) * share, point[1] + (other[1] - point[1]) * share

    for before, corner, after in zip((loop[-1], *loop), loop, (*loop[1:], loop[0]), strict=False):
        yield towards(corner, before), corner, towards(corner, after)


def _rounded(loop: Points, radius: float) -> Iterator[Point]:
    """Go along a loop with its corners rounded by quadratic curves, as SVG has them."""
    for before, corner, after in _corners(loop, radius):
        for t in (0.0, 0.25, 0.5, 0.75, 1.0) if radius else (0.0,):
            a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
            yield a * before[0] + b * corner[0] + c * after[0], a * before[1] + b * corner[1] + c * after[1]


@cache
def _film_palette() -> Image.Image:
    """Make the palette that all films share: the colours, and what smooth edges between two of them need."""
    colours = (PAGE_COLOUR, FLOOR_COLOUR, GRID_COLOUR, WALL_COLOUR, MARKER_COLOUR, KAREL_COLOUR, INK_COLOUR)
    mixed = [
        _mix(a, b, step / steps)
        for a, b in itertools.combinations(colours, 2)
        for steps in [max(abs(np.subtract(ImageColor.getrgb(a), ImageColor.getrgb(b)))) // 14]
        for step in range(1, steps)
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette(b"".join(bytes.fromhex(colour[1:]) for colour in dict.fromkeys([*colours, *mixed])))
    return palette


# Vectors.


def _write_svg(picture: Picture) -> str:
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{picture.height}"'
        f' viewBox="0 0 {picture.width} {picture.height}" role="img"'
        ' font-family="Aileron, Helvetica, Arial, sans-serif" text-anchor="middle"'
        ' fill-rule="evenodd" stroke-linecap="round" stroke-linejoin="round">',
        f"<title>{escape(picture.title)}</title>",
        f'<rect width="100%" height="100%" fill="{PAGE_COLOUR}"/>',
    ]
    for name, shapes in picture.layers.items():
        lines += [f'<g class="{name}">', *map(_svg_element, shapes), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def _svg_element(shape: Shape) -> str:
    match shape:
        case Area(loops, colour, radius):
            data = "".join(f"M{_svg_loop(loop, radius)}Z" for loop in loops)
            return f'<path d="{data}" fill="{colour}"/>'
        case Line(points, width, colour):
            data = " ".join(map(_svg_point, points))
            return f'<polyline points="{data}" fill="none" stroke="{colour}" stroke-width="{width:.4g}"/>'
        case Disc((x, y), radius, colour):
            return f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{radius:.4g}" fill="{colour}"/>'
        case Label((x, y), text, size, colour):
            place = f'x="{x:.6g}" y="{y + _BASELINE * size:.6g}"'
            return f'<text {place} font-size="{size:.4g}" fill="{colour}">{escape(text)}</text>'


def _svg_loop(loop: Points, radius: float) -> str:
    if not radius:
        return "L".join(map(_svg_point, loop))
    return "L".join(f"{_svg_point(a)}Q{_svg_point(b)} {_svg_point(c)}" for a, b, c in _corners(loop, radius))


def _svg_point(point: Point) -> str:
    return f"{point[0]:.6g},{point[1]:.6g}"


# Files.


def _write_at_once(file: Path, content: bytes) -> None:
    """Write a file so that it is the old one or the new one, never half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
