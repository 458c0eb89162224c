"""A recomputed cell is compared with the stored one, field by field and bit by bit."""

from pathlib import Path
from typing import Any

import pytest

from leaps import __version__
from leaps.experiments import catalogue
from leaps.experiments.catalogue import Experiment
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.check import (
    MISSING,
    Checked,
    Difference,
    check,
    differences,
    draw,
    machine_changes,
    stored_cells,
)
from leaps.experiments.computing import Job, Values
from leaps.experiments.run import run
from leaps.experiments.store import Store
from tests.experiments.test_run import Here

FOLDERS: list[Path] = []


def measure(job: Job) -> Values:
    """Values of all kinds; the last method adds up what it needs."""
    FOLDERS.append(job.folder)
    assert not job.folder.exists()
    job.folder.mkdir(parents=True)
    if job.cell.task == "bad" and len(FOLDERS) > 1:
        raise ValueError("no good")
    seed = job.cell.seed
    needed = sum(other.values["return"] for other in job.needed)
    return {
        "return": seed / 3 + needed,
        "history": [{"score": 0.1 * number, "seconds": len(FOLDERS)} for number in range(5)],
        "pair": (1, 2),
        "seconds": float(len(FOLDERS)),
        "core_seconds": float(len(FOLDERS)),
    }


def needs(one: Cell) -> tuple[Cell, ...]:
    return (cell("sums", "low", one.task, one.seed),) if one.method == "high" else ()


SUMS = Experiment(
    "sums",
    "sums",
    ("low", "high"),
    ("good", "bad"),
    lambda method, task, seed, quick: [cell("sums", method, task, seed)],  # noqa: ARG005
    measure,
    needs,
)
HIGH = cell("sums", "high", "good", 1)


