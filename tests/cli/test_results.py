"""`leaps results`: files, output and errors."""

import csv
from pathlib import Path

import pytest

from leaps import __version__
from leaps.experiments.cell import Result, cell
from leaps.experiments.export import results as read
from leaps.experiments.export import rows_of
from leaps.experiments.store import Store
from tests.cli.harness import Leaps, assert_refused


@pytest.fixture(autouse=True)
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    store = Store(Path("results"))
    for one in (
        cell("tasks", "hc", "maze"),
        cell("tasks", "hc", "maze", 1),
        cell("tasks", "hc", "maze", budget=2000),
        cell("short", "drl", "maze~100"),
    ):
        store.write(Result(one, {"return": 0.1 + 0.2, "solved": False}, 1.5, __version__))
    return store


def test_the_table_is_written_as_csv(leaps: Leaps) -> None:
    done = leaps("results", "--csv", "new/out.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out == "new/out.csv: 4 rows, 15 columns\n"
    with Path("new/out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(read())
    assert [row["file"] for row in rows] == read()["file"]
    assert {float(row["return"]) for row in rows} == {0.1 + 0.2}


def test_rows_are_printed_as_json(leaps: Leaps) -> None:
    found = leaps("results", "--json", "--experiment", "tasks").json
    assert found["rows"] == rows_of(read(experiment="tasks"))
    assert found["columns"] == list(read(experiment="tasks"))
    assert len(found["rows"]) == 3


def test_without_a_file_the_results_are_counted(leaps: Leaps) -> None:
    lines = [line.split() for line in leaps("results").out.splitlines()]
    assert lines[1:] == [["short", "1", "0", "1", "1"], ["tasks", "3", "1", "1", "1"]]


def test_damaged_file_is_named(leaps: Leaps, stored: Store) -> None:
    file = stored.file(cell("tasks", "hc", "maze"))
    file.write_text("{")
    done = leaps("results", "--json")
    assert (done.code, len(done.json["rows"])) == (0, 3)
    assert f"left out, as it can't be read: {file}" in done.err


def test_misuse_is_an_error(leaps: Leaps) -> None:
    assert_refused(leaps("results", "--experiment", "taks"), "no results of 'taks'", "it has short, tasks")
    assert_refused(
        leaps("results", "--results", "nowhere"), "no folder of results at nowhere", "--results DIR"
    )
