"""Helpers to list all initial states of a task with their probabilities.

A task with few enough initial states lists them (`KarelTask.listing`). The expected return is then a weighted
mean over the list, with no sampling error (`leaps.evaluate`).
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from leaps.domain import States
from leaps.karel.world import EAST, FLOOR, WALL, Worlds

MOST_STATES = 1_000_000
"""maximum length of a list"""
MOST_CELLS = 100_000_000
"""maximum total number of cells in all listed worlds; each takes two bytes"""


def can_list(count: int, size: tuple[int, int]) -> bool:
    """Check whether a list of `count` worlds of this size is short enough."""
    return count <= MOST_STATES and count * size[0] * size[1] <= MOST_CELLS


def combinations(*choices: Iterable[int]) -> list[NDArray[np.int64]]:
    """List all combinations of independent choices: one flat array per choice, the last varying fastest."""
    grids = np.meshgrid(*(np.fromiter(each, np.int64) for each in choices), indexing="ij")
    return [grid.reshape(-1) for grid in grids]


def subsets(count: int) -> NDArray[np.bool_]:
    """[2^count, count] all subsets of `count` elements, the empty one first."""
    numbers = np.arange(2**count)[:, None]
    return np.asarray((numbers >> np.arange(count)[::-1]) & 1, np.bool_)


def empty_rooms(size: tuple[int, int], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Worlds:
    """Make a walled room without markers for each of Karel's positions; Karel faces East."""
    worlds = Worlds.empty(len(rows), size)
    worlds.ground[:] = WALL
    worlds.ground[:, 1:-1, 1:-1] = FLOOR
    worlds.pose[:] = np.stack([rows, columns, np.full_like(rows, EAST)], axis=1)
    return worlds


def equally_likely(worlds: Worlds) -> States:
    """Give every world the same probability."""
    return States(worlds, np.full(worlds.count, 1 / worlds.count))


def karel_in(rows: range, columns: range, size: tuple[int, int]) -> States | None:
    """List the empty rooms with Karel in each of these cells, facing East, all equally likely."""
    if not can_list(len(rows) * len(columns), size):
        return None
    return equally_likely(empty_rooms(size, *combinations(rows, columns)))
