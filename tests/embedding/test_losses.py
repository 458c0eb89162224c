"""L^P, L^R and L^L, against calculations by hand or over all programs."""

from itertools import product

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.distributions import Categorical, Normal
from torch.distributions import kl_divergence as torch_divergence

from leaps.dsl.text import PREFIX
from leaps.embedding.batches import ProgramBatch, ProgramTable, RolloutTable
from leaps.embedding.behaviour import match
from leaps.embedding.losses import (
    Latent,
    embed,
    kl_divergence,
    latent_behaviour_reconstruction,
    likeness_to,
    program_behaviour_reconstruction,
    program_reconstruction,
    token_entropy,
)
from leaps.embedding.model import ProgramSpace, previous_tokens
from leaps.embedding.recurrent import Part
from leaps.embedding.sampler import ProgramSampler
from leaps.experiments.explore import r_mat
from leaps.karel.dataset import DataConfig, make_dataset
from leaps.karel.executor import run
from leaps.karel.world import KAREL, LANGUAGE, Worlds, random_worlds
from tests.embedding.helpers import CPU, END, drawn, long_programs, short_programs, tokens_of, untrained

# L^P

TWO = ("move", "WHILE c( frontIsClear c) w( turnLeft w)")


def batch_of(*programs: str, max_length: int = 20) -> ProgramBatch:
    tokens = tokens_of(*programs).numpy().astype(np.uint8)
    return ProgramTable(LANGUAGE, tokens, max_length, CPU).batch(torch.arange(len(programs)))


def latent_of(count: int, size: int = 8) -> Latent:
    mean, log_deviation = drawn(count, size, seed=1), drawn(count, size, seed=2) / 2
    return Latent(mean, log_deviation, mean + log_deviation.exp() * drawn(count, size, seed=3))


def test_the_reconstruction_is_the_mean_log_probability_among_allowed_tokens() -> None:
    space, batch, latent = untrained(), batch_of(*TWO), latent_of(2)
    logits = space.decoder(latent.sample, batch.previous).detach()
    surprise = []
    for row in range(2):
        for place in range(int(batch.lengths[row])):
            allowed = batch.allowed[row, place]
            chances = logits[row, place, allowed].exp() / logits[row, place, allowed].exp().sum()
            token = int(batch.tokens[row, place])
            surprise.append(-float(chances[allowed[:token].sum()].log()))
    loss, _ = program_reconstruction(space, batch, latent, beta=0)
    assert len(surprise) == 2 + 8
    assert loss.item() == pytest.approx(np.mean(surprise), rel=1e-5)


def test_the_divergence_is_that_of_two_normal_distributions_averaged_over_the_dimensions() -> None:
    latent = latent_of(2)
    _, divergence = program_reconstruction(untrained(), batch_of(*TWO), latent, beta=0.1)
    own, prior = Normal(latent.mean, latent.log_deviation.exp()), Normal(0.0, 1.0)
    assert divergence.item() == pytest.approx(float(torch_divergence(own, prior).mean()), rel=1e-5)


@pytest.mark.parametrize("size", [8, 12])
def test_the_summed_divergence_is_the_mean_times_the_dimensions(size: int) -> None:
    latent = latent_of(2, size)
    own, prior = Normal(latent.mean, latent.log_deviation.exp()), Normal(0.0, 1.0)
    summed = kl_divergence(latent, "sum")
    assert torch.equal(summed, size * kl_divergence(latent, "mean"))
    assert summed.item() == pytest.approx(float(torch_divergence(own, prior).sum(dim=1).mean()), rel=1e-5)


def test_the_summed_divergence_is_weighted_by_beta() -> None:
    space, batch, latent = untrained(), batch_of(*TWO), latent_of(2)
    without, divergence = program_reconstruction(space, batch, latent, beta=0, kl="sum")
    loss, _ = program_reconstruction(space, batch, latent, 0.1, kl="sum")
    assert divergence.item() == kl_divergence(latent, "sum").item()
    assert loss.item() == pytest.approx(without.item() + 0.1 * divergence.item(), rel=1e-5)


