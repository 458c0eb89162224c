"""Stored results as columns: every cell once, in a fixed order, with one type per column."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import leaps
from leaps import __version__
from leaps.experiments import export
from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.export import FIRST, LAST, Columns, as_csv, columns_of, find_results, is_quick, rows_of
from leaps.experiments.store import Store

MACHINE = {"processor": "Imagined", "gpu": "Imagined too"}


def keep(folder: Path, one: Cell, values: dict[str, Any], **about: Any) -> None:
    Store(folder).write(Result(one, values, 2.5, __version__, **about))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with a search, a baseline, a quick run, a figure and an unknown experiment."""
    folder = tmp_path / "stored"
    search = {"method": "climbs", "solved": True, "evaluations": 481, "program": "DEF run m( move m)"}
    for seed in (10, 2, 0):
        keep(folder, cell("tasks", "hc", "maze", seed), {"return": 0.1 + seed / 3, "seconds": 1, **search})
    keep(
        folder,
        cell("tasks", "drl", "maze"),
        {"return": 1.0, "seconds": 0.5, "curve": [[1, 0.5]], "config": {"clip": 0.2}},
        machine=MACHINE,
        finished="2030-01-01T00:00:00+00:00",
        commit="a1b2+changed",
    )
    keep(folder, cell("tasks", "hc", "maze", budget=2000), {"return": 0.5, **search, "solved": False})
    keep(
        folder, cell("generalization", "drl", "maze", size="100x100"), {"return": 0.25, "remark": 'a, "b"\nc'}
    )
    keep(folder, cell("data-histogram", "programs", "train"), {"counts": [0, 1], "mean": 3.5})
    keep(folder, cell("own", "mine", "maze"), {"return": 1.0, "remark": 3, "worlds": None})
    return folder


def column(columns: Columns, name: str) -> dict[str, Any]:
    """A column by the file of its row."""
    return dict(zip(columns["file"], columns[name], strict=True))


def test_every_cell_and_seed_is_one_row_in_a_fixed_order(folder: Path) -> None:
    found = leaps.results(folder)
    assert found["file"] == [
        "data-histogram/programs/train-0.json",
        "generalization/drl/maze-size=100x100-0.json",
        "own/mine/maze-0.json",
        "tasks/drl/maze-0.json",
        "tasks/hc/maze-budget=2000-0.json",
        "tasks/hc/maze-0.json",
        "tasks/hc/maze-2.json",
        "tasks/hc/maze-10.json",
    ]
    assert all((folder / file).exists() for file in found["file"])
    assert {len(values) for values in found.values()} == {8}
    assert leaps.results(folder) == found


def test_fixed_columns_surround_those_of_values(folder: Path) -> None:
    own = ("evaluations", "mean", "program", "remark", "seconds", "solved")
    assert tuple(leaps.results(folder)) == (*FIRST, *own, *LAST)


def test_a_row_has_the_numbers_of_its_file(folder: Path) -> None:
    row = next(row for row in rows_of(leaps.results(folder)) if row["file"] == "tasks/drl/maze-0.json")
    assert {name: value for name, value in row.items() if value is not None} == {
        "experiment": "tasks",
        "method": "drl",
        "task": "maze",
        "seed": 0,
        "options": "{}",
        "quick": False,
        "return": 1.0,
        "seconds": 0.5,
        "cell_seconds": 2.5,
        "commit": "a1b2+changed",
        "version": __version__,
        "finished": "2030-01-01T00:00:00+00:00",
        "processor": "Imagined",
        "gpu": "Imagined too",
        "file": "tasks/drl/maze-0.json",
    }


def test_the_method_is_the_cells_not_the_searchs_own_name(folder: Path) -> None:
    assert set(leaps.results(folder, "tasks")["method"]) == {"hc", "drl"}


