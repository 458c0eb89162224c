"""What a world must be for compiled code, which indexes without looking: walled, and Karel inside.

A task of one's own may draw anything, and make anything of a world that is played in; what it draws is
looked at before anybody plays there, and what its reactions leave before Karel goes on.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from leaps.base.jit import jit
from leaps.karel.world import EXIT, MAX_MARKERS, WALL, World

SOUND, OPEN, OUTSIDE, IN_WALL, HEADING, GROUND, MARKERS = range(7)
_SAID = {
    OPEN: "expected wall all around (`clear` makes it), found none at ({row}, {column})",
    OUTSIDE: "expected Karel within the border (`place_karel`), found it at ({row}, {column})",
    IN_WALL: "expected Karel on a free cell (`place_karel`), found it in a wall at ({row}, {column})",
    HEADING: "expected a heading from 0 to 3, found {found}",
    GROUND: "expected ground that is FLOOR, WALL or EXIT, found {found} at ({row}, {column})",
    MARKERS: "expected 0 to {most} markers in a cell, found {found} at ({row}, {column})",
}


BROKEN = 255
"""ground of the first corner, which Karel never sees, in a world that a reaction made unplayable"""


@jit
def find_way_out(world: World) -> tuple[int, int, int]:
    """Look whether Karel is inside and can't get out: what is wrong, if anything, and where."""
    height, width = world.ground.shape
    for column in range(width):
        for row in (0, height - 1):
            if world.ground[row, column] != WALL:
                return OPEN, row, column
    for row in range(height):
        for column in (0, width - 1):
            if world.ground[row, column] != WALL:
                return OPEN, row, column
    karel_row, karel_column = world.pose[0], world.pose[1]
    if not (0 < karel_row < height - 1 and 0 < karel_column < width - 1):
        return OUTSIDE, karel_row, karel_column
    if world.ground[karel_row, karel_column] == WALL:
        return IN_WALL, karel_row, karel_column
    if not 0 <= world.pose[2] < 4:
        return HEADING, karel_row, karel_column
    return SOUND, 0, 0


@jit
def find_flaw(world: World) -> tuple[int, int, int]:
    """Look whether a world is sound: what is wrong, if anything, and the row and column where."""
    flaw, at_row, at_column = find_way_out(world)
    if flaw != SOUND:
        return flaw, at_row, at_column
    height, width = world.ground.shape
    for row in range(height):
        for column in range(width):
            if world.ground[row, column] > EXIT:
                return GROUND, row, column
            if world.markers[row, column] > MAX_MARKERS:
                return MARKERS, row, column
    return SOUND, 0, 0


def flaw_of(world: World) -> str | None:
    """Say what is wrong with a world, if anything."""
    flaw, row, column = find_flaw(world)
    if flaw == SOUND:
        return None
    found: object = None
    if flaw == HEADING:
        found = world.pose[2]
    elif flaw in (GROUND, MARKERS):
        found = (world.ground if flaw == GROUND else world.markers)[row, column]
    return _SAID[flaw].format(row=row, column=column, found=found, most=MAX_MARKERS)


@cache
def guarded_reaction(react: Callable[[World, int, int, int], bool]) -> Callable[[World, int, int, int], bool]:
    """Make of a reaction one that ends the rollout where it fails or leaves a way out, and marks the world.

    All of a world is looked at by `guarded_value`, at the end: that takes longer.
    """
    compiled = jit(react)

    def guarded(world: World, change: int, row: int, column: int) -> bool:
        over, failed = False, False
        try:
            over = bool(compiled(world, change, row, column))
        except Exception:  # numba knows no other
            failed = True
        if not failed and find_way_out(world)[0] == SOUND:
            return over
        world.ground[0, :] = world.ground[-1, :] = WALL
        world.ground[:, 0] = world.ground[:, -1] = WALL
        world.ground[0, 0] = BROKEN
        world.pose[0], world.pose[1], world.pose[2] = row, column, 0
        return True

    return guarded


@cache
def guarded_value(value: Callable[[World, World], float]) -> Callable[[World, World], float]:
    """Make of a value one that is not a number where it fails, or where the world is not sound (any more).

    No exception gets through from compiled code.
    """
    compiled = jit(value)

    def guarded(world: World, start: World) -> float:
        worth = np.nan
        if find_flaw(world)[0] == SOUND:
            try:
                worth = 1.0 * compiled(world, start)  # a truth value may be a value, too
            except Exception:  # numba knows no other
                worth = np.nan
        return worth

    return guarded
