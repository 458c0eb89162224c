"""What two convolutions make of many worlds, by looking up.

Worlds look alike, also to a convolution. A batch of two thousand grids of 12x12 has a quarter of a million
squares of 2x2, of which some one in a hundred is unlike all before it, and 131,072 squares of 5x5, which is
what the second convolution sees at once, of which one in three to twelve is.

So different squares are numbered. The first convolution answers once for each different 2x2. What the second
adds up for a 5x5 is sixteen products, each of an answer with the weights of one place; these products too are
made once for each different 2x2, and added up once for each different 5x5. Gradients go the same way back.
Nothing is left out or rounded: it is the convolutions' arithmetic, in another order.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from leaps.base.jit import jit

FIRST, SECOND, CHANNELS = 2, 4, 32
"""sides of the kernels, and the channels of both convolutions"""

Numbers = NDArray[np.int32]
Floats = NDArray[np.float32]
Grids = NDArray[Any]
"""[n, height, width, planes], zeros and ones"""


def look_up(grids: Tensor, first: nn.Conv2d, second: nn.Conv2d) -> Tensor:
    """Grids [n, height, width, planes] of zeros and ones → [n, 32 · (height - 4) · (width - 4)].

    As `first` of 2x2, a ReLU, `second` of 4x4 and another ReLU would have it, flattened.
    """
    assert grids.shape[3] < 32  # a cell is a number with a bit per plane
    assert first.bias is not None
    assert second.bias is not None
    shown = grids.contiguous().numpy()
    squares, firsts = number(cell_codes(shown), 1)
    large, large_firsts = number(number(squares, 1)[0], 2)  # 3x3, and four of these that share a cross
    patches = torch.from_numpy(_patches(shown, squares.shape, firsts))
    answers = torch.relu(torch.addmm(first.bias, patches, first.weight.permute(2, 3, 1, 0).flatten(0, 2)))
    rows = second.weight.permute(2, 1, 3, 0).flatten(2)  # for each row of the kernel: [32, its places · 32]
    sums = _Sums.apply(answers, rows, second.bias, squares, large, large_firsts)  # type: ignore[no-untyped-call]
    return torch.as_tensor(sums)


def number(corners: Numbers, step: int) -> tuple[Numbers, Numbers]:
    """Number squares [n, height, width] by what is at their corners: equal squares have equal numbers.

    Corners are `step` apart, the numbers [n, height - step, width - step]; they count from 0 in the order in
    which they first appear. Also says where each number first appears, in the flattened result.
    """
    count, height, width = corners.shape
    numbers = np.empty((count, max(height - step, 0), max(width - step, 0)), np.int32)
    firsts = np.empty(numbers.size, np.int32)
    slots = np.full(1 << (2 * numbers.size).bit_length(), -1, np.int32)
    return numbers, firsts[: _number(corners, step, numbers, firsts, slots)]


@jit
def _number(corners: Numbers, step: int, numbers: Numbers, firsts: Numbers, slots: Numbers) -> int:
    """Fill in; say how many are different. Slots are a hash table, of numbers."""
    keys = np.empty((numbers.size, 2), np.uint64)
    last = np.uint64(slots.size - 1)
    found = place = 0
    for grid in range(numbers.shape[0]):
        for y in range(numbers.shape[1]):
            for x in range(numbers.shape[2]):
                above = _pair(corners[grid, y, x], corners[grid, y, x + step])
                below = _pair(corners[grid, y + step, x], corners[grid, y + step, x + step])
                slot = _mixed(above, below) & last
                while slots[slot] >= 0 and (keys[slots[slot], 0] != above or keys[slots[slot], 1] != below):
                    slot = (slot + np.uint64(1)) & last
                if slots[slot] < 0:
                    keys[found, 0], keys[found, 1] = above, below
                    firsts[found] = place
                    slots[slot] = found
                    found += 1
                numbers[grid, y, x] = slots[slot]
                place += 1
    return found


@jit
def _pair(left: int, right: int) -> np.uint64:
    return np.uint64(left) << np.uint64(32) | np.uint64(right)


@jit
def _mixed(above: np.uint64, below: np.uint64) -> np.uint64:
    """A hash, whose low bits depend on all of both: odd constants without a pattern."""
    mixed = above * np.uint64(0x9E3779B97F4A7C15) ^ below * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)


@jit
def cell_codes(grids: Grids) -> Numbers:
    """[n, height, width, planes] → what is in each cell, a bit per plane"""
    count, height, width, planes = grids.shape
    codes = np.zeros((count, height, width), np.int32)
    for grid in range(count):
        for y in range(height):
            for x in range(width):
                for plane in range(planes):
                    codes[grid, y, x] |= np.int32(grids[grid, y, x, plane]) << plane
    return codes


@jit
def _patches(grids: Grids, shape: tuple[int, int, int], firsts: Numbers) -> Floats:
    """[different 2x2, 4 · planes], of squares of this shape"""
    planes = grids.shape[3]
    patches = np.empty((len(firsts), FIRST * FIRST * planes), np.float32)
    for square, place in enumerate(firsts):
        grid, y, x = _at(place, shape)
        for corner in range(FIRST * FIRST):
            for plane in range(planes):
                cell = grids[grid, y + corner // FIRST, x + corner % FIRST, plane]
                patches[square, corner * planes + plane] = cell
    return patches


@jit
def _at(place: int, shape: tuple[int, int, int]) -> tuple[int, int, int]:
    """Grid, row and column of a place in something flattened."""
    rest, x = divmod(place, shape[2])
    return rest // shape[1], rest % shape[1], x


class _Sums(torch.autograd.Function):
    """What the second convolution makes of the first one's answers."""

    @staticmethod
    def forward(
        context: Any,
        answers: Tensor,
        rows: Tensor,
        bias: Tensor,
        squares: Numbers,
        large: Numbers,
        firsts: Numbers,
    ) -> Tensor:
        """Answers [different 2x2, 32] …, large: the numbers of the 5x5; firsts: where these first appear"""
        members = _members(squares, large.shape, firsts)
        sums = bias.repeat(len(firsts), 1)
        for row, weights in enumerate(rows):
            _add_products(torch.mm(answers, weights).numpy(), members[row], sums.numpy())
        sums.relu_()
        numbers = large.reshape(len(large), large.shape[1] * large.shape[2])
        context.save_for_backward(answers, rows, sums)
        context.members, context.numbers = members, numbers
        return torch.from_numpy(_spread(sums.numpy(), numbers))

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        answers, rows, sums = context.saved_tensors
        of_sums = torch.from_numpy(_gather(gradients[0].contiguous().numpy(), context.numbers, sums.numpy()))
        of_answers, of_rows = torch.zeros_like(answers), torch.empty_like(rows)
        of_products = torch.empty(len(answers), rows.shape[2])
        for row, weights in enumerate(rows):
            _add_gradients(of_sums.numpy(), context.members[row], of_products.numpy())
            torch.mm(answers.T, of_products, out=of_rows[row])
            of_answers.addmm_(of_products, weights.T)
        return of_answers, of_rows, of_sums.sum(dim=0), None, None, None


