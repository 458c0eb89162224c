"""There is a program to begin with for every task."""

import pytest

from leaps.dsl.syntax import tokens_of
from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.karel.tasks import HARD
from leaps.karel.world import LANGUAGE
from leaps.studio.programs import START, start_of, title_of
from leaps.studio.requests import TOKENS
from leaps.studio.server import OFFERED


def test_every_task_has_a_program_to_begin_with() -> None:
    assert list(START) == list(OFFERED)
    assert all(parse(start_of(task), LANGUAGE) == START[task] for task in START)
    assert all(len(tokens_of(program)) <= TOKENS for program in START.values())


@pytest.mark.parametrize("task", START)
def test_it_does_something_sensible(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] > 0.1


@pytest.mark.parametrize("task", [*HARD, "top-off", "harvester", "clean-house"])
def test_it_leaves_room_for_improvement(task: str) -> None:
    assert evaluate(START[task], task, episodes=200).mean_return[0] < 0.99


def test_a_task_of_ones_own_begins_with_a_program_that_does_nothing_wrong() -> None:
    assert start_of("corridor") == "DEF run m(\n  move\nm)"


def test_titles_are_the_papers() -> None:
    assert title_of("stair-climber") == "StairClimber"
    assert title_of("maze") == "Maze"
    assert [title_of(name) for name in ("TwoRooms", "my corridor", "-")] == ["TwoRooms", "My corridor", "-"]
