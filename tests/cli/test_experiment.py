"""`leaps experiment`: cells, files, output and errors."""

import json
import sys
from pathlib import Path

import pytest

from leaps.experiments.catalogue import TABLES
from leaps.experiments.report.contents import gather
from leaps.experiments.store import Store
from tests.cli.harness import Leaps, assert_refused

RANDOM = ("experiment", "tasks", "--methods", "leaps-rand-8", "--tasks", "maze,harvester", "--seeds", 2)


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_a_name_experiments_are_listed(leaps: Leaps) -> None:
    assert set(leaps("experiment", "--json").json) >= {"tasks", "smoothness", "latent-map", "rollouts"}
    assert "Table 3" in leaps("experiment").out


def test_table_is_followed_by_the_reported_row(leaps: Leaps) -> None:
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


def test_damaged_result_is_reported_and_computed_again(leaps: Leaps, tmp_path: Path) -> None:
    first = leaps(*RANDOM, "--json").json
    file = tmp_path / "results" / "tasks" / "leaps-rand-8" / "maze-1.json"
    file.write_bytes(file.read_bytes()[:100])
    done = leaps(*RANDOM, "--json")
    assert done.json == {**first, "computed": 1}
    assert "maze-1.json.damaged" in done.err
    assert file.with_name("maze-1.json.damaged").exists()


def test_damaged_file_moved_aside_earlier_is_not_overwritten(leaps: Leaps, tmp_path: Path) -> None:
    leaps(*RANDOM)
    file = tmp_path / "results" / "tasks" / "leaps-rand-8" / "maze-1.json"
    for content in (b"{", b"["):
        file.write_bytes(content)
        leaps(*RANDOM)
    assert file.with_name("maze-1.json.damaged").read_bytes() == b"{"
    assert file.with_name("maze-1.json.damaged-1").read_bytes() == b"["


def test_read_only_folder_is_an_error(leaps: Leaps, tmp_path: Path) -> None:
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
def test_device_is_checked_on_the_workers(leaps: Leaps, backend: str, address: str) -> None:
    """This machine has no such device, but remote workers may have one."""
    words = ("experiment", "tasks", "--methods", "leaps-rand-8", "--device", "cuda")
    assert_refused(leaps(*words), "no CUDA device is available here")
    cluster = ("--backend", backend, "--address", address)
    assert_refused(leaps(*words, *cluster), f"no {backend} cluster answers")
    assert_refused(leaps(*words[:-1], "abacus", *cluster), "expected cpu or cuda, found 'abacus'")


def test_quick_table_has_its_baselines_too(leaps: Leaps, tmp_path: Path) -> None:
    words = ("--quick", "--methods", "naive,hc", "--tasks", "maze", "--results", "r", "--work", "w", "--json")
    done = leaps("experiment", "tasks", *words)
    assert (done.code, set(done.json["returns"])) == (0, {"naive", "hc"})
    assert (tmp_path / "r" / "tasks" / "hc" / "maze-budget=2000-0.json").exists()
    assert (tmp_path / "w" / "tasks" / "naive" / "maze-judged=50-steps=10000-0" / "program.karel").exists()


def test_failing_cell_is_reported_and_others_are_stored(leaps: Leaps, tmp_path: Path) -> None:
    (tmp_path / "w").write_text("no folder for trainings")
    words = ("--quick", "--methods", "naive,leaps-rand-8", "--tasks", "maze", "--work", "w")
    done = leaps("experiment", "tasks", *words)
    assert done.code == 1
    assert "tasks/naive/maze-judged=50-steps=10000-0 failed" in " ".join(done.err.split())
    assert "1 cells failed; the same command retries them" in done.out
    assert (tmp_path / "results" / "tasks" / "leaps-rand-8" / "maze-0.json").exists()
    (tmp_path / "w").unlink()
    assert leaps("experiment", "tasks", *words).code == 0


def test_figure_is_stored_and_names_the_command_that_draws_it(leaps: Leaps, tmp_path: Path) -> None:
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


