"""Incremental evaluation of a fully convolutional network: recompute only where a large world changed.

The network takes 0.3 billion multiplications for a 100x100 world, and a rollout there has up to 100,000
steps. But an action changes one or two cells, and the last layer's output depends only on cells at most
three away. So that output is cached, and each step recomputes only a patch of it.

Shapes: n worlds of h x w cells with p planes; f features.
"""

import torch
from torch import Tensor, nn

REACH = 3
"""radius of the receptive field of three 3x3 layers, in cells"""
LARGEST = 2
"""maximum side of a change that is patched, in cells: a move changes two neighbouring cells"""
PATCH = LARGEST + 2 * REACH
"""side of the area whose output such a change affects, in cells"""


class Patchwork:
    """Compute the features of `FullyConvolutional` step by step, with a cache of the previous step."""

    def __init__(self, layers: nn.Sequential) -> None:
        self.convolutions = [layer for layer in layers if isinstance(layer, nn.Conv2d)]
        for layer in self.convolutions:
            assert layer.kernel_size == (3, 3)
            assert layer.padding == (1, 1)
        assert len(self.convolutions) == REACH
        self._seen: Tensor | None = None
        """the previous grids [n, h, w, p]"""
        self._features = torch.zeros(0)
        """features of every cell [n, h, w, f]"""
        self._row_maxima = torch.zeros(0)
        """maxima of the features over every row [n, h, f]"""

    def __call__(self, grids: Tensor) -> Tensor:
        """Grids [n, h, w, p] → the maximum of each feature over all cells [n, f]."""
        if self._seen is None or self._seen.shape != grids.shape:
            all_worlds = torch.arange(len(grids), device=grids.device)
            self._features = grids.new_zeros(
                (*grids.shape[:3], self.convolutions[-1].out_channels), dtype=torch.float
            )
            self._row_maxima = self._features.new_zeros((*grids.shape[:2], self._features.shape[3]))
            self._compute(grids, all_worlds)
        else:
            self._update(grids, (_words(grids) != _words(self._seen)).any(dim=3))
        self._seen = grids.clone()
        return self._row_maxima.amax(dim=1)

    def _compute(self, grids: Tensor, worlds: Tensor) -> None:
        """Compute all features of the given worlds [m]."""
        found = grids[worlds].permute(0, 3, 1, 2).float()
        for layer in self.convolutions:
            found = layer(found).relu()
        self._features[worlds] = found.permute(0, 2, 3, 1)
        self._row_maxima[worlds] = self._features[worlds].amax(dim=2)

    def _update(self, grids: Tensor, changed: Tensor) -> None:
        """Recompute the features that the changed cells [n, h, w] can affect."""
        top, tall = _extent(changed.any(dim=2))
        left, wide = _extent(changed.any(dim=1))
        size = torch.maximum(tall, wide)
        fits = min(grids.shape[1:3]) >= PATCH
        large = (size > LARGEST) if fits else size > 0
        if bool(large.any()):
            self._compute(grids, large.nonzero()[:, 0])
        worlds = ((size > 0) & ~large).nonzero()[:, 0]
        if len(worlds):
            self._patch(grids, worlds, top[worlds], left[worlds])

    def _patch(self, grids: Tensor, worlds: Tensor, top: Tensor, left: Tensor) -> None:
        """Recompute a patch of each given world [m] around the change that begins at its row and column."""
        height, width = grids.shape[1:3]
        first_row = (top - REACH).clamp(0, height - PATCH)
        first_column = (left - REACH).clamp(0, width - PATCH)
        around = torch.arange(-REACH, PATCH + REACH, device=grids.device)
        rows, columns = first_row[:, None] + around, first_column[:, None] + around
        inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None]
        found = grids[
            worlds[:, None, None],
            rows.clamp(0, height - 1)[:, :, None],
            columns.clamp(0, width - 1)[:, None],
        ].float()
        found, inside = found.permute(0, 3, 1, 2), inside[:, None]
        for layer in self.convolutions:
            # Cells beyond the edge are set to zero before every layer, as its padding does.
            found = nn.functional.conv2d(found * inside, layer.weight, layer.bias).relu()
            inside = inside[:, :, 1:-1, 1:-1]
        inner = slice(REACH, -REACH)
        rows, columns = rows[:, inner], columns[:, inner]
        cells = worlds[:, None, None], rows[:, :, None], columns[:, None]
        self._features[cells] = found.permute(0, 2, 3, 1)
        self._row_maxima[worlds[:, None], rows] = self._features[worlds[:, None], rows].amax(dim=2)


def _words(grids: Tensor) -> Tensor:
    """View groups of eight bytes as integers, which are faster to compare."""
    return grids.contiguous().view(torch.int64) if grids.shape[3] % 8 == 0 else grids


def _extent(changed: Tensor) -> tuple[Tensor, Tensor]:
    """Return the position of the first change along a side [n, cells] and the extent of the changes, [n]."""
    first = changed.byte().argmax(dim=1)
    last = changed.shape[1] - 1 - changed.flip(1).byte().argmax(dim=1)
    return first, torch.where(changed.any(dim=1), last - first + 1, 0)
