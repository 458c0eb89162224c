"""Training learns, is the same every time, and survives whatever happens to it."""

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

from leaps.dataset import Dataset
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
from leaps.files import write_atomically
from leaps.tensors import read_about
from tests.embedding.helpers import CPU, short_programs

TINY = TrainConfig(
    epochs=3,
    batch=5,
    rollouts=1,
    samples=2,
    programs=60,
    validation_programs=10,
    learning_rate=0.01,
    model=ModelConfig(8, 8, 15),
)
"""three epochs of 24 updates, with all three losses; a fifth of a second each"""


class Interrupted(Exception):  # noqa: N818  it is no error
    """Somebody pulled the plug."""


def run_tiny(folder: Path, config: TrainConfig = TINY, **options: Any) -> dict[str, float]:
    return train(config, short_programs(), folder, CPU, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that nobody disturbed."""
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
    """What the weights kept say about themselves, without the time they took."""
    about = read_about(folder / WEIGHTS_FILE)
    metrics = {name: value for name, value in about["metrics"].items() if name != "seconds"}
    return {name: value for name, value in about.items() if name != "seconds"} | {"metrics": metrics}


def networks(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """What was learned: all but the coordinates, which come at the end."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith("coordinates.")}


def assert_same_training(one: Path, other: Path) -> None:
    """Bit by bit: the weights kept and what they say, those of the last epoch, and the metrics."""
    assert_equal_tensors(load_file(one / WEIGHTS_FILE), load_file(other / WEIGHTS_FILE))
    assert said_by(one) == said_by(other)
    states = [torch.load(folder / CHECKPOINT_FILE, weights_only=True)["space"] for folder in (one, other)]
    assert_equal_tensors(*states)
    assert metrics_of(one) == metrics_of(other)


# Learning


def test_a_small_space_learns_its_programs_by_heart() -> None:
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


def test_the_reward_alone_teaches_programs_to_behave_alike() -> None:
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
    told: list[Progress] = []
    Trainer(TINY, short_programs(), CPU).run_epoch(told.append)
    assert [(p.update, p.updates) for p in told] == [(10, 24), (20, 24), (24, 24)]
    assert "reward" not in told[0].metrics
    assert "reward" in told[1].metrics


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


def test_validation_programs_are_not_trained_on() -> None:
    trainer = Trainer(TrainConfig(model=ModelConfig(8, 8)), short_programs(), CPU)
    assert not set(trainer.train.tolist()) & set(trainer.judge.numbers.tolist())
    assert set(trainer.judge.numbers.tolist()) <= set(short_programs().split("validation").tolist())
    assert trainer.train.tolist() == short_programs().split("train").tolist()


# The same again


def test_the_same_seed_is_the_same_training(whole: Path, tmp_path: Path) -> None:
    torch.manual_seed(123)  # whatever was drawn elsewhere
    run_tiny(tmp_path)
    assert_same_training(whole, tmp_path)


def test_another_seed_is_another_training(whole: Path, tmp_path: Path) -> None:
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
def test_a_training_interrupted_in_an_epoch_goes_on_as_if_it_had_not_been(
    whole: Path, tmp_path: Path, epoch: int
) -> None:
    with pytest.raises(Interrupted):
        run_tiny(tmp_path, listener=interrupt_at(epoch))
    run_tiny(tmp_path)
    assert_same_training(whole, tmp_path)


@pytest.mark.parametrize("file", [WEIGHTS_FILE, METRICS_FILE, CHECKPOINT_FILE])
def test_a_training_interrupted_while_a_file_is_written_goes_on_as_if_it_had_not_been(
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


def test_a_training_killed_in_an_epoch_goes_on_as_if_it_had_not_been(whole: Path, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=root, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert len(metrics_of(tmp_path)) == 1
    run_tiny(tmp_path)
    assert_same_training(whole, tmp_path)


@pytest.mark.parametrize("step", ["_finish", "load_weights", "Judge", "save_weights"])
def test_a_training_interrupted_after_its_last_epoch_is_finished_as_if_it_had_not_been(
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
    told: list[Progress] = []
    run_tiny(tmp_path, listener=told.append)
    assert told == []
    assert_same_training(whole, tmp_path)


def test_there_is_a_line_of_metrics_per_epoch_after_a_resume(tmp_path: Path) -> None:
    for epoch in (2, 3):
        with pytest.raises(Interrupted):
            run_tiny(tmp_path, listener=interrupt_at(epoch))
    run_tiny(tmp_path)
    assert [line["epoch"] for line in metrics_of(tmp_path)] == [1, 2, 3]


def test_a_training_resumed_with_another_number_of_epochs_is_refused(whole: Path) -> None:
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
def test_a_folder_of_another_configuration_is_refused_and_left_as_it_was(
    whole: Path, other: dict[str, Any], message: str
) -> None:
    before = contents(whole)
    with pytest.raises(ValueError, match=message):
        run_tiny(whole, replace(TINY, **other))
    assert contents(whole) == before


def test_other_data_is_refused_and_the_folder_left_as_it_was(whole: Path) -> None:
    data = short_programs()
    other = replace(data, config=replace(data.config, seed=data.config.seed + 1))
    before = contents(whole)
    with pytest.raises(ValueError, match=r"holds a training with data=.*'seed': 3.*, not .*'seed': 4"):
        train(TINY, other, whole, CPU)
    assert contents(whole) == before


def test_a_space_of_another_size_is_refused(whole: Path) -> None:
    with pytest.raises(ValueError, match="holds a training with model="):
        run_tiny(whole, replace(TINY, model=ModelConfig(16, 16, 15)))


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-100], lambda b: b[:7], lambda _: b"", lambda _: b"noise" * 99]
)
def test_a_damaged_checkpoint_is_refused_and_left_as_it_was(
    whole: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    for name, content in contents(whole).items():
        (tmp_path / name).write_bytes(damage(content) if name == CHECKPOINT_FILE else content)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=f"{CHECKPOINT_FILE} is damaged"):
        run_tiny(tmp_path)
    assert contents(tmp_path) == before


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    torch.save({"weights": torch.zeros(3)}, tmp_path / CHECKPOINT_FILE)
    with pytest.raises(ValueError, match=f"{CHECKPOINT_FILE} is damaged"):
        run_tiny(tmp_path)


# What is kept


class Scripted:
    """A judge that says what it was told to of each epoch, and remembers what it saw."""

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
    """The training programs lie around the origin, with the same deviation along every axis."""
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


def test_a_finished_training_says_its_best_epoch_and_trains_no_more(whole: Path) -> None:
    before = contents(whole)
    told: list[Progress] = []
    best = run_tiny(whole, listener=told.append)
    assert best["validation_behaviour"] == max(line["validation_behaviour"] for line in metrics_of(whole))
    assert told == []
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


def test_programs_go_through_the_space_that_was_kept(whole: Path) -> None:
    space, tokens = Space.load(whole), short_programs().tokens.copy()
    decoded = space.decode(space.encode(tokens))
    with torch.no_grad():
        expected = space.network.decode(space.network.encode(torch.from_numpy(tokens)))
    # Sums in another order may turn the balance between two tokens that are all but equally likely.
    assert same_programs(decoded, expected.numpy().astype(np.uint8)).mean() >= 0.99


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


def test_a_training_tells_what_the_test_split_said(whole: Path) -> None:
    best, test = run_tiny(whole), read_about(whole / WEIGHTS_FILE)["test"]
    assert {name: value for name, value in best.items() if name.startswith("test_")} == {
        f"test_{name}": value for name, value in test.items()
    }


def test_the_weights_kept_say_where_they_come_from_and_what_they_took(whole: Path) -> None:
    about = read_about(whole / WEIGHTS_FILE)
    lines = [json.loads(line) for line in (whole / METRICS_FILE).read_text().splitlines()]
    assert about["training"] == asdict(TINY)
    assert about["data"] == asdict(short_programs().config)
    assert about["metrics"] == max(lines, key=lambda line: line["validation_behaviour"])
    assert about["seconds"] == pytest.approx(sum(line["seconds"] for line in lines))
    assert about["device"] == "cpu"


def test_the_folder_says_how_it_was_trained(whole: Path) -> None:
    assert json.loads((whole / CONFIG_FILE).read_text()) == asdict(TINY)


def test_every_epoch_is_told(tmp_path: Path) -> None:
    told: list[dict[str, float]] = []
    run_tiny(tmp_path, epoch_done=told.append)
    assert [metrics["epoch"] for metrics in told] == [1, 2, 3]


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
    ],
)
def test_too_few_of_anything_are_refused(name: str, least: int) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be at least {least}, found {least - 1}$"):
        TrainConfig(**{name: least - 1})  # type: ignore[arg-type]


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of leaps, p, pr, pl, found 'rl'"):
        TrainConfig("rl")


def test_the_papers_settings_are_the_default() -> None:
    config = TrainConfig(**PRESETS["paper"])
    assert (config.variant, config.batch, config.beta) == ("leaps", 256, 0.1)
    assert (config.learning_rate, config.rl_learning_rate) == (0.001, 0.0005)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_configurations(name: str) -> None:
    assert TrainConfig(**PRESETS[name]).epochs > 0