def test_figure_computes_its_cells_first(leaps: Leaps, tmp_path: Path) -> None:
    words = ("rollouts", "--methods", "ladder", "--tasks", "maze", "--quick")
    report = leaps("experiment", *words, "--jobs", 1, "--json").json
    assert (report["computed"], report["failures"]) == (2, {})
    found = json.loads((tmp_path / "results/tasks/ladder/maze-budget=2000-0.json").read_text())
    shown = json.loads((tmp_path / report["files"][0]).read_text())
    assert shown["values"]["program"] == found["values"]["program"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["taks"], "unknown experiment 'taks'; did you mean 'tasks'?"),
        (["tasks", "--methods", "dqn"], "unknown method 'dqn'"),
        (["tasks", "--tasks", "snake"], "unknown task 'snake'"),
        (["tasks", "--seeds", "0"], "seeds must be at least 1, found 0"),
        (
            ["interpolation", "--seeds", "3"],
            "interpolation does not depend on the seed; expected seeds=1",
        ),
        (["tasks", "--backend", "slurm"], "slurm"),
        (["tasks", "--backend", "dask"], "address"),
        (["tasks", "--device", "abacus"], "expected cpu or cuda"),
    ],
)
def test_misuse_is_an_error_and_writes_nothing(
    leaps: Leaps, tmp_path: Path, words: list[str], message: str
) -> None:
    assert_refused(leaps("experiment", *words), message)
    assert list(tmp_path.iterdir()) == []


