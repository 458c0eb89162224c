"""`leaps repair`: output, files and errors."""

import re
import signal
from pathlib import Path

import pytest

import leaps as package
from leaps.cli.repair import ADDED, KEPT, REMOVED, changes
from leaps.cli.search import LiveView
from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.karel.world import KAREL, LANGUAGE
from leaps.search.solve import Round
from tests.cli.harness import Leaps, assert_refused

FILLS = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"
FILLS_ELSEWHERE = FILLS.replace("markersPresent", "noMarkersPresent")
"""one edit away, with a return of 0"""
CORNER = "DEF run m( turnRight turnRight move putMarker m)"


def test_broken_program_is_repaired_and_the_edits_are_shown(leaps: Leaps) -> None:
    done = leaps("repair", "-e", FILLS_ELSEWHERE, "--task", "top-off", "--edits", "1")
    assert done.code == 0
    shown = [line[3:].split("│")[0].rstrip() for line in done.out.splitlines()]
    assert "-     IF c( noMarkersPresent c) i(" in shown
    assert "    WHILE c( frontIsClear c) w(" in shown
    assert sum(line.startswith("+") for line in shown) == 1
    text = " ".join(done.out.split())
    assert "1.000 on the same worlds: solved" in text
    assert "1 edit of 1 allowed" in text


def test_json_is_one_object_with_both_programs(leaps: Leaps) -> None:
    done = leaps("repair", "-e", FILLS_ELSEWHERE, "-t", "top-off", "-n", "1", "--json")
    assert (done.code, done.err, len(done.out.splitlines())) == (0, "", 1)
    report = done.json
    assert report["original"] == FILLS_ELSEWHERE
    assert report["edits"] == 1
    assert report["solved"] is True
    assert report["return"] == 1.0 > report["original_return"]
    assert evaluate(report["program"], "top-off", episodes=200, seed=9).mean_return[0] == 1.0
    found = package.repair(FILLS_ELSEWHERE, "top-off", 1)
    assert found.summary() | {"seconds": 0} == report | {"seconds": 0, "config": found.summary()["config"]}


def test_program_with_fixed_counts_is_repaired_for_other_sizes(leaps: Leaps) -> None:
    """The program solves the task's own size; one edit, to a WHILE loop, solves every size."""
    counts = "DEF run m( REPEAT R=9 r( IF c( markersPresent c) i( putMarker i) move r) m)"
    words = ("repair", "-e", counts, "-t", "top-off", "-n", "1")
    assert leaps(*words, "--json").json["program"] == counts
    text = " ".join(leaps(*words, "--also", "5x30").out.split())
    assert re.search(r"before 1\.000 \(exact, all 512 states\) .*0\.3\d\d at 5x30", text)
    assert re.search(r"after 1\.000 on the same worlds .*1\.000 at 5x30: solved", text)
    assert "1 edit of 1 allowed" in text


def test_program_file_is_read_and_the_repaired_one_written(leaps: Leaps, tmp_path: Path) -> None:
    (tmp_path / "mine.karel").write_text(FILLS_ELSEWHERE)
    done = leaps(
        "repair", tmp_path / "mine.karel", "-t", "top-off", "-n", "1", "--out", tmp_path / "better.karel"
    )
    assert done.code == 0
    mended = parse((tmp_path / "better.karel").read_text(), LANGUAGE)
    assert evaluate(mended, "top-off", episodes=200, seed=9).mean_return[0] == 1.0
    assert (tmp_path / "mine.karel").read_text() == FILLS_ELSEWHERE


def test_perfect_program_is_unchanged(leaps: Leaps) -> None:
    done = leaps("repair", "-e", FILLS, "-t", "top-off", "--json")
    assert (done.json["program"], done.json["edits"]) == (FILLS, 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-e", CORNER, "-t", "nowhere"], "unknown task 'nowhere'"),
        (["-e", CORNER, "-t", "maze", "--edits", "0"], "edits must be at least 1, found 0"),
        (["-e", CORNER, "-t", "maze", "--budget", "0"], "budget must be at least 1, found 0"),
        (["-e", "DEF run m( fly m)", "-t", "maze"], "fly"),
        (["-t", "maze"], "expected a program"),
        (["-e", CORNER, "-t", "maze", "--out", "no/such/folder/x.karel"], "there is no folder"),
        (["-e", CORNER, "-t", "maze", "--size", "8"], "--size: maze: expected height and width"),
        (["-e", CORNER], "Missing option '--task'"),
    ],
)
def test_unsupported_repair_is_an_error(
    leaps: Leaps, words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(leaps("repair", *words), message)


def test_ctrl_c_ends_the_repair_with_the_best_program(
    leaps: Leaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: LiveView, step: Round) -> None:
        if step.round == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(LiveView, "show", interrupt)
    out = tmp_path / "best.karel"
    done = leaps("repair", "-e", CORNER, "-t", "four-corner", "--json", "--out", out)
    assert done.code == 130
    assert done.json["interrupted"] is True
    assert parse(out.read_text(), LANGUAGE) == parse(done.json["program"], LANGUAGE)


def test_indentation_is_not_a_change() -> None:
    before = "DEF run m( move turnLeft putMarker m)"
    after = "DEF run m( REPEAT R=4 r( move turnLeft r) pickMarker m)"
    assert changes(KAREL.parse(before), KAREL.parse(after)) == [
        (KEPT, "DEF run m("),
        (ADDED, "  REPEAT R=4 r("),
        (KEPT, "    move"),
        (KEPT, "    turnLeft"),
        (REMOVED, "  putMarker"),
        (ADDED, "  r)"),
        (ADDED, "  pickMarker"),
        (KEPT, "m)"),
    ]
