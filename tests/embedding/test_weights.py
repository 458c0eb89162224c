"""Weight files: round trips, and errors for files that don't fit."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save

from leaps import __version__
from leaps.base.tensors import metadata, read_about
from leaps.dsl.language import Language
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.embedding.weights import load_weights, round_weights, save_weights
from leaps.karel.world import LANGUAGE
from tests.embedding.helpers import GRID, drawn, placed, tokens_of, untrained
from tests.hoover import HOOVER


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of good weights."""
    save_weights(untrained(), tmp_path / "weights.safetensors")
    return tmp_path / "weights.safetensors"


def rewrite(file: Path, **changes: object) -> None:
    """Change the metadata of a file."""
    file.write_bytes(save(load(file.read_bytes()), metadata(read_about(file) | changes)))


def names(file: Path) -> set[str]:
    with safe_open(file, "pt") as opened:
        return set(opened.keys())


# Round trips


@pytest.mark.parametrize("policy", [True, False])
def test_weights_survive_a_round_trip(tmp_path: Path, policy: bool) -> None:
    space = placed(untrained(12, max_length=30, policy=policy))
    save_weights(space, tmp_path / "new" / "w.safetensors")
    loaded = load_weights(tmp_path / "new" / "w.safetensors")
    assert loaded.config == space.config
    before, after = space.state_dict(), loaded.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_loaded_space_decodes_like_the_saved_one(file: Path) -> None:
    latent = drawn(20, 8)
    assert torch.equal(load_weights(file).decode(latent), untrained().decode(latent))


def test_a_loaded_space_encodes_like_the_saved_one(file: Path) -> None:
    tokens = tokens_of("move", "WHILE c( frontIsClear c) w( move w)")
    assert torch.equal(load_weights(file).encode(tokens), untrained().encode(tokens))


def test_a_loaded_space_is_in_evaluation_mode(file: Path) -> None:
    assert not load_weights(file).training


def test_without_the_policy_there_are_no_policy_tensors(tmp_path: Path) -> None:
    space = untrained()
    save_weights(space, tmp_path / "with")
    save_weights(space, tmp_path / "without", for_search=True)
    assert names(tmp_path / "without") == {n for n in names(tmp_path / "with") if not n.startswith("policy.")}
    assert names(tmp_path / "with") != names(tmp_path / "without")


def test_weights_for_searching_decode_like_the_rounded_network(tmp_path: Path) -> None:
    space = placed(untrained(12, max_length=30))
    save_weights(space, tmp_path / "w", for_search=True)
    loaded = load_weights(tmp_path / "w")
    assert loaded.policy is None
    round_weights(space)
    assert torch.equal(loaded.decode(drawn(20, 12)), space.decode(drawn(20, 12)))


def test_rounding_changes_networks_a_little_and_coordinates_not_at_all() -> None:
    space, rounded = placed(untrained(12)), placed(untrained(12))
    round_weights(rounded)
    before, after = space.state_dict(), rounded.state_dict()
    changed = {name.partition(".")[0] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"encoder", "decoder"}
    assert all(
        torch.allclose(before[name].float(), after[name].float(), rtol=1e-3, atol=1e-6) for name in before
    )


def test_the_space_keeps_its_policy_when_it_is_saved_without(tmp_path: Path) -> None:
    space = untrained()
    save_weights(space, tmp_path / "w", for_search=True)
    assert space.config.policy
    assert space.policy is not None


# Metadata


def test_the_file_names_vocabulary_sizes_and_version(file: Path) -> None:
    about = read_about(file)
    assert about["vocabulary"] == list(LANGUAGE.tokens)
    assert ModelConfig(**about["model"]) == ModelConfig(8, 8)
    assert about["version"] == __version__