@jit
def _members(squares: Numbers, shape: tuple[int, int, int], firsts: Numbers) -> Numbers:
    """[rows, different 5x5, places in a row]: the numbers of the 2x2 that a 5x5 has"""
    members = np.empty((SECOND, len(firsts), SECOND), np.int32)
    for square, place in enumerate(firsts):
        grid, y, x = _at(place, shape)
        for row in range(SECOND):
            for column in range(SECOND):
                members[row, square, column] = squares[grid, y + row, x + column]
    return members


@jit
def _add_products(products: Floats, members: Numbers, sums: Floats) -> None:
    """Products [different 2x2, places in a row · 32]: add those of one row of the kernel"""
    for square in range(len(members)):
        a, b, c, d = members[square]
        for channel in range(CHANNELS):
            sums[square, channel] += (
                products[a, channel]
                + products[b, CHANNELS + channel]
                + products[c, 2 * CHANNELS + channel]
                + products[d, 3 * CHANNELS + channel]
            )


@jit
def _add_gradients(of_sums: Floats, members: Numbers, of_products: Floats) -> None:
    """The way back of `_add_products`."""
    of_products[:] = 0
    channels = of_sums.shape[1]  # a number that the compiler knew would make it unroll what it should widen
    for square in range(len(members)):
        for place in range(SECOND):
            member = members[square, place]
            for channel in range(channels):
                of_products[member, place * channels + channel] += of_sums[square, channel]


@jit
def _spread(sums: Floats, numbers: Numbers) -> Floats:
    """Numbers [n, places] of the 5x5 → [n, 32 · places], as a convolution's answers lie"""
    (count, places), channels = numbers.shape, sums.shape[1]
    spread = np.empty((count, channels * places), np.float32)
    for grid in range(count):
        for place in range(places):
            square = numbers[grid, place]
            for channel in range(channels):
                spread[grid, channel * places + place] = sums[square, channel]
    return spread


@jit
def _gather(gradients: Floats, numbers: Numbers, sums: Floats) -> Floats:
    """The way back of `_spread` and of the ReLU before it."""
    (count, places), channels = numbers.shape, sums.shape[1]
    gathered = np.zeros_like(sums)
    for grid in range(count):
        for place in range(places):
            square = numbers[grid, place]
            for channel in range(channels):
                gathered[square, channel] += gradients[grid, channel * places + place]
    for square in range(len(sums)):
        for channel in range(channels):
            passes = sums[square, channel] > 0
            gathered[square, channel] = gathered[square, channel] if passes else np.float32(0)
    return gathered
