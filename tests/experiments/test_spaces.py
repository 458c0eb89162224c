"""Spaces that experiments search: found where they are, trained where not, and known by their weights."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from leaps.base.tensors import metadata, read_about
from leaps.embedding.space import SHIPPED
from leaps.embedding.train import VARIANTS, TrainConfig
from leaps.experiments import computing, spaces
from leaps.experiments.cell import cell
from leaps.experiments.computing import SEARCH_ROWS, Job, SearchRow, do
from leaps.experiments.spaces import RECIPES, REPEATED, Recipe, digest_of_weights, open_space
from leaps.experiments.store import Store
from leaps.karel.dataset import DataConfig
from tests.embedding.helpers import needs_shipped_weights

TINY = Recipe(
    "as small as can be",
    {"variant": "p", "epochs": 1, "batch": 8, "validation_programs": 5},
    {"programs": 40, "keep": "every", "pool": 16},
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, "tiny", TINY)


@needs_shipped_weights
def test_digest_ignores_the_metadata_of_a_file(tmp_path: Path) -> None:
    tensors = load_file(SHIPPED / "p.safetensors")
    save_file(tensors, tmp_path / "same", metadata({"seconds": 1}))
    name = sorted(tensors)[3]
    tensors[name] = np.nextafter(tensors[name], tensors[name].dtype.type(9))
    save_file(tensors, tmp_path / "other", metadata({}))
    digest = digest_of_weights(SHIPPED / "p.safetensors")
    assert digest == digest_of_weights(tmp_path / "same")
    assert digest != digest_of_weights(tmp_path / "other")
    assert len(digest) == 16


@needs_shipped_weights
def test_the_packages_spaces_are_the_first_trainings_of_their_recipes(tmp_path: Path) -> None:
    for name in ("leaps", "p", "pr", "pl"):
        found = open_space(name, 0, tmp_path, "cpu")
        assert (found.path, found.name, found.file) == (name, name, SHIPPED / f"{name}.safetensors")
        assert found.about["digest"] == digest_of_weights(found.file)
    assert not list(tmp_path.iterdir())


def test_repeated_trainings_are_searched_and_not_trained(tmp_path: Path) -> None:
    for variant in VARIANTS:
        for training in (1, 2):
            found = open_space(variant, training, tmp_path, "cpu")
            assert (found.name, found.file) == (
                f"{variant}-{training}",
                REPEATED / f"{found.name}.safetensors",
            )
            about = read_about(found.file)
            assert about["training"]["seed"] == training
            first = read_about(SHIPPED / f"{variant}.safetensors")
            assert about["training"] == {**first["training"], "seed": training}
            assert about["data"] == first["data"]
    assert not list(tmp_path.iterdir())


@needs_shipped_weights
def test_stored_cells_were_computed_in_the_spaces_that_they_name() -> None:
    store = Store(Path(__file__).parents[2] / "results", only_read=True)
    files = [*SHIPPED.glob("*.safetensors"), *REPEATED.glob("*.safetensors")]
    digests = {file.stem: digest_of_weights(file) for file in files}
    results = [result for name in store.experiments() for result in store.all(name)]
    named = [result for result in results if "space" in result.values]
    assert len(named) > 500
    stale = [
        result.cell.name
        for result in named  # where weights are not kept, the digest of the first cell counts
        if digests.setdefault((space := result.values["space"])["name"], space["digest"]) != space["digest"]
    ]
    assert not stale
    searched = {
        "tasks",
        "steps",
        "depends",
        "as-run",
        "short",
        "unseen",
        "held-out",
        "ablation",
        "karel-hard",
    }
    silent = [
        result.cell.name
        for result in results
        if result.cell.experiment in searched
        and (row := SEARCH_ROWS.get(result.cell.method))
        and row.uses_space
        and "space" not in result.values
    ]
    assert not silent


@pytest.mark.usefixtures("tiny")
def test_a_space_is_trained_once_by_its_recipe(tmp_path: Path) -> None:
    found = open_space("tiny", 1, tmp_path, "cpu")
    about = read_about(found.file)
    assert about["training"]["epochs"] == 1
    assert about["training"]["seed"] == 2  # 1 is the first training's
    assert about["data"]["programs"] == 40
    assert found.name == "tiny-2"
    assert found.about["digest"] == digest_of_weights(found.file)
    assert found.about["exact"] == round(about["test"]["exact"], 4)
    before = found.file.stat().st_mtime_ns
    assert open_space("tiny", 1, tmp_path, "cpu") == found
    assert found.file.stat().st_mtime_ns == before
    assert open_space("tiny", 0, tmp_path, "cpu").about["digest"] != found.about["digest"]


@pytest.mark.usefixtures("tiny")
def test_cell_stores_the_name_of_its_space_not_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(computing.SEARCH_ROWS, "in-tiny", SearchRow("leaps", space="tiny"))
    one = cell("depends", "in-tiny", "maze", spaces.SEEDS + 3, budget=40)
    values = do(Job(one, computing.search, work=tmp_path)).values
    assert values["config"]["space"] == "tiny-2"
    assert values["seed"] == 3
    assert values["space"] == open_space("tiny", 1, tmp_path, "cpu").about
    assert str(tmp_path) not in str(values)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_a_training_that_is_allowed(name: str) -> None:
    recipe = RECIPES[name]
    config, data = TrainConfig(**recipe.training), DataConfig(**recipe.data)
    if name.startswith("p24"):
        updates = config.epochs * (data.programs * 7 // 10) / config.batch
        assert updates == pytest.approx(24 * 35_000 / 256)
