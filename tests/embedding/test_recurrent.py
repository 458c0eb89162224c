"""Recurrent layers: the results of torch's, from parts that are looked up."""

import pytest
import torch
from torch import Tensor, nn

from leaps.embedding.recurrent import Layout, Part, linear, run_gru, step_gru, weights_of
from tests.embedding.helpers import drawn

LENGTHS = torch.tensor([3, 7, 1, 7, 5])
TOKENS, SEQUENCES, HIDDEN = 10, len(LENGTHS), 24


def gru() -> nn.GRU:
    torch.manual_seed(0)
    return nn.GRU(12, HIDDEN)


def inputs() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Embeddings [v, 8], tokens [b, t], latents [b, 4] and states [b, h]."""
    tokens = torch.randint(0, TOKENS, (SEQUENCES, 7), generator=torch.Generator().manual_seed(1))
    values = (drawn(TOKENS, 8), drawn(SEQUENCES, 4, seed=2), drawn(SEQUENCES, HIDDEN, seed=3))
    embeddings, latents, states = (value.requires_grad_() for value in values)
    return embeddings, tokens, latents, states


def packed(layer: nn.GRU, embeddings: Tensor, tokens: Tensor, latents: Tensor, states: Tensor) -> Tensor:
    """The states of all steps by `run_gru`."""
    layout = Layout.of(LENGTHS)
    parts = [
        Part(embeddings, tokens[layout.sequence, layout.time]),
        Part(latents, layout.sequence),
    ]
    return run_gru(layer, parts, states[layout.order], layout.batch_sizes)


def padded(layer: nn.GRU, embeddings: Tensor, tokens: Tensor, latents: Tensor, states: Tensor) -> Tensor:
    """The same by torch, every sequence as long as the longest."""
    layout = Layout.of(LENGTHS)
    whole = torch.cat([embeddings[tokens], latents[:, None].expand(-1, 7, -1)], dim=2).transpose(0, 1)
    out, _ = layer(whole, states[None])
    return torch.as_tensor(out[layout.time, layout.sequence])


def test_states_are_those_of_torch() -> None:
    layer, values = gru(), inputs()
    assert torch.allclose(packed(layer, *values), padded(layer, *values), atol=1e-6)


def test_gradients_are_those_of_torch() -> None:
    layer, values = gru(), inputs()
    embeddings, _, latents, states = values
    wanted = [embeddings, latents, states, *layer.parameters()]
    packed_gradients, padded_gradients = (
        torch.autograd.grad((function(layer, *values) * drawn(int(LENGTHS.sum()), HIDDEN)).sum(), wanted)
        for function in (packed, padded)
    )
    for own, expected in zip(packed_gradients, padded_gradients, strict=True):
        assert expected.abs().max() > 0.1
        assert torch.allclose(own, expected, atol=1e-5)


def test_in_bfloat16_states_and_gradients_are_close() -> None:
    layer, values = gru(), inputs()
    exact = packed(layer, *values)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = packed(layer, *values)
    assert rounded.dtype == torch.float32
    assert 0 < (rounded - exact).abs().max() < 0.03
    gradient, approximate = (
        torch.cat([part.reshape(-1) for part in torch.autograd.grad(states.sum(), list(layer.parameters()))])
        for states in (exact, rounded)
    )
    assert torch.cosine_similarity(gradient, approximate, dim=0) > 0.999


def test_a_single_step_is_that_of_torch() -> None:
    layer, (embeddings, tokens, latents, states) = gru(), inputs()
    whole = torch.cat([embeddings[tokens[:, 0]], latents], dim=1)
    expected, _ = layer(whole[None], states[None])
    weights = weights_of(layer)
    gates = nn.functional.linear(whole, weights.of_inputs, weights.input_bias)
    stepped = step_gru(gates, states, weights.of_state, weights.state_bias)
    assert torch.allclose(stepped, expected[0], atol=1e-6)


def test_a_linear_layer_of_parts_is_that_of_the_whole() -> None:
    embeddings, tokens, latents, states = inputs()
    layer = nn.Linear(HIDDEN + 12, 5)
    parts = [Part(embeddings, tokens[:, 0]), Part(latents, torch.arange(SEQUENCES))]
    found = linear(layer.weight, layer.bias, parts, states)
    expected = layer(torch.cat([states, embeddings[tokens[:, 0]], latents], dim=1))
    assert torch.allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("lengths", [[1], [2, 2], [1, 5, 3], [4, 1, 1, 6]])
def test_a_layout_has_every_step_once_in_order_of_time(lengths: list[int]) -> None:
    layout = Layout.of(torch.tensor(lengths))
    steps = list(zip(layout.sequence.tolist(), layout.time.tolist(), strict=True))
    assert sorted(steps) == [
        (number, time) for number, length in enumerate(lengths) for time in range(length)
    ]
    assert layout.time.tolist() == sorted(layout.time.tolist())
    assert layout.batch_sizes.tolist() == layout.time.bincount().tolist()
    assert [steps[last] for last in layout.last] == [(i, length - 1) for i, length in enumerate(lengths)]
    assert [lengths[i] for i in layout.order] == sorted(lengths, reverse=True)
