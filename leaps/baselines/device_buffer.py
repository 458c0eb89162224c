"""A rollout buffer that keeps grid observations on the GPU."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.type_aliases import RolloutBufferSamples


class DeviceBuffer(RolloutBuffer):
    """The buffer of stable-baselines3 with observations on the training device.

    The library keeps observations in main memory and sends every batch of every epoch to the GPU. In
    100x100 worlds an iteration's observations take 1.3 GB, so copies would take most of the time.
    """

    @classmethod
    def in_place_of(cls, other: RolloutBuffer) -> "DeviceBuffer":
        """Create an empty buffer with the same capacity, spaces and settings."""
        return cls(
            other.buffer_size,
            other.observation_space,
            other.action_space,
            other.device,
            other.gae_lambda,
            other.gamma,
            other.n_envs,
        )

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        assert isinstance(self.obs_shape, tuple)
        dtype = torch.from_numpy(np.empty(0, self.observation_space.dtype)).dtype
        shape = (self.buffer_size, self.n_envs, *self.obs_shape)
        self._observed = torch.empty(shape, dtype=dtype, device=self.device)
        self.obs_shape = (0,)  # so that the library stores no observations itself
        self.reset()

    def add(self, obs: NDArray[Any], *rest: Any) -> None:
        self._observed[self.pos].copy_(torch.from_numpy(obs))
        super().add(np.empty((self.n_envs, 0), obs.dtype), *rest)

    def _get_samples(self, batch_inds: NDArray[Any], env: Any = None) -> RolloutBufferSamples:
        samples = super()._get_samples(batch_inds, env)
        # The library numbers all steps of world 0 first, then all steps of world 1, and so on.
        world, step = (
            torch.from_numpy(part).to(self.device) for part in divmod(batch_inds, self.buffer_size)
        )
        return samples._replace(observations=self._observed[step, world])
