"""Draw Karel's path, which fades towards its oldest part."""

import itertools
from collections.abc import Iterable, Iterator

from leaps.karel.draw import palette
from leaps.karel.draw.grid import DETAILED_CELL, Cell, centre
from leaps.karel.draw.shapes import Disc, Line, Point, Shape

SHADES = 12
"""number of shades from the oldest part of the path to the newest"""


class Trail:
    """Karel's path: its first and last cell, and the steps between cells."""

    def __init__(self, path: Iterable[Cell] = ()) -> None:
        self.start: Cell | None = None
        self.end: Cell | None = None
        self.steps: dict[frozenset[Cell], tuple[Cell, Cell]] = {}
        """steps by their pair of cells, each pair once, in the order of the last time"""
        for cell in path:
            self.visit(cell)

    def visit(self, cell: Cell) -> None:
        """Append a cell to the path."""
        if self.end is None:
            self.start = cell
        elif self.end != cell:
            between = frozenset((self.end, cell))
            self.steps.pop(between, None)  # so that the newest step is last
            self.steps[between] = self.end, cell
        self.end = cell


def trail_shapes(trail: Trail, cell: int, fade: int | None = None) -> Iterator[Shape]:
    """Yield the shapes of a trail. `fade`: number of steps over which it fades; all by default."""
    steps = list(trail.steps.values())
    if trail.start is None or not steps:
        return
    width = max(2.2, 0.13 * cell)

    def shade(number: int) -> int:
        age = (len(steps) - 1 - number) / min(len(steps), fade or len(steps))
        return min(int(age * SHADES), SHADES - 1)

    for age, numbers in itertools.groupby(range(len(steps)), shade):
        points: list[Point] = []
        for before, after in (steps[number] for number in numbers):
            if points and points[-1] != centre(before, cell):
                yield Line(tuple(points), width, _colour(age))
                points = []
            points = points or [centre(before, cell)]
            if len(points) > 1 and _straight(points[-2], points[-1], centre(after, cell)):
                points.pop()
            points.append(centre(after, cell))
        yield Line(tuple(points), width, _colour(age))
    if cell >= DETAILED_CELL:
        yield Disc(centre(trail.start, cell), 1.35 * width, _colour(SHADES - 1))
        yield Disc(centre(trail.start, cell), 0.75 * width, palette.FLOOR)


def _straight(first: Point, second: Point, third: Point) -> bool:
    """Check whether three consecutive points of the path are on one row or column."""
    return first[0] == second[0] == third[0] or first[1] == second[1] == third[1]


def _colour(age: int) -> str:
    """Return the colour of a part of the path. age: 0 for the newest part."""
    return palette.mix(palette.FLOOR, palette.KAREL, 0.8 - 0.5 * age / (SHADES - 1))
