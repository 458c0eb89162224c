"""The data set as tensors on a device, and batches gathered there for the losses.

The observations of all rollouts are computed once, when training begins (one bit per value), so that a batch
is a few lookups. Steps of a batch of rollouts are ordered as in torch's PackedSequence, so that no padding is
computed.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leaps.base.jit import jit
from leaps.domain import NO_ACTION, Outcome
from leaps.dsl.language import Language
from leaps.dsl.mask import SyntaxMask
from leaps.dsl.text import PREFIX, PREFIX_IDS
from leaps.embedding.dataset import Data

_CHUNK = 500  # programs whose observations are computed at once


@dataclass(frozen=True)
class ProgramBatch:
    """b programs without their prefix."""

    tokens: Tensor
    """[b, t]"""
    previous: Tensor
    """[b, t] the token before each"""
    lengths: Tensor
    """[b]"""
    allowed: Tensor
    """[b, t, v] the tokens that the syntax allows at each position"""


@dataclass(frozen=True)
class RolloutBatch:
    """n steps of rollouts of b programs, packed; the longest rollout first."""

    program: Tensor
    """[rollouts] which program of the batch"""
    sequence: Tensor
    """[n] which rollout"""
    step: Tensor
    """[n] index of the step in `RolloutTable`"""
    batch_sizes: Tensor
    """on the CPU, as in PackedSequence"""


class ProgramTable:
    """Some programs of a data set, on a device."""

    def __init__(
        self, language: Language, tokens: NDArray[np.uint8], max_length: int, device: torch.device
    ) -> None:
        body = tokens[:, len(PREFIX) :]
        self.lengths = torch.from_numpy((body != language.pad).sum(axis=1)).to(device)
        self.tokens = torch.from_numpy(body.astype(np.int64)).to(device)
        first = torch.full((len(tokens), 1), PREFIX_IDS[-1], device=device)
        self.previous = torch.cat([first, self.tokens[:, :-1]], dim=1)
        self.allowed = torch.from_numpy(_allowed(language, tokens, max_length)).to(device)

    def __len__(self) -> int:
        return len(self.tokens)

    def batch(self, indices: Tensor) -> ProgramBatch:
        lengths = self.lengths[indices]
        longest = int(lengths.max())
        return ProgramBatch(
            self.tokens[indices, :longest],
            self.previous[indices, :longest],
            lengths,
            self.allowed[indices, :longest],
        )


def _allowed(language: Language, tokens: NDArray[np.uint8], max_length: int) -> NDArray[np.bool_]:
    """Compute the tokens that the syntax allows: [programs, positions after the prefix, tokens]."""
    mask = SyntaxMask(language, len(tokens), max_length)
    allowed = []
    for position in range(tokens.shape[1]):
        if position >= len(PREFIX):
            allowed.append(mask.allowed())
        mask.advance(tokens[:, position])
    return np.stack(allowed, axis=1)


class RolloutTable:
    """The rollouts of some programs, on a device: each observation, and the action taken there."""

    def __init__(self, data: Data, programs: NDArray[np.int64], device: torch.device) -> None:
        self.per_program, self.shape = data.rollouts, data.observation
        self.end = len(data.language.actions)
        """number of the action END, which π predicts when the program has ended; also the action before the
        first"""
        chunks = [
            _read(data, programs[start : start + _CHUNK], self.end)
            for start in range(0, len(programs), _CHUNK)
        ]
        self.lengths = np.concatenate([chunk.lengths for chunk in chunks])
        self.first = np.concatenate([[0], np.cumsum(self.lengths)])
        offsets = np.cumsum([0, *(len(chunk.observed) for chunk in chunks)])
        shown = [chunk.shown + offset for chunk, offset in zip(chunks, offsets, strict=False)]
        self.shown, self.observed, self.action, self.previous = (
            torch.from_numpy(np.concatenate(parts)).to(device)
            for parts in (
                shown,
                [chunk.observed for chunk in chunks],
                [chunk.action for chunk in chunks],
                [chunk.previous for chunk in chunks],
            )
        )
        self.device = device

    def observations(self, rows: Tensor) -> Tensor:
        """Unpack the observations in rows [m] of `observed` to 0 and 1 [m, *shape]."""
        shifts = torch.arange(7, -1, -1, device=rows.device, dtype=torch.uint8)  # as numpy packs bits
        bits = (self.observed[rows][:, :, None] >> shifts) & 1
        return bits.flatten(1)[:, : math.prod(self.shape)].reshape(-1, *self.shape).float()

    def batch(self, programs: NDArray[np.int64], rollouts: NDArray[np.int64]) -> RolloutBatch:
        """Pack the given rollouts [b, k] (numbers from 0 to `per_program` − 1) of the given programs [b]."""
        numbers = (programs[:, None] * self.per_program + rollouts).reshape(-1)
        owner = np.repeat(np.arange(len(programs)), rollouts.shape[1])
        kept = self.lengths[numbers] > 0  # skip empty rollouts, which were cut off before the first action
        numbers, owner = numbers[kept], owner[kept]
        order = np.argsort(-self.lengths[numbers], kind="stable")
        numbers, owner = numbers[order], owner[order]
        lengths = self.lengths[numbers]
        batch_sizes = (lengths[None] > np.arange(lengths[0])[:, None]).sum(axis=1)
        sequence = np.concatenate([np.arange(size) for size in batch_sizes])
        time = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
        step = self.first[numbers][sequence] + time
        return RolloutBatch(
            torch.from_numpy(owner).to(self.device),
            torch.from_numpy(sequence).to(self.device),
            torch.from_numpy(step).to(self.device),
            torch.from_numpy(batch_sizes),
        )


class _Chunk(NamedTuple):
    """Rollouts, step after step."""

    lengths: NDArray[np.int64]
    """[rollouts] steps of each"""
    observed: NDArray[np.uint8]
    """[m, bytes] distinct observations, as bits"""
    shown: NDArray[np.int64]
    """[steps] row of each step's observation in `observed`"""
    action: NDArray[np.uint8]
    """[steps]"""
    previous: NDArray[np.uint8]
    """[steps] the action before"""


