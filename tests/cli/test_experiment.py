"""The command that makes tables again: what it computes, keeps, prints and refuses."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.harness import Leaps, assert_refused

RANDOM = ("experiment", "tasks", "--methods", "leaps-rand-8", "--tasks", "maze,harvester", "--seeds", 2)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_a_name_experiments_are_listed(leaps: Leaps) -> None:
    assert set(leaps("experiment", "--json").json) >= {"tasks", "smoothness", "latent-map", "rollouts"}
    assert "Table 3" in leaps("experiment").out


def test_a_table_stands_above_what_was_reported(leaps: Leaps) -> None:
    done = leaps(*RANDOM)
    assert done.code == 0
    assert "0.40" in done.out  # the paper's, for maze
    assert "leaps-r" in done.out


def test_every_cell_has_a_file_and_is_not_computed_again(leaps: Leaps, tmp_path: Path) -> None:
    first = leaps(*RANDOM, "--json").json
    files = sorted((tmp_path / "results").rglob("*.json"))
    assert [str(file.relative_to(tmp_path)) for file in files] == [
        f"results/tasks/leaps-rand-8/{task}-{seed}.json" for task in ("harvester", "maze") for seed in (0, 1)
    ]
    assert (first["computed"], first["cells"], first["failures"]) == (4, 4, {})
    kept = json.loads(files[2].read_text())
    assert first["returns"]["leaps-rand-8"]["maze"][0] == kept["values"]["return"]
    again = leaps(*RANDOM, "--json").json
    assert again == {**first, "computed": 0}


def test_a_damaged_result_is_computed_again_and_said(leaps: Leaps, tmp_path: Path) -> None:
    first = leaps(*RANDOM, "--json").json
    file = tmp_path / "results" / "tasks" / "leaps-rand-8" / "maze-1.json"
    file.write_bytes(file.read_bytes()[:100])
    done = leaps(*RANDOM, "--json")
    assert done.json == {**first, "computed": 1}
    assert "maze-1.json.damaged" in done.err
    assert file.with_name("maze-1.json.damaged").exists()


def test_a_file_that_was_moved_aside_before_stays(leaps: Leaps, tmp_path: Path) -> None:
    leaps(*RANDOM)
    file = tmp_path / "results" / "tasks" / "leaps-rand-8" / "maze-1.json"
    for content in (b"{", b"["):
        file.write_bytes(content)
        leaps(*RANDOM)
    assert file.with_name("maze-1.json.damaged").read_bytes() == b"{"
    assert file.with_name("maze-1.json.damaged-1").read_bytes() == b"["


def test_a_folder_that_can_not_be_written_to_is_said(leaps: Leaps, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = (
        "experiment",
        "tasks",
        "--methods",
        "leaps-rand-8",
        "--tasks",
        "maze",
        "--results",
        "file/results",
    )
    assert_refused(leaps(*words), "file/results: Not a directory")


@pytest.mark.parametrize(("backend", "address"), [("dask", "tcp://127.0.0.1:1"), ("ray", "127.0.0.1:1")])
def test_a_device_is_asked_for_where_the_work_is_done(leaps: Leaps, backend: str, address: str) -> None:
    """This machine has none, but only local workers are of this machine."""
    words = ("experiment", "tasks", "--methods", "leaps-rand-8", "--device", "cuda")
    assert_refused(leaps(*words), "no CUDA device is available here")
    cluster = ("--backend", backend, "--address", address)
    assert_refused(leaps(*words, *cluster), f"no {backend} cluster answers")
    assert_refused(leaps(*words[:-1], "abacus", *cluster), "expected cpu or cuda, found 'abacus'")


def test_a_quick_table_has_its_baselines_too(leaps: Leaps, tmp_path: Path) -> None:
    words = ("--quick", "--methods", "naive,hc", "--tasks", "maze", "--results", "r", "--work", "w", "--json")
    done = leaps("experiment", "tasks", *words)
    assert (done.code, set(done.json["returns"])) == (0, {"naive", "hc"})
    assert (tmp_path / "r" / "tasks" / "hc" / "maze-budget=2000-0.json").exists()
    assert (tmp_path / "w" / "tasks" / "naive" / "maze-judged=50-steps=10000-0" / "program.karel").exists()


def test_a_failing_cell_is_reported_and_the_others_are_there(leaps: Leaps, tmp_path: Path) -> None:
    (tmp_path / "w").write_text("no folder for trainings")
    words = ("--quick", "--methods", "naive,leaps-rand-8", "--tasks", "maze", "--work", "w")
    done = leaps("experiment", "tasks", *words)
    assert done.code == 1
    assert "tasks/naive/maze-judged=50-steps=10000-0 failed" in " ".join(done.err.split())
    assert "1 cells failed; the same command tries them again" in done.out
    assert (tmp_path / "results" / "tasks" / "leaps-rand-8" / "maze-0.json").exists()
    (tmp_path / "w").unlink()
    assert leaps("experiment", "tasks", *words).code == 0


def test_a_figure_is_kept_and_says_what_draws_it(leaps: Leaps, tmp_path: Path) -> None:
    words = ("experiment", "data-histogram", "--quick", "--jobs", 1)
    done = leaps(*words)
    assert (done.code, done.err) == (0, "")
    file = "results/data-histogram/programs/train-programs=1000-0.json"
    assert file in done.out
    assert "leaps report" in done.out
    before = (tmp_path / file).read_bytes()
    again = leaps(*words, "--json").json
    assert (again["computed"], again["cells"], len(again["files"])) == (0, 2, 2)
    assert again["files"][0] == file
    assert (tmp_path / file).read_bytes() == before


def test_a_figure_computes_what_it_needs_first(leaps: Leaps, tmp_path: Path) -> None:
    told = leaps("experiment", "rollouts", "--tasks", "maze", "--quick", "--jobs", 1, "--json").json
    assert (told["computed"], told["failures"]) == (2, {})
    found = json.loads((tmp_path / "results/tasks/ladder/maze-budget=2000-0.json").read_text())
    shown = json.loads((tmp_path / told["files"][0]).read_text())
    assert shown["values"]["program"] == found["values"]["program"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["taks"], "unknown experiment 'taks'; did you mean 'tasks'?"),
        (["tasks", "--methods", "dqn"], "unknown method 'dqn'"),
        (["tasks", "--tasks", "snake"], "unknown task 'snake'"),
        (["tasks", "--seeds", "0"], "seeds must be at least 1, found 0"),
        (["smoothness", "--seeds", "3"], "nothing in smoothness is drawn, and every seed says the same"),
        (["tasks", "--backend", "slurm"], "slurm"),
        (["tasks", "--backend", "dask"], "address"),
        (["tasks", "--device", "abacus"], "expected cpu or cuda"),
    ],
)
def test_misuse_is_explained_and_leaves_nothing_behind(
    leaps: Leaps, tmp_path: Path, words: list[str], said: str
) -> None:
    assert_refused(leaps("experiment", *words), said)
    assert list(tmp_path.iterdir()) == []


def test_what_has_to_be_installed_is_said_before_anything_is_computed(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    words = ("experiment", "tasks", "--tasks", "maze", "--seeds", 1, "--methods")
    assert_refused(leaps(*words, "leaps-rand-8,drl"), "pip install 'leaps[baselines]'")
    assert list(tmp_path.iterdir()) == []
    assert leaps(*words, "leaps-rand-8").code == 0
