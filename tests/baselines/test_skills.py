"""Skills: sequences come back from their latents, compiled code agrees with the network, trainings go on."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from leaps.baselines import skills as module
from leaps.baselines.skills import (
    ACTIONS,
    CHECKPOINT_FILE,
    END,
    SHIPPED,
    SKILLS_FILE,
    Actions,
    Progress,
    SkillDecoder,
    Skills,
    SkillsConfig,
    SkillsTrainer,
    action_sequences,
    judge,
    lengths_of,
    load_skills,
    save_skills,
    train_skills,
)
from leaps.dataset import DataConfig, make_dataset
from leaps.karel.world import LANGUAGE
from leaps.tensors import KEY, metadata, read_about

LONGEST = 4
SMALL = SkillsConfig(latent=3, hidden=8, max_length=LONGEST, epochs=2, batch=16, seed=3)
LEARNING = SkillsConfig(
    latent=4, hidden=32, max_length=LONGEST, beta=0.2, warm_up=0.5, learning_rate=1e-2, batch=64, epochs=60
)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def filled(*sequences: tuple[int, ...], length: int = LONGEST) -> Actions:
    rows = np.full((len(sequences), length), END, np.uint8)
    for row, sequence in zip(rows, sequences, strict=True):
        row[: len(sequence)] = sequence
    return rows


REPEATED = filled((), *((action,) * times for action in range(ACTIONS) for times in range(1, LONGEST + 1)))
"""every action, once to four times, and nothing at all"""


def fresh(config: SkillsConfig = SMALL, seed: int = 0, scale: float = 1.0) -> Skills:
    """A network that has learned nothing; a larger scale makes it decide more wildly."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        skills = Skills(config).eval()
    with torch.no_grad():
        for weight in skills.parameters():
            weight.mul_(scale)
    return skills


@cache
def taught() -> Skills:
    """Skills that know the repeated actions."""
    torch.set_num_threads(1)
    trainer = SkillsTrainer(LEARNING, np.repeat(REPEATED, 20, axis=0))
    while not trainer.finished:
        trainer.step()
    return trainer.skills.eval()


def latents(count: int, dimensions: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)


def weights(skills: Skills) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in skills.state_dict().values()])


def test_sequences_come_back_from_their_latents() -> None:
    before, after = judge(fresh(LEARNING), REPEATED), judge(taught(), REPEATED)
    assert before["exact"] < 0.2
    assert after["exact"] > 0.75
    assert after["actions"] > 0.75
    assert after["kl"] > np.log(len(REPEATED)) - 1  # nats: enough to tell them apart
    assert after["reconstruction"] < before["reconstruction"] / 4


def test_random_latents_decode_to_what_was_seen() -> None:
    found = SkillDecoder(taught())(latents(500, 4))
    seen = {row.tobytes() for row in REPEATED}
    known = [row.tobytes() for row in found if row.tobytes() in seen]
    assert len(known) > 250
    assert len(set(known)) > len(seen) / 2


def test_the_loss_is_what_it_costs_to_say_a_sequence() -> None:
    skills = fresh(scale=2.0)
    sequences = torch.from_numpy(REPEATED[[0, 3, 4, 9, 20]])  # nothing, some, and as long as can be
    noise = torch.from_numpy(latents(len(sequences), SMALL.latent))
    reconstruction, divergence = skills.loss(sequences, noise)
    costs, divergences = [], []
    for sequence, drawn in zip(sequences.tolist(), noise, strict=True):
        actions = [action for action in sequence if action != END]
        states, _ = skills.encoder.lstm(skills.encoder.embedding(torch.tensor([[END, *actions]])))
        mean, log_variance = skills.encoder.output(states[0, -1]).chunk(2)
        posterior = torch.distributions.Normal(mean, (log_variance / 2).exp())
        prior = torch.distributions.Normal(torch.zeros(3), torch.ones(3))
        divergences.append(torch.distributions.kl_divergence(posterior, prior).sum())
        said = [*actions, END][:LONGEST]
        features = skills.decoder.features(mean + posterior.scale * drawn).relu().expand(len(said), -1)
        before = skills.decoder.embedding(torch.tensor([END, *said[:-1]]))
        states, _ = skills.decoder.lstm(torch.cat([before, features], dim=1)[None])
        chances = skills.decoder.output(states[0]).log_softmax(dim=1)
        costs.append(-sum(chances[place, token] for place, token in enumerate(said)))
    assert torch.allclose(reconstruction, torch.stack(costs).mean(), atol=1e-5)
    assert torch.allclose(divergence, torch.stack(divergences).mean(), atol=1e-5)


