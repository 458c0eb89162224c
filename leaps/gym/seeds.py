"""Initial states of an environment: the seeds that it is reset with."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.base.randomness import scramble

SEEDS = 2**31
"""number of seeds for resets: 0 to SEEDS - 1"""


class Seeds(NamedTuple):
    """Seeds for one environment."""

    seeds: NDArray[np.int64]
    variant: NDArray[np.str_]
    """name of the variant, the same for all; "" is the task's own environment"""

    @property
    def count(self) -> int:  # type: ignore[override]  # hides tuple.count, which is not needed
        return len(self.seeds)

    @property
    def size(self) -> str:
        return str(self.variant[0]) if len(self.variant) else ""

    def take(self, indices: NDArray[np.integer] | slice) -> "Seeds":
        return Seeds(self.seeds[indices], self.variant[indices])

    @staticmethod
    def join(parts: "Sequence[Seeds]") -> "Seeds":
        return Seeds(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def draw_seeds(count: int, seed: int, variant: str, first: int = 0) -> Seeds:
    """Draw seeds. Seed `i` depends only on the given seed and `first + i`."""
    start = scramble(np.uint64(seed))
    drawn = [int(scramble(start ^ np.uint64(number))) % SEEDS for number in range(first, first + count)]
    return Seeds(np.array(drawn, np.int64), np.full(count, variant))