def test_a_column_has_one_type(folder: Path) -> None:
    found = leaps.results(folder)
    for name, values in found.items():
        assert len({type(value) for value in values if value is not None}) <= 1, name
    assert column(found, "seconds")["tasks/hc/maze-0.json"] == 1.0  # an integer in the file
    assert column(found, "remark")["own/mine/maze-0.json"] == "3"  # a string in another row
    assert column(found, "solved")["tasks/hc/maze-0.json"] is True
    assert column(found, "evaluations")["tasks/hc/maze-0.json"] == 481


def test_options_are_always_a_string(folder: Path) -> None:
    options = column(leaps.results(folder), "options")
    assert options["tasks/hc/maze-0.json"] == "{}"
    assert json.loads(options["generalization/drl/maze-size=100x100-0.json"]) == {"size": "100x100"}


def test_csv_round_trip(folder: Path) -> None:
    found = leaps.results(folder)
    text = as_csv(found)
    rows = list(csv.DictReader(io.StringIO(text)))
    for name, values in found.items():
        kind = next((type(value) for value in values if value is not None), str)
        read = [None if row[name] == "" else row[name] for row in rows]
        if kind is bool:
            assert read == [None if value is None else str(value).lower() for value in values]
        else:
            assert [None if text is None else kind(text) for text in read] == values
    assert as_csv(leaps.results(folder)) == text


def test_one_experiment_can_be_chosen(folder: Path) -> None:
    found = leaps.results(folder, experiment="tasks")
    assert set(found["experiment"]) == {"tasks"}
    assert len(found["seed"]) == 5
    assert "mean" not in found
    with pytest.raises(
        ValueError, match=r"no results of 'taks' in .*; it has data-histogram, generalization"
    ):
        leaps.results(folder, experiment="taks")


def test_quick_runs_are_marked(folder: Path) -> None:
    quick = column(leaps.results(folder), "quick")
    assert [file for file, value in quick.items() if value] == ["tasks/hc/maze-budget=2000-0.json"]


def test_every_quick_cell_is_quick_unless_it_is_a_full_one() -> None:
    for experiment in EXPERIMENTS.values():
        full = experiment.cells()
        assert not any(map(is_quick, full))
        quick = set(experiment.cells(quick=True)) - set(full)
        assert all(map(is_quick, quick))
        assert all(map(is_quick, (other for one in quick for other in experiment.needs(one))))


def test_a_damaged_file_is_left_out_with_a_warning(folder: Path) -> None:
    (folder / "tasks/drl/maze-0.json").write_text("{")
    with pytest.warns(UserWarning, match=r"left out, as it can't be read: .*drl/maze-0\.json"):
        found = leaps.results(folder)
    assert len(found["file"]) == 7
    assert (folder / "tasks/drl/maze-0.json").exists()


def test_copied_result_file_raises(folder: Path) -> None:
    (folder / "tasks/drl/copy.json").write_bytes((folder / "tasks/drl/maze-0.json").read_bytes())
    with pytest.raises(ValueError, match="holds the result of tasks/drl/maze-0, expected in"):
        leaps.results(folder)


def test_results_are_found_in_the_working_directory_then_the_source_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, here = tmp_path / "source", tmp_path / "here"
    (source / "results").mkdir(parents=True)
    here.mkdir()
    monkeypatch.setattr(export, "_SOURCE", source)
    monkeypatch.chdir(here)
    with pytest.raises(ValueError, match=r"no folder of results at results\. .* repository.* --results DIR"):
        find_results(None)  # the source is an installed copy
    (source / "pyproject.toml").write_text("")
    assert find_results(None) == source / "results"
    (here / "results").mkdir()
    assert find_results(None) == Path("results")
    assert find_results(source / "results") == source / "results"
    with pytest.raises(ValueError, match="no folder of results at nowhere"):
        find_results(Path("nowhere"))


def test_empty_folder_raises(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no results in .*; `leaps experiment NAME` computes some"):
        leaps.results(tmp_path)


def test_numbers_that_are_not_finite_stay_numbers() -> None:
    values = columns_of([Result(cell("a", "b", "c"), {"return": float("inf")}, 1.0, __version__)])["return"]
    assert values == [float("inf")]
