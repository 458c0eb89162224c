"""Training of skills: latents reconstruct their sequences, and an interrupted training resumes exactly."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from leaps.base.tensors import read_about
from leaps.baselines import skill_training
from leaps.baselines.skill_training import (
    CHECKPOINT_FILE,
    SKILLS_FILE,
    Progress,
    SkillsTrainer,
    action_sequences,
    judge,
    train_skills,
)
from leaps.baselines.skills import END, Actions, Skills, SkillsConfig
from leaps.karel.dataset import DataConfig, make_dataset
from tests.baselines.helpers import LEARNING, REPEATED, SMALL, filled, fresh, taught, weights


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_sequences_are_reconstructed_from_their_latents() -> None:
    before, after = judge(fresh(LEARNING), REPEATED), judge(taught(), REPEATED)
    assert before["exact"] < 0.2
    assert after["exact"] > 0.75
    assert after["actions"] > 0.75
    assert after["kl"] > np.log(len(REPEATED)) - 1  # nats: enough to tell them apart
    assert after["reconstruction"] < before["reconstruction"] / 4


def test_sequences_are_the_programs_actions() -> None:
    data = make_dataset(DataConfig(programs=40))
    sequences = action_sequences(data, "validation")
    numbers = data.split("validation")
    assert sequences.shape == (len(numbers) * 10, 100)
    for row, (program, rollout) in zip(
        sequences, [(program, rollout) for program in numbers for rollout in range(10)], strict=True
    ):
        first, last = data.starts[program * 10 + rollout : program * 10 + rollout + 2]
        assert row[: last - first].tolist() == data.actions[first:last].tolist()
        assert (row[last - first :] == END).all()


def test_epoch_has_every_sequence_once_in_a_new_order() -> None:
    trainer = SkillsTrainer(SMALL, REPEATED)
    first = trainer._epoch_batches()
    while trainer.epoch < 1:
        trainer.step()
    second = trainer._epoch_batches()
    assert [len(batch) for batch in first] == [16, 5]
    for batches in (first, second):
        assert sorted(np.concatenate(batches).tolist()) == list(range(len(REPEATED)))
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()


def test_same_seed_gives_the_same_training() -> None:
    found = []
    for seed in (1, 1, 2):
        trainer = SkillsTrainer(replace(SMALL, seed=seed), REPEATED)
        torch.rand(7)  # other code may use torch's global random state
        trainer.step()
        torch.manual_seed(7)
        trainer.step()
        found.append(weights(trainer.skills))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_every_update_draws_new_latents(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, noises, loss = SkillsTrainer(SMALL, REPEATED), [], Skills.loss

    def listened(skills: Skills, sequences: torch.Tensor, noise: torch.Tensor, *rest: Any) -> Any:
        noises.append(noise)
        return loss(skills, sequences, noise, *rest)

    monkeypatch.setattr(Skills, "loss", listened)
    for _ in range(3):
        trainer.step()
    assert not torch.equal(noises[0], noises[2])
    assert noises[0].shape == noises[2].shape == (16, SMALL.latent)


class EnoughError(Exception):
    """Raised to interrupt a training."""


@pytest.mark.parametrize("after", [1, 2, 3, 5])
def test_interrupted_training_resumes_with_the_same_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    monkeypatch.setattr(skill_training, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(skill_training, "REPORT_EVERY", 1)
    config = replace(SMALL, epochs=3)

    def give_up(progress: Progress) -> None:
        if (progress.epoch - 1) * progress.updates + progress.update > after:
            raise EnoughError

    straight = train_skills(config, REPEATED, REPEATED, tmp_path / "a")
    with pytest.raises(EnoughError):
        train_skills(config, REPEATED, REPEATED, tmp_path / "b", listener=give_up)
    reports: list[Progress] = []
    assert not (tmp_path / "b" / SKILLS_FILE).exists()
    assert train_skills(config, REPEATED, REPEATED, tmp_path / "b", listener=reports.append) == straight
    assert len(reports) == 6 - after
    assert (tmp_path / "a" / SKILLS_FILE).read_bytes() == (tmp_path / "b" / SKILLS_FILE).read_bytes()


def test_training_stopped_by_its_time_limit_resumes_with_the_same_results(tmp_path: Path) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path / "a", seconds=0.0)
    assert read_about(tmp_path / "a" / SKILLS_FILE)["updates"] == 0
    found = train_skills(SMALL, REPEATED, REPEATED, tmp_path / "a")
    assert found == train_skills(SMALL, REPEATED, REPEATED, tmp_path / "b")
    assert (tmp_path / "a" / SKILLS_FILE).read_bytes() == (tmp_path / "b" / SKILLS_FILE).read_bytes()


def test_training_reports_its_progress(tmp_path: Path) -> None:
    reports: list[Progress] = []
    result = train_skills(SMALL, REPEATED, REPEATED[:, :3], tmp_path, listener=reports.append)
    assert [(progress.epoch, progress.update, progress.updates) for progress in reports] == [
        (1, 2, 2),
        (2, 2, 2),
    ]
    for name, value in result.items():
        assert reports[-1].metrics[f"held_out_{name}"] == value
    assert set(result) == {"exact", "actions", "reconstruction", "kl"}
    assert read_about(tmp_path / SKILLS_FILE)["metrics"] == result


def test_the_learning_rate_falls_in_the_last_quarter_and_beta_rises_in_the_first() -> None:
    config = replace(SMALL, epochs=4, batch=21, learning_rate=0.01)  # one update per epoch
    trainer = SkillsTrainer(config, REPEATED)
    rates = []
    while not trainer.finished:
        trainer.step()
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    assert rates == [0.01, 0.01, 0.01, 0.01]  # the last quarter's only update begins with the full rate
    trainer = SkillsTrainer(replace(config, epochs=8), REPEATED)
    while not trainer.finished:
        trainer.step()
    assert trainer.optimizer.param_groups[0]["lr"] == pytest.approx(0.005)

    def moved(beta: float, warm_up: float) -> torch.Tensor:
        trainer = SkillsTrainer(replace(config, beta=beta, warm_up=warm_up), REPEATED)
        trainer.step()
        return weights(trainer.skills)

    assert torch.equal(moved(1.0, 0.25), moved(0.0, 0.0))  # beta starts at 0 …
    assert not torch.equal(moved(1.0, 0.0), moved(0.0, 0.0))  # … unless there is no warm-up


@pytest.mark.parametrize(
    ("config", "sequences", "message"),
    [
        (replace(SMALL, beta=0.5), REPEATED, "beta=1.0, not 0.5"),
        (replace(SMALL, seed=4), REPEATED, "seed=3, not 4"),
        (SMALL, REPEATED[1:], "data='[0-9a-f]+', not '[0-9a-f]+'"),
    ],
)
def test_folder_of_another_training_raises(
    tmp_path: Path, config: SkillsConfig, sequences: Actions, message: str
) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path)
    with pytest.raises(ValueError, match=f"is of a training with {message}; use another folder"):
        train_skills(config, sequences, REPEATED, tmp_path)


def test_damaged_checkpoint_raises(tmp_path: Path) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path)
    file = tmp_path / CHECKPOINT_FILE
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"damaged or of another version .*; remove it to start over"):
        train_skills(SMALL, REPEATED, REPEATED, tmp_path)


def test_checkpoint_of_another_version_raises(tmp_path: Path) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path)
    file = tmp_path / CHECKPOINT_FILE
    saved = torch.load(file, weights_only=True)
    torch.save({**saved, "version": "0.0.0"}, file)
    with pytest.raises(ValueError, match=r"of another version \(0\.0\.0, not"):
        train_skills(SMALL, REPEATED, REPEATED, tmp_path)


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        (REPEATED.astype(np.int64), r"expected sequences \[n, t\] of uint8, found \[21, 4\] of int64"),
        (REPEATED[:0], r"found \[0, 4\]"),
        (REPEATED[0], r"found \[4\]"),
        (REPEATED + np.uint8(1), "expected actions from 0 to 4, padded with 5; found 6"),
        (filled((0,) * 7, length=9), "expected sequences of at most max_length=4 actions, found 7"),
    ],
)
def test_invalid_sequences_raise(sequences: Actions, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        train_skills(SMALL, sequences, REPEATED, tmp_path)


def test_empty_held_out_sequences_raise(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected held-out sequences \[n, t\], found \[0, 4\]"):
        train_skills(SMALL, REPEATED, REPEATED[:0], tmp_path)


def test_skill_training_does_not_import_the_rl_libraries() -> None:
    code = (
        "import sys, importlib.util\n"
        "for name in ('gymnasium', 'stable_baselines3', 'sb3_contrib'):\n"
        "    sys.modules[name] = None\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'gymnasium' else find(name, *rest)\n"
        "import leaps.baselines.skill_training as training\n"
        "print(training.SkillsConfig().latent)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "10"
