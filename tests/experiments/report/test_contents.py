"""Contents of a report: included and excluded results, marks and notes."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from leaps import __version__
from leaps.experiments.catalogue import EXPERIMENTS, FIGURES, TABLES
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.report.contents import Contents, Section, gather
from leaps.experiments.report.notes import Notes
from leaps.experiments.store import Store
from tests.experiments.report.synthetic import (
    all_shown,
    everything,
    keep,
    keep_entry,
    keep_search,
    keep_shown,
    shown_values,
    small,
)


def section(contents: Contents, name: str) -> Section:
    (found,) = (one for one in contents.sections if one.experiment.name == name)
    return found


def store_cells(store: Store) -> list[Cell]:
    return [result.cell for name in EXPERIMENTS for result in store.all(name)]


def test_experiments_with_results_are_in_catalogue_order(tmp_path: Path) -> None:
    assert [one.experiment.name for one in gather(small(tmp_path)).sections] == ["tasks", "karel-hard"]
    full = gather(everything(tmp_path / "all"))
    assert [one.experiment.name for one in full.sections] == list(TABLES)
    assert full.left_out == 0


def test_missing_entries_are_none(tmp_path: Path) -> None:
    tasks = section(gather(small(tmp_path)), "tasks")
    assert len(tasks.table) == len(tasks.experiment.methods) * len(tasks.experiment.tasks)
    assert tasks.table["drl", "maze"].entry is None
    assert tasks.table["leaps", "top-off"].entry is None
    assert set(tasks.summaries) == {"leaps", "hc", "ladder"}


def test_quick_results_are_left_out(tmp_path: Path) -> None:
    store = small(tmp_path)
    before = gather(store)
    for experiment in EXPERIMENTS.values():
        for one in experiment.cells(quick=True):
            if one.options:
                keep(store, one, 1.0)
    assert {one.experiment for one in store_cells(store)} >= set(FIGURES)
    keep(store, cell("tasks", "leaps", "maze", 0, budget=2_000), 0.0)
    after = gather(store)
    assert after.left_out > 30
    assert after.sections == before.sections
    assert after.programs == before.programs
    assert after.exhibits == ()


def test_quick_results_are_included_on_request(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "tasks", "leaps", "maze", [0.25], budget=2_000)
    contents = gather(store, quick=True)
    assert contents.quick
    entry = section(contents, "tasks").table["leaps", "maze"].entry
    assert entry is not None
    assert entry.mean == 0.25
    assert section(contents, "tasks").origin.commands == (
        "leaps experiment tasks --methods leaps --tasks maze --quick",
    )


def test_notes_of_marked_entries_are_in_reading_order(tmp_path: Path) -> None:
    notes = {
        ("tasks", "leaps", "clean-house"): "Own.",
        ("tasks", "hc", None): "Row.",
        ("tasks", "ladder", None): "Not needed: nothing was reported.",
        ("tasks", "leaps", "maze"): "Not needed: as reported.",
    }
    tasks = section(gather(small(tmp_path), notes), "tasks")
    assert tasks.notes == ("Own.", "Row.")
    assert tasks.explained == {("leaps", "clean-house"): 1, ("hc", "maze"): 2}
    assert tasks.unexplained == []


def test_entries_with_the_same_note_share_it(tmp_path: Path) -> None:
    notes: Notes = {("tasks", "leaps", None): "Same.", ("tasks", "hc", None): "Same."}
    tasks = section(gather(small(tmp_path), notes), "tasks")
    assert tasks.notes == ("Same.",)
    assert set(tasks.explained.values()) == {1}


def test_marked_entry_without_note_is_listed_as_unexplained(tmp_path: Path) -> None:
    tasks = section(gather(small(tmp_path), {}), "tasks")
    assert tasks.unexplained == [("leaps", "clean-house"), ("hc", "maze")]


def test_hours_include_dependencies_and_all_variants(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for source, value in (("maze", 0.1), ("harvester", 0.2)):
        keep(store, cell("tasks", "drl-abs-t", "top-off", 0, source=source), value, 1.0)
        keep(store, cell("tasks", "drl-abs", source, 0, steps=1_000_000), 1.0, 10.0)
    keep(store, cell("tasks", "drl-abs", "maze", 0, steps=7), 1.0, 100.0)
    contents = gather(store)
    tasks = section(contents, "tasks")
    assert tasks.origin.seconds == 22
    assert contents.left_out == 3
    assert tasks.table["drl-abs", "maze"].entry is None
    entry = tasks.table["drl-abs-t", "top-off"].entry
    assert entry is not None
    assert entry.mean == 0.2


def test_damaged_file_is_left_out_and_reported(tmp_path: Path) -> None:
    store = small(tmp_path)
    file = store.file(cell("tasks", "leaps", "maze", 3))
    file.write_bytes(file.read_bytes()[:20])
    contents = gather(Store(tmp_path, only_read=True))
    assert contents.aside == (file,)
    assert file.read_bytes()
    entry = section(contents, "tasks").table["leaps", "maze"].entry
    assert entry is not None
    assert len(entry.results) == 4


@pytest.mark.parametrize("value", [None, "high", float("nan"), float("inf"), True])
def test_non_numeric_return_raises(tmp_path: Path, value: Any) -> None:
    store = Store(tmp_path)
    keep(store, cell("tasks", "drl", "maze"), value)
    with pytest.raises(ValueError, match=r"maze-0\.json: expected a finite number as 'return', found"):
        gather(store)


@pytest.mark.parametrize("missing", ["solved", "evaluations", "rollouts", "seconds"])
def test_search_without_effort_raises(tmp_path: Path, missing: str) -> None:
    store = Store(tmp_path)
    one = cell("tasks", "hc", "maze", 1)
    keep_search(store, one, True, 10, 1.0)
    stored = json.loads(store.file(one).read_text())
    del stored["values"][missing]
    store.file(one).write_text(json.dumps(stored))
    with pytest.raises(
        ValueError, match=rf"hc/maze-1\.json: expected a finite number as '{missing}', found None"
    ):
        gather(store)


@pytest.mark.parametrize("value", ["long", None, float("nan")])
def test_non_numeric_seconds_raise(tmp_path: Path, value: Any) -> None:
    store = Store(tmp_path)
    keep(store, cell("tasks", "drl", "maze"), 1.0, **{"seconds": 1.0})
    keep(store, cell("tasks", "drl", "maze", 1), 1.0)
    gather(store)
    store.write(Result(cell("tasks", "drl", "maze", 2), {"return": 1.0, "seconds": value}, 1.0, __version__))
    with pytest.raises(ValueError, match=r"maze-2\.json: expected a finite number as 'seconds', found"):
        gather(store)


@pytest.mark.parametrize("other", ["tasks/drl/copy.json", "karel-hard/drl/maze-0.json"])
def test_copied_result_file_raises(tmp_path: Path, other: str) -> None:
    store = Store(tmp_path)
    keep(store, cell("tasks", "drl", "maze"), 1.0)
    (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(tmp_path / "tasks/drl/maze-0.json", tmp_path / other)
    with pytest.raises(ValueError, match=r"holds the result of tasks/drl/maze-0, expected in"):
        gather(store)


def test_empty_store_raises(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(
            ValueError, match=r"no results in '.*'; compute some with `leaps experiment NAME`"
        ):
            gather(Store(folder))
    keep(Store(tmp_path), cell("tasks", "leaps", "maze", budget=5), 1.0)
    with pytest.raises(ValueError, match="except 1 of quick runs, which reports leave out"):
        gather(Store(tmp_path))


def test_figure_without_cells_is_left_out(tmp_path: Path) -> None:
    assert gather(small(tmp_path / "tables")).exhibits == ()
    store = Store(tmp_path / "some")
    keep_shown(store, cell("rollouts", "ladder", "snake"))
    keep_shown(store, cell("rollouts", "ladder", "maze"))
    contents = gather(store)
    assert contents.experiments == ["rollouts"]
    (found,) = contents.exhibits
    assert list(found.shown) == [("ladder", "maze"), ("ladder", "snake")]  # in the experiment's order
    assert found.origin.commands == ("leaps experiment rollouts --methods ladder --tasks maze,snake",)
    assert found.origin.seconds == 60


def test_figures_follow_tables_in_catalogue_order(tmp_path: Path) -> None:
    store = all_shown(tmp_path)
    keep_entry(store, "karel-hard", "leaps", "snake", [0.5])
    contents = gather(store)
    assert contents.experiments == ["karel-hard", *FIGURES]
    for found in contents.exhibits:
        assert found.origin.commands == (f"leaps experiment {found.experiment.name}",)


def test_figure_prefers_first_seed_and_full_cells(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 0):
        keep_shown(store, cell("cem-trajectory", "leaps", "stair-climber", seed), seed)
    keep_shown(store, cell("cem-trajectory", "leaps", "stair-climber", 0, budget=640, programs=300), 5)
    keep_shown(store, cell("cem-trajectory", "leaps", "four-corner", 0, budget=640, programs=300), 6)
    full, quick = gather(store).exhibits[0], gather(store, quick=True).exhibits[0]
    first = cell("cem-trajectory", "leaps", "stair-climber")
    assert [result.cell for result in full.shown.values()] == [first]
    assert full.shown["leaps", "stair-climber"].values == shown_values(first, 0)
    assert [result.cell.options for result in quick.shown.values()] == [
        (),
        (("budget", 640), ("programs", 300)),
    ]
    assert gather(store).left_out == 2
    other = Store(tmp_path / "other")
    keep_shown(other, cell("cem-trajectory", "leaps", "four-corner", 0, budget=640, programs=300))
    keep_shown(other, cell("cem-trajectory", "leaps", "four-corner", 1))
    (shown,) = gather(other, quick=True).exhibits[0].shown.values()
    assert shown.cell == cell("cem-trajectory", "leaps", "four-corner", 1)


def test_only_table_results_need_a_return(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_shown(store, cell("interpolation", "leaps", "far"))
    assert "return" not in gather(store).exhibits[0].shown["leaps", "far"].values
    keep(store, cell("tasks", "drl", "maze"), None)
    with pytest.raises(ValueError, match="expected a finite number as 'return'"):
        gather(store)
