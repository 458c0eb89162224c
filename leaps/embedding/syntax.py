"""The syntax mask on tensors: `leaps.dsl.mask.SyntaxMask` for a batch, computed on any device.

It uses the same tables, expanded to one column per token, so that a step is a few lookups.
"""

import numpy as np
import torch
from torch import Tensor, nn

from leaps.dsl.language import Language
from leaps.dsl.mask import CHANGE, CLOSES, NEED, NEXT, OPENS, SHORTEST, Block, State
from leaps.dsl.syntax import MAX_NESTING
from leaps.dsl.text import PREFIX

_BLOCKS = len(Block)


class SyntaxTables(nn.Module):
    """The grammar of a language as buffers of a module."""

    legal: Tensor
    change: Tensor
    following: Tensor
    opens: Tensor
    closes: Tensor

    def __init__(self, language: Language) -> None:
        super().__init__()
        kinds = language.kinds
        rows = NEXT.shape[0] * NEXT.shape[1]
        legal = NEXT.reshape(rows, -1)[:, kinds] >= 0
        self.register_buffer("legal", torch.from_numpy(legal), persistent=False)
        tables = {
            "change": CHANGE.reshape(rows, -1)[:, kinds],
            "following": np.maximum(NEXT, 0).reshape(rows, -1)[:, kinds],
            "opens": OPENS[:, kinds],
            "closes": CLOSES[kinds],
        }
        for name, table in tables.items():
            self.register_buffer(name, torch.from_numpy(table.astype(np.int64)), persistent=False)


class TensorMask:
    """The tokens that may come next in each program of a batch; all programs begin with `DEF run m(`."""

    def __init__(self, tables: SyntaxTables, batch: int, max_length: int) -> None:
        if max_length < SHORTEST:
            raise ValueError(
                f"max_length={max_length} is too short; the shortest program has {SHORTEST} tokens"
            )
        if max_length // 4 > MAX_NESTING:
            raise ValueError(f"max_length={max_length}: at most {4 * MAX_NESTING + 3} tokens can be decoded")
        device = tables.legal.device
        self.tables = tables
        self.state = torch.full((batch,), int(State.FIRST), device=device)
        self.stack = torch.zeros((batch, max_length), dtype=torch.int64, device=device)
        self.stack[:, 1] = int(Block.PROGRAM)
        self.depth = torch.ones(batch, dtype=torch.int64, device=device)
        self.owed = torch.full((batch,), int(NEED[State.FIRST]) + 1, device=device)
        self.left = max_length - len(PREFIX)

    @property
    def done(self) -> Tensor:
        """[batch] whether each program is complete."""
        return self.state == int(State.END)

    def _row(self) -> Tensor:
        block = self.stack.gather(1, self.depth[:, None])[:, 0]
        return self.state * _BLOCKS + block

    def allowed(self) -> Tensor:
        """Return which tokens may come next [batch, tokens]; after a complete program, only `<pad>`."""
        row = self._row()
        fits = self.owed[:, None] + 1 + self.tables.change[row] <= self.left
        return self.tables.legal[row] & fits

    def advance(self, tokens: Tensor) -> None:
        """Append one allowed token to each program."""
        row = self._row()
        opened = self.tables.opens[self.state, tokens]
        self.owed = self.owed + self.tables.change[row, tokens]
        self.owed = torch.where(self.done, 0, self.owed)
        self.depth = self.depth + (opened > 0).long() - self.tables.closes[tokens]
        here = self.depth[:, None]
        self.stack.scatter_(
            1, here, torch.where(opened > 0, opened, self.stack.gather(1, here)[:, 0])[:, None]
        )
        self.state = self.tables.following[row, tokens]
        self.left -= 1
