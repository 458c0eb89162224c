"""Training: it learns, is reproducible, and resumes after any interruption."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor

from leaps.base import checkpoint
from leaps.base.files import write_atomically
from leaps.base.tensors import read_about
from leaps.embedding import train as module
from leaps.embedding.judge import Judge, same_programs
from leaps.embedding.model import Coordinates, ModelConfig, ProgramSpace
from leaps.embedding.space import Space
from leaps.embedding.train import (
    CHECKPOINT_FILE,
    CONFIG_FILE,
    METRICS_FILE,
    PRESETS,
    VARIANTS,
    WEIGHTS_FILE,
    Progress,
    TrainConfig,
    Trainer,
    train,
)
from leaps.embedding.weights import load_weights, save_weights
from leaps.karel.dataset import Dataset
from leaps.karel.world import LANGUAGE
from tests.embedding.helpers import CPU, short_programs

TINY = TrainConfig(
    epochs=3,
    batch=5,
    rollouts=1,
    samples=2,
    programs=60,
    validation_programs=10,
    learning_rate=0.01,
    rl_from=0.0,
    model=ModelConfig(8, 8, 15),
)
"""three epochs of 24 updates, with all three losses; a fifth of a second each"""


class Interrupted(Exception):  # noqa: N818  it is no error
    """The process was killed."""


def run_tiny(folder: Path, config: TrainConfig = TINY, **options: Any) -> dict[str, float]:
    return train(config, short_programs(), folder, CPU, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an uninterrupted training."""
    folder = tmp_path_factory.mktemp("whole")
    run_tiny(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def metrics_of(folder: Path) -> list[dict[str, float]]:
    """The lines of the metrics, without the time they took."""
    lines = [json.loads(line) for line in (folder / METRICS_FILE).read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def assert_equal_tensors(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    different = [name for name in one if not torch.equal(one[name], other[name])]
    assert different == []


def said_by(folder: Path) -> dict[str, Any]:
    """The metadata of the kept weights, without times."""
    about = read_about(folder / WEIGHTS_FILE)
    metrics = {name: value for name, value in about["metrics"].items() if name != "seconds"}
    return {name: value for name, value in about.items() if name != "seconds"} | {"metrics": metrics}


def networks(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of encoder and decoder, as they are stored once a training has ended."""
    return {
        name: tensor.half() for name, tensor in tensors.items() if name.startswith(("encoder.", "decoder."))
    }


def assert_same_training(one: Path, other: Path) -> None:
    """Compare exactly: the kept weights with metadata, those of the last epoch, and the metrics."""
    assert_equal_tensors(load_file(one / WEIGHTS_FILE), load_file(other / WEIGHTS_FILE))
    assert said_by(one) == said_by(other)
    states = [torch.load(folder / CHECKPOINT_FILE, weights_only=True)["space"] for folder in (one, other)]
    assert_equal_tensors(*states)
    assert metrics_of(one) == metrics_of(other)


# Learning


def test_a_small_space_memorizes_its_programs() -> None:
    config = TrainConfig(
        "p", epochs=40, batch=20, learning_rate=0.01, beta=0.01, model=ModelConfig(64, 64, 15)
    )
    trainer = Trainer(config, short_programs(), CPU)
    judge = Judge(short_programs(), trainer.train, trainer.space)
    before = judge(trainer.space)
    for _ in range(config.epochs):
        trainer.run_epoch()
    after = judge(trainer.space)
    assert before["exact"] < 0.05
    assert after["exact"] > 0.75
    assert after["behaviour"] > before["behaviour"] + 0.5


def test_the_policy_learns_what_the_programs_do() -> None:
    config = replace(TINY, variant="pl", epochs=12, batch=10, model=ModelConfig(32, 32, 15))
    trainer = Trainer(config, short_programs(), CPU)
    first, *_, last = [trainer.run_epoch() for _ in range(config.epochs)]
    assert last["loss_l"] < 0.75 * first["loss_l"]
    assert last["action_accuracy"] > first["action_accuracy"] + 0.1


def test_the_reward_alone_improves_the_behaviour_of_decoded_programs() -> None:
    config = replace(
        TINY,
        variant="pr",
        epochs=60,
        batch=10,
        programs=10,
        samples=8,
        learning_rate=0.0,
        rl_learning_rate=0.01,
        model=ModelConfig(32, 32, 15),
    )
    trainer = Trainer(config, short_programs(), CPU)
    rewards = [trainer.run_epoch()["reward"] for _ in range(config.epochs)]
    assert sum(rewards[-5:]) / 5 > rewards[0] + 0.1


@pytest.mark.parametrize(
    ("variant", "measured"),
    [
        ("p", {"loss_p", "kl"}),
        ("pr", {"loss_p", "kl", "reward"}),
        ("pl", {"loss_p", "kl", "loss_l", "action_accuracy"}),
        ("leaps", {"loss_p", "kl", "loss_l", "action_accuracy", "reward"}),
    ],
)
def test_a_variant_trains_its_losses_only(variant: str, measured: set[str]) -> None:
    metrics = Trainer(replace(TINY, variant=variant, batch=30), short_programs(), CPU).run_epoch()
    trained = {name for name in metrics if not name.startswith("validation_")} - {"epoch", "seconds"}
    assert trained == measured


def test_only_variants_with_l_have_a_policy() -> None:
    policies = {
        variant: Trainer(replace(TINY, variant=variant), short_programs(), CPU).space.policy is not None
        for variant in VARIANTS
    }
    assert policies == {"leaps": True, "p": False, "pr": False, "pl": True}


def test_the_reinforced_phase_has_as_many_updates_as_the_supervised_one() -> None:
    reported: list[Progress] = []
    Trainer(TINY, short_programs(), CPU).run_epoch(reported.append)
    assert [(p.update, p.updates) for p in reported] == [(10, 24), (20, 24), (24, 24)]
    assert "reward" not in reported[0].metrics
    assert "reward" in reported[1].metrics


def test_the_policy_is_left_alone_by_the_reinforced_phase() -> None:
    trainer = Trainer(replace(TINY, learning_rate=0.0), short_programs(), CPU)
    before = {name: tensor.clone() for name, tensor in trainer.space.state_dict().items()}
    trainer.run_epoch()
    changed = {
        name.split(".")[0] for name, t in trainer.space.state_dict().items() if not t.equal(before[name])
    }
    assert changed == {"encoder", "decoder"}


@pytest.mark.parametrize(("name", "rate"), [("optimizer", 0.01), ("rl_optimizer", 0.02)])
def test_learning_rates_fall_linearly_over_the_last_quarter(name: str, rate: float) -> None:
    config = replace(TINY, variant="p", epochs=16, batch=60, rl_learning_rate=0.02)
    trainer = Trainer(config, short_programs(), CPU)
    rates = []
    for _ in range(16):
        trainer.run_epoch()
        rates.append(getattr(trainer, name).param_groups[0]["lr"])
    assert rates[:13] == [rate] * 13
    assert rates[13:] == pytest.approx([0.75 * rate, 0.5 * rate, 0.25 * rate])


def test_a_training_too_short_for_a_quarter_keeps_its_learning_rates() -> None:
    trainer = Trainer(replace(TINY, variant="p", batch=60), short_programs(), CPU)
    rates = []
    for _ in range(3):
        trainer.run_epoch()
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    assert rates == [0.01] * 3


def test_the_step_schedule_lowers_learning_rates_by_5_percent_every_ten_epochs() -> None:
    config = replace(TINY, variant="p", epochs=21, batch=60, programs=5, schedule="step")
    trainer = Trainer(config, short_programs(), CPU)
    rates = []
    for _ in range(21):
        trainer.run_epoch()
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.01] * 10 + [0.0095] * 10 + [0.009025])


def test_the_summed_divergence_draws_latents_to_the_prior_more_strongly() -> None:
    divergences = {}
    for kl in ("mean", "sum"):
        trainer = Trainer(replace(TINY, variant="p", kl=kl, epochs=20), short_programs(), CPU)
        for _ in range(20):
            last = trainer.run_epoch()
        divergences[kl] = last["kl"] / (TINY.model.latent if kl == "sum" else 1)
    assert divergences["sum"] < 0.3 * divergences["mean"]


def changes_of_the_reinforced_phase(**options: Any) -> dict[str, Tensor]:
    """The change of the weights of encoder and decoder in one epoch of L^R."""
    plain = {"rl_beta": 0.0, "rl_entropy": 0.0, "rl_clip": None}
    config = replace(
        TINY, variant="pr", learning_rate=0.0, batch=60, rl_learning_rate=0.001, **(plain | options)
    )
    trainer = Trainer(config, short_programs(), CPU)
    before = {name: tensor.clone() for name, tensor in trainer.space.state_dict().items()}
    trainer.run_epoch()
    return {name: tensor - before[name] for name, tensor in trainer.space.state_dict().items()}


def test_the_reinforced_phase_can_have_its_own_divergence() -> None:
    pulled = changes_of_the_reinforced_phase(rl_beta=1000.0)
    # Adam's first step has the length of the learning rate: only its direction depends on the loss.
    trainer = Trainer(
        replace(TINY, variant="p", beta=1000.0, batch=60, learning_rate=0.001), short_programs(), CPU
    )
    before = trainer.space.encoder.mean.bias.clone()
    trainer.run_epoch()
    toward_the_prior = trainer.space.encoder.mean.bias - before
    assert torch.equal(pulled["encoder.mean.bias"].sign(), toward_the_prior.sign())
    plain = changes_of_the_reinforced_phase()
    assert not torch.equal(plain["encoder.mean.bias"].sign(), toward_the_prior.sign())


def test_gradients_of_the_reinforced_phase_are_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    norms: list[float] = []
    step = torch.optim.Adam.step

    def measured(optimizer: torch.optim.Adam) -> object:
        gradients = [
            p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None
        ]
        norms.append(float(torch.stack([gradient.norm() for gradient in gradients]).norm()))
        return step(optimizer)

    monkeypatch.setattr(torch.optim.Adam, "step", measured)
    changes_of_the_reinforced_phase(rl_clip=0.01)
    supervised, reinforced = norms
    assert supervised > 0.02
    assert reinforced == pytest.approx(0.01, rel=1e-3)


def test_the_reinforced_phase_waits_for_programs_to_be_decoded() -> None:
    trainer = Trainer(replace(TINY, rl_from=0.5), short_programs(), CPU)
    assert "reward" not in trainer.run_epoch()
    trainer.exact = 0.49
    assert "reward" not in trainer.run_epoch()
    trainer.exact = 0.5
    assert "reward" in trainer.run_epoch()


def test_orthogonal_weights_are_those_that_training_starts_from() -> None:
    trainer = Trainer(replace(TINY, initial="orthogonal"), short_programs(), CPU)
    recurrent = trainer.space.decoder.state_dict()["gru.weight_hh_l0"]
    assert torch.allclose(recurrent.T @ recurrent, torch.eye(8), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kl": "max"}, "kl: expected mean or sum, found 'max'"),
        ({"schedule": "cosine"}, "schedule: expected linear or step, found 'cosine'"),
        ({"initial": "zero"}, "initial: expected torch or orthogonal, found 'zero'"),
        ({"select": "loss"}, "select: expected behaviour or search, found 'loss'"),
        ({"rl_beta": -1.0}, "rl_beta must be a finite number from 0, found -1.0"),
        ({"rl_entropy": float("nan")}, "rl_entropy must be a finite number from 0, found nan"),
        ({"rl_clip": 0.0}, "rl_clip must be a finite number above 0, found 0.0"),
        ({"rl_from": 80.0}, "rl_from must be a fraction from 0 to 1, found 80.0"),
    ],
)
def test_invalid_options_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TrainConfig(**options)


def test_validation_programs_are_not_trained_on() -> None:
    trainer = Trainer(TrainConfig(model=ModelConfig(8, 8)), short_programs(), CPU)
    assert not set(trainer.train.tolist()) & set(trainer.judge.numbers.tolist())
    assert set(trainer.judge.numbers.tolist()) <= set(short_programs().split("validation").tolist())
    assert trainer.train.tolist() == short_programs().split("train").tolist()


# Reproducibility


def test_the_same_seed_gives_the_same_training(whole: Path, tmp_path: Path) -> None:
    torch.manual_seed(123)  # whatever was drawn elsewhere
    run_tiny(tmp_path)
    assert_same_training(whole, tmp_path)


def test_another_seed_gives_another_training(whole: Path, tmp_path: Path) -> None:
    run_tiny(tmp_path, replace(TINY, seed=1))
    assert metrics_of(whole) != metrics_of(tmp_path)


# Interrupted, and resumed


def interrupt_at(epoch: int) -> Callable[[Progress], None]:
    """Stop in the middle of an epoch."""

    def listener(progress: Progress) -> None:
        if progress.epoch == epoch and progress.update < progress.updates:
            raise Interrupted

    return listener


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_a_training_interrupted_in_an_epoch_resumes_identically(
    whole: Path, tmp_path: Path, epoch: int
) -> None:
    with pytest.raises(Interrupted):
        run_tiny(tmp_path, listener=interrupt_at(epoch))
    run_tiny(tmp_path)
    assert_same_training(whole, tmp_path)


@pytest.mark.parametrize("file", [WEIGHTS_FILE, METRICS_FILE, CHECKPOINT_FILE])
def test_a_training_interrupted_while_writing_a_file_resumes_identically(
    whole: Path, tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        writes = iter(range(100))

        def pull_the_plug(*args: Any) -> None:
            if args[-1] == file and next(writes) == (0 if file == WEIGHTS_FILE else 1):
                raise Interrupted

        def written(path: Path, content: bytes) -> None:
            pull_the_plug(path.name)
            write_atomically(path, content)

        def saved(space: ProgramSpace, path: Path, about: dict[str, Any], **options: bool) -> None:
            pull_the_plug(path.name)
            save_weights(space, path, about, **options)

        patched.setattr(module, "write_atomically", written)
        patched.setattr(checkpoint, "write_atomically", written)
        patched.setattr(module, "save_weights", saved)
        with pytest.raises(Interrupted):
            run_tiny(tmp_path)
    run_tiny(tmp_path)
    assert_same_training(whole, tmp_path)


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from leaps.embedding.train import train
from tests.embedding.helpers import CPU, short_programs
from tests.embedding.test_train import TINY

torch.set_num_threads(1)
def listener(progress):
    if progress.epoch == 2:
        os.kill(os.getpid(), signal.SIGKILL)
train(TINY, short_programs(), Path(sys.argv[1]), CPU, listener)
"""


def test_a_training_killed_in_an_epoch_resumes_identically(whole: Path, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=root, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert len(metrics_of(tmp_path)) == 1
    run_tiny(tmp_path)
    assert_same_training(whole, tmp_path)


@pytest.mark.parametrize("step", ["_finish", "load_weights", "Judge", "save_weights"])
def test_a_training_interrupted_after_its_last_epoch_finishes_identically(
    whole: Path, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:

        def pull_the_plug(*_: object, **__: object) -> None:
            raise Interrupted

        def patch_the_rest(metrics: dict[str, float]) -> None:
            if metrics["epoch"] == TINY.epochs:
                patched.setattr(module, step, pull_the_plug)

        with pytest.raises(Interrupted):
            run_tiny(tmp_path, epoch_done=patch_the_rest)
    assert len(metrics_of(tmp_path)) == TINY.epochs
    assert "test" not in said_by(tmp_path)
    reported: list[Progress] = []
    run_tiny(tmp_path, listener=reported.append)
    assert reported == []
    assert_same_training(whole, tmp_path)


def test_there_is_a_line_of_metrics_per_epoch_after_a_resume(tmp_path: Path) -> None:
    for epoch in (2, 3):
        with pytest.raises(Interrupted):
            run_tiny(tmp_path, listener=interrupt_at(epoch))
    run_tiny(tmp_path)
    assert [line["epoch"] for line in metrics_of(tmp_path)] == [1, 2, 3]


def test_resuming_with_another_number_of_epochs_raises(whole: Path) -> None:
    before = contents(whole)
    with pytest.raises(ValueError, match="holds a training with epochs=3, not 4; use another folder"):
        run_tiny(whole, replace(TINY, epochs=4))
    assert contents(whole) == before


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 7}, "seed=0, not 7"),
        ({"variant": "pl"}, "variant='leaps', not 'pl'"),
        ({"beta": 0.2, "batch": 6}, "batch=5, not 6, beta=0.1, not 0.2"),
    ],
)
def test_a_folder_of_another_configuration_raises_and_is_unchanged(
    whole: Path, other: dict[str, Any], message: str
) -> None:
    before = contents(whole)
    with pytest.raises(ValueError, match=message):
        run_tiny(whole, replace(TINY, **other))
    assert contents(whole) == before


def test_other_data_raises_and_the_folder_is_unchanged(whole: Path) -> None:
    data = short_programs()
    other = replace(data, config=replace(data.config, seed=data.config.seed + 1))
    before = contents(whole)
    with pytest.raises(ValueError, match=r"holds a training with data=.*'seed': 3.*, not .*'seed': 4"):
        train(TINY, other, whole, CPU)
    assert contents(whole) == before


def test_a_space_of_another_size_raises(whole: Path) -> None:
    with pytest.raises(ValueError, match="holds a training with model="):
        run_tiny(whole, replace(TINY, model=ModelConfig(16, 16, 15)))


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-100], lambda b: b[:7], lambda _: b"", lambda _: b"noise" * 99]
)
def test_a_damaged_checkpoint_raises_and_is_unchanged(
    whole: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    for name, content in contents(whole).items():
        (tmp_path / name).write_bytes(damage(content) if name == CHECKPOINT_FILE else content)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=f"{CHECKPOINT_FILE} is damaged"):
        run_tiny(tmp_path)
    assert contents(tmp_path) == before