def test_a_latent_with_the_priors_distribution_does_not_diverge() -> None:
    latent = Latent(torch.zeros(2, 8), torch.zeros(2, 8), drawn(2, 8))
    _, divergence = program_reconstruction(untrained(), batch_of(*TWO), latent, beta=0.1)
    assert divergence.item() == 0


@pytest.mark.parametrize("beta", [0.1, 2.0])
def test_the_divergence_is_weighted_by_beta(beta: float) -> None:
    space, batch, latent = untrained(), batch_of(*TWO), latent_of(2)
    without, divergence = program_reconstruction(space, batch, latent, beta=0)
    loss, _ = program_reconstruction(space, batch, latent, beta)
    assert loss.item() == pytest.approx(without.item() + beta * divergence.item(), rel=1e-5)


def test_a_token_without_alternative_costs_nothing() -> None:
    batch = batch_of("move", max_length=5)  # after an action there is room for the end only
    space, latent = untrained(), latent_of(1)
    logits = space.decoder(latent.sample, batch.previous)[0, 0, batch.allowed[0, 0]].detach()
    first = -float(logits.log_softmax(dim=0)[0])
    loss, _ = program_reconstruction(space, batch, latent, beta=0)
    assert loss.item() == pytest.approx(first / 2, rel=1e-5)


# Drawing latents


def test_latents_are_drawn_with_the_encoders_mean_and_standard_deviation() -> None:
    batch = batch_of(*TWO * 2000)
    latent = embed(untrained(), batch, torch.Generator().manual_seed(0))
    noise = ((latent.sample - latent.mean) / latent.log_deviation.exp()).detach()
    assert float(noise.mean()) == pytest.approx(0, abs=0.03)
    assert float(noise.std()) == pytest.approx(1, abs=0.03)
    assert float(noise[:2000:2].T.corrcoef().fill_diagonal_(0).abs().max()) < 0.2


