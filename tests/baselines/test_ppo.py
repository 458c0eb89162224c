"""The neural policies: they learn, the same for the same seed, and go on after a pause as before."""

import io
from typing import Any

import numpy as np
import pytest
import torch

from leaps.baselines.ppo import GRID, OBSERVATIONS, PAPER, PAPER_ABS, PPOConfig, PPOTrainer
from leaps.evaluate import evaluate_policy
from leaps.tasks import get
from tests.baselines.corridor import CORRIDOR

SMALL = PPOConfig(worlds=8, unroll=16, batch=64, epochs=2, hidden=16, memory=16)


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
    before = evaluate_policy(trainer.policy, CORRIDOR, episodes=100).mean_return[0]
    while trainer.steps < 40_000:
        trainer.step()
        if trainer.iteration % 10 == 0:
            found = evaluate_policy(trainer.policy, CORRIDOR, episodes=100, seed=trainer.iteration)
            if found.mean_return[0] > 0.9:
                break
    assert before < 0.9
    assert evaluate_policy(trainer.policy, CORRIDOR, episodes=500, seed=99).mean_return[0] > 0.9


@pytest.mark.parametrize("method", OBSERVATIONS)
def test_the_same_seed_is_the_same_training(method: str) -> None:
    found = []
    for seed in (1, 1, 2):
        trainer = PPOTrainer(method, get("harvester"), SMALL, seed)
        torch.rand(7)  # whatever else uses torch's own numbers
        trainer.step()
        np.random.rand(7)
        trainer.step()
        found.append(weights(trainer))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


@pytest.mark.parametrize("method", OBSERVATIONS)
@pytest.mark.parametrize("iterations", [0, 3])
def test_a_training_that_was_put_aside_goes_on_the_same(method: str, iterations: int) -> None:
    straight, other = (PPOTrainer(method, get("snake"), SMALL, seed=4) for _ in range(2))
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


def test_steps_are_counted_in_all_worlds() -> None:
    trainer = PPOTrainer("drl-abs", CORRIDOR, SMALL)
    trainer.step()
    trainer.step()
    assert trainer.steps == 2 * 8 * 16


def test_a_policy_on_grids_of_one_size_refuses_others() -> None:
    trainer = PPOTrainer("drl", get("maze"), SMALL)
    with pytest.raises(ValueError, match="sees grids of 8x8 and nothing else; maze was asked for at 10x10"):
        evaluate_policy(trainer.policy, "maze", size=(10, 10))


@pytest.mark.parametrize("method", ["drl-fcn", "drl-abs"])
def test_the_others_act_in_worlds_of_any_size(method: str) -> None:
    trainer = PPOTrainer(method, get("maze"), SMALL)
    found = evaluate_policy(trainer.policy, "maze", size=(12, 15), episodes=3)
    assert found.returns.shape == (1, 3)


def test_the_papers_settings_are_its_tables() -> None:
    def table(settings: dict[str, PPOConfig]) -> dict[str, tuple[float, float, int]]:
        assert all(config.normalize_advantage for config in settings.values())
        return {name: (config.clip, config.entropy, config.epochs) for name, config in settings.items()}

    assert table(PAPER) == {
        "clean-house": (0.1, 0.01, 4),
        "four-corner": (0.2, 0.01, 16),
        "harvester": (0.05, 0.01, 8),
        "maze": (0.05, 0.001, 8),
        "stair-climber": (0.1, 0.1, 4),
        "top-off": (0.05, 0.001, 4),
    }
    assert table(PAPER_ABS) == {
        "clean-house": (0.2, 0.01, 8),
        "four-corner": (0.05, 0.01, 4),
        "harvester": (0.2, 0.01, 4),
        "maze": (0.2, 0.001, 4),
        "stair-climber": (0.05, 0.1, 16),
        "top-off": (0.2, 0.001, 8),
    }
    for config in [*PAPER.values(), *PAPER_ABS.values()]:
        assert all(getattr(config, name) in values for name, values in GRID.items())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"epochs": 0}, "epochs must be at least 1, found 0"),
        ({"worlds": -1}, "worlds must be at least 1, found -1"),
        ({"clip": 0.0}, "expected clip > 0"),
        ({"entropy": -0.1}, "entropy ≥ 0"),
        ({"learning_rate": 0.0}, "learning_rate > 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        PPOConfig(**settings)


def test_worlds_that_the_convolutions_do_not_fit_into_are_refused() -> None:
    with pytest.raises(ValueError, match="drl needs worlds of 5x5 or more, found 4x8"):
        PPOTrainer("drl", get("top-off"), SMALL, size=(4, 8))
    assert PPOTrainer("drl-fcn", get("top-off"), SMALL, size=(4, 8)).policy.size is None


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of drl, drl-fcn, drl-abs, found 'dqn'"):
        PPOTrainer("dqn", CORRIDOR, SMALL)
