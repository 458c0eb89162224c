"""Initial states of a compiled task: worlds of one shape, stacked in arrays for compiled code."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.compiled.plain import World, Worlds
from leaps.domain import Size, size_text


class Starts(NamedTuple):
    """Initial states of one size or variant."""

    cells: NDArray[np.uint8]
    """[worlds, planes, height, width]"""
    numbers: NDArray[np.int64]
    """[worlds, numbers]"""
    variant: NDArray[np.str_]
    """[worlds] the same for all; "" for tasks whose sizes are a height and a width"""

    @property
    def count(self) -> int:  # type: ignore[override]  # hides tuple.count, which is not needed
        return len(self.numbers)

    @property
    def size(self) -> Size:
        variant = str(self.variant[0]) if len(self.variant) else ""
        return variant or self.worlds.size

    @property
    def worlds(self) -> Worlds:
        return Worlds(self.cells, self.numbers)

    def world(self, index: int) -> World:
        """World `index`, as a view."""
        return self.worlds.world(index)

    def take(self, indices: NDArray[np.integer] | slice) -> "Starts":
        return Starts(*self.worlds.take(indices), self.variant[indices])

    @staticmethod
    def join(parts: "Sequence[Starts]") -> "Starts":
        return Starts(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def sound(world: Any, size: Size, where: str) -> World:
    """Convert a world for compiled code; ValueError if it is invalid. where: prefix of the message."""
    try:
        cells, numbers = np.asarray(world.cells), np.asarray(world.numbers)
    except AttributeError:
        raise ValueError(
            f"{where}: expected a leaps.compiled.plain.World, found {type(world).__name__}"
        ) from None
    expected = (*cells.shape[:1], *size) if isinstance(size, tuple) else cells.shape
    if cells.ndim != 3 or cells.shape != expected or numbers.ndim != 1:
        sides = size_text(size) if isinstance(size, tuple) else "height × width"
        raise ValueError(
            f"{where}: expected cells [planes, height, width] of {sides} and numbers [n], found shapes "
            f"{list(cells.shape)} and {list(numbers.shape)}"
        )
    exact = World(np.ascontiguousarray(cells, np.uint8), np.ascontiguousarray(numbers, np.int64))
    if not (np.array_equal(exact.cells, cells) and np.array_equal(exact.numbers, numbers)):
        raise ValueError(f"{where}: expected cells of 0 to 255 and whole numbers, found other values")
    return exact


def stacked(worlds: Sequence[World], size: Size, task: str) -> Starts:
    """Stack worlds of one shape into arrays."""
    shapes = {(world.cells.shape, world.numbers.shape) for world in worlds}
    if len(shapes) > 1:
        raise ValueError(
            f"{task}: expected worlds of one shape at {size_text(size)}, found cells and numbers of "
            f"{' and '.join(map(str, sorted(shapes)))}"
        )
    cells = np.stack([world.cells for world in worlds])
    numbers = np.stack([world.numbers for world in worlds])
    return Starts(cells, numbers, np.full(len(worlds), size if isinstance(size, str) else ""))
