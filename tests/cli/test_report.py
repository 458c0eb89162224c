"""`leaps report`: documents, checks, output and errors."""

import json
from pathlib import Path

import pytest

from leaps.experiments.cell import cell
from leaps.experiments.report.notes import NOTES
from leaps.experiments.store import Store
from tests.cli.harness import Leaps, assert_refused
from tests.experiments.report.synthetic import all_shown, keep, small

README = "# Title\n<!-- results: begin -->\n<!-- results: end -->\n"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(NOTES, ("tasks", "leaps", "clean-house"))  # so that something is left unexplained
    return small(tmp_path / "results")


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and "results" not in file.parts
    }


def test_documents_go_to_docs(leaps: Leaps, store: Store, tmp_path: Path) -> None:  # noqa: ARG001
    done = leaps("report")
    assert (done.code, done.err) == (0, "")
    assert set(files(tmp_path)) == {
        "docs/reproduction.md", "docs/claims.md", "docs/figures/tasks.svg", "docs/figures/karel-hard.svg",
    }  # fmt: skip
    for name in files(tmp_path):
        assert name in done.out
    assert "not explained yet, listed at the end of the report: 1" in done.out


def test_the_report_names_every_command(leaps: Leaps, store: Store, tmp_path: Path) -> None:  # noqa: ARG001
    leaps("report", "--out", "other")
    text = (tmp_path / "other" / "reproduction.md").read_text()
    for command in (
        "leaps experiment tasks --methods leaps --tasks maze,clean-house --seeds 5",
        "leaps experiment tasks --methods hc --tasks maze --seeds 2",
        "leaps experiment tasks --methods ladder --tasks maze",
        "leaps experiment karel-hard --methods leaps --tasks snake --seeds 2",
    ):
        assert command in text


