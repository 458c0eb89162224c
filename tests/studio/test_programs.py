"""There is a program to begin with for every task, and the study is the paper's."""

import pytest

from leaps.dsl.syntax import tokens_of, walk
from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.karel.world import LANGUAGE
from leaps.studio.programs import START, STUDY, start_of, title_of
from leaps.studio.requests import TOKENS
from leaps.tasks import HARD, TASKS


def test_every_task_has_a_program_to_begin_with() -> None:
    assert list(START) == list(TASKS)
    assert all(parse(start_of(task), LANGUAGE) == START[task] for task in TASKS)
    assert all(len(tokens_of(program)) <= TOKENS for program in START.values())


@pytest.mark.parametrize("task", TASKS)
def test_it_does_something_sensible(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] > 0.1


@pytest.mark.parametrize("task", [*HARD, "top-off", "harvester", "clean-house"])
def test_it_leaves_room_for_improvement(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] < 0.99


def test_the_study_is_the_papers() -> None:
    assert [studied.task for studied in STUDY] == ["top-off", "four-corner", "harvester"]
    assert [studied.reported for studied in STUDY] == [
        {0: 0.86, 3: 0.95, 5: 1.0},
        {0: 0.25, 3: 0.75, 5: 0.92},
        {0: 0.47, 3: 0.85, 5: 0.89},
    ]
    assert [len(list(walk(studied.program))) for studied in STUDY] == [20, 36, 42]


@pytest.mark.parametrize("number", [1, 2])
def test_a_studied_program_earns_what_was_reported(number: int) -> None:
    studied = STUDY[number]
    earned = evaluate(studied.program, studied.task, episodes=100).mean_return[0]
    assert earned == pytest.approx(studied.reported[0], abs=0.01)


def test_the_one_that_does_not_would_if_it_were_cut_off_as_its_note_says() -> None:
    studied = STUDY[0]
    assert "cut off after 50 actions, this program earns 0.89" in studied.note
    short, whole = (
        evaluate(studied.program, studied.task, episodes=1000, horizon=horizon).mean_return[0]
        for horizon in (50, None)
    )
    assert short == pytest.approx(0.89, abs=0.005)
    assert whole < 0.5


def test_titles_are_the_papers() -> None:
    assert title_of("stair-climber") == "StairClimber"
    assert title_of("maze") == "Maze"
