"""Commands for programs: output and exit codes."""

import io
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from leaps import __version__
from leaps.karel.tasks import TASKS
from tests.cli.harness import Leaps, assert_refused

ROOT = Path(__file__).parents[2]
MAZE = str(ROOT / "examples" / "maze.karel")
WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"


# tasks


def test_tasks_lists_all_with_pictures(leaps: Leaps) -> None:
    done = leaps("tasks")
    assert done.code == 0
    for name in TASKS:
        assert name in done.out
    assert sum(map(done.out.count, "▲►▼◄")) == len(TASKS)
    assert "Environments: CartPole-v1" in done.out


def test_tasks_as_json(leaps: Leaps) -> None:
    listed = leaps("tasks", "--json").json
    assert [task["name"] for task in listed] == list(TASKS)
    assert all(len(task["grid"]) == task["size"][0] for task in listed)
    assert set(listed[0]) == {
        "name", "summary", "size", "smallest", "resizable", "horizon", "grid", "agent",
    }  # fmt: skip


# check


def test_check_accepts_a_program_in_both_forms(leaps: Leaps) -> None:
    assert leaps("check", MAZE).code == 0
    done = leaps("check", "-e", WALK, "--json")
    assert done.json == {"valid": True, "program": WALK, "tokens": 11, "statements": 2, "actions": 1}


def test_check_points_at_an_error(leaps: Leaps) -> None:
    done = leaps("check", "-e", "DEF run m( move WHILE m)")
    assert done.code == 2
    assert done.err.splitlines() == [
        "error: token 5: found 'm)', expected c(",
        "  DEF run m( move WHILE m)",
        "                        ^^",
    ]


def test_check_reports_an_error_as_json(leaps: Leaps) -> None:
    done = leaps("check", "-e", "DEF run m(\n  move\n  jump\nm)", "--json")
    assert done.code == 2
    assert {key: done.json[key] for key in ("valid", "token", "line", "column")} == {
        "valid": False,
        "token": 4,
        "line": 3,
        "column": 3,
    }


def test_program_can_come_from_standard_input(leaps: Leaps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WALK.encode())))
    assert leaps("check", "-", "--json").json["tokens"] == 11


# run


def test_run_reports_returns_that_add_up(leaps: Leaps) -> None:
    done = leaps("run", "-e", WALK, "--task", "top-off", "--episodes", "50", "--seed", "3", "--json")
    report = done.json
    assert done.code == 0
    assert (report["task"], report["episodes"], report["seed"]) == ("top-off", 50, 3)
    assert len(report["returns"]) == 50
    assert report["mean_return"] == pytest.approx(sum(report["returns"]) / 50)
    assert 0 < report["std_return"] < 1
    assert report["halted"] == 50
    assert report["mean_steps"] == 9
    assert (report["exact"], report["weights"]) == (False, None)


def test_run_tries_all_states_if_neither_seed_nor_episodes_are_given(leaps: Leaps) -> None:
    words = ("run", "-e", WALK, "--task", "top-off")
    report = leaps(*words, "--json").json
    assert (report["exact"], report["episodes"], report["seed"]) == (True, 512, None)
    weighted = sum(w * r for w, r in zip(report["weights"], report["returns"], strict=True))
    assert report["mean_return"] == pytest.approx(weighted)
    shown = " ".join(leaps(*words).out.split())
    assert f"{weighted:.3f} ± {report['std_return']:.3f} (exact, all 512 states)" in shown
    assert "seed" not in shown
    assert "states 512 ended with the program" in shown
    assert "(2 fresh draws)" in leaps(*words, "--episodes", "2").out
    assert "(100 fresh draws)" in leaps(*words, "--seed", "0").out


def test_run_draws_worlds_of_a_task_that_lists_none(leaps: Leaps) -> None:
    assert leaps("run", "-e", WALK, "--task", "snake", "--json").json["episodes"] == 100


def test_run_names_a_state_that_trace_shows(leaps: Leaps) -> None:
    words = ("-e", WALK, "-t", "top-off")
    returns = leaps("run", *words, "--json").json["returns"]
    assert f"leaps trace … --state {returns.index(min(returns))}" in leaps("run", *words).out
    for number in (0, 3, 511):
        traced = leaps("trace", *words, "--state", str(number), "--json").json
        assert traced["return"] == pytest.approx(returns[number])
        assert (traced["state"], traced["seed"], traced["episode"]) == (number, None, None)


def test_run_is_deterministic_for_a_seed(leaps: Leaps) -> None:
    words = ("run", "-e", WALK, "--task", "top-off", "--json")
    assert leaps(*words).out == leaps(*words).out
    assert leaps(*words, "--seed", "1").json["returns"] != leaps(*words).json["returns"]


