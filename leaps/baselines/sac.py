"""SAC of stable-baselines3, whose updates don't keep a GPU waiting.

An update of a small network is some four hundred operations of a few microseconds each, and the library
starts them one by one and stops five times to write a number down. Here an update is the same arithmetic
without the numbers; on a GPU torch's compiler makes fewer operations of it, and they are recorded once, as a
CUDA graph, and then played.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from stable_baselines3 import SAC
from torch import Tensor
from torch.nn.functional import mse_loss

from leaps.baselines.networks import Fuse, compiling, fast_products
from leaps.baselines.replay import Batch, BitReplay

BEFORE_RECORDING = 3
"""updates that are done before one is recorded, so that everything is where it stays"""

NOT_ZERO = 1e-6
"""the library's: keeps the logarithm of how much an action was squashed finite"""


def as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """Fuse nothing."""
    return function


class BriskSAC(SAC):
    """The library's SAC, with an adaptive temperature and without its log."""

    _recording: torch.cuda.CUDAGraph | None = None
    _batch: Batch = ()
    """where the recorded update looks for what it learns from, and those before it, which are compiled for
    tensors that lie as these do: nothing can be compiled while something is recorded"""
    _updates_seen = 0

    def train(self, gradient_steps: int, batch_size: int = 64) -> None:
        assert isinstance(self.replay_buffer, BitReplay)
        self.policy.set_training_mode(True)
        for batch in self.replay_buffer.batches(gradient_steps, batch_size):
            if self.device.type == "cuda":
                self._play(batch)
            else:
                self._update(batch, as_it_is)
        self._n_updates += gradient_steps

    def _update(self, batch: Batch, fuse: Fuse) -> None:
        """One gradient step of critics, actor and temperature.

        The library begins with the temperature. That comes to the same: of what has been changed, only the
        critics are looked at, by the actor.
        """
        assert self.log_ent_coef is not None
        assert self.ent_coef_optimizer is not None
        assert isinstance(self.target_entropy, float)
        observations, actions, following, ended, rewards = batch
        noise, noise_after = torch.randn_like(actions), torch.randn_like(actions)
        temperature = self.log_ent_coef.detach().exp()

        target = fuse(self._target)(following, noise_after, temperature, ended, rewards)
        loss = fuse(self._critics_loss)(observations, actions, target)
        _descend(loss, list(self.critic.parameters()), self.critic.optimizer, fuse)

        self.critic.requires_grad_(False)
        loss, log_probability = fuse(self._actor_loss)(observations, noise, temperature)
        _descend(loss, list(self.actor.parameters()), self.actor.optimizer, fuse)
        self.critic.requires_grad_(True)

        surplus = log_probability.detach() + self.target_entropy
        _descend(-(self.log_ent_coef * surplus).mean(), [self.log_ent_coef], self.ent_coef_optimizer, fuse)
        fuse(self._follow)()

    def _choose(self, observations: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """[n, l] actions, as this noise has them, and the logarithms [n, 1] of their probabilities."""
        mean, log_deviation, _ = self.actor.get_action_dist_params(observations)
        chosen = torch.tanh(mean + log_deviation.exp() * noise)
        gaussian = -noise.square() / 2 - log_deviation - math.log(2 * math.pi) / 2
        squashed = torch.log(1 - chosen.square() + NOT_ZERO)
        return chosen, (gaussian - squashed).sum(dim=1, keepdim=True)

    def _target(
        self, following: Tensor, noise: Tensor, temperature: Tensor, ended: Tensor, rewards: Tensor
    ) -> Tensor:
        """What the critics should say."""
        with torch.no_grad():
            actions, log_probability = self._choose(following, noise)
            expected = torch.cat(self.critic_target(following, actions), dim=1).amin(dim=1, keepdim=True)
            return rewards + (1 - ended) * self.gamma * (expected - temperature * log_probability)

    def _critics_loss(self, observations: Tensor, actions: Tensor, target: Tensor) -> Tensor:
        errors = [mse_loss(found, target) for found in self.critic(observations, actions)]
        return 0.5 * sum(errors[1:], errors[0])

    def _actor_loss(self, observations: Tensor, noise: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor]:
        """… and the logarithms of its actions' probabilities."""
        chosen, log_probability = self._choose(observations, noise)
        worth = torch.cat(self.critic(observations, chosen), dim=1).amin(dim=1, keepdim=True)
        return (temperature * log_probability - worth).mean(), log_probability

    def _follow(self) -> None:
        """The library's polyak_update, for all weights at once."""
        with torch.no_grad():
            targets: list[Tensor] = list(self.critic_target.parameters())
            sources: list[Tensor] = list(self.critic.parameters())
            torch._foreach_mul_(targets, 1 - self.tau)
            torch._foreach_add_(targets, sources, alpha=self.tau)

    def _play(self, batch: Batch) -> None:
        """Do an update on a GPU: record it first, when everything is in its place."""
        if not self._batch:
            self._batch = tuple(
                torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in batch
            )
            for optimizer in self._optimizers:
                _make_recordable(optimizer)
        for place, tensor in zip(self._batch, batch, strict=True):
            place.copy_(tensor)
        if self._recording is not None:
            self._recording.replay()
            return
        self._updates_seen += 1
        with fast_products(), compiling() as fuse:
            aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                self._update(self._batch, fuse)
            torch.cuda.current_stream().wait_stream(aside)
            if self._updates_seen == BEFORE_RECORDING:
                recording = torch.cuda.CUDAGraph()
                with torch.cuda.graph(recording):
                    self._update(self._batch, fuse)
                self._recording = recording

    def forget_recording(self) -> None:
        """Weights or what the optimizers know lie elsewhere now, or were those of a GPU."""
        self._recording, self._batch, self._updates_seen = None, (), 0
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group |= {"capturable": False, "foreach": None, "fused": None}

    @property
    def _optimizers(self) -> tuple[torch.optim.Optimizer, ...]:
        assert self.ent_coef_optimizer is not None
        return self.actor.optimizer, self.critic.optimizer, self.ent_coef_optimizer


def _make_recordable(optimizer: torch.optim.Optimizer) -> None:
    """Let Adam count its steps on the GPU."""
    for group in optimizer.param_groups:
        group |= {"capturable": True, "foreach": True}
    for weight, state in optimizer.state.items():  # of a training that goes on, perhaps from a CPU
        state["step"] = state["step"].to(weight.device)


def _descend(
    loss: Tensor, parameters: Sequence[Tensor], optimizer: torch.optim.Optimizer, fuse: Fuse
) -> None:
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient.contiguous()  # as the weights are
    fuse(optimizer.step)()
