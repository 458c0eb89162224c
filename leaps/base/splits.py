"""Split a data set: 70 % for training, 15 % each for validation and test."""

import numpy as np
from numpy.typing import NDArray

SPLITS = ("train", "validation", "test")


def bounds(count: int) -> tuple[int, int]:
    """Return the ends of the training and the validation split of `count` programs."""
    return count * 70 // 100, count * 85 // 100


def split(name: str, count: int) -> NDArray[np.int64]:
    """Return the numbers of the programs of a split."""
    if name not in SPLITS:
        raise ValueError(f"expected one of {', '.join(SPLITS)}, found {name!r}")
    edges = (0, *bounds(count), count)
    number = SPLITS.index(name)
    return np.arange(edges[number], edges[number + 1])
