"""The data set as the losses want it: tensors on a device, and batches gathered there.

The states of all rollouts are made once, when training begins (a byte per cell and step), so that a batch is
a few lookups. Steps of a batch of rollouts are laid out as torch's PackedSequence wants them: no padding is
computed.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from leaps.base.jit import jit
from leaps.domain import NO_ACTION, Outcome
from leaps.dsl.mask import SyntaxMask
from leaps.dsl.text import PREFIX
from leaps.embedding.model import ACTIONS, CELLS, END
from leaps.karel.dataset import Dataset
from leaps.karel.executor import replay
from leaps.karel.world import LANGUAGE

_CHUNK = 1000  # programs whose states are made at a time


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
    """[b, t, v] what the syntax allows at each place"""


@dataclass(frozen=True)
class RolloutBatch:
    """n steps of rollouts of b programs, packed; the longest rollout first."""

    program: Tensor
    """[rollouts] which program of the batch"""
    sequence: Tensor
    """[n] which rollout"""
    step: Tensor
    """[n] where the step stands in `RolloutTable`"""
    batch_sizes: Tensor
    """on the CPU, as in PackedSequence"""


class ProgramTable:
    """Some programs of a data set, on a device."""

    def __init__(self, tokens: NDArray[np.uint8], max_length: int, device: torch.device) -> None:
        body = tokens[:, len(PREFIX) :]
        self.lengths = torch.from_numpy((body != LANGUAGE.pad).sum(axis=1)).to(device)
        self.tokens = torch.from_numpy(body.astype(np.int64)).to(device)
        first = torch.full((len(tokens), 1), LANGUAGE.ids[PREFIX[-1]], device=device)
        self.previous = torch.cat([first, self.tokens[:, :-1]], dim=1)
        self.allowed = torch.from_numpy(_allowed(tokens, max_length)).to(device)

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


def _allowed(tokens: NDArray[np.uint8], max_length: int) -> NDArray[np.bool_]:
    """[programs, places after the prefix, tokens] what the syntax allows at each place."""
    mask = SyntaxMask(LANGUAGE, len(tokens), max_length)
    places = []
    for place in range(tokens.shape[1]):
        if place >= len(PREFIX):
            places.append(mask.allowed())
        mask.advance(tokens[:, place])
    return np.stack(places, axis=1)


class RolloutTable:
    """The rollouts of some programs of a data set, on a device: every state, and the action taken there."""

    def __init__(self, data: Dataset, programs: NDArray[np.int64], device: torch.device) -> None:
        self.per_program = data.config.rollouts
        cells = CELLS[0] * CELLS[1]
        steps = data.steps[programs].reshape(-1).astype(np.int64)
        # A rollout that came to its end has one more step: π must say END there.
        ends = data.outcome[programs].reshape(-1) != Outcome.CUT_OFF
        self.lengths = steps + ends
        self.first = np.concatenate([[0], np.cumsum(self.lengths)])
        total = int(self.first[-1])
        ground = np.empty((len(steps), cells), np.uint8)
        markers = np.empty((total, cells), np.uint8)
        position, heading = np.empty(total, np.uint8), np.empty(total, np.uint8)
        action, previous = np.empty(total, np.uint8), np.empty(total, np.uint8)
        horizon = data.config.horizon
        for chunk in range(0, len(programs), _CHUNK):
            some = programs[chunk : chunk + _CHUNK]
            here = slice(chunk * self.per_program, (chunk + len(some)) * self.per_program)
            worlds = data.worlds(some)
            traces = np.full((worlds.count, horizon + 1), NO_ACTION, np.uint8)
            taken = np.arange(horizon + 1) < steps[here, None]
            traces[taken] = np.concatenate(
                [
                    data.actions[data.starts[p * self.per_program] : data.starts[(p + 1) * self.per_program]]
                    for p in some
                ]
            )
            states = replay(worlds, traces[:, :-1])
            wanted = np.arange(horizon + 1) < self.lengths[here, None]
            span = slice(self.first[here.start], self.first[here.stop])
            ground[here] = worlds.ground.reshape(-1, cells)
            markers[span] = states.markers.reshape(*wanted.shape, cells)[wanted]
            pose = states.pose.reshape(*wanted.shape, 3)[wanted]
            position[span], heading[span] = pose[:, 0] * CELLS[1] + pose[:, 1], pose[:, 2]
            action[span] = np.where(traces == NO_ACTION, END, traces)[wanted]
            before = np.concatenate([np.full((worlds.count, 1), END, np.uint8), traces[:, :-1]], axis=1)
            previous[span] = before[wanted]
        self.ground, self.markers, self.position, self.heading, self.action, self.previous = (
            torch.from_numpy(array).to(device)
            for array in (ground, markers, position, heading, action, previous)
        )
        shown = np.empty(total, np.int64)
        _first_alike(self.first, markers, position, heading, shown)
        self.shown = torch.from_numpy(shown).to(device)
        self.rollout = torch.from_numpy(np.repeat(np.arange(len(steps)), self.lengths)).to(device)
        self.device = device

    def batch(self, programs: NDArray[np.int64], rollouts: NDArray[np.int64]) -> RolloutBatch:
        """Pack the given rollouts [b, k] (numbers from 0 to `per_program` − 1) of the given programs [b]."""
        numbers = (programs[:, None] * self.per_program + rollouts).reshape(-1)
        owner = np.repeat(np.arange(len(programs)), rollouts.shape[1])
        kept = self.lengths[numbers] > 0  # a program cut off at once has nothing to learn from
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


@jit
def _first_alike(
    first: NDArray[np.int64],
    markers: NDArray[np.uint8],
    position: NDArray[np.uint8],
    heading: NDArray[np.uint8],
    shown: NDArray[np.int64],
) -> None:
    """Fill in for each step the first step of its rollout in which the world looks the same."""
    for rollout in range(len(first) - 1):
        for step in range(first[rollout], first[rollout + 1]):
            shown[step] = step
            for other in range(first[rollout], step):
                if (
                    shown[other] == other
                    and position[other] == position[step]
                    and heading[other] == heading[step]
                    and (markers[other] == markers[step]).all()
                ):
                    shown[step] = other
                    break


assert END == ACTIONS