def test_run_solves_a_maze_for_people(leaps: Leaps) -> None:
    done = leaps("run", MAZE, "--task", "maze", "--size", "20x30")
    assert done.code == 0
    assert "maze, 20x30, seed 0" in done.out
    assert "1.000 ± 0.000 (100 fresh draws)" in done.out
    assert "100 were ended by the task" in done.out


def test_run_saves_an_episode_as_a_gif(leaps: Leaps, tmp_path: Path) -> None:
    gif = tmp_path / "new folder" / "maze.gif"
    done = leaps("run", MAZE, "--task", "maze", "--episodes", "1", "--gif", str(gif), "--json")
    with Image.open(gif) as film:
        assert film.format == "GIF"
        assert getattr(film, "n_frames", 0) >= 0.5 * done.json["mean_steps"]


# trace


def test_trace_gives_the_tests_before_every_action(leaps: Leaps) -> None:
    report = leaps("trace", MAZE, "--task", "maze", "--seed", "4", "--json").json
    assert report["outcome"] == "ended"
    assert report["return"] == 1.0
    first = report["steps"][0]
    assert first["tests"][0] == {"statement": "WHILE", "condition": "noMarkersPresent", "result": True}
    assert first["path"][0] == "WHILE c( noMarkersPresent c)"
    assert first["path"][-1] == first["action"]
    assert len(first["grid"]) == 8


def test_trace_shows_the_episode_that_run_numbers(leaps: Leaps) -> None:
    returns = leaps("run", "-e", WALK, "-t", "top-off", "--seed", "0", "--json").json["returns"]
    worst = returns.index(min(returns))
    traced = leaps("trace", "-e", WALK, "-t", "top-off", "--episode", str(worst), "--json").json
    assert traced["return"] == pytest.approx(min(returns))


def test_trace_subtracts_the_cost_per_action_that_run_does(leaps: Leaps) -> None:
    words = ("-e", WALK, "-t", "top-off~cost")
    returns = leaps("run", *words, "--json").json["returns"]
    traced = leaps("trace", *words, "--state", "0", "--json").json
    assert traced["return"] == traced["steps"][-1]["value"] == pytest.approx(returns[0])
    free = leaps("trace", "-e", WALK, "-t", "top-off", "--state", "0", "--json").json
    assert traced["return"] == pytest.approx(free["return"] - 0.0001 * len(free["steps"]))


def test_trace_is_readable(leaps: Leaps) -> None:
    done = leaps("trace", "-e", WALK, "--task", "top-off")
    assert "step 1: move" in done.out
    assert "WHILE frontIsClear? yes" in done.out
    assert "WHILE frontIsClear? no" in done.out
    assert "the program ends, return" in done.out


# conform


def test_conform_counts_equal_runs(leaps: Leaps, tmp_path: Path) -> None:
    lines = (ROOT / "tests" / "golden" / "traces.jsonl").read_text().splitlines()[:20]
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text("\n".join(lines))
    broken = json.loads(lines[3])
    broken["actions"] += "m"
    bad.write_text("\n".join([*lines[:3], json.dumps(broken), *lines[4:]]))
    assert leaps("conform", str(good)) == (0, "20 of 20 agree\n", "")
    done = leaps("conform", str(bad))
    assert done.code == 1
    assert "19 of 20 agree" in done.out
    assert "line 4" in done.out
    assert leaps("conform", str(bad), "--json").json["disagreements"][0]["line"] == 4


# bad input


def test_empty_file_is_refused(leaps: Leaps, tmp_path: Path) -> None:
    file = tmp_path / "empty.karel"
    file.write_text("")
    assert_refused(leaps("run", str(file), "--task", "maze"), "the text is empty, expected DEF")
    assert_refused(leaps("check", str(file)), "the text is empty")


