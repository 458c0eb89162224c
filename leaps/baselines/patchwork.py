"""Look at a large world again only where it changed.

A fully convolutional network takes a third of a billion multiplications for a world of 100x100, and a rollout
there has up to 100,000 steps. But an action changes a cell or two: all that the last layer says of cells
further than three from there stays as it was. So what it said is kept, and a patch of it is made anew.

Shapes: n worlds of h x w cells with p planes; f features.
"""

import torch
from torch import Tensor, nn

REACH = 3
"""cells over which three layers of 3x3 see"""
LARGEST = 2
"""cells along a side of a change that is still worth a patch: Karel goes from one cell to the next"""
PATCH = LARGEST + 2 * REACH
"""cells along a side of what such a change can make a difference to"""


class Patchwork:
    """What `FullyConvolutional` makes of worlds, one step after another."""

    def __init__(self, layers: nn.Sequential) -> None:
        self.convolutions = [layer for layer in layers if isinstance(layer, nn.Conv2d)]
        for layer in self.convolutions:
            assert layer.kernel_size == (3, 3)
            assert layer.padding == (1, 1)
        assert len(self.convolutions) == REACH
        self._seen: Tensor | None = None
        """[n, h, w, p]"""
        self._said = torch.zeros(0)
        """[n, h, w, f] of every cell"""
        self._most = torch.zeros(0)
        """[n, h, f] the largest of every row"""

    def __call__(self, grids: Tensor) -> Tensor:
        """[n, h, w, p] → [n, f], the strongest answer to each feature anywhere."""
        if self._seen is None or self._seen.shape != grids.shape:
            everything = torch.arange(len(grids), device=grids.device)
            self._said = grids.new_zeros(
                (*grids.shape[:3], self.convolutions[-1].out_channels), dtype=torch.float
            )
            self._most = self._said.new_zeros((*grids.shape[:2], self._said.shape[3]))
            self._look_everywhere(grids, everything)
        else:
            self._look_again(grids, (_words(grids) != _words(self._seen)).any(dim=3))
        self._seen = grids.clone()
        return self._most.amax(dim=1)

    def _look_everywhere(self, grids: Tensor, worlds: Tensor) -> None:
        """Make all of some worlds [m] anew."""
        found = grids[worlds].permute(0, 3, 1, 2).float()
        for layer in self.convolutions:
            found = layer(found).relu()
        self._said[worlds] = found.permute(0, 2, 3, 1)
        self._most[worlds] = self._said[worlds].amax(dim=2)

    def _look_again(self, grids: Tensor, changed: Tensor) -> None:
        """Make anew what the changed cells [n, h, w] can make a difference to."""
        top, tall = _extent(changed.any(dim=2))
        left, wide = _extent(changed.any(dim=1))
        size = torch.maximum(tall, wide)
        fits = min(grids.shape[1:3]) >= PATCH
        large = (size > LARGEST) if fits else size > 0
        if bool(large.any()):
            self._look_everywhere(grids, large.nonzero()[:, 0])
        worlds = ((size > 0) & ~large).nonzero()[:, 0]
        if len(worlds):
            self._patch(grids, worlds, top[worlds], left[worlds])

    def _patch(self, grids: Tensor, worlds: Tensor, top: Tensor, left: Tensor) -> None:
        """Make a patch of some worlds [m] anew, around changes that begin in these rows and columns [m]."""
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
            # Beyond the edge there is nothing, before every layer: that is what its padding means.
            found = nn.functional.conv2d(found * inside, layer.weight, layer.bias).relu()
            inside = inside[:, :, 1:-1, 1:-1]
        own = slice(REACH, -REACH)
        rows, columns = rows[:, own], columns[:, own]
        places = worlds[:, None, None], rows[:, :, None], columns[:, None]
        self._said[places] = found.permute(0, 2, 3, 1)
        self._most[worlds[:, None], rows] = self._said[worlds[:, None], rows].amax(dim=2)


def _words(grids: Tensor) -> Tensor:
    """The same bytes, eight at a time: they are compared sooner."""
    return grids.contiguous().view(torch.int64) if grids.shape[3] % 8 == 0 else grids


def _extent(changed: Tensor) -> tuple[Tensor, Tensor]:
    """[n] where the first change along a side [n, cells] is, and how many cells there are up to the last."""
    first = changed.byte().argmax(dim=1)
    last = changed.shape[1] - 1 - changed.flip(1).byte().argmax(dim=1)
    return first, torch.where(changed.any(dim=1), last - first + 1, 0)
