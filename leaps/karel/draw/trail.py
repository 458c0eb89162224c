"""The path that Karel took: the newest part strong, the oldest faint."""

import itertools
from collections.abc import Iterable, Iterator

from leaps.karel.draw import palette
from leaps.karel.draw.grid import DETAILED_CELL, Cell, centre
from leaps.karel.draw.shapes import Disc, Line, Point, Shape

SHADES = 12
"""from the old end of the path to the new one"""


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


def trail_shapes(trail: Trail, cell: int, fade: int | None = None) -> Iterator[Shape]:
    """Draw a trail. `fade`: the steps in which it fades; all, if not given."""
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
    """Whether who goes from the first point to the second comes to the third without turning."""
    return first[0] == second[0] == third[0] or first[1] == second[1] == third[1]


def _colour(age: int) -> str:
    """Mix the colour of a part of the path, 0 for the newest."""
    return palette.mix(palette.FLOOR, palette.KAREL, 0.8 - 0.5 * age / (SHADES - 1))
