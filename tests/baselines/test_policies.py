"""Loaded policies equal the saved ones, and unreadable files raise errors with the reason."""

from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file

from leaps.base.tensors import metadata, read_about
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.policies import load_origin, load_policy
from leaps.baselines.ppo import LAST_ACTION, LastActionConfig, NeuralPolicy, PPOConfig, PPOTrainer
from leaps.baselines.train import POLICY_FILE
from leaps.tasks import get

SMALL = PPOConfig(worlds=8, unroll=16, batch=64, epochs=1, hidden=16, memory=16)
SMALL_LAST_ACTION = LastActionConfig(worlds=8, unroll=16, batch=64, epochs=1, hidden=16, episode=20)


def keep(folder: Path, method: str) -> PPOTrainer:
    config = SMALL_LAST_ACTION if method == LAST_ACTION else SMALL
    trainer = PPOTrainer(method, get("maze"), config, seed=5)
    trainer.step()
    about = {"method": method, "task": "maze", "seed": 5, "steps": 128}
    trainer.save(folder, about | {"config": {"settings": trainer.settings}})
    return trainer


@pytest.mark.parametrize("method", ["drl", "drl-fcn", "drl-abs", LAST_ACTION])
def test_loaded_policy_acts_the_same(method: str, tmp_path: Path) -> None:
    trainer = keep(tmp_path, method)
    kept, again = (
        evaluate_policy(policy, "maze", episodes=20, seed=1, want_actions=True).rollouts
        for policy in (load_policy(tmp_path), trainer.policy)
    )
    assert kept.actions is not None
    assert again.actions is not None
    assert (kept.actions == again.actions).all()


@pytest.mark.parametrize("method", ["drl", "drl-abs", LAST_ACTION])
def test_policy_is_loaded_on_the_given_device(method: str, tmp_path: Path) -> None:
    keep(tmp_path, method)
    policy = load_policy(tmp_path, "meta")
    assert isinstance(policy, NeuralPolicy)
    assert policy.network.device.type == "meta"


def test_origin_has_all_weights_of_the_policy(tmp_path: Path) -> None:
    trainer = keep(tmp_path, "drl-abs")
    origin = load_origin(tmp_path)
    weights = trainer.model.policy.state_dict()
    assert origin.weights.keys() == weights.keys()
    assert all((origin.weights[name] == weights[name]).all() for name in weights)
    assert origin.config == SMALL


def test_origin_of_another_method_raises(tmp_path: Path) -> None:
    keep(tmp_path, "drl")
    with pytest.raises(ValueError, match="expected a policy of drl-abs, found one of 'drl'"):
        load_origin(tmp_path)


def test_folder_without_a_policy_raises(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"expected a folder written by `leaps baseline` with {POLICY_FILE}"):
        load_policy(tmp_path)


def test_damaged_policy_raises(tmp_path: Path) -> None:
    keep(tmp_path, "drl-abs")
    file = tmp_path / POLICY_FILE
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(ValueError, match="damaged"):
        load_policy(tmp_path)


def test_policy_of_an_unknown_method_raises(tmp_path: Path) -> None:
    keep(tmp_path, "drl-abs")
    file = tmp_path / POLICY_FILE
    tensors, about = load_file(file), read_about(file)
    save_file(tensors, file, metadata(about | {"method": "dqn"}))
    with pytest.raises(ValueError, match=r"expected a policy of drl, .*, found one of 'dqn'"):
        load_policy(tmp_path)


def test_policy_with_missing_weights_raises(tmp_path: Path) -> None:
    keep(tmp_path, "drl-abs")
    file = tmp_path / POLICY_FILE
    tensors, about = load_file(file), read_about(file)
    tensors.pop("action_net.bias")
    save_file(tensors, file, metadata(about))
    with pytest.raises(ValueError, match=r"damaged or of another version \(.*action_net.bias"):
        load_policy(tmp_path)
