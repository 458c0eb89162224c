"""The PPO baselines: they learn, equal seeds give equal trainings, and trainings resume exactly."""

import io
from typing import Any

import numpy as np
import pytest
import torch

from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.ppo import (
    LAST_ACTION,
    OBSERVATIONS,
    PAPER_PPO,
    PAPER_PPO_ABS,
    LastActionConfig,
    PPOConfig,
    PPOTrainer,
)
from leaps.karel.simulation import Simulation
from leaps.tasks import get
from tests.baselines.corridor import CORRIDOR

SMALL = PPOConfig(worlds=8, unroll=16, batch=64, epochs=2, hidden=16, memory=16)
SMALL_LAST_ACTION = LastActionConfig(worlds=8, unroll=16, batch=64, epochs=2, hidden=16, episode=20)


def small(method: str) -> PPOConfig:
    return SMALL_LAST_ACTION if method == LAST_ACTION else SMALL


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def weights(trainer: PPOTrainer) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in trainer.model.policy.state_dict().values()])


@pytest.mark.parametrize("method", OBSERVATIONS)
def test_every_policy_learns_to_walk_a_corridor(method: str) -> None:
    config = PPOConfig(worlds=32, unroll=16, batch=128, epochs=4, hidden=32, memory=32)
    trainer = PPOTrainer(method, CORRIDOR, config)

    def walks(episodes: int, seed: int) -> float:  # too few steps for a random walk to succeed
        policy = trainer.policy
        policy.greedy = False  # an untrained network's likeliest action may be to walk
        found = evaluate_policy(policy, CORRIDOR, episodes=episodes, seed=seed, horizon=8)
        return float(found.mean_return[0])

    before = walks(200, seed=0)
    while trainer.steps < 40_000 and not (
        trainer.iteration % 10 == 9 and walks(100, trainer.iteration) > 0.95
    ):
        trainer.step()
    assert before < 0.5
    assert walks(500, seed=99) > 0.9


@pytest.mark.parametrize("method", OBSERVATIONS)
def test_same_seed_gives_the_same_training(method: str) -> None:
    found = []
    for seed in (1, 1, 2):
        trainer = PPOTrainer(method, get("harvester"), small(method), seed)
        torch.rand(7)  # other code may use torch's global random state
        trainer.step()
        np.random.rand(7)
        trainer.step()
        found.append(weights(trainer))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize("method", OBSERVATIONS)
@pytest.mark.parametrize("iterations", [0, 3])
def test_resumed_training_gives_the_same_results(method: str, iterations: int) -> None:
    straight, other = (PPOTrainer(method, get("snake"), small(method), seed=4) for _ in range(2))
    for _ in range(iterations):
        straight.step()
    file = io.BytesIO()
    torch.save(straight.state(), file)
    file.seek(0)
    other.restore(torch.load(file, weights_only=True))
    assert (other.steps, other.iteration) == (straight.steps, straight.iteration)
    for _ in range(3):
        assert straight.step() == other.step()
    assert torch.equal(weights(straight), weights(other))


def test_steps_are_counted_over_all_worlds() -> None:
    trainer = PPOTrainer("drl-abs", CORRIDOR, SMALL)
    trainer.step()
    trainer.step()
    assert trainer.steps == 2 * 8 * 16


def test_grid_policy_raises_for_other_sizes() -> None:
    trainer = PPOTrainer("drl", get("maze"), SMALL)
    with pytest.raises(ValueError, match="accepts only grids of 8x8; found maze at 10x10"):
        evaluate_policy(trainer.policy, "maze", size=(10, 10))


@pytest.mark.parametrize("method", ["drl-fcn", "drl-abs", LAST_ACTION])
def test_other_policies_act_in_worlds_of_any_size(method: str) -> None:
    trainer = PPOTrainer(method, get("maze"), small(method))
    found = evaluate_policy(trainer.policy, "maze", size=(12, 15), episodes=3)
    assert found.returns.shape == (1, 3)


def test_paper_settings_equal_its_tables() -> None:
    def table(settings: dict[str, PPOConfig]) -> dict[str, tuple[float, float, int]]:
        assert all(config.normalize_advantage for config in settings.values())
        return {name: (config.clip, config.entropy, config.epochs) for name, config in settings.items()}

    assert table(PAPER_PPO) == {
        "clean-house": (0.1, 0.01, 4),
        "four-corner": (0.2, 0.01, 16),
        "harvester": (0.05, 0.01, 8),
        "maze": (0.05, 0.001, 8),
        "stair-climber": (0.1, 0.1, 4),
        "top-off": (0.05, 0.001, 4),
    }
    assert table(PAPER_PPO_ABS) == {
        "clean-house": (0.2, 0.01, 8),
        "four-corner": (0.05, 0.01, 4),
        "harvester": (0.2, 0.01, 4),
        "maze": (0.2, 0.001, 4),
        "stair-climber": (0.05, 0.1, 16),
        "top-off": (0.2, 0.001, 8),
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs must be at least 1, found 0"),
        ({"worlds": -1}, "worlds must be at least 1, found -1"),
        ({"batch": 1}, "batch and worlds \\* unroll must be at least 2, found batch=1"),
        ({"clip": 0.0}, "expected clip > 0"),
        ({"entropy": -0.1}, "entropy ≥ 0"),
        ({"learning_rate": 0.0}, "learning_rate > 0"),
    ],
)
def test_settings_out_of_range_raise(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PPOConfig(**settings)


def test_worlds_too_small_for_the_convolutions_raise() -> None:
    with pytest.raises(ValueError, match="drl needs worlds of 5x5 or more, found 4x8"):
        PPOTrainer("drl", get("top-off"), SMALL, size=(4, 8))
    assert PPOTrainer("drl-fcn", get("top-off"), SMALL, size=(4, 8)).policy.size is None


@pytest.mark.parametrize("method", ["drl", "drl-abs"])
def test_policy_draws_actions_by_probability_or_takes_the_likeliest(method: str) -> None:
    policy = PPOTrainer(method, get("maze"), SMALL).policy
    with torch.no_grad():
        policy.network.action_net.bias[:] = torch.tensor([2.0, 0.0, 0.0, 0.0, 1.0])
        policy.network.action_net.weight[:] = 0.0
    seen = Simulation(get("maze"), 20_000).observe(policy.observation)
    policy.begin(len(seen))
    chances = np.exp(policy.log_probabilities(seen[:1].repeat(len(seen), axis=0))[0])
    assert chances.sum() == pytest.approx(1.0)
    policy.begin(len(seen))
    drawn = policy.act(seen)
    assert np.bincount(drawn, minlength=5) / len(seen) == pytest.approx(chances, abs=0.015)
    policy.begin(len(seen))
    assert (policy.act(seen) == drawn).all()
    policy.greedy = True
    policy.begin(len(seen))
    assert (policy.act(seen) == 0).all()


def test_memory_is_zero_when_worlds_begin() -> None:
    policy = PPOTrainer("drl-abs", get("maze"), SMALL).policy
    seen = np.ones((3, 5), np.uint8)
    policy.begin(3)
    first, second = policy.log_probabilities(seen), policy.log_probabilities(seen)
    assert not np.allclose(first, second, atol=1e-7)
    policy.begin(3)
    assert (policy.log_probabilities(seen) == first).all()


def test_unknown_method_raises() -> None:
    with pytest.raises(ValueError, match=r"expected one of drl, drl-fcn, drl-abs, .*, found 'dqn'"):
        PPOTrainer("dqn", CORRIDOR, SMALL)
