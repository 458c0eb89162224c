"""A replay buffer that stores observations as bits."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from torch import Tensor

Batch = tuple[Tensor, ...]
"""observations, actions, next observations, whether the episode ended, rewards"""


class BitReplay(ReplayBuffer):
    """The replay buffer of stable-baselines3 with one bit per plane and cell instead of one byte.

    A million decisions on an 8x8 grid take at most 300 MB (unused memory is not allocated), and checkpoints
    are an eighth as large. Bits are sent to the training device and unpacked there.
    """

    ARRAYS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")

    def __init__(
        self, buffer_size: int, observation_space: spaces.Space[Any], *arguments: Any, **settings: Any
    ) -> None:
        assert observation_space.shape is not None
        self._shape = observation_space.shape
        self._bits = int(np.prod(self._shape))
        packed = spaces.Box(0, 255, (-(-self._bits // 8),), np.uint8)
        super().__init__(buffer_size, packed, *arguments, **settings)
        self._shifts = torch.arange(7, -1, -1, dtype=torch.uint8, device=self.device)

    def add(
        self,
        obs: NDArray[Any],
        next_obs: NDArray[Any],
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        before, after = (np.packbits(each.reshape(self.n_envs, -1), axis=1) for each in (obs, next_obs))
        super().add(before, after, action, reward, done, infos)

    def batches(self, count: int, size: int) -> list[Batch]:
        """Draw the same batches as `count` calls of `sample`, in one transfer."""
        drawn = [(np.random.randint(0, self.size(), size), self._worlds(size)) for _ in range(count)]
        rows, worlds = (np.concatenate(part) for part in zip(*drawn, strict=True))
        split = (torch.split(tensor, size) for tensor in self._fetched(rows, worlds))
        return list(zip(*split, strict=True))

    def _get_samples(self, batch_inds: NDArray[Any], env: Any = None) -> ReplayBufferSamples:  # noqa: ARG002
        return ReplayBufferSamples(*self._fetched(batch_inds, self._worlds(len(batch_inds))))

    def _worlds(self, count: int) -> NDArray[np.int64]:
        return np.random.randint(0, self.n_envs, count)

    def _fetched(self, rows: NDArray[Any], worlds: NDArray[Any]) -> Batch:
        ended = self.dones[rows, worlds] * (1 - self.timeouts[rows, worlds])
        return (
            self._unpacked(self.to_torch(self.observations[rows, worlds])),
            self.to_torch(self.actions[rows, worlds]),
            self._unpacked(self.to_torch(self.next_observations[rows, worlds])),
            self.to_torch(ended[:, None]),
            self.to_torch(self.rewards[rows, worlds][:, None]),
        )

    def _unpacked(self, packed: Tensor) -> Tensor:
        bits = (packed[:, :, None] >> self._shifts) & 1
        return bits.flatten(1)[:, : self._bits].reshape(-1, *self._shape)

    def state(self) -> dict[str, Any]:
        """Return the stored decisions and the write position."""
        kept = {name: torch.from_numpy(getattr(self, name)[: self.size()].copy()) for name in self.ARRAYS}
        return kept | {"next": self.pos, "full": self.full}

    def restore(self, state: dict[str, Any]) -> None:
        self.pos, self.full = state["next"], state["full"]
        for name in self.ARRAYS:
            getattr(self, name)[: self.size()] = state[name].numpy()
