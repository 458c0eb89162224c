"""Random numbers for compiled code: a stream per world, so that no result depends on the order of work.

A stream is an array of one uint64, the state of a SplitMix64 generator. Stream `index` of `seed` is the
same on every machine and for every number of threads.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit

Stream = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
MASK = np.uint64(0xFFFFFFFFFFFFFFFF)


@jit
def scramble(x: np.uint64) -> np.uint64:
    """Map 64 bits to 64 others, one to one, so that near inputs land far apart."""
    x = (x ^ (x >> np.uint64(30))) * MIX_1
    x = (x ^ (x >> np.uint64(27))) * MIX_2
    return x ^ (x >> np.uint64(31))


@jit
def seed_stream(stream: Stream, seed: int, index: int) -> None:
    """Start stream `index` of `seed`."""
    stream[0] = scramble(scramble(np.uint64(seed) + GOLDEN) ^ (np.uint64(index) * GOLDEN + MIX_1))


@jit
def draw(stream: Stream) -> np.uint64:
    """64 random bits."""
    stream[0] += GOLDEN
    return scramble(stream[0])


@jit
def uniform(stream: Stream) -> float:
    """A number in [0, 1)."""
    return float(draw(stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def below(stream: Stream, n: int) -> int:
    """A whole number in [0, n)."""
    return int(uniform(stream) * n)
