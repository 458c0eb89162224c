"""Observations for policies: the whole world as planes of booleans, or Karel's perceptions.

Worlds are stored as integers, and converted to planes only as input of a network.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.base.parallel import run_sliced
from leaps.karel.physics import TRUTH, layout_of, load, perceive
from leaps.karel.world import LANGUAGE, MAX_MARKERS, WALL, Worlds, flatten

WALL_PLANE = 4
MARKER_PLANE = 5  # the plane of "0 markers"; the planes of 1 to 10 markers follow
PLANES = MARKER_PLANE + MAX_MARKERS + 1
PERCEPTIONS = len(LANGUAGE.perceptions)
BITS = 1 << np.arange(PERCEPTIONS)
"""bit of each perception in a number that combines all five"""
PERCEIVED = ((np.arange(2**PERCEPTIONS)[:, None] & BITS) > 0).astype(np.uint8)
"""[32, 5] the perceptions in each such number"""


@jit
def _planes_range(worlds: Worlds, out: NDArray[np.uint8], first: int, last: int) -> None:
    width = worlds.ground.shape[2]
    cells = worlds.ground.shape[1] * width
    flat, planes = flatten(worlds), out.reshape(-1)
    for number in range(np.uint64(first), np.uint64(last)):
        base = number * np.uint64(cells)
        for cell in range(base, base + np.uint64(cells)):
            start = cell * np.uint64(PLANES)
            for plane in range(start, start + np.uint64(PLANES)):
                planes[plane] = 0
            planes[start + np.uint64(WALL_PLANE)] = flat.ground[cell] == WALL
            planes[start + np.uint64(MARKER_PLANE) + np.uint64(flat.markers[cell])] = 1
        row, column, heading = flat.pose[number * 3], flat.pose[number * 3 + 1], flat.pose[number * 3 + 2]
        out[number, row, column, heading] = 1


def planes(worlds: Worlds) -> NDArray[np.uint8]:
    """[worlds, height, width, 16] of 0 and 1: Karel facing N, E, S, W; wall; 0 to 10 markers."""
    height, width = worlds.size
    out = np.empty((worlds.count, height, width, PLANES), np.uint8)
    run_sliced(lambda first, last: _planes_range(worlds, out, first, last), worlds.count, grain=256)
    return out


@jit
def _perceptions_range(worlds: Worlds, out: NDArray[np.uint8], first: int, last: int) -> None:
    flat, layout = flatten(worlds), layout_of(worlds)
    for number in range(first, last):
        code = perceive(flat, layout, load(flat, number, layout))
        for perception in range(PERCEPTIONS):
            out[number, perception] = TRUTH[perception, code]


def perceptions(worlds: Worlds) -> NDArray[np.uint8]:
    """[worlds, 5] of 0 and 1: Karel's perceptions, in the order of the language."""
    out = np.empty((worlds.count, PERCEPTIONS), np.uint8)
    run_sliced(lambda first, last: _perceptions_range(worlds, out, first, last), worlds.count, grain=4096)
    return out
