"""Check worlds for compiled code, which has no bounds checks: they must be walled, with Karel inside.

User-defined tasks may draw and leave invalid worlds. A world that a task draws is checked before it is used,
and a world that a reaction changes is checked before Karel acts again.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from leaps.base.jit import jit
from leaps.karel.world import EXIT, MAX_MARKERS, WALL, World

SOUND, OPEN, OUTSIDE, IN_WALL, HEADING, GROUND, MARKERS = range(7)
_MESSAGES = {
    OPEN: "expected wall all around (`clear` makes it), found none at ({row}, {column})",
    OUTSIDE: "expected Karel within the border (`place_karel`), found it at ({row}, {column})",
    IN_WALL: "expected Karel on a free cell (`place_karel`), found it in a wall at ({row}, {column})",
    HEADING: "expected a heading from 0 to 3, found {found}",
    GROUND: "expected ground that is FLOOR, WALL or EXIT, found {found} at ({row}, {column})",
    MARKERS: "expected 0 to {most} markers in a cell, found {found} at ({row}, {column})",
}


BROKEN = 255
"""ground of the top left corner, which Karel never perceives, in a world that a reaction made invalid"""


@jit
def find_way_out(world: World) -> tuple[int, int, int]:
    """Check that Karel is inside and can't leave the world; return the flaw, if any, with row and column."""
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
    """Check a whole world; return the flaw, if any, with row and column."""
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
    """Return the message for the flaw of a world, if any."""
    flaw, row, column = find_flaw(world)
    if flaw == SOUND:
        return None
    found: object = None
    if flaw == HEADING:
        found = world.pose[2]
    elif flaw in (GROUND, MARKERS):
        found = (world.ground if flaw == GROUND else world.markers)[row, column]
    return _MESSAGES[flaw].format(row=row, column=column, found=found, most=MAX_MARKERS)


@cache
def guarded_reaction(react: Callable[[World, int, int, int], bool]) -> Callable[[World, int, int, int], bool]:
    """Wrap a reaction: if it fails or leaves a way out of the world, end the rollout and mark the world.

    The check of the whole world takes longer, so only `guarded_value` does it, at the end of the rollout.
    """
    compiled = jit(react)

    def guarded(world: World, change: int, row: int, column: int) -> bool:
        over, failed = False, False
        try:
            over = bool(compiled(world, change, row, column))
        except Exception:  # the only kind that numba can catch
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
    """Wrap a value: return NaN if it fails or if the world is invalid.

    Exceptions can't pass through this compiled code, so NaN reports the error.
    """
    compiled = jit(value)

    def guarded(world: World, start: World) -> float:
        worth = np.nan
        if find_flaw(world)[0] == SOUND:
            try:
                worth = 1.0 * compiled(world, start)  # a value may be a bool, too
            except Exception:  # the only kind that numba can catch
                worth = np.nan
        return worth

    return guarded
