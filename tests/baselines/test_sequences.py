"""The sequence buffer returns the same batches as the buffer of sb3-contrib."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib.common.recurrent.buffers import RecurrentRolloutBuffer
from sb3_contrib.common.recurrent.type_aliases import RNNStates

from leaps.baselines.sequences import SequenceBuffer

STEPS, WORLDS, UNITS = 12, 5, 3


def filled(buffer: RecurrentRolloutBuffer, ending: float) -> RecurrentRolloutBuffer:
    """Fill a buffer with steps, each of which ends its episode with this probability."""
    rng = np.random.default_rng(3)

    def states() -> tuple[torch.Tensor, torch.Tensor]:
        drawn = rng.normal(size=(2, 1, WORLDS, UNITS)).astype(np.float32)
        return torch.from_numpy(drawn[0]), torch.from_numpy(drawn[1])

    for _ in range(STEPS):
        buffer.add(
            rng.integers(0, 2, (WORLDS, 4)).astype(np.uint8),
            rng.integers(0, 5, (WORLDS, 1)),
            rng.normal(size=WORLDS),
            rng.random(WORLDS) < ending,
            torch.from_numpy(rng.normal(size=WORLDS)),
            torch.from_numpy(rng.normal(size=WORLDS)),
            lstm_states=RNNStates(states(), states()),
        )
    buffer.compute_returns_and_advantage(torch.from_numpy(rng.normal(size=WORLDS)), rng.random(WORLDS) < 0.5)
    return buffer


def tensors(sample: Any) -> list[torch.Tensor]:
    if isinstance(sample, torch.Tensor):
        return [sample]
    return [tensor for part in sample for tensor in tensors(part)]


@pytest.mark.parametrize("ending", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("batch", [1, 7, 20, STEPS * WORLDS])
def test_batches_equal_the_library_buffers(ending: float, batch: int) -> None:
    original = RecurrentRolloutBuffer(
        STEPS,
        spaces.Box(0, 1, (4,), np.uint8),
        spaces.Discrete(5),
        (STEPS, 1, WORLDS, UNITS),
        device="cpu",
        gae_lambda=0.9,
        gamma=0.8,
        n_envs=WORLDS,
    )
    replacement = SequenceBuffer.in_place_of(original)
    for buffer in (original, replacement):
        filled(buffer, ending)
    for epoch in range(4):
        drawn = []
        for buffer in (original, replacement):
            np.random.seed(epoch)
            drawn.append(list(buffer.get(batch)))
        assert len(drawn[0]) == len(drawn[1]) == -(-STEPS * WORLDS // batch)
        for expected, found in zip(*drawn, strict=True):
            assert len(tensors(found)) == len(tensors(expected)) == 12
            for one, other in zip(tensors(found), tensors(expected), strict=True):
                assert one.dtype == other.dtype
                assert torch.equal(one, other)
