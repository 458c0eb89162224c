"""`leaps solve` and `leaps repair` take a task in any Gymnasium environment by its file."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.harness import Leaps

TASK = f"{Path(__file__).parent / 'corridor.py'}:CORRIDOR"
RIGHT = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) m)"


@pytest.fixture
def leaps(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Leaps:
    monkeypatch.setenv("COLUMNS", "120")
    return Leaps(monkeypatch, capsys)


def test_a_task_is_solved_at_the_prompt(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", TASK, "--budget", 1500, "--also", "long", "--out", tmp_path / "found", "--json")
    assert done.code == 0
    assert done.json["solved"]
    assert done.json["elsewhere"] == {"long": 1.0}
    assert {"program.karel", "result.json", "history.jsonl", "rollout.gif"} <= {
        file.name for file in (tmp_path / "found").iterdir()
    }
    stored = json.loads((tmp_path / "found" / "result.json").read_text())
    assert stored["program"] == done.json["program"]


def test_what_is_found_is_shown_in_the_words_of_the_task(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", TASK, "--budget", 1500, "--out", tmp_path / "found")
    assert done.code == 0
    assert "1.000 (1,000 fresh draws): solved" in done.out
    assert "right" in done.out


def test_a_program_is_repaired_at_the_prompt(leaps: Leaps) -> None:
    broken = RIGHT.replace("right", "left")
    done = leaps("repair", "-e", broken, "--task", TASK, "--edits", 1, "--budget", 1000)
    assert done.code == 0
    assert "1 edit of 1 allowed" in done.out
    assert re.search(r"^│\s+-\s+left\b", done.out, re.M)
    assert re.search(r"^│\s+\+\s+right\b", done.out, re.M)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("solve", TASK, "--size", "wide"), "corridor has no variant 'wide'; expected one of: long"),
        (("solve", TASK, "--method", "leaps"), "and corridor has none; expected ladder or hc"),
        (("repair", "-e", "DEF run m( move m)", "--task", TASK), "'move' is not a token of this language"),
    ],
)
def test_bad_input_is_refused(leaps: Leaps, words: tuple[str, ...], message: str) -> None:
    done = leaps(*words)
    assert done.code == 2
    assert message in done.err
