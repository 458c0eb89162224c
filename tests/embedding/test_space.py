"""A space encodes programs in any form, decodes them, and raises for invalid input."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from leaps.dsl.text import PREFIX, parse
from leaps.embedding import space as module
from leaps.embedding.judge import same_programs
from leaps.embedding.model import Coordinates, ModelConfig
from leaps.embedding.space import SHIPPED, Space
from leaps.embedding.train import VARIANTS, WEIGHTS_FILE, TrainConfig, train
from leaps.embedding.weights import save_weights
from leaps.karel.dataset import DataConfig, unique_programs
from leaps.karel.world import KAREL, LANGUAGE
from tests.embedding.helpers import (
    CPU,
    drawn,
    needs_shipped_weights,
    placed,
    shipped,
    short_programs,
    untrained,
)

PROGRAMS = [
    "DEF run m( move m)",
    "DEF run m( turnLeft putMarker m)",
    "DEF run m( WHILE c( frontIsClear c) w( move w) m)",
    "DEF run m( IFELSE c( markersPresent c) i( pickMarker i) ELSE e( move e) turnRight m)",
    "DEF run m( REPEAT R=3 r( move turnLeft r) m)",
]


@pytest.fixture
def space(tmp_path: Path) -> Space:
    """Eight dimensions, for programs of 20 tokens, not trained, but with coordinates of its own."""
    save_weights(placed(untrained(max_length=20)), tmp_path / "weights", {"training": "none"})
    return Space(tmp_path / "weights")


def points(count: int, dimensions: int = 8) -> NDArray[np.float32]:
    return drawn(count, dimensions).numpy()


# Trained spaces


@needs_shipped_weights
@pytest.mark.parametrize("variant", VARIANTS)
def test_decoding_a_programs_point_gives_the_program(variant: str) -> None:
    space = shipped(variant)
    assert [space.text(tokens) for tokens in space.decode(space.encode(PROGRAMS))] == PROGRAMS


@needs_shipped_weights
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_shipped_space_has_the_variant_of_its_name(variant: str) -> None:
    assert shipped(variant).about["training"]["variant"] == variant


@needs_shipped_weights
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_shipped_file_is_small(variant: str) -> None:
    assert shipped(variant).file.stat().st_size <= 8_000_000


@needs_shipped_weights
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_shipped_file_has_its_settings_and_metrics(variant: str) -> None:
    about = shipped(variant).about
    training, data, metrics, test = (about[name] for name in ("training", "data", "metrics", "test"))
    assert TrainConfig(**training | {"model": ModelConfig(**training["model"])}) == TrainConfig(variant)
    assert DataConfig(**data) == DataConfig()
    assert 1 <= metrics["epoch"] <= training["epochs"]
    assert test.keys() == {
        name.removeprefix("validation_") for name in metrics if name.startswith("validation_")
    }
    assert all(0.9 < test[name] <= 1 for name in ("exact", "behaviour"))
    assert about["seconds"] > metrics["seconds"] > 0
    assert about["device"]


@cache
def fresh_programs() -> NDArray[np.uint8]:
    """300 programs of at most 44 tokens, drawn as the shipped spaces' own were, but none of those."""
    known = {row.tobytes() for row in unique_programs(DataConfig())}
    drawn_anew = unique_programs(DataConfig(programs=1000, seed=20_000))
    return np.stack([row for row in drawn_anew if row.tobytes() not in known][:300])


@needs_shipped_weights
@pytest.mark.parametrize("variant", VARIANTS)
def test_nearly_all_fresh_programs_are_reconstructed(variant: str) -> None:
    space, programs = shipped(variant), fresh_programs()
    assert len(programs) == 300
    assert same_programs(space.decode(space.encode(programs)), programs, LANGUAGE.pad).mean() >= 0.9


@needs_shipped_weights
@pytest.mark.parametrize("variant", VARIANTS)
def test_fresh_programs_lie_around_the_origin_of_a_shipped_space(variant: str) -> None:
    points = shipped(variant).encode(fresh_programs())
    assert np.abs(points.mean(axis=0)).max() < 0.25
    # Not along all axes: the shortest have a minimum length, above the programs' standard deviation.
    assert (np.abs(points.std(axis=0) - 1 / Coordinates.UNIT) < 0.15).mean() > 0.9