@pytest.mark.parametrize("kind", ["bytes", "letters", "one word", "tokens"])
def test_ten_megabytes_of_noise_are_refused_briefly(leaps: Leaps, tmp_path: Path, kind: str) -> None:
    rng = random.Random(0)
    size = 10_000_000
    noise = {
        "bytes": lambda: rng.randbytes(size),
        "letters": lambda: bytes(rng.choices(b"abcdef ghij\n", k=size)),
        "one word": lambda: b"x" * size,
        "tokens": lambda: b"DEF run m( " + b"WHILE c( frontIsClear c) w( " * (size // 28),
    }[kind]()
    file = tmp_path / "noise.karel"
    file.write_bytes(noise)
    done = leaps("check", str(file))
    assert_refused(done, "token")
    assert len(done.err) < 2000


def test_100_000_nested_blocks_are_refused(leaps: Leaps, tmp_path: Path) -> None:
    file = tmp_path / "deep.karel"
    file.write_text("DEF run m( " + "REPEAT R=2 r( " * 100_000 + "move " + "r) " * 100_000 + "m)")
    assert_refused(leaps("run", str(file), "--task", "maze"), "blocks are nested deeper than 100")


OPENS = """
from leaps.karel.physics import PUT
from leaps.karel.world import EAST, clear, place_karel
from leaps.karel.tasks import KarelTask

def sample(stream, world):
    clear(world)
    place_karel(world, 1, 1, EAST)

def value(world, start):
    return 0.0

def react(world, change, row, column):
    world.memory[0] += 1
    if world.memory[0] > 6:
        world.ground[0, 3] = 0
    return False

OPENS = KarelTask("opens", "", (3, 40), (3, 4), sample, value, react=react, events=PUT, memory=1)
"""


def test_trace_reports_the_step_at_which_a_task_fails(leaps: Leaps, tmp_path: Path) -> None:
    (tmp_path / "opens.py").write_text(OPENS)
    program = "DEF run m( REPEAT R=9 r( putMarker move r) m)"
    words = ["trace", "-e", program, "--task", f"{tmp_path}/opens.py:OPENS"]
    assert_refused(leaps(*words, "--json"), "step 13: opens: expected wall all around")
    assert "step 13: opens: expected wall all around" in leaps(*words).err


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("DEF run m( mvoe m)", "'mvoe' is not a token of this language; did you mean 'move'?"),
        ("DEF run m( move", "the program ends here, expected"),
        ("DEF run m( REPEAT R=20 r( move r) m)", "found 'R=20', expected R=0 to R=19"),
        ("DEF run m( m)", "found 'm)', expected an action"),
        ("DEF run m( move m) move", "expected the end of the program"),
    ],
)
def test_syntax_error_is_shown_with_its_position(leaps: Leaps, program: str, message: str) -> None:
    assert_refused(leaps("run", "-e", program, "--task", "maze"), message)
    assert_refused(leaps("trace", "-e", program, "--task", "maze"), message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", MAZE, "--task", "topoff"], "unknown task 'topoff'; did you mean 'top-off'?"),
        (["run", MAZE, "--task", "maze", "--size", "3x3"], "maze needs at least 5x5 cells"),
        (
            ["run", MAZE, "--task", "maze", "--size", "big"],
            "--size: maze: expected height and width",
        ),
        (["run", MAZE, "--task", "maze", "--size", "8x99999"], "at most 1000 cells a side"),
        (["run", MAZE, "--task", "clean-house", "--size", "20x20"], "a fixed size of 14x22"),
        (["run", MAZE, "--task", "maze", "--episodes", "0"], "greater than or equal to 1"),
        (["run", MAZE, "--task", "maze", "--seed", "-1"], "greater than or equal to 0"),
        (["run", MAZE, "--task", "maze", "--gif", "picture.png"], "expected a name that ends in .gif"),
        (["run", MAZE], "Missing option"),
        (["run", "--task", "maze"], "expected a program: either a FILE or -e"),
        (["run", MAZE, "-e", WALK, "--task", "maze"], "and not both"),
        (["run", "nowhere.karel", "--task", "maze"], "nowhere.karel: No such file or directory"),
        (["run", str(ROOT), "--task", "maze"], "Is a directory"),
        (["trace", MAZE, "--task", "maze", "--size", "2x2"], "maze needs at least 5x5"),
        (["trace", MAZE, "--task", "top-off", "--state", "512"], "below 512, the number of initial states"),
        (["trace", MAZE, "--task", "snake", "--state", "0"], "snake doesn't list its initial states at 8x8"),
        (["conform", MAZE], "line 1: expected a JSON object"),
        (["fly"], "No such command 'fly'"),
        (["run", MAZE, "--task", "maze", "--fast"], "No such option"),
    ],
)
def test_misuse_is_an_error(leaps: Leaps, words: list[str], message: str) -> None:
    assert_refused(leaps(*words), message)


def test_unwritable_picture_is_an_error(leaps: Leaps, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = leaps("run", MAZE, "--task", "maze", "--gif", tmp_path / "file" / "maze.gif")
    assert_refused(done, str(tmp_path / "file"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


# help and the rest


@pytest.mark.parametrize("command", ["tasks", "check", "run", "trace", "conform"])
def test_every_command_has_help_and_json(leaps: Leaps, command: str) -> None:
    done = leaps(command, "--help")
    assert done.code == 0
    assert "--json" in done.out
    assert len(done.out.split()) > 60


def test_version(leaps: Leaps) -> None:
    assert leaps("--version").out == f"leaps {__version__}\n"


def test_the_installed_command_works_and_survives_a_closed_pipe() -> None:
    command = [sys.executable, "-m", "leaps.cli"]
    done = subprocess.run(
        [*command, "run", MAZE, "--task", "maze", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["mean_return"] == 1.0
    piped = subprocess.run(
        f"{sys.executable} -m leaps.cli trace {MAZE} --task maze | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert piped.stderr == ""
