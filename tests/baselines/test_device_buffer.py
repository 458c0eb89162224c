"""The device buffer returns the same batches as the buffer of stable-baselines3."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3.common.buffers import RolloutBuffer

from leaps.baselines.device_buffer import DeviceBuffer

STEPS, WORLDS = 6, 5
SEEN = (4, 3, 2)


def fill(buffer: RolloutBuffer, seed: int) -> None:
    rng = np.random.default_rng(seed)
    buffer.reset()
    for _ in range(STEPS):
        buffer.add(
            rng.integers(0, 2, (WORLDS, *SEEN)).astype(np.uint8),
            rng.integers(0, 5, (WORLDS, 1)),
            rng.normal(size=WORLDS),
            rng.random(WORLDS) < 0.3,
            torch.from_numpy(rng.normal(size=WORLDS)),
            torch.from_numpy(rng.normal(size=WORLDS)),
        )
    buffer.compute_returns_and_advantage(torch.from_numpy(rng.normal(size=WORLDS)), rng.random(WORLDS) < 0.5)


@pytest.mark.parametrize("batch", [1, 7, None])
def test_batches_equal_the_library_buffers(batch: int | None) -> None:
    space = spaces.Box(0, 1, SEEN, np.uint8)
    original = RolloutBuffer(STEPS, space, spaces.Discrete(5), "cpu", 0.9, 0.8, WORLDS)
    replacement = DeviceBuffer.in_place_of(original)
    for iteration in range(2):  # the second iteration overwrites the first
        drawn = []
        for buffer in (original, replacement):
            fill(buffer, iteration)
            np.random.seed(iteration)
            drawn.append([sample for _ in range(2) for sample in buffer.get(batch)])
        assert len(drawn[0]) == len(drawn[1])
        for expected, found in zip(*drawn, strict=True):
            for one, other in zip(expected, found, strict=True):
                if one is not None:
                    assert one.dtype == other.dtype
                    assert torch.equal(one, other)
