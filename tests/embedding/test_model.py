"""The network: syntax mask, sampling probabilities, and padding."""

import pytest
import torch
from torch import Tensor

from leaps.dsl.text import PREFIX, parse
from leaps.embedding.model import (
    ModelConfig,
    ProgramSpace,
    make_orthogonal,
    previous_tokens,
    with_prefix,
)
from leaps.embedding.recurrent import Part
from leaps.karel.world import LANGUAGE
from tests.embedding.helpers import END, GRID, drawn, tokens_of, untrained


def gumbel(*shape: int, seed: int = 0) -> Tensor:
    uniform = torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return -torch.log(-torch.log(uniform)).float()


# Writing programs


@pytest.mark.parametrize("max_length", range(5, 61))
def test_an_untrained_space_decodes_to_programs_within_the_limit(max_length: int) -> None:
    space = untrained(seed=max_length)
    programs = space.decode(3 * drawn(24, 8), max_length=max_length)
    assert programs.shape[1] <= max_length
    for row in programs.tolist():
        parse(LANGUAGE.text(row), LANGUAGE)


@pytest.mark.parametrize("max_length", [5, 6, 11, 45, 60])
def test_drawn_programs_are_programs_within_the_limit(max_length: int) -> None:
    noise = 3 * gumbel(40, max_length, len(LANGUAGE.tokens))
    tokens, _ = untrained().write(drawn(40, 8), noise=noise, max_length=max_length)
    assert len(PREFIX) + tokens.shape[1] <= max_length
    for row in with_prefix(tokens).tolist():
        parse(LANGUAGE.text(row), LANGUAGE)


def test_the_default_limit_is_the_models() -> None:
    space = untrained(max_length=7)
    tokens, _ = space.write(drawn(200, 8), noise=gumbel(200, 4, len(LANGUAGE.tokens)))
    assert int((with_prefix(tokens) != LANGUAGE.pad).sum(dim=1).max()) == 7


def test_different_latents_decode_to_different_programs() -> None:
    programs = untrained().decode(3 * drawn(100, 8))
    assert len(torch.unique(programs, dim=0)) > 10


def test_decoding_takes_the_most_likely_of_the_allowed_tokens() -> None:
    space, latent = untrained(), drawn(30, 8)
    tokens, allowed = space.write(latent)
    logits = space.decoder(latent, previous_tokens(tokens)).masked_fill(~allowed, -torch.inf)
    assert torch.equal(logits.argmax(dim=2), tokens)


def test_stopping_early_leaves_out_only_padding() -> None:
    space, latent = untrained(), drawn(100, 8)
    whole, _ = space.write(latent, early_stop=False)
    short = whole[:, 16] == LANGUAGE.pad
    early, _ = space.write(latent[short])
    late, _ = space.write(latent[short], early_stop=False)
    assert early.shape[1] < late.shape[1]
    assert torch.equal(early, late[:, : early.shape[1]])
    assert (late[:, early.shape[1] :] == LANGUAGE.pad).all()


def test_the_syntax_mask_is_returned_for_every_position() -> None:
    tokens, allowed = untrained().write(drawn(30, 8), noise=gumbel(30, 42, len(LANGUAGE.tokens)))
    assert allowed.shape == (*tokens.shape, len(LANGUAGE.tokens))
    assert allowed.gather(2, tokens[..., None]).all()


def test_with_gumbel_noise_tokens_are_sampled_by_their_probabilities() -> None:
    space, count = untrained(max_length=6), 20_000
    latent = drawn(1, 8).expand(count, -1)
    tokens, allowed = space.write(latent, noise=gumbel(count, 3, len(LANGUAGE.tokens)))
    with torch.no_grad():
        logits = space.decoder(latent[:1], previous_tokens(tokens[:1]))
    chances = logits[0, 0].masked_fill(~allowed[0, 0], -torch.inf).softmax(dim=0)
    shares = torch.bincount(tokens[:, 0], minlength=len(LANGUAGE.tokens)) / count
    assert chances.max() - chances[chances > 0].min() > 0.2  # or equal shares would do
    assert (shares - chances).abs().max() < 4 * 0.5 / count**0.5


def test_decoding_needs_no_gradients() -> None:
    assert not untrained().decode(drawn(2, 8).requires_grad_()).requires_grad


# Reading programs


PROGRAMS = ("move", "turnLeft move", "WHILE c( frontIsClear c) w( move w)", "REPEAT R=5 r( putMarker move r)")


def test_padding_does_not_change_the_latent() -> None:
    space = untrained()
    tight, wide = (space.encode(tokens_of(*PROGRAMS, length=length)) for length in (12, 44))
    assert torch.allclose(tight, wide, atol=1e-6)


def test_the_latent_of_a_program_does_not_depend_on_the_batch() -> None:
    space = untrained()
    together = space.encode(tokens_of(*PROGRAMS))
    for row, program in enumerate(PROGRAMS):
        assert torch.allclose(space.encode(tokens_of(program))[0], together[row], atol=1e-6)


def test_every_token_of_a_program_matters() -> None:
    space = untrained()
    latents = space.encode(
        tokens_of("move move move", "turnLeft move move", "move turnLeft move", "move move turnLeft")
    )
    assert torch.cdist(latents, latents)[~torch.eye(4, dtype=torch.bool)].min() > 1e-3


def test_tokens_of_one_byte_can_be_encoded() -> None:
    space, tokens = untrained(), tokens_of(*PROGRAMS)
    assert torch.equal(space.encode(tokens.to(torch.uint8)), space.encode(tokens))


