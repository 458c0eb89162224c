"""There is a program to begin with for every task."""

from dataclasses import replace

import pytest

from leaps.dsl.syntax import tokens_of
from leaps.dsl.text import parse, to_line
from leaps.evaluate import evaluate
from leaps.karel.tasks import HARD, TASKS
from leaps.karel.world import LANGUAGE
from leaps.studio.offer import OFFERED
from leaps.studio.programs import START, first_program, start_of, title_of
from leaps.studio.requests import TOKENS
from tests.gym.corridor import CORRIDOR, corridor


def test_every_task_has_a_program_to_begin_with() -> None:
    assert list(START) == list(OFFERED)
    assert all(parse(start_of(task, OFFERED[task]), LANGUAGE) == START[task] for task in START)
    assert all(len(tokens_of(program)) <= TOKENS for program in START.values())


@pytest.mark.parametrize("task", START)
def test_it_does_something_sensible(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] > 0.1


@pytest.mark.parametrize("task", [*HARD, "top-off", "harvester", "clean-house"])
def test_it_leaves_room_for_improvement(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] < 0.99


def test_a_task_of_ones_own_begins_with_a_program_that_does_nothing_wrong() -> None:
    own = replace(TASKS["maze"], name="corridor")
    assert start_of("corridor", own) == "DEF run m(\n  move\nm)"


def test_an_environment_begins_with_a_program_in_its_own_words() -> None:
    assert to_line(first_program(CORRIDOR)) == (
        "DEF run m( REPEAT R=19 r( IFELSE c( lightIsOn c) i( left i) ELSE e( right e) r) m)"
    )
    alone = to_line(first_program(corridor(actions={"left": 0})))
    assert "i( left i) ELSE e( left e)" in alone


def test_titles_are_the_papers() -> None:
    assert title_of("stair-climber") == "StairClimber"
    assert title_of("maze") == "Maze"
    assert [title_of(name) for name in ("TwoRooms", "my corridor", "-")] == ["TwoRooms", "My corridor", "-"]