def _read(data: Data, programs: NDArray[np.int64], end: int) -> _Chunk:
    traces = data.traces(programs)
    assert traces.actions is not None
    steps = traces.steps.reshape(-1, 1).astype(np.int64)
    actions = traces.actions.reshape(len(steps), -1)
    # A program that ended has one more step, at which π must predict END.
    ended = np.isin(traces.outcome.reshape(-1, 1), (Outcome.HALTED, Outcome.STUCK))
    times = np.arange(actions.shape[1] + 1)
    wanted = times < steps + ended
    column = np.full((len(steps), 1), end, np.uint8)
    taken = np.where(actions == NO_ACTION, np.uint8(end), actions)
    states = data.observe(programs)[wanted[times <= steps]]
    lengths = wanted.sum(axis=1)
    shown = np.empty(len(states), np.int64)
    _first_equal(np.concatenate([[0], np.cumsum(lengths)]), states, shown)
    first = shown == np.arange(len(shown))
    return _Chunk(
        lengths,
        states[first],
        (np.cumsum(first) - 1)[shown],
        np.concatenate([taken, column], axis=1)[wanted],
        np.concatenate([column, taken], axis=1)[wanted],
    )


@jit
def _first_equal(first: NDArray[np.int64], states: NDArray[np.uint8], shown: NDArray[np.int64]) -> None:
    """Write into `shown`, for each step, the first step of its rollout with the same observation."""
    for rollout in range(len(first) - 1):
        for step in range(first[rollout], first[rollout + 1]):
            shown[step] = step
            for other in range(first[rollout], step):
                if shown[other] != other:
                    continue
                column = 0
                while column < states.shape[1] and states[other, column] == states[step, column]:
                    column += 1
                if column == states.shape[1]:
                    shown[step] = other
                    break