@pytest.fixture(autouse=True)
def sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.EXPERIMENTS, "sums", SUMS)
    FOLDERS.clear()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two seeds of both methods."""
    store = Store(tmp_path / "results")
    run(SUMS.cells(tasks=["good"], seeds=2), store, Here(), tmp_path / "work")
    return Store(store.folder, only_read=True)


def altered(store: Store, one: Cell, before: str, after: str) -> None:
    text = store.file(one).read_text()
    assert text.count(before) == 1
    store.file(one).write_text(text.replace(before, after))


def check_one(store: Store, tmp_path: Path, one: Cell) -> Checked:
    stored = store.read(one)
    assert stored is not None
    (checked,) = check([stored], store, Here(), tmp_path / "work")
    return checked


def test_unchanged_cells_are_equal(store: Store, tmp_path: Path) -> None:
    before = {file: file.read_bytes() for file in store.folder.rglob("*.json")}
    reported: list[Checked] = []
    found = stored_cells(store, "sums")
    checked = check(found, store, Here(), tmp_path / "work", listener=reported.append)
    assert [one.stored for one in checked] == found
    assert all(one.equal for one in checked)
    assert sorted(reported, key=lambda one: one.stored.cell) == sorted(
        checked, key=lambda one: one.stored.cell
    )
    assert {file: file.read_bytes() for file in store.folder.rglob("*") if file.is_file()} == before


def test_a_cell_is_computed_in_a_fresh_folder_that_is_removed(store: Store, tmp_path: Path) -> None:
    check_one(store, tmp_path, HIGH)
    assert FOLDERS[-1].parts[-3:] == ("sums", "high", "good-1")
    assert FOLDERS[-1] != tmp_path / "work" / HIGH.name
    assert not FOLDERS[-1].exists()
    assert list((tmp_path / "work").glob("check-*")) == []


def test_an_altered_digit_is_found(store: Store, tmp_path: Path) -> None:
    altered(store, HIGH, "0.30000000000000004", "0.30000000000000005")  # the same float
    assert check_one(store, tmp_path, HIGH).equal
    altered(store, HIGH, "0.30000000000000005", "0.3")
    checked = check_one(store, tmp_path, HIGH)
    assert checked.differences == (Difference("values.history[3].score", 0.3, 0.30000000000000004),)
    assert str(checked.differences[0]) == "values.history[3].score: expected 0.3, found 0.30000000000000004"
    assert not checked.equal


def test_dependencies_are_read_from_the_store(store: Store, tmp_path: Path) -> None:
    low = cell("sums", "low", "good", 1)
    altered(store, low, "0.3333333333333333", "0.25")
    checked = check_one(store, tmp_path, HIGH)
    assert [difference.path for difference in checked.differences] == ["values.return"]
    store.file(low).unlink()
    assert check_one(store, tmp_path, HIGH).failure == (
        "depends on sums/low/good-1, which is not stored or unreadable"
    )


def test_failed_cell_is_not_equal(tmp_path: Path) -> None:
    store, bad = Store(tmp_path / "results"), cell("sums", "low", "bad")
    run([bad], store, Here(), tmp_path / "work")
    checked = check_one(store, tmp_path, bad)
    assert (checked.failure, checked.equal) == ("no good", False)


@pytest.mark.parametrize(
    ("expected", "found", "paths"),
    [
        ({"a": 1}, {"a": 1.0}, ["v.a"]),
        ({"a": 0.0}, {"a": -0.0}, ["v.a"]),
        ({"a": True}, {"a": 1}, ["v.a"]),
        ({"a": None}, {"a": 0}, ["v.a"]),
        ({"a": float("nan")}, {"a": float("nan")}, []),
        ({"a": [1, [2, 3]]}, {"a": [1, [2, 4]]}, ["v.a[1][1]"]),
        ({"a": [1]}, {"a": [1, 2, 3]}, ["v.a[1]", "v.a[2]"]),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, ["v.a.b.c"]),
        ({"a": [1]}, {"a": {"b": 1}}, ["v.a"]),
        ({"a": "x", "b": 1}, {"a": "y", "c": 1}, ["v.a", "v.b", "v.c"]),
        ({"seconds": 1, "d": {"core_seconds": 2, "finished": "x"}}, {"seconds": 2, "d": {}}, []),
    ],
)
def test_every_difference_has_its_path(expected: Any, found: Any, paths: list[str]) -> None:
    assert [difference.path for difference in differences(expected, found, "v")] == paths


def test_missing_field_is_described() -> None:
    new, gone = differences({"gone": 1}, {"a": [2]}, "values")
    assert str(new) == "values.a: not stored, found [2]"
    assert new.as_json() == {"path": "values.a", "stored": False, "found": [2]}
    assert (str(gone), gone.found) == ("values.gone: expected 1, found nothing", MISSING)


def test_another_machine_is_described() -> None:
    stored = Result(HIGH, {}, 1.0, __version__, {"numpy": "2.3.0", "cores": 2, "gpu": "Imagined"})
    found = Result(HIGH, {}, 1.0, __version__, {"numpy": "2.4.6", "cores": 16})
    assert machine_changes(stored, found) == (
        "gpu Imagined when stored, none now",
        "numpy 2.3.0 when stored, 2.4.6 now",
    )
    assert machine_changes(stored, stored) == ()


def test_the_same_seed_draws_the_same_cells(store: Store) -> None:
    found = stored_cells(store, "sums")
    assert draw(found, 2, 7) == draw(found, 2, 7)
    assert len({tuple(one.cell for one in draw(found, 2, seed)) for seed in range(20)}) > 1
    assert draw(found, 100, 7) == found
    assert all(len(draw(found, 3, seed)) == 3 for seed in range(20))


def test_draw_is_restricted_by_methods_tasks_and_seeds(store: Store) -> None:
    def names(**chosen: Any) -> list[str]:
        return [result.cell.name for result in stored_cells(store, "sums", **chosen)]

    assert len(names()) == 4
    assert names(methods=["low"]) == ["sums/low/good-0", "sums/low/good-1"]
    assert names(methods=["low"], seeds=1) == ["sums/low/good-0"]
    assert names(tasks=["bad"]) == []
    with pytest.raises(ValueError, match="unknown method 'middle'"):
        names(methods=["middle"])
