"""SAC of stable-baselines3, whose updates don't keep a GPU waiting.

An update of a small network is some four hundred operations of a few microseconds each, and the library
starts them one by one and stops five times to write a number down. Here an update is the same arithmetic
without the numbers; on a GPU it is recorded once, as a CUDA graph, and then played.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from stable_baselines3 import SAC
from torch import Tensor
from torch.distributions import Distribution
from torch.nn.functional import mse_loss

from leaps.baselines.replay import Batch, BitReplay

BEFORE_RECORDING = 3
"""updates that are done one operation at a time, so that everything is where it stays"""


class BriskSAC(SAC):
    """The library's SAC, with an adaptive temperature and without its log."""

    _recording: torch.cuda.CUDAGraph | None = None
    _batch: Batch = ()
    """where the recorded update looks for what it learns from"""
    _updates_seen = 0

    def train(self, gradient_steps: int, batch_size: int = 64) -> None:
        assert isinstance(self.replay_buffer, BitReplay)
        self.policy.set_training_mode(True)
        for batch in self.replay_buffer.batches(gradient_steps, batch_size):
            if self.device.type == "cuda":
                self._play(batch)
            else:
                self._update(batch)
        self._n_updates += gradient_steps

    def _update(self, batch: Batch) -> None:
        """One gradient step of temperature, critics and actor, in the library's order."""
        assert self.log_ent_coef is not None
        assert self.ent_coef_optimizer is not None
        assert isinstance(self.target_entropy, float)
        observations, actions, following, ended, rewards = batch
        chosen, log_probability = self.actor.action_log_prob(observations)
        log_probability = log_probability.reshape(-1, 1)
        temperature = self.log_ent_coef.detach().exp()
        surplus = (log_probability + self.target_entropy).detach()
        _descend(-(self.log_ent_coef * surplus).mean(), [self.log_ent_coef], self.ent_coef_optimizer)

        with torch.no_grad():
            next_actions, next_log_probability = self.actor.action_log_prob(following)
            expected = torch.cat(self.critic_target(following, next_actions), dim=1).amin(dim=1, keepdim=True)
            expected = expected - temperature * next_log_probability.reshape(-1, 1)
            target = rewards + (1 - ended) * self.gamma * expected
        errors = [mse_loss(found, target) for found in self.critic(observations, actions)]
        _descend(0.5 * sum(errors[1:], errors[0]), list(self.critic.parameters()), self.critic.optimizer)

        worth = torch.cat(self.critic(observations, chosen), dim=1).amin(dim=1, keepdim=True)
        loss = (temperature * log_probability - worth).mean()
        _descend(loss, list(self.actor.parameters()), self.actor.optimizer)
        # The library's polyak_update, for all weights at once.
        with torch.no_grad():
            targets: list[Tensor] = list(self.critic_target.parameters())
            torch._foreach_mul_(targets, 1 - self.tau)
            sources: list[Tensor] = list(self.critic.parameters())
            torch._foreach_add_(targets, sources, alpha=self.tau)

    def _play(self, batch: Batch) -> None:
        """Do an update on a GPU: record it first, when everything is in its place."""
        if self._recording is not None:
            for place, tensor in zip(self._batch, batch, strict=True):
                place.copy_(tensor)
            self._recording.replay()
            return
        if self._updates_seen == 0:
            for optimizer in (self.actor.optimizer, self.critic.optimizer, self.ent_coef_optimizer):
                assert optimizer is not None
                _make_recordable(optimizer)
        self._updates_seen += 1
        with _trusted():
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                self._update(batch)
            torch.cuda.current_stream().wait_stream(aside)
            if self._updates_seen == BEFORE_RECORDING:
                self._batch = tuple(tensor.clone() for tensor in batch)
                recording = torch.cuda.CUDAGraph()
                with torch.cuda.graph(recording):
                    self._update(self._batch)
                self._recording = recording

    def forget_recording(self) -> None:
        """Weights or what the optimizers know lie elsewhere now."""
        self._recording, self._batch, self._updates_seen = None, (), 0


def _make_recordable(optimizer: torch.optim.Optimizer) -> None:
    """Let Adam count its steps on the GPU, and do each as one operation."""
    for group in optimizer.param_groups:
        group |= {"capturable": True, "fused": True, "foreach": False}
    for weight, state in optimizer.state.items():  # of a training that goes on, perhaps from a CPU
        state["step"] = state["step"].to(weight.device)


def _descend(loss: Tensor, parameters: Sequence[Tensor], optimizer: torch.optim.Optimizer) -> None:
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient.contiguous()  # as the weights are: Adam in one operation insists on it
    optimizer.step()


@contextmanager
def _trusted() -> Iterator[None]:
    """Let distributions believe what they are given: to look would mean to wait for the GPU."""
    before: Any = Distribution._validate_args
    Distribution.set_default_validate_args(False)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)