@pytest.mark.parametrize("embedding", [3, 50])
def test_the_size_of_token_embeddings_is_loaded(tmp_path: Path, embedding: int) -> None:
    space = ProgramSpace(LANGUAGE, ModelConfig(8, 8, embedding=embedding))
    save_weights(space, tmp_path / "w")
    loaded = load_weights(tmp_path / "w")
    assert read_about(tmp_path / "w")["model"]["embedding"] == embedding
    assert loaded.config.embedding == loaded.decoder.embedding.embedding_dim == embedding
    assert torch.equal(loaded.decode(drawn(20, 8)), space.decode(drawn(20, 8)))


def test_the_file_contains_the_given_metadata(tmp_path: Path) -> None:
    given = {"training": {"epochs": 3, "programs": None}, "metrics": [0.5, "a night"]}
    save_weights(untrained(), tmp_path / "w", given)
    assert read_about(tmp_path / "w").items() >= given.items()


def test_given_metadata_never_overrides_the_files_own(tmp_path: Path) -> None:
    given = {"vocabulary": ["move"], "model": asdict(ModelConfig(16, 16)), "version": "0", "training": "none"}
    save_weights(untrained(), tmp_path / "w", given)
    about = read_about(tmp_path / "w")
    assert about["vocabulary"] == list(LANGUAGE.tokens)
    assert (ModelConfig(**about["model"]), about["version"]) == (ModelConfig(8, 8), __version__)
    assert about["training"] == "none"


def test_metadata_can_be_saved_again_without_the_policy(file: Path) -> None:
    save_weights(load_weights(file), file, read_about(file), for_search=True)
    assert load_weights(file).policy is None


def test_the_metadata_states_whether_there_is_a_policy(tmp_path: Path) -> None:
    save_weights(untrained(), tmp_path / "w", for_search=True)
    assert read_about(tmp_path / "w")["model"] == asdict(untrained().config) | {"policy": False}


def test_the_same_weights_give_the_same_file(tmp_path: Path) -> None:
    contents = set()
    for number in range(20):
        save_weights(untrained(), tmp_path / str(number))
        contents.add((tmp_path / str(number)).read_bytes())
    assert len(contents) == 1


# Errors


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.safetensors"):
        load_weights(tmp_path / "nowhere.safetensors")


@pytest.mark.parametrize("kept", [0, 5, 8, 200, 5000, -1])
def test_a_truncated_file_raises(file: Path, kept: int) -> None:
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ValueError, match=f"{file} is damaged, or not a file of LEAPS"):
        load_weights(file)


@pytest.mark.parametrize("seed", range(5))
def test_a_file_of_noise_raises(file: Path, seed: int) -> None:
    file.write_bytes(np.random.default_rng(seed).bytes(5000))
    with pytest.raises(ValueError, match=f"{file} is damaged, or not a file of LEAPS"):
        load_weights(file)


def test_a_file_of_other_tensors_raises(file: Path) -> None:
    file.write_bytes(save({"x": torch.zeros(3)}))
    with pytest.raises(ValueError, match=f"{file} is damaged, or not a file of LEAPS"):
        load_weights(file)


@pytest.mark.parametrize("model", ["", [], None, {"colour": "red"}, {"latent": 3, "hidden": 4}])
def test_a_file_of_another_model_raises(file: Path, model: object) -> None:
    rewrite(file, model=model)
    with pytest.raises(ValueError, match="is damaged or holds no weights"):
        load_weights(file)


def test_another_vocabulary_raises_with_the_differences(file: Path) -> None:
    rewrite(file, vocabulary=["paint" if token == "putMarker" else token for token in LANGUAGE.tokens])
    message = "is a program space of another language: it has paint and lacks putMarker"
    with pytest.raises(ValueError, match=message):
        load_weights(file, language=LANGUAGE)
    assert "paint" in load_weights(file).language.actions


def test_other_perceptions_actions_and_repeats_are_named(file: Path) -> None:
    other = Language(("move", "dig"), LANGUAGE.perceptions[:3], 2)
    with pytest.raises(
        ValueError, match="it has turnRight, turnLeft, pickMarker, putMarker, R=3 and 18 more and lacks dig"
    ):
        load_weights(file, language=other)