@pytest.mark.parametrize(("hidden", "ending"), [(12, 2.0), (128, 0.0), (150, 0.0)])
@pytest.mark.parametrize("shortest", [0, 1, 3])
def test_the_compiled_decoder_writes_what_the_network_writes(
    hidden: int, ending: float, shortest: int
) -> None:
    config = SkillsConfig(hidden=hidden, max_length=40)
    skills = fresh(config, seed=hidden, scale=6.0)
    skills.decoder.output.bias.data[END] += ending  # so that some end soon, some late
    points = 2 * latents(300, 10)
    found = SkillDecoder(skills)(points, shortest)
    expected = skills.act_out(torch.from_numpy(points), shortest).numpy()
    same = (found == expected).all(axis=1)
    assert same.mean() > 0.98  # where two actions are equally likely, a rounding decides
    assert len(np.unique(lengths_of(found))) > 3
    assert lengths_of(found).min() >= shortest


def test_the_compiled_decoder_writes_what_the_trained_network_writes() -> None:
    points = latents(500, 4, seed=1)
    found = SkillDecoder(taught())(points)
    np.testing.assert_array_equal(found, taught().act_out(torch.from_numpy(points)).numpy())
    assert len(np.unique(found, axis=0)) > 10


def test_what_a_latent_decodes_to_does_not_depend_on_the_others() -> None:
    points, decode = latents(70, 4, seed=2), SkillDecoder(taught())
    alone = np.concatenate([decode(points[i : i + 1]) for i in range(len(points))])
    np.testing.assert_array_equal(decode(points), alone)
    assert decode(points[:0]).shape == (0, LONGEST)


def test_after_the_end_comes_nothing_more() -> None:
    for skills in (taught(), fresh(scale=6.0, seed=5)):
        points = latents(300, skills.config.latent)
        for found in (SkillDecoder(skills)(points), skills.act_out(torch.from_numpy(points)).numpy()):
            ended = np.maximum.accumulate(found == END, axis=1)
            assert (found[ended] == END).all()


def test_latents_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("latents should be [n, 4], found [2, 5]")):
        SkillDecoder(taught())(latents(2, 5))


def test_the_sequences_are_what_the_programs_did() -> None:
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


def test_an_epoch_takes_every_sequence_once_in_another_order() -> None:
    trainer = SkillsTrainer(SMALL, REPEATED)
    first = trainer._epoch_batches()
    while trainer.epoch < 1:
        trainer.step()
    second = trainer._epoch_batches()
    assert [len(batch) for batch in first] == [16, 5]
    for batches in (first, second):
        assert sorted(np.concatenate(batches).tolist()) == list(range(len(REPEATED)))
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()


