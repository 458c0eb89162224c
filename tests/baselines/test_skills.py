"""Skills: the compiled decoder equals the network, and loaded skills equal the saved ones."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from leaps.base.tensors import KEY, metadata, read_about
from leaps.baselines.skills import (
    END,
    SHIPPED,
    SkillDecoder,
    Skills,
    SkillsConfig,
    lengths_of,
    load_skills,
    save_skills,
)
from leaps.karel.world import LANGUAGE
from tests.baselines.helpers import (
    LEARNING,
    LONGEST,
    REPEATED,
    SMALL,
    act_out,
    fresh,
    latents,
    taught,
    weights,
)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_random_latents_decode_to_training_sequences() -> None:
    found = SkillDecoder(taught())(latents(500, 4))
    seen = {row.tobytes() for row in REPEATED}
    known = [row.tobytes() for row in found if row.tobytes() in seen]
    assert len(known) > 250
    assert len(set(known)) > len(seen) / 2


def test_loss_is_the_negative_log_likelihood_and_the_divergence() -> None:
    skills = fresh(scale=2.0)
    sequences = torch.from_numpy(REPEATED[[0, 3, 4, 9, 20]])  # empty, short, and of the maximum length
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
        tokens = [*actions, END][:LONGEST]
        features = skills.decoder.features(mean + posterior.scale * drawn).relu().expand(len(tokens), -1)
        before = skills.decoder.embedding(torch.tensor([END, *tokens[:-1]]))
        states, _ = skills.decoder.lstm(torch.cat([before, features], dim=1)[None])
        log_probs = skills.decoder.output(states[0]).log_softmax(dim=1)
        costs.append(-sum(log_probs[index, token] for index, token in enumerate(tokens)))
    assert torch.allclose(reconstruction, torch.stack(costs).mean(), atol=1e-5)
    assert torch.allclose(divergence, torch.stack(divergences).mean(), atol=1e-5)


@pytest.mark.parametrize(("hidden", "ending"), [(12, 2.0), (128, 0.0), (150, 0.0)])
@pytest.mark.parametrize("shortest", [0, 1, 3])
def test_compiled_decoder_equals_the_network(hidden: int, ending: float, shortest: int) -> None:
    config = SkillsConfig(hidden=hidden, max_length=40)
    skills = fresh(config, seed=hidden, scale=6.0)
    skills.decoder.output.bias.data[END] += ending  # so that lengths vary
    points = 2 * latents(300, 10)
    found = SkillDecoder(skills)(points, shortest)
    expected = act_out(skills, points, shortest)
    same = (found == expected).all(axis=1)
    assert same.mean() > 0.98  # where two actions are equally likely, a rounding decides
    assert len(np.unique(lengths_of(found))) > 3
    assert lengths_of(found).min() >= shortest


def test_compiled_decoder_equals_the_trained_network() -> None:
    points = latents(500, 4, seed=1)
    found = SkillDecoder(taught())(points)
    np.testing.assert_array_equal(found, act_out(taught(), points))
    assert len(np.unique(found, axis=0)) > 10


def test_decoding_does_not_depend_on_the_rest_of_the_batch() -> None:
    points, decode = latents(70, 4, seed=2), SkillDecoder(taught())
    alone = np.concatenate([decode(points[i : i + 1]) for i in range(len(points))])
    np.testing.assert_array_equal(decode(points), alone)
    assert decode(points[:0]).shape == (0, LONGEST)


def test_only_end_tokens_follow_the_first_end() -> None:
    for skills in (taught(), fresh(scale=6.0, seed=5)):
        points = latents(300, skills.config.latent)
        for found in (SkillDecoder(skills)(points), act_out(skills, points)):
            ended = np.maximum.accumulate(found == END, axis=1)
            assert (found[ended] == END).all()


def test_latents_of_another_size_raise() -> None:
    with pytest.raises(ValueError, match=re.escape("expected latents [n, 4], found [2, 5]")):
        SkillDecoder(taught())(latents(2, 5))


def test_loaded_skills_equal_the_saved_ones(tmp_path: Path) -> None:
    save_skills(taught(), tmp_path / "a", {"note": 1})
    again = load_skills(tmp_path / "a")
    assert again.config == LEARNING
    assert torch.equal(weights(again), weights(taught()))
    assert read_about(tmp_path / "a")["note"] == 1


def test_a_file_of_the_papers_size_is_small(tmp_path: Path) -> None:
    save_skills(Skills(SkillsConfig()), tmp_path / "a")
    assert (tmp_path / "a").stat().st_size < 2.5e6


def test_shipped_skills_are_diverse() -> None:
    about = read_about(SHIPPED)
    assert about["metrics"]["exact"] > 0.5
    skills = load_skills()
    assert skills.config.latent == 10
    points = latents(500, 10)
    found = SkillDecoder(skills)(points)
    assert len(np.unique(found, axis=0)) > 100
    same = (found == act_out(skills, points)).all(axis=1)
    assert same.mean() > 0.98
    assert SHIPPED.stat().st_size < 2.5e6


def test_missing_file_raises_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no skills: .*none\.safetensors is missing"):
        load_skills(tmp_path / "none.safetensors")


def test_damaged_files_raise(tmp_path: Path) -> None:
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
    ("settings", "message"),
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
def test_settings_out_of_range_raise(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SkillsConfig(**settings)
