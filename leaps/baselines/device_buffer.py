"""What a policy on grids learns from, kept on the GPU that it is trained on."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.type_aliases import RolloutBufferSamples


class DeviceBuffer(RolloutBuffer):
    """The library's buffer, with the observations on its device.

    The library keeps them in the computer's memory, and sends every batch of every epoch to the GPU. In
    worlds of 100x100 an iteration's observations are 1.3 GB, so most of the time would go into copies.
    """

    @classmethod
    def in_place_of(cls, other: RolloutBuffer) -> "DeviceBuffer":
        """An empty one for as many steps of the same kind."""
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
        self.obs_shape = (0,)  # all that the library keeps of them from now on
        self.reset()

    def add(self, obs: NDArray[Any], *rest: Any) -> None:
        self._observed[self.pos].copy_(torch.from_numpy(obs))
        super().add(np.empty((self.n_envs, 0), obs.dtype), *rest)

    def _get_samples(self, batch_inds: NDArray[Any], env: Any = None) -> RolloutBufferSamples:
        samples = super()._get_samples(batch_inds, env)
        # The library numbers the steps of the first world, then those of the second, and so on.
        world, step = (
            torch.from_numpy(part).to(self.device) for part in divmod(batch_inds, self.buffer_size)
        )
        return samples._replace(observations=self._observed[step, world])
