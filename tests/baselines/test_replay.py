"""The replay buffer of bits returns the same batches as one of bytes."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3.common.buffers import ReplayBuffer

from leaps.baselines.replay import BitReplay


@pytest.mark.parametrize("shape", [(8, 8, 16), (5,)])
def test_batches_equal_those_of_the_byte_buffer(shape: tuple[int, ...]) -> None:
    seen, done = spaces.Box(0, 1, shape, np.uint8), spaces.Box(-2, 2, (5,), np.float32)
    buffers = [kind(24, seen, done, "cpu", n_envs=3) for kind in (ReplayBuffer, BitReplay)]
    rng = np.random.default_rng(0)
    for _ in range(11):  # more than the capacity
        step = (
            rng.integers(0, 2, (3, *shape), np.uint8),
            rng.integers(0, 2, (3, *shape), np.uint8),
            rng.uniform(-1, 1, (3, 5)).astype(np.float32),
            rng.random(3),
            rng.integers(0, 2, 3),
            [{"TimeLimit.truncated": bool(rng.integers(2))} for _ in range(3)],
        )
        for buffer in buffers:
            buffer.add(*step)
    drawn = []
    for buffer in buffers:
        np.random.seed(0)
        drawn.append(buffer.sample(50))
    for expected, found in zip(*drawn, strict=True):
        assert (expected is None and found is None) or (
            torch.equal(expected, found) and expected.dtype == found.dtype
        )
    np.random.seed(1)
    one_by_one = [buffers[0].sample(7) for _ in range(4)]
    np.random.seed(1)
    bits = buffers[1]
    assert isinstance(bits, BitReplay)
    together = bits.batches(4, 7)
    for sample, batch in zip(one_by_one, together, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(sample[:5], batch, strict=True))


def test_restored_buffer_has_the_same_contents() -> None:
    seen, done = spaces.Box(0, 1, (9,), np.uint8), spaces.Box(-2, 2, (2,), np.float32)
    one, other = (BitReplay(6, seen, done, "cpu", n_envs=2) for _ in range(2))
    rng = np.random.default_rng(1)
    for number in range(9):
        one.add(
            rng.integers(0, 2, (2, 9), np.uint8),
            rng.integers(0, 2, (2, 9), np.uint8),
            rng.random((2, 2)).astype(np.float32),
            rng.random(2),
            np.zeros(2),
            [{}, {}],
        )
        if number in (1, 8):  # not yet full, and full
            other.restore(one.state())
            drawn = []
            for buffer in (one, other):
                np.random.seed(number)
                drawn.append(buffer.sample(20))
            assert all(torch.equal(a, b) for a, b in zip(*drawn, strict=True) if a is not None)
            assert (one.pos, one.full) == (other.pos, other.full)
