"""SAC of stable-baselines3 with faster updates on a GPU.

An update of a small network takes about 400 operations of a few microseconds each. The library launches them
one by one, and waits for the GPU five times to log a number. Here an update does the same arithmetic without
logging. On a GPU, torch's compiler fuses the operations, and they are recorded once as a CUDA graph and then
replayed.
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
"""updates before one is recorded, so that all tensors have their final addresses"""

NOT_ZERO = 1e-6
"""the library's constant that keeps the logarithm of an action's tanh correction finite"""


def as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function unchanged."""
    return function


class BriskSAC(SAC):
    """The library's SAC with an adaptive temperature, without logging."""

    _recording: torch.cuda.CUDAGraph | None = None
    _batch: Batch = ()
    """input tensors of the recorded update. Earlier updates use them too, so that they compile for the same
    memory layout: nothing can be compiled during recording"""
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
        """Take one gradient step of critics, actor and temperature.

        The library starts with the temperature. The order makes no difference: only the actor's step depends
        on an earlier one, that of the critics, and the temperature is read before all steps.
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
        """Compute the actions [n, l] for this noise and their log-probabilities [n, 1]."""
        mean, log_std, _ = self.actor.get_action_dist_params(observations)
        chosen = torch.tanh(mean + log_std.exp() * noise)
        gaussian = -noise.square() / 2 - log_std - math.log(2 * math.pi) / 2
        squashed = torch.log(1 - chosen.square() + NOT_ZERO)
        return chosen, (gaussian - squashed).sum(dim=1, keepdim=True)

    def _target(
        self, following: Tensor, noise: Tensor, temperature: Tensor, ended: Tensor, rewards: Tensor
    ) -> Tensor:
        """Compute the critics' targets."""
        with torch.no_grad():
            actions, log_probability = self._choose(following, noise)
            expected = torch.cat(self.critic_target(following, actions), dim=1).amin(dim=1, keepdim=True)
            return rewards + (1 - ended) * self.gamma * (expected - temperature * log_probability)

    def _critics_loss(self, observations: Tensor, actions: Tensor, target: Tensor) -> Tensor:
        errors = [mse_loss(found, target) for found in self.critic(observations, actions)]
        return 0.5 * sum(errors[1:], errors[0])

    def _actor_loss(self, observations: Tensor, noise: Tensor, temperature: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the actor's loss and the log-probabilities of its actions."""
        chosen, log_probability = self._choose(observations, noise)
        value = torch.cat(self.critic(observations, chosen), dim=1).amin(dim=1, keepdim=True)
        return (temperature * log_probability - value).mean(), log_probability

    def _follow(self) -> None:
        """Update the target critics like the library's polyak_update, for all weights at once."""
        with torch.no_grad():
            targets: list[Tensor] = list(self.critic_target.parameters())
            sources: list[Tensor] = list(self.critic.parameters())
            torch._foreach_mul_(targets, 1 - self.tau)
            torch._foreach_add_(targets, sources, alpha=self.tau)

    def _play(self, batch: Batch) -> None:
        """Do an update on a GPU, by replaying the recording as soon as there is one."""
        if not self._batch:
            self._batch = tuple(
                torch.empty_like(tensor, memory_format=torch.contiguous_format) for tensor in batch
            )
            for optimizer in self._optimizers:
                _make_recordable(optimizer)
        for target, tensor in zip(self._batch, batch, strict=True):
            target.copy_(tensor)
        if self._recording is not None:
            self._recording.replay()
            return
        self._updates_seen += 1
        with fast_products(), compiling() as fuse:
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._update(self._batch, fuse)
            torch.cuda.current_stream().wait_stream(stream)
            if self._updates_seen == BEFORE_RECORDING:
                recording = torch.cuda.CUDAGraph()
                with torch.cuda.graph(recording):
                    self._update(self._batch, fuse)
                self._recording = recording

    def forget_recording(self) -> None:
        """Discard the recording, after weights or optimizer states were replaced or came from a GPU."""
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
    for weight, state in optimizer.state.items():  # non-empty in a resumed training, maybe from a CPU
        state["step"] = state["step"].to(weight.device)


def _descend(
    loss: Tensor, parameters: Sequence[Tensor], optimizer: torch.optim.Optimizer, fuse: Fuse
) -> None:
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient.contiguous()  # like the weights
    fuse(optimizer.step)()
