"""The networks of the baselines equal the paper's and the libraries' networks."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3 import PPO
from stable_baselines3.common.policies import ActorCriticCnnPolicy

from leaps.baselines.networks import (
    FullyConvolutional,
    GridEncoder,
    GridPolicy,
    LoweredGridEncoder,
    Remembering,
    by_product,
)
from leaps.baselines.vec_env import KarelVecEnv
from leaps.karel.env import observation_space
from leaps.karel.simulation import Simulation
from leaps.tasks import get


def space_of(task: str) -> spaces.Box:
    space = observation_space("grid", get(task).size)
    assert isinstance(space, spaces.Box)
    return space


def test_encoder_has_the_papers_layers() -> None:
    shapes = [tuple(parameter.shape) for parameter in GridEncoder(space_of("maze")).parameters()]
    assert shapes == [(32, 16, 2, 2), (32,), (32, 32, 4, 4), (32,)]


def test_number_of_features_fits_every_size_of_world() -> None:
    for task in ("maze", "stair-climber", "clean-house"):
        encoder = GridEncoder(space_of(task))
        grids = Simulation(get(task), 3).observe("grid")
        assert encoder(torch.from_numpy(grids).float()).shape == (3, encoder.features_dim)


@pytest.mark.parametrize("encoder", [GridEncoder, FullyConvolutional])
def test_grid_policy_learns_the_same_weights_as_the_library(encoder: type[GridEncoder]) -> None:
    weights = []
    for policy in (GridPolicy, ActorCriticCnnPolicy):
        kwargs = {"features_extractor_class": encoder, "net_arch": [16], "normalize_images": False}
        env = KarelVecEnv(get("maze"), 16)
        model = PPO(
            policy, env, n_steps=8, batch_size=32, n_epochs=2, seed=3, device="cpu", policy_kwargs=kwargs
        )
        begin = flat(model.policy)
        model.learn(3 * 16 * 8)
        weights.append(flat(model.policy))
    assert torch.allclose(weights[0], weights[1], rtol=1e-3, atol=1e-5)
    assert (weights[0] - begin).abs().max() > 1e-3


def flat(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([weight.flatten().clone() for weight in module.state_dict().values()])


@pytest.mark.parametrize("kernel", [(2, 2), (4, 4), (2, 3)])
def test_matrix_product_equals_the_convolution(kernel: tuple[int, int]) -> None:
    convolution = torch.nn.Conv2d(5, 7, kernel).double()
    grids = torch.rand(3, 6, 9, 5, dtype=torch.float64)
    found, expected = by_product(grids, convolution), convolution(grids.permute(0, 3, 1, 2))
    torch.testing.assert_close(found, expected)
    parameters = list(convolution.parameters())
    upstream = torch.rand_like(expected)
    torch.testing.assert_close(
        torch.autograd.grad(found, parameters, upstream), torch.autograd.grad(expected, parameters, upstream)
    )


def worlds_seen(count: int) -> torch.Tensor:
    return torch.from_numpy(KarelVecEnv(get("maze"), count).reset())


def test_lowered_encoder_equals_the_encoder_on_a_cpu() -> None:
    encoder, lowered = GridEncoder(space_of("maze")), LoweredGridEncoder(space_of("maze"))
    lowered.load_state_dict(encoder.state_dict())
    grids = worlds_seen(4)
    torch.testing.assert_close(lowered(grids), encoder(grids), rtol=0, atol=0)


def test_the_lowered_encoder_computes_the_same_in_bfloat16() -> None:
    encoder = LoweredGridEncoder(space_of("maze"))
    grids = worlds_seen(64)
    found, expected = encoder.lowered(grids), encoder(grids)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), expected, rtol=0.02, atol=0.02)
    weights = list(encoder.parameters())
    upstream = torch.rand_like(expected)
    close = torch.autograd.grad(found, weights, upstream.bfloat16())
    exact = torch.autograd.grad(expected, weights, upstream)
    for one, other in zip(close, exact, strict=True):
        assert (one.float() - other).norm() < 0.02 * other.norm()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_grid_policy_gives_the_same_results_on_gpu_and_cpu() -> None:
    model = PPO(
        GridPolicy,
        KarelVecEnv(get("maze"), 16),
        n_steps=8,
        batch_size=32,
        device="cuda",
        policy_kwargs={
            "features_extractor_class": LoweredGridEncoder,
            "net_arch": [16],
            "normalize_images": False,
        },
    )
    model.learn(3 * 16 * 8)
    policy: Any = model.policy
    grids, actions = worlds_seen(32), torch.zeros(32)
    on_gpu = policy.evaluate_actions(grids.cuda(), actions.cuda())
    chosen = policy.get_distribution(grids.cuda()).distribution.logits
    policy.cpu()
    for one, other in zip(on_gpu, policy.evaluate_actions(grids, actions), strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=0.02, atol=0.02)
    expected = policy.get_distribution(grids).distribution.logits
    torch.testing.assert_close(chosen.cpu(), expected, rtol=0.02, atol=0.02)


def test_fully_convolutional_network_is_translation_invariant() -> None:
    network = FullyConvolutional(space_of("maze"))
    grid = torch.zeros(1, 20, 20, 16)
    grid[0, 5, 5, 1] = grid[0, 5, 6, 4] = 1
    moved = grid.roll((6, 3), dims=(1, 2))
    assert torch.allclose(network(grid), network(moved), atol=1e-6)
    other = grid.clone()
    other[0, 5, 5, 1], other[0, 5, 5, 2] = 0, 1
    assert not torch.allclose(network(grid), network(other), atol=1e-4)
    assert network(torch.zeros(2, 9, 33, 16)).shape == (2, network.features_dim)


def test_recurrent_policy_learns_the_same_weights_as_the_library() -> None:
    """Episodes on the stairs are short: many begin in the middle of a batch."""
    weights = []
    for policy in (Remembering, RecurrentActorCriticPolicy):
        env = KarelVecEnv(get("stair-climber"), 8, "perceptions")
        model = RecurrentPPO(policy, env, n_steps=32, batch_size=64, n_epochs=2, seed=3, device="cpu")
        model.learn(3 * 8 * 32)
        weights.append(flat(model.policy))
        assert len(env.episodes) > 20
    assert torch.allclose(weights[0], weights[1], atol=1e-5)


def test_recurrent_policy_calls_the_lstm_once_per_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    lstm = torch.nn.LSTM(5, 7)

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return torch.nn.LSTM.forward(lstm, *arguments)

    monkeypatch.setattr(lstm, "forward", counted)
    starts = torch.from_numpy(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], np.float32)).flatten()
    memory = (torch.ones(1, 2, 7), torch.ones(1, 2, 7))
    features = torch.rand(6, 5)
    output, _ = Remembering._process_sequence(features, memory, starts, lstm)
    assert len(calls) == 1
    fresh, _ = lstm(features[:3, None])
    assert torch.allclose(output[:3], fresh[:, 0])
    remembered, _ = lstm(features[3:, None], (torch.ones(1, 1, 7), torch.ones(1, 1, 7)))
    assert torch.allclose(output[3:], remembered[:, 0])
