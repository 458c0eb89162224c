"""A rollout buffer for recurrent policies, which splits steps into sequences where an episode begins."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.recurrent.buffers import RecurrentRolloutBuffer
from sb3_contrib.common.recurrent.type_aliases import RecurrentRolloutBufferSamples, RNNStates
from stable_baselines3.common.buffers import RolloutBuffer
from torch import Tensor


class SequenceBuffer(RecurrentRolloutBuffer):
    """The buffer of sb3-contrib, with one copy to pad all sequences of a batch.

    The library creates a tensor for every sequence of every array, about 10,000 in an iteration with 256
    worlds, and sends each to the GPU separately.
    """

    @classmethod
    def in_place_of(cls, other: RolloutBuffer) -> "SequenceBuffer":
        """Create an empty buffer with the same capacity, spaces and settings."""
        assert isinstance(other, RecurrentRolloutBuffer)
        return cls(
            other.buffer_size,
            other.observation_space,
            other.action_space,
            other.hidden_state_shape,
            other.device,
            other.gae_lambda,
            other.gamma,
            other.n_envs,
        )

    def _get_samples(  # type: ignore[override]  # as the library's own
        self,
        batch_inds: NDArray[Any],
        env_change: NDArray[Any],
        env: Any = None,  # noqa: ARG002
    ) -> RecurrentRolloutBufferSamples:
        begins = np.logical_or(self.episode_starts[batch_inds], env_change[batch_inds]).flatten()
        begins[0] = True
        first = np.flatnonzero(begins)
        sequence = np.cumsum(begins) - 1
        within = np.arange(len(begins)) - first[sequence]
        longest = int(within.max()) + 1
        targets = sequence * longest + within

        def padded(array: NDArray[Any]) -> Tensor:
            """[steps, …] → [sequences × longest, …], zero after a sequence's end"""
            rows = np.zeros((len(first) * longest, *array.shape[1:]), array.dtype)
            rows[targets] = array[batch_inds]
            return torch.from_numpy(rows).to(self.device)

        def initial(states: NDArray[np.float32]) -> Tensor:
            """[steps, layers, units] → [layers, sequences, units], the state before each sequence"""
            return torch.from_numpy(states[batch_inds[first]].swapaxes(0, 1).copy()).to(self.device)

        return RecurrentRolloutBufferSamples(
            observations=padded(self.observations),
            actions=padded(self.actions),
            old_values=padded(self.values).flatten(),
            old_log_prob=padded(self.log_probs).flatten(),
            advantages=padded(self.advantages).flatten(),
            returns=padded(self.returns).flatten(),
            lstm_states=RNNStates(
                (initial(self.hidden_states_pi), initial(self.cell_states_pi)),
                (initial(self.hidden_states_vf), initial(self.cell_states_vf)),
            ),
            episode_starts=padded(self.episode_starts).flatten(),
            mask=padded(np.ones_like(self.returns)).flatten(),
        )