def test_the_same_generator_draws_the_same_latents() -> None:
    space, batch = untrained(), batch_of(*TWO)
    one, same, other = (embed(space, batch, torch.Generator().manual_seed(s)).sample for s in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_the_loss_reaches_every_weight_of_encoder_and_decoder() -> None:
    space, batch = untrained(policy=False), batch_of(*TWO)
    loss, _ = program_reconstruction(space, batch, embed(space, batch), beta=0.1)
    loss.backward()  # type: ignore[no-untyped-call]
    for name, parameter in space.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


# L^L


def some_rollouts() -> RolloutTable:
    return RolloutTable(short_programs(), np.arange(20), CPU)


def test_the_policys_loss_is_the_mean_over_all_steps_of_each_rollout_by_itself() -> None:
    space, rollouts, latent = untrained(), some_rollouts(), drawn(20, 8)
    assert space.policy is not None
    numbers = np.array([4, 11, 17])
    batch = rollouts.batch(numbers, np.array([[0], [1], [0]]))
    losses, right = [], []
    for program, rollout in zip(numbers, (0, 1, 0), strict=True):
        number = program * 2 + rollout
        steps = torch.arange(rollouts.first[number], rollouts.first[number + 1])
        grids = rollouts.observations(rollouts.shown[steps])
        actions = rollouts.action[steps].long()
        before = torch.cat([torch.tensor([END]), actions[:-1]])
        ones = torch.ones(len(steps), dtype=torch.int64)
        every = torch.arange(len(steps))
        latents = Part(latent[[program]], torch.zeros_like(every))
        logits = space.policy(latents, Part(grids, every), before, ones).detach()
        losses += (-logits.log_softmax(dim=1)[ones.cumsum(0) - 1, actions]).tolist()
        right += (logits.argmax(dim=1) == actions).tolist()
    loss, flags = latent_behaviour_reconstruction(space, rollouts, batch, latent[numbers])
    assert loss.item() == pytest.approx(np.mean(losses), rel=1e-4)
    assert int(flags.sum()) == sum(right)
    assert len(flags) == len(right)


def test_the_policy_learns_what_a_few_programs_do() -> None:
    space, rollouts = untrained(16), some_rollouts()
    batch = rollouts.batch(np.arange(20), np.zeros((20, 1), np.int64))
    latent = drawn(20, 16).requires_grad_()
    optimizer = torch.optim.Adam([latent, *space.parameters()], 0.01)
    losses = []
    for _ in range(40):
        loss, _ = latent_behaviour_reconstruction(space, rollouts, batch, latent)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3


def test_the_policys_loss_reaches_the_latent() -> None:
    space, rollouts, latent = untrained(), some_rollouts(), drawn(20, 8).requires_grad_()
    batch = rollouts.batch(np.arange(20), np.zeros((20, 1), np.int64))
    loss, _ = latent_behaviour_reconstruction(space, rollouts, batch, latent)
    loss.backward()  # type: ignore[no-untyped-call]
    assert latent.grad is not None
    assert (latent.grad.abs().sum(dim=1) > 0).all()


# R_mat of what was written


def test_the_reward_is_r_mat_in_the_programs_own_worlds() -> None:
    data = long_programs()
    every = np.arange(data.count)
    others = data.tokens[::-1].copy()
    worlds = data.worlds(every)
    expected = r_mat(KAREL.compile(others), KAREL.compile(data.tokens), worlds, own_worlds=True)
    assert 0 < expected.mean() < 1
    assert likeness_to(data, every)(others) == pytest.approx(expected)


def test_a_program_is_rewarded_fully_for_its_own_traces() -> None:
    data = long_programs()
    every = np.arange(data.count)
    assert (likeness_to(data, every)(data.tokens) == 1).all()


@pytest.mark.parametrize("horizon", [20, 200])
def test_a_program_is_rewarded_fully_for_its_own_traces_of_any_horizon(horizon: int) -> None:
    data = make_dataset(DataConfig(programs=50, keep="every", pool=16, more=0, horizon=horizon))
    every = np.arange(data.count)
    assert (likeness_to(data, every)(data.tokens) == 1).all()


# L^R, on a space so small that all its programs can be listed: one or two actions


BODIES = [*LANGUAGE.actions, *(" ".join(pair) for pair in product(LANGUAGE.actions, repeat=2))]
WORLDS = random_worlds(3, seed=5)
ORIGINAL = "DEF run m( move turnLeft m)"


def small_space() -> ProgramSpace:
    return untrained(max_length=6, policy=False)


def expected_reward(space: ProgramSpace, latent: Tensor, text: str = ORIGINAL) -> Tensor:
    """The expected R_mat: the sum over all programs of probability times R_mat."""
    tokens = tokens_of(*BODIES)
    programs = ProgramTable(LANGUAGE, tokens.numpy().astype(np.uint8), 6, CPU)
    original = KAREL.compile([text] * len(BODIES))
    rewards = torch.from_numpy(
        r_mat(KAREL.compile(tokens.numpy().astype(np.uint8)), original, WORLDS)
    ).float()
    body = tokens[:, len(PREFIX) :]
    logits = space.decoder(latent.expand(len(BODIES), -1), previous_tokens(body))
    logs = logits.masked_fill(~programs.allowed, -torch.inf).log_softmax(dim=2)
    chances = logs.gather(2, body[..., None])[..., 0].sum(dim=1).exp()
    assert chances.sum().item() == pytest.approx(1, abs=1e-4)
    return torch.as_tensor((chances * rewards).sum())


def gradient(loss: Tensor, space: ProgramSpace, latent: Tensor) -> Tensor:
    grads = torch.autograd.grad(loss, [latent, *space.decoder.parameters()])
    return torch.cat([grad.reshape(-1) for grad in grads])


def estimate(
    space: ProgramSpace,
    latents: Tensor,
    samples: int,
    count: int,
    texts: tuple[str, ...] = (ORIGINAL,),
    entropy: float = 0.0,
) -> tuple[Tensor, float]:
    """The loss and mean reward of `samples` programs from each of `count` copies of each latent."""
    traces = run(KAREL.compile(list(texts) * count), WORLDS, 100, want_actions=True)
    worlds = Worlds.join([WORLDS] * count * len(texts))
    generator = torch.Generator().manual_seed(0)

    def reward(tokens: NDArray[np.uint8]) -> NDArray[np.float64]:
        written = run(KAREL.compile(tokens), worlds, 100, own_worlds=True, want_actions=True)
        return np.asarray(match(written, traces).mean(axis=1))

    return program_behaviour_reconstruction(
        space, ProgramSampler(space), latents.repeat(count, 1), reward, samples, generator, entropy
    )


@pytest.mark.parametrize("samples", [2, 4])
def test_the_average_gradient_is_that_of_the_expected_reward(samples: int) -> None:
    space, latent = small_space(), drawn(1, 8).requires_grad_()
    exact = -gradient(expected_reward(space, latent), space, latent)
    loss, _ = estimate(space, latent, samples, 20_000 // samples)
    drawn_gradient = gradient(loss, space, latent)
    assert torch.cosine_similarity(drawn_gradient, exact, dim=0).item() > 0.97
    # A baseline that contained the reward itself would shrink it to (samples - 1) / samples.
    assert float(drawn_gradient @ exact / (exact @ exact)) == pytest.approx(1, abs=0.1)


def test_every_latent_is_rewarded_for_the_behaviour_of_its_own_program() -> None:
    space, latents = small_space(), drawn(2, 8).requires_grad_()
    texts = (ORIGINAL, "DEF run m( putMarker m)")
    both = [expected_reward(space, latent[None], text) for latent, text in zip(latents, texts, strict=True)]
    exact = -gradient((both[0] + both[1]) / 2, space, latents)
    loss, _ = estimate(space, latents, 2, 5000, texts)
    assert torch.cosine_similarity(gradient(loss, space, latents), exact, dim=0).item() > 0.97


def test_the_mean_reward_is_the_expected_one() -> None:
    space, latent = small_space(), drawn(1, 8)
    _, reward = estimate(space, latent, 2, 5000)
    assert reward == pytest.approx(expected_reward(space, latent).item(), abs=0.02)


def test_following_the_gradient_raises_the_expected_reward() -> None:
    space, latent = small_space(), drawn(1, 8)
    before = expected_reward(space, latent).item()
    optimizer = torch.optim.Adam(space.decoder.parameters(), 0.02)
    for _ in range(20):
        loss, _ = estimate(space, latent, 4, 16)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert expected_reward(space, latent).item() > before + 0.2


def test_equal_rewards_give_no_gradient() -> None:
    space, latent = small_space(), drawn(1, 8).requires_grad_()
    with torch.no_grad():
        space.decoder.output[-1].bias[LANGUAGE.ids["putMarker"]] = 1000  # type: ignore[operator]
    loss, _ = estimate(space, latent, 4, 10)
    assert not gradient(loss, space, latent).any()


def test_the_entropy_of_a_choice_is_that_among_the_allowed_tokens() -> None:
    logits, allowed = drawn(2, 3, 5), drawn(2, 3, 5, seed=1) > 0
    allowed[0, 0] = torch.tensor([False, True, False, False, False])  # no choice
    allowed[..., 4] |= ~allowed.any(dim=2)
    masked = logits.masked_fill(~allowed, -torch.inf).requires_grad_()
    found = token_entropy(masked, allowed)
    for row, place in product(range(2), range(3)):
        expected = Categorical(logits=logits[row, place, allowed[row, place]]).entropy()  # type: ignore[no-untyped-call]
        assert found[row, place].item() == pytest.approx(expected.item(), abs=1e-6)
    assert torch.autograd.grad(found.sum(), masked)[0].isfinite().all()


def test_the_entropy_bonus_makes_choices_less_certain() -> None:
    space, latent = small_space(), drawn(1, 8)

    @torch.no_grad()
    def certainty() -> float:
        """The probability of the most likely first action."""
        start = torch.full((1, 1), LANGUAGE.ids[PREFIX[-1]])
        logits = space.decoder(latent, start)[0, 0]
        return float(logits[[LANGUAGE.ids[name] for name in LANGUAGE.actions]].softmax(dim=0).max())

    before = certainty()
    optimizer = torch.optim.Adam(space.decoder.parameters(), 0.02)
    for _ in range(20):
        loss, _ = estimate(space, latent, 4, 16, entropy=10.0)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert certainty() < before - 0.1