@needs_shipped_weights
def test_a_shipped_space_has_the_papers_sizes() -> None:
    assert (shipped().dimensions, shipped().longest) == (256, 45)


@needs_shipped_weights
def test_the_space_of_all_three_losses_is_the_default() -> None:
    assert Space.load().file == SHIPPED / "leaps.safetensors"


@needs_shipped_weights
def test_a_variants_name_has_priority_over_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p").mkdir()
    assert Space.load("p").file == SHIPPED / "p.safetensors"


# Loading


def test_a_file_of_weights_is_loaded_by_its_name(space: Space) -> None:
    loaded = Space.load(str(space.file))
    assert np.array_equal(loaded.encode(PROGRAMS), space.encode(PROGRAMS))


def test_the_folder_of_a_training_is_loaded(tmp_path: Path) -> None:
    config = TrainConfig(
        "p", epochs=1, batch=60, programs=60, validation_programs=5, model=ModelConfig(8, 8, 15)
    )
    train(config, short_programs(), tmp_path, CPU)
    loaded = Space.load(tmp_path)
    assert loaded.file == tmp_path / WEIGHTS_FILE
    assert (loaded.dimensions, loaded.longest) == (8, 15)


def test_a_space_has_the_metadata_of_its_file(space: Space) -> None:
    assert space.about["training"] == "none"


@pytest.mark.parametrize("name", ["leap", "LEAPS", "", "some/where.safetensors"])
def test_an_unknown_name_raises_with_what_was_expected(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=f"no weights at '{name}'; expected leaps, p, pr, pl, a file of"):
        Space.load(name)


def test_a_folder_without_weights_raises_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"no weights at '{tmp_path}'; .* or a folder of `leaps train`"):
        Space.load(tmp_path)


def test_a_damaged_file_raises(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(ValueError, match="noise is damaged, or not a file of LEAPS"):
        Space.load(tmp_path / "noise")


# Programs to points


def test_a_point_is_that_of_the_network(space: Space) -> None:
    tokens = LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in PROGRAMS])
    with torch.no_grad():
        expected = space.network.encode(torch.from_numpy(tokens)).numpy()
    assert np.array_equal(space.encode(PROGRAMS), expected)


def test_the_latent_of_a_programs_point_is_the_encoders_mean(space: Space) -> None:
    body = torch.from_numpy(LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in PROGRAMS]).astype(int))
    body = body[:, len(PREFIX) :]
    with torch.no_grad():
        mean, _ = space.network.encoder(body, (body != LANGUAGE.pad).sum(dim=1))
    found = space.encode(PROGRAMS)
    assert space.latent(found) == pytest.approx(mean.numpy(), abs=1e-5)
    assert np.abs(found - mean.numpy()).max() > 0.1  # or points could be latents


def test_latents_are_computed_for_points_in_any_precision(space: Space) -> None:
    expected = space.latent(points(20))
    assert expected.dtype == np.float32
    assert space.latent(points(20).astype(np.float64)) == pytest.approx(expected, abs=1e-5)
    assert space.latent(np.asfortranarray(points(20))) == pytest.approx(expected, abs=1e-5)


def test_texts_trees_and_tokens_have_the_same_points(space: Space) -> None:
    texts = space.encode(PROGRAMS)
    trees = space.encode([parse(text, LANGUAGE) for text in PROGRAMS])
    tokens = space.encode(LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in PROGRAMS]))
    assert np.array_equal(texts, trees)
    assert np.array_equal(texts, tokens)


def test_a_comment_does_not_change_the_point(space: Space) -> None:
    commented = "DEF run m( # walk\n  move\nm)"
    assert np.array_equal(space.encode([commented]), space.encode(["DEF run m( move m)"]))


