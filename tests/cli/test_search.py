"""`leaps solve` and `leaps imitate`: output, files and errors."""

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest
from PIL import Image

from leaps.base import parallel
from leaps.cli.search import LiveView
from leaps.dsl.text import parse, to_indented
from leaps.evaluate import evaluate
from leaps.experiments.backends import Failure, Local
from leaps.experiments.explore import r_mat
from leaps.karel.world import KAREL, LANGUAGE, random_worlds
from leaps.search.methods import METHODS
from tests.cli.harness import Done, Leaps, assert_refused
from tests.embedding.helpers import needs_shipped_weights

pytestmark = needs_shipped_weights

KEPT = {"program.karel", "result.json", "history.jsonl", "rollout.gif"}


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an empty folder the working directory, where results are written by default."""
    monkeypatch.chdir(tmp_path)


def kept(folder: Path) -> dict[str, Any]:
    """Read the result in a folder; it must be complete, and an interrupted search must have a checkpoint."""
    with Image.open(folder / "rollout.gif") as film:
        assert getattr(film, "n_frames", 1) > 1
    result = json.loads((folder / "result.json").read_text())
    assert isinstance(result, dict)
    unfinished = {file.name for file in folder.glob("unfinished-*.json")}
    assert len(unfinished) == int(result["interrupted"])
    assert {file.name for file in folder.iterdir()} == KEPT | unfinished
    assert parse((folder / "program.karel").read_text(), LANGUAGE) == parse(result["program"], LANGUAGE)
    return result


# solve


def test_json_is_one_object_and_is_also_in_the_folder(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", "maze", "--json", "--out", tmp_path / "found")
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) == 1
    assert done.json == kept(tmp_path / "found")
    assert done.json["solved"] is True
    assert done.json["return"] == 1.0
    assert evaluate(done.json["program"], "maze", episodes=200, seed=9).mean_return[0] == 1.0


def test_program_is_shown_indented_with_its_return(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", "stair-climber", "--seed", 1)
    folder = tmp_path / "out" / "stair-climber-ladder-1"
    result = kept(folder)
    assert done.code == 0
    for line in to_indented(parse(result["program"], LANGUAGE)).splitlines():
        assert line in done.out  # indentation included
    flat = " ".join(done.out.split())
    assert f"{result['return']:.3f} (exact, all 45 states): solved" in flat
    assert f"{result['evaluations']:,} evaluations" in flat
    assert "stair-climber-ladder-1" in flat
    assert "interrupted" not in flat


def test_unsolved_task_is_not_reported_as_solved(leaps: Leaps) -> None:
    done = leaps("solve", "snake", "--method", "random-8")
    assert done.code == 0
    assert "not solved" in done.out


def test_several_seeds_are_searched_and_summed_up(leaps: Leaps, tmp_path: Path) -> None:
    words = ("solve", "maze", "--method", "random-8", "--seed", 3, "--seeds", 2, "--out", tmp_path / "found")
    report = leaps(*words, "--json").json
    assert [run["seed"] for run in report["runs"]] == [3, 4]
    assert (report["task"], report["method"], report["seeds"]) == ("maze", "random-8", 2)
    assert report["return"] == pytest.approx(sum(run["return"] for run in report["runs"]) / 2)
    assert report["solved"] == sum(run["solved"] for run in report["runs"])
    assert {folder.name for folder in (tmp_path / "found").iterdir()} == {
        "maze-random-8-3",
        "maze-random-8-4",
    }
    for run in report["runs"]:
        assert kept(tmp_path / "found" / f"maze-random-8-{run['seed']}") == run


def test_several_seeds_are_shown_one_by_one_and_on_average(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", "stair-climber", "--seeds", 2)
    flat = " ".join(done.out.split())
    assert flat.count("(exact, all 45 states)") == 2
    assert "1.000 on average (lowest 1.000); 2 of 2 solved" in flat
    assert {folder.name for folder in (tmp_path / "out").iterdir()} == {
        "stair-climber-ladder-0",
        "stair-climber-ladder-1",
    }


def test_settings_are_passed_to_the_search(leaps: Leaps) -> None:
    words = ("--method", "hc", "--budget", 60, "--size", "6x7", "--max-length", 9, "--seed", 2, "--json")
    report = leaps("solve", "maze", *words).json
    config = report["config"]
    assert (config["method"], config["budget"], config["size"]) == ("hc", 60, [6, 7])
    assert (config["max_length"], config["seed"]) == (9, 2)
    assert report["budget_spent"] <= 60
    assert len(report["program"].split()) <= 9


def test_user_search_is_named_by_its_file(leaps: Leaps, tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "a_search_of_your_own.py"
    report = leaps("solve", "maze", "--method", f"{example}:MySearch", "--seed", 1, "--json").json
    assert report == kept(tmp_path / "out" / "maze-MySearch-1")
    assert (report["method"], report["solved"]) == (f"{example}:MySearch", True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def Mine(setting):\n    return 1 / 0\n", "mine.py, line 2: ZeroDivisionError: division by zero"),
        ("class Mine:\n    def __init__(self, setting): ...\n", "mine.py, line 1: expected an object with"),
        ("\n\ndef Mine(:\n", "mine.py, line 3: SyntaxError: "),
        (
            "class Mine:\n    def __init__(self, setting): ...\n    def tell(self, scores): ...\n"
            "    def ask(self):\n        return ['DEF']\n",
            "mine.py, line 4, in ask: not a program: ",
        ),
    ],
)  # fmt: skip
def test_error_of_a_user_search_has_its_line(leaps: Leaps, tmp_path: Path, source: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(source)
    assert_refused(leaps("solve", "maze", "--method", "mine.py:Mine"), message)


def test_search_finds_a_program_for_several_sizes(leaps: Leaps, tmp_path: Path) -> None:
    words = ("solve", "stair-climber", "--also", "9x9, 14x10", "--out", tmp_path / "found")
    report = leaps(*words, "--json").json
    assert report["config"]["also"] == [[9, 9], [14, 10]]
    assert (report["solved"], report["elsewhere"]) == (True, {"9x9": 1.0, "14x10": 1.0})
    shown = " ".join(leaps(*words).out.split())
    assert "1.000 (exact, all 45 states)" in shown
    assert "1.000 at 9x9" in shown
    assert "1.000 at 14x10: solved" in shown


def test_several_searches_are_summed_up_size_by_size(leaps: Leaps) -> None:
    words = ("solve", "four-corner", "--method", "random-8", "--seeds", 2, "--also", "9x9")
    summary = leaps(*words, "--json").json
    earned = [run["elsewhere"]["9x9"] for run in summary["runs"]]
    assert summary["elsewhere"] == {"9x9": sum(earned) / 2}
    shown = " ".join(leaps(*words).out.split())
    assert f"; {sum(earned) / 2:.3f} at 9x9; 0 of 2 solved" in shown
    assert "at 9x9: not solved" in shown


def test_search_is_deterministic(leaps: Leaps) -> None:
    one, other = (leaps("solve", "top-off", "--budget", 500, "--json").json for _ in range(2))
    assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_result_can_be_replaced(leaps: Leaps, tmp_path: Path) -> None:
    for seed in (0, 1):
        leaps("solve", "maze", "--method", "random-8", "--seed", seed, "--out", tmp_path / "found")
    assert kept(tmp_path / "found")["seed"] == 1


def test_seeds_are_searched_on_a_cluster(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster of this test is two processes; `tests/experiments` uses real ones."""
    asked: list[tuple[str, str | None]] = []

    def connect(name: str, address: str | None) -> Local:
        asked.append((name, address))
        return Local(2)

    monkeypatch.setattr("leaps.experiments.backends.connect", connect)
    words = ("solve", "stair-climber", "--seeds", 2, "--json", "--out")
    done = leaps(*words, tmp_path / "there", "--backend", "dask", "--address", "tcp://10.0.0.1:8786")
    assert asked == [("dask", "tcp://10.0.0.1:8786")]
    here = leaps(*words, tmp_path / "here")
    for one, other in zip(done.json["runs"], here.json["runs"], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
        assert kept(tmp_path / "there" / f"stair-climber-ladder-{one['seed']}") == one


def test_seeds_that_fail_on_a_cluster_are_named(leaps: Leaps, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Local):
        def run(self, work: Any, items: Any) -> Any:
            for number, item in enumerate(items):
                yield number, Failure("out of memory") if number else work(item)

    monkeypatch.setattr("leaps.experiments.backends.connect", lambda *_: Failing(1))
    done = leaps("solve", "stair-climber", "--seeds", 2, "--backend", "ray", "--address", "auto", "--json")
    assert done.code == 1
    assert "seed 1 failed: out of memory" in done.err
    assert [run["seed"] for run in done.json["runs"]] == [0]


MISUSES = [
    (["amaze"], "unknown task 'amaze'"),
    (["maze", "--size", "2x2"], "maze needs at least 5x5 cells"),
    (["maze", "--space", "nonsense"], "no weights at 'nonsense'"),
    (["maze", "--max-length", "100000"], "max_length must be at most"),
    (["maze", "--method", "luck"], "unknown method 'luck'; expected one of ladder"),
    (["maze", "--budget", "0"], "budget must be at least 1, found 0"),
    (["maze", "--budget", "many"], "--budget"),
    (["maze", "--size", "large"], "--size: maze: expected height and width, such as 8x8"),
    (["maze", "--also", "9x9,large"], "or (8, 8) in Python, found 'large'"),
    (["maze", "--also", ","], "--also: maze: expected height and width"),
    (["maze", "--also", "8x8"], "also: expected sizes that differ, and from the search's own 8x8; found 8x8"),
    (["maze", "--max-length", "3"], "max_length must be at least 5, found 3"),
    (["maze", "--seed", "-1"], "--seed"),
    (["maze", "--seeds", "0"], "--seeds"),
    (["maze", "--backend", "slurm"], "unknown backend 'slurm'; expected local, dask or ray"),
    (["maze", "--backend", "dask"], "dask needs the address of a cluster"),
    (["maze", "--address", "tcp://127.0.0.1:1"], "the local backend takes no address"),
    ([], "TASK"),
]


@pytest.mark.parametrize(("words", "message"), MISUSES)
def test_misuse_is_an_error(leaps: Leaps, words: list[str], message: str) -> None:
    assert_refused(leaps("solve", *words, "--json"), message)


@pytest.mark.parametrize(("words", "message"), MISUSES)
def test_misuse_writes_nothing(leaps: Leaps, tmp_path: Path, words: list[str], message: str) -> None:
    assert_refused(leaps("solve", *words), message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [[], ["--seeds", "2"]])
def test_file_where_the_folder_should_be_is_refused_before_the_search(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    def searched(*_: object, **__: object) -> None:
        pytest.fail("searched for something that can't be kept")

    monkeypatch.setattr("leaps.search.several.work_all", searched)
    (tmp_path / "file").write_text("dear")
    assert_refused(leaps("solve", "maze", "--out", tmp_path / "file", *more), "file")
    assert (tmp_path / "file").read_text() == "dear"


def test_name_of_the_folder_is_printed_unchanged(leaps: Leaps, tmp_path: Path) -> None:
    # Square brackets are markup for rich, which prints the name.
    done = leaps("solve", "maze", "--method", "random-8", "--out", tmp_path / "[" / "x]")
    assert done.code == 0
    assert "[/x]" in "".join(done.out.split())  # a long path is broken into lines


def test_seed_that_is_too_large_is_refused(leaps: Leaps) -> None:
    assert_refused(leaps("solve", "maze", "--seed", 2**64), "seed")


@pytest.mark.parametrize("seeds", [1, 2])
def test_solution_is_printed_after_the_live_view_is_closed(
    leaps: Leaps, monkeypatch: pytest.MonkeyPatch, seeds: int
) -> None:
    # A live view that closes also removes the lines below it.
    course: list[str] = []
    monkeypatch.setattr(LiveView, "__exit__", lambda *_: course.append("gone"))
    monkeypatch.setattr("leaps.cli.search.print_solution", lambda *_: course.append("printed"))
    assert leaps("solve", "maze", "--method", "random-8", "--seeds", seeds).code == 0
    assert course == ["gone"] + ["printed"] * seeds


# Ctrl-C


def test_interrupted_search_keeps_its_best(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveView, "show", interrupt_in_round(4))
    monkeypatch.setattr(parallel, "_threads", 2)
    done = leaps("solve", "snake", "--seeds", 3, "--out", tmp_path / "found")
    assert_interrupted(done)
    assert "interrupted: best program so far" in " ".join(done.out.split())
    # Seeds that had not begun are not searched: with two threads, the third at least.
    folders = sorted((tmp_path / "found").iterdir())
    assert {folder.name for folder in folders} <= {"snake-ladder-0", "snake-ladder-1"}
    assert folders
    assert all(kept(folder)["interrupted"] is True for folder in folders)


def test_interrupted_search_prints_json_too(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveView, "show", interrupt_in_round(4))
    done = leaps("solve", "snake", "--json", "--out", tmp_path / "found")
    assert_interrupted(done)
    assert done.json["interrupted"] is True
    assert done.json == kept(tmp_path / "found")


def test_interruption_before_the_first_program_has_no_traceback(
    leaps: Leaps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaps.search.objective.Objective.scores", interrupt)
    done = leaps("solve", "snake")
    assert_interrupted(done)
    assert done.out == ""


def interrupt(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)


def interrupt_in_round(number: int) -> Any:
    """Press Ctrl-C once, when the first of the searches is in that round."""
    pressed = Lock()

    def show(_: LiveView, step: Any) -> None:
        if step.round == number and pressed.acquire(blocking=False):
            interrupt()

    return show


def assert_interrupted(done: Done) -> None:
    assert done.code == 130
    assert "Traceback" not in done.err + done.out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
def test_ctrl_c_in_a_terminal_ends_a_search_and_keeps_its_best(tmp_path: Path) -> None:
    """Interrupt a separate process on a real terminal while it searches."""
    master, terminal = pty.openpty()
    folder = tmp_path / "found"
    words = ["solve", "snake", "--budget", "100000000", "--json", "--out", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-m", "leaps.cli", *words],
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    os.close(terminal)
    seen = bytearray()
    searching = Event()

    def read() -> None:
        """Read to the end; a process that writes to a terminal blocks if nothing reads."""
        with suppress(OSError):  # the other side is closed
            while more := os.read(master, 10_000):
                seen.extend(more)
                if b"best return" in seen:
                    searching.set()

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        assert searching.wait(120)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        reader.join(10)
        os.close(master)
    assert process.returncode == 130
    assert b"Traceback" not in seen
    result = json.loads(out)
    assert result["interrupted"] is True
    assert result == kept(folder)


# imitate


@pytest.mark.parametrize("program", ["DEF run m( move move m)", "DEF run m( turnLeft putMarker m)"])
def test_imitate_finds_the_behaviour_of_a_short_program(leaps: Leaps, program: str) -> None:
    reports = [
        leaps("imitate", "-e", program, "--iterations", 50, "--seed", seed, "--json").json
        for seed in range(2)
    ]
    best = max(reports, key=lambda report: report["r_mat"])
    assert best["r_mat"] >= 0.9
    assert best["program"] == program
    worlds = random_worlds(10, best["seed"])
    again = r_mat(KAREL.compile(best["found"]), KAREL.compile(program), worlds)
    assert best["r_mat"] == again[0]


def test_imitating_program_is_shown_with_its_score(leaps: Leaps, tmp_path: Path) -> None:
    file = tmp_path / "walk.karel"
    file.write_text("DEF run m(\n  move\n  move\nm)\n")
    words = ("imitate", file, "--iterations", 5)
    report, done = leaps(*words, "--json").json, leaps(*words)
    assert f"R_mat {report['r_mat']:.3f}" in done.out
    for line in to_indented(parse(report["found"], LANGUAGE)).splitlines():
        assert line in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-e", "nonsense"], "expected"),
        (["-e", "DEF run m( mvoe m)"], "did you mean 'move'"),
        (["-e", "DEF run m( move m)", "--iterations", "0"], "--iterations"),
        (["-e", "DEF run m( move m)", "--space", "nonsense"], "no weights at 'nonsense'"),
        (["nowhere.karel"], "No such file"),
        ([], "expected a program"),
    ],
)
def test_invalid_imitate_is_an_error(leaps: Leaps, words: list[str], message: str) -> None:
    assert_refused(leaps("imitate", *words), message)


# Help


def test_help_names_every_method(leaps: Leaps) -> None:
    done = leaps("solve", "--help")
    flat = " ".join(done.out.replace("│", " ").split())
    assert done.code == 0
    assert all(name in flat for name in METHODS)
    assert "--json" in flat


def test_help_of_imitate(leaps: Leaps) -> None:
    done = leaps("imitate", "--help")
    assert done.code == 0
    assert "--json" in done.out


def test_same_command_resumes_an_interrupted_search(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["solve", "snake", "--budget", 3000, "--json", "--out", tmp_path / "found"]
    with monkeypatch.context() as patched:
        patched.setattr("leaps.search.checkpoint.EVERY", 0.0)
        patched.setattr(LiveView, "show", interrupt_in_round(20))
        assert_interrupted(leaps(*words))
    done = leaps(*words)
    assert done.code == 0
    assert "seed 0 resumes after" in done.err
    assert not list((tmp_path / "found").glob("unfinished-*"))
    whole = leaps(*words[:-1], tmp_path / "whole")
    assert "resumes" not in whole.err
    assert {**done.json, "seconds": 0} == {**whole.json, "seconds": 0}


def test_task_in_a_file_is_solved_and_its_folder_has_its_name(leaps: Leaps, tmp_path: Path) -> None:
    """The corridor of docs/tasks.md, in its own folder."""
    pages = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()
    code = pages.split("```python\n", 1)[1].split("```", 1)[0]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "corridor.py").write_text(code)
    done = leaps("solve", "mine/corridor.py:CORRIDOR", "--json")
    assert done.json["solved"] is True
    assert done.json["task"] == "mine/corridor.py:CORRIDOR"
    assert [folder.name for folder in (tmp_path / "out").iterdir()] == ["corridor-ladder-0"]
    assert_refused(leaps("solve", "mine/corridor.py:NOWHERE"), "CORRIDOR")
