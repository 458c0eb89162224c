"""ppo-last-action observes only the five perceptions and its own last action."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.last_action import (
    INPUTS,
    NO_ACTION,
    LastActionVecEnv,
    every_input,
    input_number,
    with_last_action,
)
from leaps.baselines.methods import Options, build_trainer
from leaps.baselines.policies import load_policy
from leaps.baselines.ppo import LAST_ACTION, LastActionConfig, PPOTrainer
from leaps.baselines.train import BaselineConfig
from leaps.baselines.vec_env import KarelVecEnv
from leaps.karel.world import MOVE, TURN_LEFT
from leaps.tasks import get
from tests.baselines.corridor import CORRIDOR, LENGTH

SMALL = LastActionConfig(worlds=8, unroll=16, batch=64, epochs=1, hidden=16, episode=20)


def shown(observations: Any) -> list[int]:
    """Read the last action from each observation."""
    assert (observations[:, 5:].sum(axis=1) == 1).all()
    return [int(row) for row in observations[:, 5:].argmax(axis=1)]


def test_observations_are_the_perceptions_and_the_last_action() -> None:
    env, plain = LastActionVecEnv(get("maze"), 6, seed=3), KarelVecEnv(get("maze"), 6, "perceptions", seed=3)
    observations: Any = env.reset()
    perceptions: Any = plain.reset()
    assert observations.shape == (6, INPUTS) == (6, 11)
    assert shown(observations) == [NO_ACTION] * 6
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.integers(0, 5, 6)
        observations, _, ended, _ = env.step(actions)
        perceptions, *_ = plain.step(actions)
        assert (observations[:, :5] == perceptions).all()
        assert shown(observations) == np.where(ended, NO_ACTION, actions).tolist()


def test_last_action_is_reset_when_an_episode_begins() -> None:
    env = LastActionVecEnv(CORRIDOR, 4)
    env.reset()
    endings = 0
    for _ in range(LENGTH):
        observations, _, ended, infos = env.step(np.full(4, MOVE))
        endings += int(ended.sum())
        for index in np.flatnonzero(ended):
            assert shown(infos[index]["terminal_observation"][None]) == [MOVE]
        assert shown(observations) == np.where(ended, NO_ACTION, MOVE).tolist()
    assert endings >= 4


def test_training_episodes_are_cut_off() -> None:
    env = LastActionVecEnv(get("maze"), 3, horizon=7)
    env.reset()
    for step in range(1, 15):
        _, _, ended, infos = env.step(np.full(3, TURN_LEFT))
        assert ended.tolist() == [step % 7 == 0] * 3
        assert all(info.get("TimeLimit.truncated", False) == (step % 7 == 0) for info in infos)


@pytest.mark.parametrize(
    ("task", "episode", "expected"), [("maze", 50, 50), ("maze", 10_000, 640), ("top-off~100", 200, 100)]
)
def test_training_episodes_respect_the_tasks_limit(task: str, episode: int, expected: int) -> None:
    config = LastActionConfig(worlds=2, unroll=2, episode=episode)
    assert PPOTrainer(LAST_ACTION, get(task), config).env.simulation.horizon == expected


def test_every_input_is_listed_once_at_its_number() -> None:
    inputs = every_input()
    assert len({tuple(row) for row in inputs.tolist()}) == len(inputs) == 192
    perceptions = np.random.default_rng(0).integers(0, 2, (50, 5)).astype(np.uint8)
    last = np.random.default_rng(1).integers(0, NO_ACTION + 1, 50)
    assert (inputs[input_number(perceptions, last)] == with_last_action(perceptions, last)).all()


def test_policy_equals_its_network_given_its_last_action() -> None:
    trainer = PPOTrainer(LAST_ACTION, get("maze"), SMALL, seed=2)
    trainer.step()
    policy = trainer.policy
    policy.greedy = False
    policy.begin(40)
    network: Any = trainer.model.policy
    rng, last = np.random.default_rng(0), np.full(40, NO_ACTION, np.int64)
    for _ in range(5):
        seen = rng.integers(0, 2, (40, 5)).astype(np.uint8)
        with torch.no_grad():
            chances = network.get_distribution(torch.from_numpy(with_last_action(seen, last))).distribution
        expected = np.asarray(chances.logits, np.float64)
        np.testing.assert_allclose(policy.log_probabilities(seen), expected, rtol=1e-5, atol=1e-6)
        last = policy.act(seen)
    policy.begin(40)
    first = policy.log_probabilities(seen)
    policy.act(seen)
    assert not np.allclose(policy.log_probabilities(seen), first)
    policy.begin(40)
    assert (policy.log_probabilities(seen) == first).all()


def test_policy_takes_its_likeliest_action_and_observes_perceptions() -> None:
    policy = PPOTrainer(LAST_ACTION, get("maze"), SMALL).policy
    seen = np.ones((20, 5), np.uint8)
    policy.begin(20)
    likeliest = policy.log_probabilities(seen).argmax(axis=1)
    assert (policy.act(seen) == likeliest).all()
    assert policy.observation == "perceptions"
    assert policy.size is None


def test_the_last_action_is_enough_memory_to_solve_the_maze_at_any_size(tmp_path: Path) -> None:
    config = LastActionConfig(worlds=64, unroll=32, batch=512)
    trainer = PPOTrainer(LAST_ACTION, get("maze"), config, seed=1)
    while trainer.steps < 60_000:
        trainer.step()
    about = {"method": LAST_ACTION, "task": "maze", "seed": 1, "steps": trainer.steps}
    trainer.save(tmp_path, about | {"config": {"settings": trainer.settings}})
    policy = load_policy(tmp_path)
    for size in (None, (12, 12), (30, 30)):
        found = evaluate_policy(policy, "maze", episodes=200, seed=5, size=size)
        assert found.mean_return[0] > 0.95


def test_last_action_policy_as_a_viper_teacher_raises(tmp_path: Path) -> None:
    trainer = PPOTrainer(LAST_ACTION, get("maze"), SMALL)
    about = {"method": LAST_ACTION, "task": "maze", "seed": 0, "steps": 0}
    trainer.save(tmp_path, about | {"config": {"settings": trainer.settings}})
    with pytest.raises(ValueError, match="viper imitates drl, drl-fcn or drl-abs"):
        build_trainer(BaselineConfig("viper", "maze"), Options(origin=tmp_path))


def test_an_episode_has_at_least_one_action() -> None:
    with pytest.raises(ValueError, match="episode must be at least 1, found 0"):
        LastActionConfig(episode=0)