def test_points_do_not_depend_on_the_batch(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = np.concatenate([space.encode([program]) for program in PROGRAMS])
    monkeypatch.setattr(module, "BATCH", 2)
    assert np.allclose(space.encode(PROGRAMS), alone, atol=1e-6)


READ_ONLY = """
import sys
import numpy as np
from leaps.embedding.space import Space
tokens = np.array([[0, 1, 2, 4, 3]], np.uint8)
tokens.flags.writeable = False  # as those of make_dataset are
Space.load(sys.argv[1]).encode(tokens)
"""


def test_read_only_tokens_are_encoded_without_a_warning(space: Space) -> None:
    command = [sys.executable, "-c", READ_ONLY, str(space.file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_encoding_an_empty_list_gives_no_points(space: Space) -> None:
    assert space.encode([]).shape == (0, 8)


def test_an_invalid_row_is_named(space: Space) -> None:
    tokens = LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in PROGRAMS])
    tokens[3, 2] = LANGUAGE.pad
    with pytest.raises(ValueError, match=r"^row 3 is not a program$"):
        space.encode(tokens)


def test_an_invalid_program_text_raises(space: Space) -> None:
    with pytest.raises(ValueError, match="row 1 is not a program"):
        space.encode(["DEF run m( move m)", "DEF run m( move"])


def test_an_unknown_word_raises_with_a_suggestion(space: Space) -> None:
    with pytest.raises(ValueError, match="did you mean 'move'"):
        space.encode(["DEF run m( mvoe m)"])


def test_one_dimensional_tokens_raise(space: Space) -> None:
    with pytest.raises(ValueError, match=re.escape("expected uint8[programs, length], found uint8[5]")):
        space.encode(LANGUAGE.encode(PROGRAMS[0].split()))


# Points to programs


def test_a_space_decodes_like_its_network(space: Space) -> None:
    expected = space.network.decode(torch.from_numpy(points(50))).numpy()
    found = space.decode(points(50))
    assert np.array_equal(found[:, : expected.shape[1]], expected)
    assert (found[:, expected.shape[1] :] == LANGUAGE.pad).all()


def test_the_precision_and_memory_order_of_points_do_not_matter(space: Space) -> None:
    expected = space.decode(points(20))
    assert np.array_equal(space.decode(points(20).astype(np.float64)), expected)
    assert np.array_equal(space.decode(np.asfortranarray(points(20))), expected)


def test_a_program_has_at_most_the_models_tokens_if_no_limit_is_given(space: Space) -> None:
    assert space.decode(points(5)).shape == (5, 20)


@pytest.mark.parametrize("max_length", [5, 6, 12, 20, 60])
def test_every_point_decodes_to_a_program_within_the_limit(space: Space, max_length: int) -> None:
    tokens = space.decode(points(50), max_length)
    assert tokens.shape == (50, max_length)
    assert (KAREL.compile(tokens).entry >= 0).all()


@pytest.mark.parametrize("max_length", [-1, 0, 4, 401])
def test_a_limit_that_no_program_can_meet_raises(space: Space, max_length: int) -> None:
    with pytest.raises(ValueError, match=f"max_length={max_length}: 5 to 400 tokens can be decoded"):
        space.decode(points(5), max_length)


@pytest.mark.parametrize("shape", [(8,), (3, 7), (3, 9), (2, 3, 8), (0,)])
def test_points_of_another_shape_raise_with_the_shape(space: Space, shape: tuple[int, ...]) -> None:
    message = re.escape(f"expected points [n, 8], found {list(shape)}")
    with pytest.raises(ValueError, match=message):
        space.decode(np.zeros(shape, np.float32))


def test_decoding_no_points_gives_no_programs(space: Space) -> None:
    assert space.decode(points(0)).shape == (0, 20)


def test_a_text_has_no_padding(space: Space) -> None:
    tokens = LANGUAGE.batch([LANGUAGE.encode(PROGRAMS[0].split())], 30)
    assert space.text(tokens[0]) == PROGRAMS[0]


def test_a_variant_that_is_not_shipped_raises_with_how_to_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaps.embedding.space.SHIPPED", tmp_path)
    with pytest.raises(ValueError, match="make them with `leaps data` and `leaps train`"):
        Space.load("leaps")