def test_the_same_seed_is_the_same_training() -> None:
    found = []
    for seed in (1, 1, 2):
        trainer = SkillsTrainer(replace(SMALL, seed=seed), REPEATED)
        torch.rand(7)  # whatever else uses torch's own numbers
        trainer.step()
        torch.manual_seed(7)
        trainer.step()
        found.append(weights(trainer.skills))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_every_update_draws_other_latents(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """Someone has had enough."""


@pytest.mark.parametrize("after", [1, 2, 3, 5])
def test_an_interrupted_training_goes_on_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    monkeypatch.setattr(module, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(module, "TELL_EVERY", 1)
    config = replace(SMALL, epochs=3)

    def give_up(progress: Progress) -> None:
        if (progress.epoch - 1) * progress.updates + progress.update > after:
            raise EnoughError

    straight = train_skills(config, REPEATED, REPEATED, tmp_path / "a")
    with pytest.raises(EnoughError):
        train_skills(config, REPEATED, REPEATED, tmp_path / "b", listener=give_up)
    told: list[Progress] = []
    assert not (tmp_path / "b" / SKILLS_FILE).exists()
    assert train_skills(config, REPEATED, REPEATED, tmp_path / "b", listener=told.append) == straight
    assert len(told) == 6 - after
    assert (tmp_path / "a" / SKILLS_FILE).read_bytes() == (tmp_path / "b" / SKILLS_FILE).read_bytes()


def test_a_training_that_ran_out_of_time_goes_on_the_same(tmp_path: Path) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path / "a", seconds=0.0)
    assert read_about(tmp_path / "a" / SKILLS_FILE)["updates"] == 0
    found = train_skills(SMALL, REPEATED, REPEATED, tmp_path / "a")
    assert found == train_skills(SMALL, REPEATED, REPEATED, tmp_path / "b")
    assert (tmp_path / "a" / SKILLS_FILE).read_bytes() == (tmp_path / "b" / SKILLS_FILE).read_bytes()


def test_a_training_tells_how_it_fares(tmp_path: Path) -> None:
    told: list[Progress] = []
    result = train_skills(SMALL, REPEATED, REPEATED[:, :3], tmp_path, listener=told.append)
    assert [(progress.epoch, progress.update, progress.updates) for progress in told] == [
        (1, 2, 2),
        (2, 2, 2),
    ]
    for name, value in result.items():
        assert told[-1].metrics[f"held_out_{name}"] == value
    assert set(result) == {"exact", "actions", "reconstruction", "kl"}
    assert read_about(tmp_path / SKILLS_FILE)["metrics"] == result


def test_the_learning_rate_falls_in_the_last_quarter_and_beta_rises_in_the_first() -> None:
    config = replace(SMALL, epochs=4, batch=21, learning_rate=0.01)  # an update an epoch
    trainer = SkillsTrainer(config, REPEATED)
    rates = []
    while not trainer.finished:
        trainer.step()
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    assert rates == [0.01, 0.01, 0.01, 0.01]  # of the last quarter, all is left when its only update begins
    trainer = SkillsTrainer(replace(config, epochs=8), REPEATED)
    while not trainer.finished:
        trainer.step()
    assert trainer.optimizer.param_groups[0]["lr"] == pytest.approx(0.005)

    def moved(beta: float, warm_up: float) -> torch.Tensor:
        trainer = SkillsTrainer(replace(config, beta=beta, warm_up=warm_up), REPEATED)
        trainer.step()
        return weights(trainer.skills)

    assert torch.equal(moved(1.0, 0.25), moved(0.0, 0.0))  # beta is 0 at first …
    assert not torch.equal(moved(1.0, 0.0), moved(0.0, 0.0))  # … unless it needn't warm up


@pytest.mark.parametrize(
    ("config", "sequences", "said"),
    [
        (replace(SMALL, beta=0.5), REPEATED, "beta=1.0, not 0.5"),
        (replace(SMALL, seed=4), REPEATED, "seed=3, not 4"),
        (SMALL, REPEATED[1:], "data='[0-9a-f]+', not '[0-9a-f]+'"),
    ],
)
def test_the_folder_of_another_training_is_refused(
    tmp_path: Path, config: SkillsConfig, sequences: Actions, said: str
) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path)
    with pytest.raises(ValueError, match=f"is of a training with {said}; use another folder"):
        train_skills(config, sequences, REPEATED, tmp_path)


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path)
    file = tmp_path / CHECKPOINT_FILE
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"damaged or of another version .*; remove it to begin anew"):
        train_skills(SMALL, REPEATED, REPEATED, tmp_path)


def test_a_checkpoint_of_another_version_is_refused(tmp_path: Path) -> None:
    train_skills(SMALL, REPEATED, REPEATED, tmp_path)
    file = tmp_path / CHECKPOINT_FILE
    saved = torch.load(file, weights_only=True)
    torch.save({**saved, "version": "0.0.0"}, file)
    with pytest.raises(ValueError, match=r"of another version \(0\.0\.0, not"):
        train_skills(SMALL, REPEATED, REPEATED, tmp_path)


def test_skills_are_read_as_they_were_written(tmp_path: Path) -> None:
    save_skills(taught(), tmp_path / "a", {"said": 1})
    again = load_skills(tmp_path / "a")
    assert again.config == LEARNING
    assert torch.equal(weights(again), weights(taught()))
    assert read_about(tmp_path / "a")["said"] == 1