def test_a_checkpoint_of_another_kind_raises(tmp_path: Path) -> None:
    torch.save({"weights": torch.zeros(3)}, tmp_path / CHECKPOINT_FILE)
    with pytest.raises(ValueError, match=f"{CHECKPOINT_FILE} is damaged"):
        run_tiny(tmp_path)


ALL_OPTIONS = replace(
    TINY,
    kl="sum",
    schedule="step",
    initial="torch",
    rl_beta=0.2,
    rl_entropy=0.2,
    rl_clip=None,
    select="search",
    search_every=2,
    model=ModelConfig(8, 8, 15, embedding=5),
)


def size_of_weights(space: ProgramSpace) -> float:
    """A score that depends on the space alone, like that of a search."""
    return float(sum(parameter.abs().sum() for parameter in space.parameters()))


@pytest.fixture(scope="module")
def with_all_options(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an undisturbed training with every option changed."""
    folder = tmp_path_factory.mktemp("options")
    run_tiny(folder, ALL_OPTIONS, judge_search=size_of_weights)
    return folder


@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_a_training_with_all_options_resumes_identically(
    with_all_options: Path, tmp_path: Path, epoch: int
) -> None:
    with pytest.raises(Interrupted):
        run_tiny(tmp_path, ALL_OPTIONS, listener=interrupt_at(epoch), judge_search=size_of_weights)
    run_tiny(tmp_path, ALL_OPTIONS, judge_search=size_of_weights)
    assert_same_training(with_all_options, tmp_path)


def test_a_training_interrupted_while_searching_resumes_identically(
    with_all_options: Path, tmp_path: Path
) -> None:
    def interrupted(_: ProgramSpace) -> float:
        raise Interrupted

    with pytest.raises(Interrupted):
        run_tiny(tmp_path, ALL_OPTIONS, judge_search=interrupted)
    run_tiny(tmp_path, ALL_OPTIONS, judge_search=size_of_weights)
    assert_same_training(with_all_options, tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        {"kl": "sum"},
        {"schedule": "step"},
        {"initial": "torch"},
        {"rl_beta": 0.2},
        {"rl_entropy": 0.2},
        {"rl_clip": None},
        {"rl_from": 0.8},
        {"search_every": 2},
        {"search_programs": 5},
        {"search_iterations": 7},
        {"model": replace(TINY.model, embedding=50)},
    ],
    ids=lambda other: next(iter(other)),
)
def test_resuming_with_another_option_raises(whole: Path, other: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"holds a training with {next(iter(other))}="):
        run_tiny(whole, replace(TINY, **other))


def test_a_training_selected_by_search_does_not_resume_another(whole: Path) -> None:
    with pytest.raises(ValueError, match="holds a training with select='behaviour', not 'search'"):
        run_tiny(whole, replace(TINY, select="search"), judge_search=size_of_weights)


def test_where_the_reinforced_phase_starts_survives_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Half(Scripted):
        def __call__(self, _: ProgramSpace) -> dict[str, float]:
            return {"behaviour": 0.5, "exact": 0.5}

    monkeypatch.setattr(module, "Judge", Half)
    config = replace(TINY, rl_from=0.5)
    with pytest.raises(Interrupted):
        run_tiny(tmp_path, config, listener=interrupt_at(2))
    run_tiny(tmp_path, config)
    assert [line["epoch"] for line in metrics_of(tmp_path) if "reward" in line] == [2, 3]


# Kept weights


class Scripted:
    """A judge with a given score for each epoch, which records the weights that it saw."""

    says = (0.2, 0.6, 0.6, 0.4)
    seen: list[dict[str, Tensor]]

    def __init__(self, data: Dataset, numbers: NDArray[np.int64], _: ProgramSpace) -> None:
        self.final = numbers.tolist() == data.split("test").tolist()
        if not self.final:
            Scripted.seen = []

    def __call__(self, space: ProgramSpace) -> dict[str, float]:
        if self.final:
            return {"behaviour": 0.3, "exact": 0.1}
        self.seen.append({name: tensor.clone() for name, tensor in space.state_dict().items()})
        return {"behaviour": self.says[len(self.seen) - 1], "exact": len(self.seen) / 10}


def assert_coordinates_fit(folder: Path) -> None:
    """The training programs lie around the origin, with the same standard deviation along every axis."""
    data = short_programs()
    points = Space.load(folder).encode(data.tokens[data.split("train")[: TINY.programs]].copy())
    assert np.abs(points.mean(axis=0)).max() < 1e-3
    assert points.std(axis=0, ddof=1) == pytest.approx(1 / Coordinates.UNIT, abs=1e-2)


def test_the_weights_kept_are_those_of_the_first_best_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Judge", Scripted)
    best = run_tiny(tmp_path, replace(TINY, variant="p", epochs=4))
    assert (best["epoch"], best["validation_behaviour"], best["validation_exact"]) == (2, 0.6, 0.2)
    assert (best["test_behaviour"], best["test_exact"]) == (0.3, 0.1)
    assert_equal_tensors(networks(load_file(tmp_path / WEIGHTS_FILE)), networks(Scripted.seen[1]))
    assert_coordinates_fit(tmp_path)
    assert all(
        not a["decoder.embedding.weight"].equal(b["decoder.embedding.weight"])
        for a, b in pairwise(Scripted.seen)
    )


def test_the_best_epoch_is_remembered_across_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(TINY, variant="p", epochs=4)
    monkeypatch.setattr(module, "Judge", Scripted)
    with pytest.raises(Interrupted):
        run_tiny(tmp_path, config, listener=interrupt_at(3))
    kept = load_file(tmp_path / WEIGHTS_FILE)
    monkeypatch.setattr(Scripted, "says", (0.5, 0.4))
    assert run_tiny(tmp_path, config)["epoch"] == 2
    assert_equal_tensors(networks(load_file(tmp_path / WEIGHTS_FILE)), networks(kept))


def test_selection_by_search_keeps_the_searched_epoch_with_the_best_score(tmp_path: Path) -> None:
    config = replace(TINY, variant="p", epochs=7, select="search", search_every=2)
    scores, searched = iter([0.1, 0.8, 0.8, 0.3]), []

    def judge(space: ProgramSpace) -> float:
        searched.append({name: tensor.clone() for name, tensor in space.state_dict().items()})
        return next(scores)

    best = run_tiny(tmp_path, config, judge_search=judge)
    lines = [line for line in metrics_of(tmp_path) if "search_score" in line]
    assert [(line["epoch"], line["search_score"]) for line in lines] == [
        (2, 0.1),
        (4, 0.8),
        (6, 0.8),
        (7, 0.3),
    ]
    assert (best["epoch"], best["search_score"]) == (4, 0.8)
    assert_equal_tensors(networks(load_file(tmp_path / WEIGHTS_FILE)), networks(searched[1]))


def test_searching_does_not_change_the_training(tmp_path: Path) -> None:
    def judge(_: ProgramSpace) -> float:
        torch.rand(7)
        return 0.5

    run_tiny(tmp_path / "search", replace(TINY, select="search", search_every=1), judge_search=judge)
    run_tiny(tmp_path / "behaviour")
    states = [
        torch.load(tmp_path / name / CHECKPOINT_FILE, weights_only=True)["space"]
        for name in ("search", "behaviour")
    ]
    assert_equal_tensors(*states)


@pytest.mark.parametrize(
    ("select", "judge", "found"),
    [("search", None, "no judge_search"), ("behaviour", size_of_weights, "a judge_search")],
)
def test_a_selection_that_does_not_match_the_judge_raises(
    tmp_path: Path, select: str, judge: Callable[[ProgramSpace], float] | None, found: str
) -> None:
    with pytest.raises(ValueError, match=f"select='{select}', but there is {found}"):
        run_tiny(tmp_path, replace(TINY, select=select), judge_search=judge)


def test_a_search_score_that_is_not_finite_raises(tmp_path: Path) -> None:
    config = replace(TINY, variant="p", select="search", search_every=1)
    with pytest.raises(ValueError, match="judge_search must return a finite number, got nan"):
        run_tiny(tmp_path, config, judge_search=lambda _: float("nan"))


def test_a_finished_training_returns_its_best_epoch_without_training(whole: Path) -> None:
    before = contents(whole)
    reported: list[Progress] = []
    best = run_tiny(whole, listener=reported.append)
    assert best["validation_behaviour"] == max(line["validation_behaviour"] for line in metrics_of(whole))
    assert reported == []
    assert contents(whole) == before


def test_the_weights_kept_can_be_used(whole: Path) -> None:
    space = load_weights(whole / WEIGHTS_FILE)
    assert space.config == replace(TINY.model, policy=False)
    assert space.decode(torch.zeros(1, 8)).shape[0] == 1


def test_the_coordinates_kept_are_those_of_the_training_programs(whole: Path) -> None:
    assert_coordinates_fit(whole)


def test_the_coordinates_kept_are_those_of_all_batches(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 7)
    run_tiny(tmp_path)
    kept, batched = (load_file(folder / WEIGHTS_FILE) for folder in (whole, tmp_path))
    for name in ("coordinates.axes", "coordinates.centre"):
        assert torch.allclose(kept[name], batched[name], atol=1e-4)


def test_the_weights_kept_encode_and_decode_programs(whole: Path) -> None:
    space, tokens = Space.load(whole), short_programs().tokens.copy()
    decoded = space.decode(space.encode(tokens))
    with torch.no_grad():
        expected = space.network.decode(space.network.encode(torch.from_numpy(tokens)))
    # Sums in another order may turn the balance between two tokens that are all but equally likely.
    same = same_programs(decoded, expected.numpy().astype(np.uint8), LANGUAGE.pad)
    assert same.mean() >= 0.99


def test_the_weights_kept_have_no_policy_and_the_checkpoint_has(whole: Path) -> None:
    def has_policy(tensors: dict[str, Tensor]) -> bool:
        return any(name.startswith("policy.") for name in tensors)

    assert not has_policy(load_file(whole / WEIGHTS_FILE))
    assert has_policy(torch.load(whole / CHECKPOINT_FILE, weights_only=True)["space"])


def test_the_weights_kept_are_judged_on_the_test_split(whole: Path) -> None:
    space, data = load_weights(whole / WEIGHTS_FILE), short_programs()
    judged = Judge(data, data.split("test"), space)(space)
    test = read_about(whole / WEIGHTS_FILE)["test"]
    assert test.keys() == {"exact", "behaviour", "action_accuracy", "sequence_accuracy"}
    assert {name: test[name] for name in judged} == judged


def test_a_training_returns_the_metrics_of_the_test_split(whole: Path) -> None:
    best, test = run_tiny(whole), read_about(whole / WEIGHTS_FILE)["test"]
    assert {name: value for name, value in best.items() if name.startswith("test_")} == {
        f"test_{name}": value for name, value in test.items()
    }


def test_the_weights_kept_have_metadata_of_origin_and_cost(whole: Path) -> None:
    about = read_about(whole / WEIGHTS_FILE)
    lines = [json.loads(line) for line in (whole / METRICS_FILE).read_text().splitlines()]
    assert about["training"] == asdict(TINY)
    assert about["data"] == asdict(short_programs().config)
    assert about["metrics"] == max(lines, key=lambda line: line["validation_behaviour"])
    assert about["seconds"] == pytest.approx(sum(line["seconds"] for line in lines))
    assert about["device"] == "cpu"


def test_the_folder_has_the_configuration(whole: Path) -> None:
    assert json.loads((whole / CONFIG_FILE).read_text()) == asdict(TINY)


def test_every_epoch_is_reported(tmp_path: Path) -> None:
    reported: list[dict[str, float]] = []
    run_tiny(tmp_path, epoch_done=reported.append)
    assert [metrics["epoch"] for metrics in reported] == [1, 2, 3]


# Configurations


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("epochs", 1),
        ("batch", 1),
        ("rollouts", 1),
        ("validation_programs", 1),
        ("programs", 1),
        ("samples", 2),
        ("search_every", 1),
        ("search_programs", 1),
        ("search_iterations", 1),
    ],
)
def test_values_below_the_minimum_raise(name: str, least: int) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be at least {least}, found {least - 1}$"):
        TrainConfig(**{name: least - 1})  # type: ignore[arg-type]


def test_an_unknown_variant_raises() -> None:
    with pytest.raises(ValueError, match="expected one of leaps, p, pr, pl, found 'rl'"):
        TrainConfig("rl")


def test_the_papers_settings_are_the_default() -> None:
    config = TrainConfig(**PRESETS["paper"])
    assert (config.variant, config.batch, config.beta) == ("leaps", 256, 0.1)
    assert (config.learning_rate, config.rl_learning_rate) == (0.001, 0.0005)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_configurations(name: str) -> None:
    assert TrainConfig(**PRESETS[name]).epochs > 0
