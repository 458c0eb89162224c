"""Saved solutions are complete, and can be read and run."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.karel.world import LANGUAGE
from leaps.search.save import make_folder, save_solution
from leaps.search.solve import Solution, SolveConfig, solve
from leaps.tasks import get
from tests.embedding.helpers import needs_shipped_weights

PROGRAM = "DEF run m( WHILE c( noMarkersPresent c) w( move turnRight w) m)"
HISTORY = [
    {
        "round": 1,
        "evaluations": 64,
        "rollouts": 2000,
        "score": 0.25,
        "worlds": 32,
        "program": "DEF run m( move m)",
    },
    {"round": 3, "evaluations": 96, "rollouts": 3000, "score": 1.0, "worlds": 32, "program": PROGRAM},
]


def solution_of(task: str = "maze", program: str = PROGRAM, size: tuple[int, int] | None = None) -> Solution:
    """A solution like that of a search."""
    return Solution(
        SolveConfig(task, seed=5, size=size, budget=900),
        get(task),
        program,
        search_return=0.75,
        unseen_return=0.5,
        found=program,
        evaluations=120,
        budget_spent=100,
        evaluations_to_found=96,
        rollouts=3000,
        seconds=1.5,
        worlds=32,
        interrupted=False,
        history=HISTORY,
    )


def test_the_saved_program_is_the_found_program(tmp_path: Path) -> None:
    save_solution(solution_of(), tmp_path)
    text = (tmp_path / "program.karel").read_text()
    assert parse(text, LANGUAGE) == parse(PROGRAM, LANGUAGE)
    assert len(text.splitlines()) > 3  # to be read by humans
    assert text.endswith("m)\n")


def test_the_result_has_all_documented_fields(tmp_path: Path) -> None:
    save_solution(solution_of(), tmp_path)
    result = json.loads((tmp_path / "result.json").read_text())
    expected = {
        "task": "maze",
        "method": "ladder",
        "seed": 5,
        "program": PROGRAM,
        "return": 0.5,
        "search_return": 0.75,
        "evaluations": 120,
        "budget_spent": 100,
        "evaluations_to_found": 96,
        "seconds": 1.5,
        "solved": False,
        "interrupted": False,
    }
    assert {key: result[key] for key in expected} == expected
    assert result["config"]["budget"] == 900
    assert result["config"]["seed"] == 5


def test_the_history_is_saved_as_json_lines(tmp_path: Path) -> None:
    save_solution(solution_of(), tmp_path)
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == HISTORY


@pytest.mark.parametrize(
    ("task", "size", "program"),
    [
        ("maze", None, PROGRAM),
        ("maze", (6, 12), PROGRAM),
        ("snake", None, "DEF run m( REPEAT R=5 r( move turnLeft r) m)"),
    ],
)
def test_a_rollout_is_saved_as_a_film(
    tmp_path: Path, task: str, size: tuple[int, int] | None, program: str
) -> None:
    save_solution(solution_of(task, program, size), tmp_path)
    with Image.open(tmp_path / "rollout.gif") as film:
        assert film.format == "GIF"
        assert getattr(film, "n_frames", 1) > 1
        height, width = size or get(task).size
        assert film.width * height == pytest.approx(film.height * width, rel=0.3)


def test_a_nearly_empty_program_is_saved(tmp_path: Path) -> None:
    save_solution(solution_of(program="DEF run m( putMarker m)"), tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {
        "program.karel",
        "result.json",
        "history.jsonl",
        "rollout.gif",
    }


def test_a_result_replaces_an_older_one(tmp_path: Path) -> None:
    save_solution(solution_of(), tmp_path)
    save_solution(replace(solution_of(program="DEF run m( move m)"), evaluations=7), tmp_path)
    assert json.loads((tmp_path / "result.json").read_text())["evaluations"] == 7
    assert parse((tmp_path / "program.karel").read_text(), LANGUAGE) == parse("DEF run m( move m)", LANGUAGE)
    assert len(list(tmp_path.iterdir())) == 4


@needs_shipped_weights
def test_a_saved_program_can_be_evaluated_from_its_folder(tmp_path: Path) -> None:
    solution = solve("stair-climber")
    save_solution(solution, tmp_path)
    result = json.loads((tmp_path / "result.json").read_text())
    again = evaluate((tmp_path / "program.karel").read_text(), result["task"], episodes=500, seed=8)
    assert result["solved"]
    assert again.mean_return[0] == result["return"] == 1.0
    rows = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert rows == solution.history
    assert solve(SolveConfig(**result["config"])).program == result["program"]


# Folders


def test_a_folder_is_created_with_its_parents_and_stays_empty(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_folder(folder)
    make_folder(folder)
    assert folder.is_dir()
    assert list(folder.iterdir()) == []


def test_existing_files_of_a_folder_are_kept(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    make_folder(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("inside", ["", "folder"])
def test_a_file_instead_of_a_folder_raises_and_is_kept(tmp_path: Path, inside: str) -> None:
    file = tmp_path / "file"
    file.write_text("dear")
    with pytest.raises(OSError, match="file"):
        make_folder(file / inside)
    assert file.read_text() == "dear"


def test_a_folder_that_is_not_writable_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A full or read-only disk raises only when something is written.
    def full(file: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device", str(file), content and None)

    monkeypatch.setattr("leaps.search.save.write_atomically", full)
    with pytest.raises(OSError, match="No space left"):
        make_folder(tmp_path / "new")
