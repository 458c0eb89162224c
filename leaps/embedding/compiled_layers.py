"""Compiled network layers for the decoders that run on a CPU.

A matrix is stored in panels of columns. A group of rows is multiplied with a panel while both are in the L1
cache. Units are padded with zeros to whole panels, so that no loop has a remainder.

Every row's sums are computed in the same order, independent of the other rows. So the program decoded from a
latent depends on neither batch nor threads. BLAS does not guarantee this, and is slower for few rows: 67
GFLOP/s for 32 rows, compared with 110 here.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit

F = TypeVar("F", bound=Callable[..., Any])
Floats = NDArray[np.float32]

PANEL = 128
"""columns of a matrix processed together, which fit the L1 cache with their results"""
QUAD = 4
"""rows and inputs processed together, so that all 16 factors stay in registers"""
GROUP = 32
"""latents decoded together; more would not fit the cache"""

_PANEL = np.uint64(PANEL)
_QUAD = np.uint64(QUAD)
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


class Linear(NamedTuple):
    """A linear layer: the columns of its matrix in panels, padded with zeros."""

    weight: Floats
    """[panels, inputs / QUAD, QUAD * PANEL]"""
    bias: Floats
    """[panels, PANEL]"""


def contracted(function: F) -> F:
    """Compile `function` with fused multiply-add instructions."""
    return jit(function, fastmath={"contract"})


def reordered(function: F) -> F:
    """Compile `function` with sums reordered for vector instructions; the order is always the same."""
    return jit(function, fastmath={"contract", "reassoc", "nsz"})


@contracted
def apply(layer: Linear, states: Floats, rows: NDArray[np.uint64], count: int, out: Floats) -> None:
    """Write the layer's outputs for `states[rows[:count]]` into `out` [panels, GROUP, PANEL].

    An incomplete last quad is computed in full, so `rows` must be valid up to its end. Four outputs are
    updated from four inputs at a time, in the plain loop that compilers vectorise. Offsets within a quad are
    constants, so that the compiler sees that its rows don't overlap.
    """
    quads = (count + QUAD - 1) // QUAD
    for panel in range(len(layer.weight)):
        quadwise = out[panel].reshape(GROUP // QUAD, QUAD * PANEL)
        bias = layer.bias[panel]
        for slot in range(quads * QUAD):
            sums = out[panel, slot]
            for i in range(_PANEL):
                sums[i] = bias[i]
        for block in range(layer.weight.shape[1]):
            weight = layer.weight[panel, block]
            first = np.uint64(block) * _QUAD
            for quad in range(quads):
                sums = quadwise[quad]
                base = np.uint64(quad) * _QUAD
                a, b = states[rows[base]], states[rows[base + _ONE]]
                c, d = states[rows[base + _TWO]], states[rows[base + _THREE]]
                a0, a1, a2, a3 = a[first], a[first + _ONE], a[first + _TWO], a[first + _THREE]
                b0, b1, b2, b3 = b[first], b[first + _ONE], b[first + _TWO], b[first + _THREE]
                c0, c1, c2, c3 = c[first], c[first + _ONE], c[first + _TWO], c[first + _THREE]
                d0, d1, d2, d3 = d[first], d[first + _ONE], d[first + _TWO], d[first + _THREE]
                for i in range(_PANEL):
                    j, k, m = i + _PANEL, i + _TWO * _PANEL, i + _THREE * _PANEL
                    w0, w1, w2, w3 = weight[i], weight[j], weight[k], weight[m]
                    sums[i] = sums[i] + a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3
                    sums[j] = sums[j] + b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3
                    sums[k] = sums[k] + c0 * w0 + c1 * w1 + c2 * w2 + c3 * w3
                    sums[m] = sums[m] + d0 * w0 + d1 * w1 + d2 * w2 + d3 * w3


def _lambert(levels: int) -> tuple[list[np.float32], list[np.float32]]:
    """Truncate Lambert's continued fraction, tanh x = x / (1 + y / (3 + y / (5 + …))) with y = x².

    Returns the coefficients of the numerator and the denominator, lowest power first.
    """
    above, below = [Fraction(2 * levels - 1)], [Fraction(1)]
    for level in range(levels - 1, 0, -1):
        shifted = [Fraction(0), *below]
        width = max(len(above), len(shifted))
        grown = [Fraction(2 * level - 1) * c for c in above] + [Fraction(0)] * (width - len(above))
        shifted += [Fraction(0)] * (width - len(shifted))
        above, below = [a + b for a, b in zip(grown, shifted, strict=True)], above
    scale = 1 / below[0]
    return [np.float32(float(c * scale)) for c in below], [np.float32(float(c * scale)) for c in above]


_ABOVE, _BELOW = (tuple(coefficients) for coefficients in _lambert(12))
_LARGEST = np.float32(8.0)  # tanh(8) is 1 in single precision


@contracted
def tanh(x: np.float32) -> np.float32:
    """Compute the hyperbolic tangent with an error below 4e-7, without branches, so that loops vectorise."""
    x = min(max(x, -_LARGEST), _LARGEST)
    y = x * x
    above = _ABOVE[5] * y + _ABOVE[4]
    above = above * y + _ABOVE[3]
    above = above * y + _ABOVE[2]
    above = above * y + _ABOVE[1]
    above = above * y + _ABOVE[0]
    below = _BELOW[6] * y + _BELOW[5]
    below = below * y + _BELOW[4]
    below = below * y + _BELOW[3]
    below = below * y + _BELOW[2]
    below = below * y + _BELOW[1]
    below = below * y + _BELOW[0]
    return np.float32(x * above / below)


@contracted
def sigmoid(x: np.float32) -> np.float32:
    half = np.float32(0.5)
    return np.float32(half * tanh(half * x) + half)


@reordered
def dot(a: Floats, b: Floats) -> np.float32:
    total = np.float32(0.0)
    for i in range(np.uint64(len(a))):
        total += a[i] * b[i]
    return total


def in_whole_panels(units: int) -> int:
    """Round a number of units up to whole panels."""
    return -(-units // PANEL) * PANEL


def padded(array: Floats, *shape: int) -> Floats:
    """Pad an array with zeros to a shape; padded units stay 0."""
    out = np.zeros(shape, np.float32)
    out[tuple(slice(size) for size in array.shape)] = array
    return out


def in_panels(weight: Floats, bias: Floats, units: int) -> Linear:
    """Convert a layer to panels: weight [gates, outputs, inputs], bias [gates, outputs].

    units: number of inputs, and of outputs per gate, rounded up to whole panels.
    """
    gates = len(weight)
    columns = padded(weight, gates, units, units).reshape(-1, PANEL, units)
    return Linear(
        np.ascontiguousarray(columns.transpose(0, 2, 1)).reshape(-1, units // QUAD, QUAD * PANEL),
        padded(bias, gates, units).reshape(-1, PANEL),
    )