def test_a_file_of_the_papers_size_is_small(tmp_path: Path) -> None:
    save_skills(Skills(SkillsConfig()), tmp_path / "a")
    assert (tmp_path / "a").stat().st_size < 2.5e6


def test_the_skills_that_come_with_the_package_are_many() -> None:
    about = read_about(SHIPPED)
    assert about["metrics"]["exact"] > 0.5
    skills = load_skills()
    assert skills.config.latent == 10
    points = latents(500, 10)
    found = SkillDecoder(skills)(points)
    assert len(np.unique(found, axis=0)) > 100
    same = (found == skills.act_out(torch.from_numpy(points)).numpy()).all(axis=1)
    assert same.mean() > 0.98
    assert SHIPPED.stat().st_size < 2.5e6


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no skills: .*none\.safetensors is missing"):
        load_skills(tmp_path / "none.safetensors")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a"
    save_skills(fresh(), file)
    whole, about = file.read_bytes(), read_about(file)
    tensors = {name: tensor.clone() for name, tensor in load_file(file).items()}  # not a view of the file
    file.write_bytes(whole[:200])
    with pytest.raises(ValueError, match="damaged"):
        load_skills(file)
    save_file(tensors, file, metadata(about | {"skills": {"hidden": 8}}))
    with pytest.raises(ValueError, match="damaged or of another version"):
        load_skills(file)
    save_file(tensors, file, metadata(about | {"skills": {"colour": 8}}))
    with pytest.raises(ValueError, match=r"damaged or of another version .*colour"):
        load_skills(file)
    save_file(
        {name: tensor for name, tensor in tensors.items() if "output" not in name}, file, metadata(about)
    )
    with pytest.raises(ValueError, match="damaged or of another version"):
        load_skills(file)
    save_file(tensors, file, metadata(about | {"actions": ["fly", *LANGUAGE.actions]}))
    with pytest.raises(ValueError, match=r"expected skills of the actions move, .*, found \['fly', 'move'"):
        load_skills(file)
    save_file(tensors, file, {KEY: "[]"})
    with pytest.raises(ValueError, match="damaged"):
        load_skills(file)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"latent": 0}, "latent must be at least 1, found 0"),
        ({"epochs": 0}, "epochs must be at least 1, found 0"),
        ({"batch": -2}, "batch must be at least 1, found -2"),
        ({"layers": 3}, "2 layers, found layers=3"),
        ({"latent": 20, "hidden": 10}, "expected latent ≤ hidden, found 20 and 10"),
        ({"beta": -1.0}, "expected beta ≥ 0"),
        ({"learning_rate": 0.0}, "learning_rate > 0"),
        ({"warm_up": 1.5}, "warm_up from 0 to 1"),
        ({"seed": -1}, "seed must be from 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SkillsConfig(**settings)


@pytest.mark.parametrize(
    ("sequences", "said"),
    [
        (REPEATED.astype(np.int64), r"expected sequences \[n, t\] of uint8, found \[21, 4\] of int64"),
        (REPEATED[:0], r"found \[0, 4\]"),
        (REPEATED[0], r"found \[4\]"),
        (REPEATED + np.uint8(1), "actions are 0 to 4, filled up with 5; found 6"),
        (filled((0,) * 7, length=9), "max_length=4, but a sequence has 7 actions"),
    ],
)
def test_what_are_no_sequences_is_refused(sequences: Actions, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        train_skills(SMALL, sequences, REPEATED, tmp_path)


def test_no_held_out_sequences_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected held-out sequences \[n, t\], found \[0, 4\]"):
        train_skills(SMALL, REPEATED, REPEATED[:0], tmp_path)


def test_skills_can_be_trained_where_the_libraries_are_not_installed() -> None:
    code = (
        "import sys, importlib.util\n"
        "for name in ('gymnasium', 'stable_baselines3', 'sb3_contrib'):\n"
        "    sys.modules[name] = None\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'gymnasium' else find(name, *rest)\n"
        "import leaps.baselines.skills as skills\n"
        "print(skills.SkillsConfig().latent)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "10"