def test_json_is_one_object(leaps: Leaps, store: Store) -> None:
    keep(store, cell("tasks", "leaps", "maze", 0, budget=2_000), 0.0)
    done = leaps("report", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["experiments"] == ["tasks", "karel-hard"]
    assert done.json["outdated"] == done.json["files"]
    assert (done.json["written"], done.json["left_out"]) == (True, 1)
    assert done.json["unexplained"] == [
        "tasks: leaps on clean-house, ▲ 0.92 (0.08) · 5, reported 0.18 (0.14)"
    ]
    again = leaps("report", "--check", "--json")
    assert (again.code, again.json["outdated"], again.json["written"]) == (0, [], False)


def test_check_writes_nothing_and_lists_the_differences(leaps: Leaps, store: Store, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(README)
    words = ("report", "--readme", "README.md")
    before = files(tmp_path)
    done = leaps(*words, "--check")
    assert done.code == 1
    for name in ("docs/reproduction.md", "docs/figures/tasks.svg", "README.md"):
        assert f"not up to date: {name}" in done.out
    assert files(tmp_path) == before

    assert leaps(*words).code == 0
    written = files(tmp_path)
    done = leaps(*words, "--check")
    assert (done.code, "not up to date" in done.out) == (0, False)

    keep(store, cell("karel-hard", "leaps", "snake", 2), 0.5)
    done = leaps(*words, "--check")
    assert done.code == 1
    assert "not up to date: docs/figures/karel-hard.svg" in done.out
    assert "tasks.svg" not in done.out
    assert files(tmp_path) == written


def test_writing_twice_changes_nothing(leaps: Leaps, store: Store, tmp_path: Path) -> None:  # noqa: ARG001
    (tmp_path / "README.md").write_text(README)
    leaps("report", "--readme", "README.md")
    first = files(tmp_path)
    leaps("report", "--readme", "README.md")
    assert files(tmp_path) == first
    assert b"| Ladder, here |" in first["README.md"]


def test_readme_without_its_lines_is_an_error_before_anything_is_written(
    leaps: Leaps, store: Store, tmp_path: Path  # noqa: ARG001
) -> None:  # fmt: skip
    (tmp_path / "README.md").write_text("# Title\n")
    done = leaps("report", "--readme", "README.md")
    assert_refused(done, "README.md: expected exactly one line '<!-- results: begin -->'")
    assert set(files(tmp_path)) == {"README.md"}
    assert_refused(leaps("report", "--readme", "NONE.md"), "NONE.md: No such file")


def test_missing_results_are_an_error(leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(leaps("report"), "no results in 'results'", "leaps experiment NAME")
    Path("empty").mkdir()
    assert_refused(leaps("report", "--results", "empty", "--check"), "no results in 'empty'")
    Path("file").write_text("")
    assert_refused(leaps("report", "--results", "file"), "file is a file; expected a folder for results")
    assert not Path("docs").exists()


def test_damaged_result_is_reported_and_left_out(leaps: Leaps, store: Store, tmp_path: Path) -> None:
    file = store.file(cell("tasks", "hc", "maze", 1))
    file.write_bytes(b"{")
    for words in (("report", "--check"), ("report", "--json")):
        done = leaps(*words)
        assert "could not be read, and is left out: results/tasks/hc/maze-1.json" in " ".join(
            done.err.split()
        )
        assert file.read_bytes() == b"{"  # and not moved
        assert list(tmp_path.rglob("*.damaged*")) == []
    assert done.code == 0
    assert "0.90 · 1" in (tmp_path / "docs" / "reproduction.md").read_text()


def test_search_that_lacks_a_field_is_named(leaps: Leaps, store: Store) -> None:
    one = cell("tasks", "hc", "maze", 2)
    keep(store, one, 1.0, evaluations=5, solved=True, seconds=1.0)
    assert_refused(
        leaps("report"), "results/tasks/hc/maze-2.json: expected a finite number as 'rollouts', found None"
    )


def test_results_of_another_version_are_refused(leaps: Leaps, store: Store, tmp_path: Path) -> None:
    file = store.file(cell("tasks", "hc", "maze", 1))
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": "0.0.1"}))
    assert_refused(leaps("report"), "was written by leaps 0.0.1, but this is")
    assert files(tmp_path) == {}


def test_quick_results_are_reported_and_left_out(leaps: Leaps, store: Store, tmp_path: Path) -> None:
    leaps("report")
    before = files(tmp_path)
    keep(store, cell("tasks", "leaps", "maze", 0, budget=2_000), 0.123)
    done = leaps("report")
    assert "results left out (quick runs, or trainings that others started from): 1" in done.out
    assert files(tmp_path) == before


def test_report_of_quick_results_needs_an_output_folder(leaps: Leaps, store: Store, tmp_path: Path) -> None:
    keep(store, cell("tasks", "drl", "maze", 0, judged=50, steps=10_000), 0.123)
    message = "--quick: expected --out and no --readme"
    assert_refused(leaps("report", "--quick"), message)
    assert_refused(leaps("report", "--quick", "--out", "trial", "--readme", "README.md"), message)
    assert files(tmp_path) == {}
    assert leaps("report", "--quick", "--out", "trial").code == 0
    text = (tmp_path / "trial" / "reproduction.md").read_text()
    assert "0.12 · 1" in text
    assert "quick runs" in text


def test_figures_are_drawn_beside_the_tables(leaps: Leaps, store: Store, tmp_path: Path) -> None:
    all_shown(store.folder)
    report = leaps("report", "--json").json
    assert report["experiments"][:3] == ["tasks", "karel-hard", "latent-map"]
    for name in (
        "latent-map",
        "cem-trajectory-leaps+-stair-climber",
        "data-histogram",
        "rollouts-leaps-maze",
    ):
        assert f"docs/figures/{name}.svg" in report["files"]
        assert (tmp_path / "docs" / "figures" / f"{name}.svg").exists()
    assert leaps("report", "--check").code == 0
