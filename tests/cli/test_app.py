"""Parts of all commands: help, version, sizes, and reading of programs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from leaps import __version__
from leaps.cli.app import parse_size, read_program

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"


def leaps(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "leaps.cli", *words], capture_output=True, text=True, check=False
    )


def test_module_runs_the_command() -> None:
    done = leaps("--version")
    assert (done.returncode, done.stdout) == (0, f"leaps {__version__}\n")


def test_package_runs_the_command() -> None:
    command = [sys.executable, "-m", "leaps", "--version"]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"leaps {__version__}\n"
    )


def test_without_a_command_help_is_printed() -> None:
    assert "latent-map" in leaps().stdout + leaps().stderr


@pytest.mark.parametrize(
    ("text", "size"), [("8x8", (8, 8)), (" 12X22 ", (12, 22)), ("100×100", (100, 100)), (None, None)]
)
def test_size_is_height_and_width(text: str | None, size: tuple[int, int] | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "8", "8x", "x8", "8x8x8", "-8x8", "8.5x8", "9" * 50 + "x8"])
def test_other_texts_are_not_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="expected HEIGHTxWIDTH such as 8x8"):
        parse_size(text)


def test_program_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "walk.karel"
    file.write_text(WALK, encoding="utf-8-sig")
    assert read_program(file, None) == read_program(None, WALK)


OWN_TASK = """
from leaps.karel.world import EAST, clear, place_karel
from leaps.karel.tasks import KarelTask

def sample(stream, world):
    clear(world)
    place_karel(world, 1, 1, EAST)

def value(world, start):
    return 1.0 if world.pose[1] == world.ground.shape[1] - 2 else 0.0

def wrong(world, start):
    return [1][world.ground.shape[0]]

EASTWARDS = KarelTask("eastwards", "walk to the right", (5, 9), (5, 9), sample, value)
WRONG = KarelTask("wrong", "walk to the right", (5, 9), (5, 9), sample, wrong)
"""


def test_task_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_TASK)
    done = leaps("run", "-e", WALK, "--task", f"{tmp_path}/mine.py:EASTWARDS", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert (report["task"], report["mean_return"]) == ("eastwards", 1.0)


def test_error_of_a_task_file_has_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_TASK + "\n1 / 0\n")
    done = leaps("run", "-e", WALK, "--task", f"{tmp_path}/mine.py:EASTWARDS")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path}/mine.py, line 18: ZeroDivisionError: division by zero\n"


def test_error_of_a_task_function_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_TASK)
    done = leaps("run", "-e", WALK, "--task", f"{tmp_path}/mine.py:WRONG")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'mine.py", line 13, in wrong' in done.stderr
    assert done.stderr.endswith("IndexError: list index out of range\n")


def test_seed_that_is_too_large_is_refused() -> None:
    done = leaps("run", "-e", WALK, "--task", "maze", "--seed", "99999999999999999999")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: seed must be from 0 to 2^63 - 1, found 99999999999999999999\n"
