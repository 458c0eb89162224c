"""Drawing on a CPU; what a GPU records is the same `write`."""

import torch

from leaps.dsl.text import parse
from leaps.embedding.model import ProgramSpace, with_prefix
from leaps.embedding.sampler import ProgramSampler
from leaps.karel.world import LANGUAGE
from tests.embedding.helpers import drawn, untrained


def draw(space: ProgramSpace, seed: int, count: int = 50) -> torch.Tensor:
    tokens, _ = ProgramSampler(space).draw(drawn(count, 8), torch.Generator().manual_seed(seed))
    return tokens


def test_the_same_generator_draws_the_same_programs() -> None:
    space = untrained()
    assert torch.equal(draw(space, seed=1), draw(space, seed=1))


def test_another_generator_draws_other_programs() -> None:
    space = untrained(max_length=7)
    assert not torch.equal(draw(space, seed=1), draw(space, seed=2))


def test_drawing_advances_the_generator() -> None:
    sampler, generator = ProgramSampler(untrained(max_length=7)), torch.Generator().manual_seed(1)
    first, second = (sampler.draw(drawn(50, 8), generator)[0] for _ in range(2))
    assert not torch.equal(first, second)


def test_samples_are_programs() -> None:
    for row in with_prefix(draw(untrained(), seed=3)).tolist():
        parse(LANGUAGE.text(row), LANGUAGE)


def test_the_same_latent_gives_different_samples() -> None:
    space = untrained()
    tokens, _ = ProgramSampler(space).draw(drawn(1, 8).expand(100, -1), torch.Generator().manual_seed(0))
    assert len(torch.unique(tokens, dim=0)) > 20


def test_the_first_token_is_sampled_by_its_probabilities() -> None:
    space, count = untrained(max_length=5), 20_000
    latent = drawn(1, 8).expand(count, -1)
    tokens, allowed = ProgramSampler(space).draw(latent, torch.Generator().manual_seed(0))
    with torch.no_grad():
        logits = space.decoder(latent[:1], torch.tensor([[LANGUAGE.ids["m("]]]))[0, 0]
    chances = logits.masked_fill(~allowed[0, 0], -torch.inf).softmax(dim=0)
    shares = torch.bincount(tokens[:, 0], minlength=len(chances)) / count
    assert (shares - chances).abs().max() < 4 * 0.5 / count**0.5


def test_in_place_changes_of_weights_take_effect() -> None:
    space = untrained(max_length=5)
    sampler = ProgramSampler(space)
    sampler.draw(drawn(50, 8), torch.Generator().manual_seed(0))
    with torch.no_grad():
        space.decoder.output[-1].bias[LANGUAGE.ids["putMarker"]] = 1000  # type: ignore[operator]
    tokens, _ = sampler.draw(drawn(50, 8), torch.Generator().manual_seed(0))
    assert (tokens[:, 0] == LANGUAGE.ids["putMarker"]).all()


def test_drawing_needs_no_gradients() -> None:
    sampler = ProgramSampler(untrained())
    tokens, allowed = sampler.draw(drawn(2, 8).requires_grad_())
    assert not tokens.requires_grad
    assert not allowed.requires_grad