def test_gradients_reach_every_weight_of_encoder_and_decoder() -> None:
    space = untrained(policy=False)
    body = tokens_of(*PROGRAMS)[:, len(PREFIX) :]
    mean, log_deviation = space.encoder(body, (body != LANGUAGE.pad).sum(dim=1))
    logits = space.decoder(mean + log_deviation.exp() * drawn(*mean.shape), previous_tokens(body))
    (logits**2).mean().backward()
    for name, parameter in space.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_the_token_before_the_first_is_the_prefixs_last() -> None:
    body = tokens_of("move turnLeft")[:, len(PREFIX) :]
    assert LANGUAGE.decode(previous_tokens(body)[0].tolist()) == ["m(", "move", "turnLeft"]


def test_the_prefix_makes_a_program_whole() -> None:
    whole = tokens_of(*PROGRAMS)
    assert torch.equal(with_prefix(whole[:, len(PREFIX) :]), whole)


# Observing worlds


@pytest.mark.parametrize(
    ("observation", "layers"), [((3,), "Linear"), ((8, 8, 16), "Conv2d"), ((5, 9, 2), "Conv2d")]
)
def test_the_policy_has_layers_for_the_shape_of_its_observations(
    observation: tuple[int, ...], layers: str
) -> None:
    policy = ProgramSpace(LANGUAGE, ModelConfig(8, 8), observation).policy
    assert policy is not None
    assert type(policy.grid[0]).__name__ == layers
    rows = torch.arange(4)
    logits = policy(
        Part(drawn(1, 8), torch.zeros(4).long()),
        Part(drawn(4, *observation), rows),
        rows,
        torch.ones(4).long(),
    )
    assert logits.shape == (4, END + 1)
    logits.sum().backward()
    assert all(parameter.grad is not None for parameter in policy.grid.parameters())


def test_the_policy_observes_the_senses_by_default() -> None:
    space = ProgramSpace(LANGUAGE, ModelConfig(8, 8))
    assert space.observation == (len(LANGUAGE.senses),) == (4,)


@pytest.mark.parametrize("observation", [(4, 8, 16), (8, 8), (1, 2, 3, 4)])
def test_observations_of_another_shape_raise(observation: tuple[int, ...]) -> None:
    with pytest.raises(
        ValueError, match=r"expected observations of shape \[senses\] or \[height, width, planes\]"
    ):
        ProgramSpace(LANGUAGE, ModelConfig(8, 8), observation)


def test_packed_rollouts_do_not_affect_each_other() -> None:
    policy = untrained().policy
    assert policy is not None
    lengths = [3, 2, 2]
    latent, grids = drawn(3, 8), [drawn(n, *GRID, seed=n) for n in lengths]
    previous = [torch.tensor([END, 0, 1][:n]) for n in lengths]
    alone = [
        policy(
            Part(latent[i : i + 1], torch.zeros(n, dtype=torch.int64)),
            Part(grids[i], torch.arange(n)),
            previous[i],
            torch.ones(n).long(),
        )
        for i, n in enumerate(lengths)
    ]
    order = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2)]
    packed = policy(
        Part(latent, torch.tensor([rollout for rollout, _ in order])),
        Part(torch.stack([grids[rollout][step] for rollout, step in order]), torch.arange(len(order))),
        torch.stack([previous[rollout][step] for rollout, step in order]),
        torch.tensor([3, 3, 1]),
    )
    assert packed.shape == (7, END + 1)
    assert torch.allclose(packed, torch.stack([alone[rollout][step] for rollout, step in order]), atol=1e-5)


# Configurations


def test_the_papers_sizes_are_the_default() -> None:
    assert (ModelConfig().latent, ModelConfig().hidden) == (256, 256)


def test_a_latent_that_does_not_fit_the_decoders_state_raises() -> None:
    with pytest.raises(ValueError, match="expected hidden=64, found 256"):
        ModelConfig(latent=64)


def test_a_limit_below_the_shortest_program_raises() -> None:
    with pytest.raises(ValueError, match="max_length=4 is too short; the shortest program has 5 tokens"):
        ModelConfig(max_length=4)


def test_a_space_may_have_no_policy() -> None:
    assert untrained(policy=False).policy is None


def test_token_embeddings_have_at_least_one_dimension() -> None:
    with pytest.raises(ValueError, match="embedding must be at least 1, found 0"):
        ModelConfig(embedding=0)


def test_orthogonal_weights_are_orthogonal_and_have_no_biases() -> None:
    space = ProgramSpace(LANGUAGE, ModelConfig(16, 16, embedding=5))
    before = {name: tensor.clone() for name, tensor in space.state_dict().items()}
    make_orthogonal(space)
    after = space.state_dict()
    recurrent = after["decoder.gru.weight_hh_l0"]  # [3 · 16, 16]
    assert torch.allclose(recurrent.T @ recurrent, torch.eye(16), atol=1e-5)
    assert not after["encoder.gru.bias_hh_l0"].any()
    first = after["decoder.output.0.weight"]
    assert torch.allclose(first @ first.T, 2 * torch.eye(16), atol=1e-5)
    assert not after["decoder.output.0.bias"].any()
    unchanged = {name for name, tensor in after.items() if tensor.equal(before[name])}
    assert {"encoder.embedding.weight", "encoder.mean.weight", "encoder.log_deviation.bias"} <= unchanged
    assert not {name for name in unchanged if ".gru." in name or ".output." in name}
