"""The three losses as functions: L^P, L^R and L^L, equations (1), (2) and (4) of the paper."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from leaps.embedding.batches import ProgramBatch, RolloutBatch, RolloutTable
from leaps.embedding.behaviour import match
from leaps.embedding.dataset import Data
from leaps.embedding.model import ProgramSpace, previous_tokens, with_prefix
from leaps.embedding.recurrent import Part
from leaps.embedding.sampler import ProgramSampler

Reward = Callable[[NDArray[np.uint8]], NDArray[np.float64]]
"""programs [b, length] → their rewards [b]"""


@dataclass(frozen=True)
class Latent:
    """The latents of a batch of programs: the distribution q(z | ρ) and a sample from it."""

    mean: Tensor
    log_deviation: Tensor
    sample: Tensor


def embed(space: ProgramSpace, programs: ProgramBatch, generator: torch.Generator | None = None) -> Latent:
    """Sample z ~ q(z | ρ), reparametrized so that gradients reach the encoder."""
    mean, log_deviation = space.encoder(programs.tokens, programs.lengths)
    noise = torch.randn(mean.shape, generator=generator, device=mean.device)
    return Latent(mean, log_deviation, mean + log_deviation.exp() * noise)


def kl_divergence(latent: Latent, kl: str = "mean") -> Tensor:
    """KL divergence of q(z | ρ) from N(0, I), averaged over the batch.

    kl: "mean" averages over the latent's dimensions, as in the authors' code; "sum" adds them, as in (1).
    """
    log_std = latent.log_deviation
    mean = 0.5 * (latent.mean**2 + (2 * log_std).exp() - 2 * log_std - 1).mean()
    return mean * latent.mean.shape[1] if kl == "sum" else mean


def program_reconstruction(
    space: ProgramSpace, programs: ProgramBatch, latent: Latent, beta: float, kl: str = "mean"
) -> tuple[Tensor, Tensor]:
    """L^P (1): cross entropy of the program's tokens under the syntax mask, and β times the KL divergence.

    The cross entropy is an average over tokens, as in the authors' code. kl: as for `kl_divergence`.
    """
    logits = space.decoder(latent.sample, programs.previous, programs.lengths)
    logits = logits.masked_fill(~programs.allowed, -torch.inf)
    inside = torch.arange(logits.shape[1], device=logits.device) < programs.lengths[:, None]
    reconstruction = functional.cross_entropy(logits[inside], programs.tokens[inside])
    divergence = kl_divergence(latent, kl)
    return reconstruction + beta * divergence, divergence


def latent_behaviour_reconstruction(
    space: ProgramSpace, rollouts: RolloutTable, batch: RolloutBatch, latent: Tensor
) -> tuple[Tensor, Tensor]:
    """L^L (4): cross entropy of the actions that the programs take, under π(a | z, s).

    The true actions are fed back. The indicator in the paper's equation is a mistake: it would leave out the
    steps that the decoded program gets wrong. Also returns whether π is right at each step [n].
    """
    assert space.policy is not None
    step = batch.step
    shown, seen = torch.unique(rollouts.shown[step], return_inverse=True)
    logits = space.policy(
        Part(latent, batch.program[batch.sequence]),
        Part(rollouts.observations(shown), seen),
        rollouts.previous[step].long(),
        batch.batch_sizes,
    )
    actions = rollouts.action[step].long()
    return functional.cross_entropy(logits, actions), logits.detach().argmax(dim=1) == actions


def likeness_to(data: Data, programs: NDArray[np.int64]) -> Reward:
    """Return a reward: R_mat (3) between decoded programs [b, length] and these programs [b] of the data.

    Each decoded program is run in the initial states of its original.
    """
    traces = data.traces(programs)
    return lambda tokens: np.asarray(match(data.run(tokens, programs), traces).mean(axis=1))


def program_behaviour_reconstruction(
    space: ProgramSpace,
    sampler: ProgramSampler,
    latent: Tensor,
    reward: Reward,
    samples: int,
    generator: torch.Generator | None = None,
    entropy: float = 0.0,
) -> tuple[Tensor, float]:
    """L^R (2) by REINFORCE: sample programs from each latent, run them, and reward similar behaviour.

    `samples` programs are drawn from each latent. The baseline of one is the mean reward of the others from
    the same latent. It removes the difficulty of the program from the reward, without bias. Also returns the
    mean reward. reward: similarity to the original's behaviour, see `likeness_to`. entropy: weight of the
    entropy bonus, a mean over tokens.
    """
    count = len(latent)
    repeated = latent.repeat(samples, 1)  # [samples · b, l]
    tokens, allowed = sampler.draw(repeated.detach(), generator)
    whole = with_prefix(tokens).to(torch.uint8).cpu().numpy()
    rewards = np.stack([reward(whole[i * count : (i + 1) * count]) for i in range(samples)])  # [samples, b]
    baseline = (rewards.sum(axis=0) - rewards) / max(samples - 1, 1)
    advantage = torch.from_numpy(rewards - baseline).float().reshape(-1).to(latent.device)
    # Sampling needs no gradients: the probabilities of the sampled tokens are computed in one pass.
    lengths = (tokens != space.language.pad).sum(dim=1)
    logits = space.decoder(repeated, previous_tokens(tokens), lengths).masked_fill(~allowed, -torch.inf)
    log_probabilities = -functional.cross_entropy(logits.transpose(1, 2), tokens, reduction="none").sum(dim=1)
    loss = -(advantage * log_probabilities).mean()
    if entropy:
        loss = loss - entropy * token_entropy(logits, allowed)[tokens != space.language.pad].mean()
    return loss, float(rewards.mean())


def token_entropy(logits: Tensor, allowed: Tensor) -> Tensor:
    """Compute the entropy [b, t] of the distribution over allowed tokens. logits [b, t, v]: -∞ elsewhere."""
    log_probabilities = logits.log_softmax(dim=2).masked_fill(~allowed, 0.0)  # 0 · ∞ has no gradient
    return -(log_probabilities.exp() * log_probabilities * allowed).sum(dim=2)
