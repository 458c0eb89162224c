"""The baselines by name: each trains, keeps what it learned, and what is kept acts the same."""

import json
from pathlib import Path

import pytest
import torch

from leaps.baselines import methods, train
from leaps.baselines.methods import METHODS, PROGRAM_FILE, get_method
from leaps.baselines.naive import NaiveConfig
from leaps.baselines.ppo import POLICY_FILE, PPOConfig, PPOTrainer, load_policy
from leaps.baselines.train import BaselineConfig, Training
from leaps.dsl.text import parse
from leaps.evaluate import evaluate, evaluate_policy
from leaps.karel.world import LANGUAGE

SMALL = PPOConfig(worlds=8, unroll=16, batch=64, epochs=1, hidden=16, memory=16)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "UNSEEN", 5)
    for table in ("PAPER", "PAPER_ABS"):
        monkeypatch.setattr(methods, table, {"maze": SMALL})
    monkeypatch.setattr(methods, "NAIVE_PAPER", {"maze": NaiveConfig(batch=8, hidden=8)})


def trained(
    method: str, folder: Path, seed: int = 1, size: tuple[int, int] | None = None
) -> dict[str, object]:
    config = BaselineConfig(method, "maze", seed, steps=300, size=size)
    return Training(config, get_method(method).build(config, "cpu"), folder).run()


@pytest.mark.parametrize("method", [name for name in METHODS if name != "naive"])
def test_a_policy_that_was_kept_is_the_one_that_was_judged(method: str, tmp_path: Path) -> None:
    config = BaselineConfig(method, "maze", 1, steps=300)
    trainer = get_method(method).build(config, "cpu")
    assert isinstance(trainer, PPOTrainer)
    result = Training(config, trainer, tmp_path).run()
    kept = load_policy(tmp_path)
    learned = trainer.model.policy.state_dict()
    assert kept.network.state_dict().keys() == learned.keys()
    assert all(torch.equal(tensor, learned[name]) for name, tensor in kept.network.state_dict().items())
    again = evaluate_policy(kept, "maze", episodes=train.UNSEEN, seed=train.UNSEEN_SEEDS + 1)
    assert again.mean_return[0] == result["return"]


def test_a_program_that_was_kept_is_the_one_that_was_judged(tmp_path: Path) -> None:
    result = trained("naive", tmp_path)
    program = parse((tmp_path / PROGRAM_FILE).read_text(), LANGUAGE)
    again = evaluate(program, "maze", episodes=train.UNSEEN, seed=train.UNSEEN_SEEDS + 1)
    assert again.mean_return[0] == result["return"]


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_is_the_same_training(method: str, tmp_path: Path) -> None:
    results = [trained(method, tmp_path / str(number)) for number in range(2)]
    assert {**results[0], "seconds": 0} == {**results[1], "seconds": 0}


def test_a_training_in_worlds_of_another_size_is_judged_in_those(tmp_path: Path) -> None:
    trained("drl", tmp_path, size=(9, 11))
    assert load_policy(tmp_path).size == (9, 11)
    assert json.loads((tmp_path / train.RESULT_FILE).read_text())["config"]["size"] == [9, 11]


def test_a_folder_without_a_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"expected a folder of `leaps baseline` with {POLICY_FILE}"):
        load_policy(tmp_path)


def test_a_damaged_policy_is_refused(tmp_path: Path) -> None:
    trained("drl-abs", tmp_path)
    file = tmp_path / POLICY_FILE
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(ValueError, match="damaged"):
        load_policy(tmp_path)


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(
        ValueError, match="unknown baseline 'dqn'; expected one of drl, drl-fcn, drl-abs, naive"
    ):
        get_method("dqn")