def test_missing_extra_is_named_before_anything_is_computed(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    words = ("experiment", "tasks", "--tasks", "maze", "--seeds", 1, "--methods")
    assert_refused(leaps(*words, "leaps-rand-8,drl"), "pip install 'leaps[baselines]'")
    assert list(tmp_path.iterdir()) == []
    assert leaps(*words, "leaps-rand-8").code == 0


# Searches of users

MINE = """\
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.karel.world import LANGUAGE, PROGRAMS


class Mine:
    def __init__(self, setting):
        limits = Limits(length=setting.max_length)
        self.programs = Neighbourhood(LANGUAGE, PROGRAMS, limits, {Move.REPLACE: 1.0}, setting.seed)

    def ask(self):
        return self.programs.fresh(50)

    def tell(self, scores):
        pass
"""
QUICK = ("--quick", "--jobs", 1)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "leaps_mine.py"  # the name starts like the names of searches in the space
    file.write_text(MINE)
    return file


@pytest.mark.usefixtures("mine")
def test_user_search_is_a_row_with_its_own_cells(leaps: Leaps, tmp_path: Path) -> None:
    words = ("experiment", "tasks", "--methods", "leaps_mine.py:Mine,hc", "--tasks", "maze", *QUICK)
    done = leaps(*words, "--json").json
    assert (list(done["returns"]), done["computed"], done["failures"]) == (["hc", "Mine"], 2, {})
    kept = json.loads((tmp_path / "results" / "tasks" / "Mine" / "maze-budget=2000-0.json").read_text())
    assert kept["cell"]["method"] == "Mine"
    assert kept["values"]["config"]["method"] == "leaps_mine.py:Mine"
    assert kept["values"]["return"] == done["returns"]["Mine"]["maze"][0]
    assert kept["values"]["config"]["seed"] == 0
    shown = leaps(*words)
    assert shown.code == 0
    assert "Mine" in shown.out
    assert leaps(*words, "--json").json["computed"] == 0


def test_table_that_needs_a_users_cells_computes_them(leaps: Leaps, tmp_path: Path, mine: Path) -> None:
    words = ("experiment", "generalization", "--methods", f"{mine}:Mine", "--tasks", "maze", *QUICK)
    done = leaps(*words, "--json").json
    assert (done["computed"], done["failures"]) == (2, {})
    kept = json.loads((tmp_path / done["files"][0]).read_text())
    found = json.loads((tmp_path / "results" / "tasks" / "Mine" / "maze-budget=2000-0.json").read_text())
    assert kept["values"]["program"] == found["values"]["program"]
    assert kept["values"]["config"]["method"] == f"{mine}:Mine"
    for name in ("generalization", "tasks"):
        checked = leaps("experiment", name, "--check", 1, "--jobs", 1, "--json")
        assert (checked.code, checked.json["equal"]) == (0, 1)


@pytest.mark.parametrize("name", ["karel-hard", "held-out", "short", "unseen", "budget"])
def test_every_table_of_searches_has_a_users_row(leaps: Leaps, mine: Path, name: str) -> None:
    task = TABLES[name].tasks[0]
    words = ("experiment", name, "--methods", f"{mine}:Mine", "--tasks", task, *QUICK, "--json")
    done = leaps(*words).json
    assert (list(done["returns"]), done["failures"]) == (["Mine"], {})


def test_reports_and_results_have_stored_rows_of_users(leaps: Leaps, tmp_path: Path, mine: Path) -> None:
    for amount in (QUICK, ("--seeds", 1, "--jobs", 1)):
        methods = f"{mine}:Mine,leaps-rand-8" if amount is not QUICK else f"{mine}:Mine"
        leaps("experiment", "tasks", "--methods", methods, "--tasks", "maze", *amount)
    rows = leaps("results", "--json").json["rows"]
    assert {(row["method"], row["quick"]) for row in rows} == {
        ("Mine", False), ("Mine", True), ("leaps-rand-8", False),
    }  # fmt: skip
    (section,) = gather(Store(tmp_path / "results", only_read=True)).sections
    assert section.experiment.methods[-1] == "Mine"
    assert set(section.summaries) == {"Mine", "leaps-rand-8"}
    assert f"--methods leaps-rand-8,{mine}:Mine --tasks maze --seeds 1" in section.origin.commands[0]
    assert leaps("report", "--out", "written").code == 0
    assert "| **Mine** |" in (tmp_path / "written" / "reproduction.md").read_text()


def test_results_of_a_search_that_was_edited_or_replaced_are_refused(
    leaps: Leaps, tmp_path: Path, mine: Path
) -> None:
    words = ("experiment", "tasks", "--tasks", "maze", *QUICK, "--methods")
    assert leaps(*words, f"{mine}:Mine").code == 0
    other = tmp_path / "other.py"
    other.write_text(MINE)
    assert_refused(leaps(*words, f"{other}:Mine"), f"is a result of {mine}:Mine, not of {other}:Mine; rename")
    mine.write_text(MINE.replace("fresh(50)", "fresh(40)"))
    assert_refused(leaps(*words, f"{mine}:Mine"), f"is a result of {mine}:Mine before the file was edited")
    checked = leaps("experiment", "tasks", "--check", 1, "--jobs", 1, "--json").json
    paths = [one["path"] for one in checked["different"][0]["differences"]]
    assert "values.method_digest" in paths


def test_search_that_fails_is_reported_with_its_line(leaps: Leaps, mine: Path) -> None:
    mine.write_text(MINE.replace("        pass", "        return 1 / 0"))
    words = (
        "experiment",
        "tasks",
        "--methods",
        f"{mine}:Mine,leaps-rand-8",
        "--tasks",
        "maze",
        *QUICK,
        "--json",
    )
    done = leaps(*words)
    assert done.code == 1
    (message,) = done.json["failures"].values()
    assert f"{mine}, line 14: ZeroDivisionError: division by zero" in message
    assert list(done.json["returns"]) == ["leaps-rand-8"]


@pytest.mark.parametrize(
    ("source", "experiment", "methods", "message"),
    [
        ("class Mine: ...", "tasks", "mine.py:Yours", "mine.py has no method 'Yours'; it has Mine"),
        ("class Mine: ...", "tasks", "mine.py", "expected the name of a method after the file"),
        ("class Mine: ...", "tasks", "none.py:Mine", "there is no file 'none.py' to take the method"),
        ("class Mine: ...", "tasks", "Mine", "unknown method 'Mine'; expected one of drl, "),
        ("class _Mine: ...", "tasks", "mine.py:_Mine", "expected a NAME of ASCII letters, digits and _"),
        ("class hc: ...", "tasks", "mine.py:hc", "mine.py:hc: hc is the name of a built-in row; rename"),
        ("class Mine: ...", "tasks", "mine.py:Mine,./mine.py:Mine", "have the same row name 'Mine'"),
        ("class Mine: ...", "steps", "mine.py:Mine", "steps takes no user-defined searches"),
        ("\nclass Mine(: ...", "tasks", "mine.py:Mine", "mine.py, line 2: SyntaxError: "),
    ],
)  # fmt: skip
def test_misuse_of_user_searches_is_an_error(
    leaps: Leaps, tmp_path: Path, source: str, experiment: str, methods: str, message: str
) -> None:
    (tmp_path / "mine.py").write_text(source)
    assert_refused(leaps("experiment", experiment, "--methods", methods), message)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.py"]