def test_other_opposites_are_named(file: Path) -> None:
    other = replace(LANGUAGE, opposites=())
    with pytest.raises(ValueError, match=r"its opposites are .*noMarkersPresent.*, expected \[\]"):
        load_weights(file, language=other)


def test_words_in_another_order_are_another_language(file: Path) -> None:
    other = replace(LANGUAGE, actions=LANGUAGE.actions[::-1])
    with pytest.raises(ValueError, match="it has the same words in another order"):
        load_weights(file, language=other)


def test_a_file_of_an_earlier_version_has_karels_grid_and_no_opposites(tmp_path: Path) -> None:
    save_weights(untrained(), tmp_path / "w")
    about = read_about(tmp_path / "w")
    del about["opposites"], about["observation"]
    (tmp_path / "w").write_bytes(save(load((tmp_path / "w").read_bytes()), metadata(about)))
    loaded = load_weights(tmp_path / "w", language=LANGUAGE)
    assert loaded.observation == GRID
    assert loaded.language == replace(LANGUAGE, opposites=())


def test_language_and_observation_shape_survive_a_round_trip(tmp_path: Path) -> None:
    space = ProgramSpace(HOOVER.language, ModelConfig(8, 8))
    save_weights(space, tmp_path / "w")
    loaded = load_weights(tmp_path / "w", language=HOOVER.language)
    assert (loaded.language, loaded.observation) == (HOOVER.language, (2,))
    assert torch.equal(loaded.decode(drawn(20, 8)), space.decode(drawn(20, 8)))


def test_a_shorter_vocabulary_raises_with_the_missing_words(file: Path) -> None:
    rewrite(file, vocabulary=LANGUAGE.tokens[:-1])
    with pytest.raises(ValueError, match=r"is damaged or holds no weights \(expected the tokens of"):
        load_weights(file)


def test_the_same_tokens_in_another_order_raise(file: Path) -> None:
    rewrite(file, vocabulary=LANGUAGE.tokens[::-1])
    with pytest.raises(ValueError, match=r"is damaged or holds no weights \(expected the tokens of"):
        load_weights(file)


def test_a_tensor_of_the_wrong_shape_is_named(file: Path) -> None:
    tensors = load(file.read_bytes())
    tensors["encoder.mean.weight"] = torch.zeros(8, 9)
    file.write_bytes(save(tensors, metadata(read_about(file))))
    with pytest.raises(ValueError, match=r"encoder\.mean\.weight should be \(8, 8\), found \(8, 9\)"):
        load_weights(file)


@pytest.mark.parametrize(("name", "size"), [("decoder.gru.bias_hh_l0", 24), ("coordinates.centre", 8)])
def test_a_missing_tensor_is_named(file: Path, name: str, size: int) -> None:
    tensors = load(file.read_bytes())
    del tensors[name]
    file.write_bytes(save(tensors, metadata(read_about(file))))
    with pytest.raises(ValueError, match=rf"{re.escape(name)} should be \({size},\), found None"):
        load_weights(file)


def test_an_extra_tensor_is_named(file: Path) -> None:
    tensors = load(file.read_bytes()) | {"extra": torch.zeros(3)}
    file.write_bytes(save(tensors, metadata(read_about(file))))
    with pytest.raises(ValueError, match=r"extra should be None, found \(3,\)"):
        load_weights(file)


def test_sizes_that_do_not_match_the_tensors_raise(file: Path) -> None:
    rewrite(file, model={"latent": 16, "hidden": 16})
    with pytest.raises(ValueError, match=r"coordinates\.axes should be \(16, 16\), found \(8, 8\)"):
        load_weights(file)


def test_a_data_set_is_not_accepted_as_weights(file: Path) -> None:
    about = {"vocabulary": LANGUAGE.tokens, "config": {"programs": 20}}
    file.write_bytes(save({"tokens": torch.zeros(3)}, metadata(about)))
    with pytest.raises(ValueError, match=f"{file} is damaged or holds no weights"):
        load_weights(file)
