"""Every task has a first program and a title."""

from dataclasses import replace

from leaps.dsl.text import parse, to_line
from leaps.karel.tasks import TASKS
from leaps.karel.world import LANGUAGE
from leaps.studio.offer import offered
from leaps.studio.programs import first_program, start_of, title_of
from tests.gym.corridor import CORRIDOR, corridor


def test_every_listed_task_has_a_first_program() -> None:
    for name, task in offered().items():
        assert parse(start_of(name, task), LANGUAGE)


def test_user_task_in_karel_starts_with_one_action() -> None:
    own = replace(TASKS["maze"], name="corridor")
    assert start_of("corridor", own) == "DEF run m(\n  move\nm)"


def test_environment_starts_with_a_program_in_its_own_language() -> None:
    assert to_line(first_program(CORRIDOR)) == (
        "DEF run m( REPEAT R=19 r( IFELSE c( lightIsOn c) i( left i) ELSE e( right e) r) m)"
    )
    alone = to_line(first_program(corridor(actions={"left": 0})))
    assert "i( left i) ELSE e( left e)" in alone


def test_titles_are_written_as_in_the_paper() -> None:
    assert title_of("stair-climber") == "StairClimber"
    assert title_of("maze") == "Maze"
    assert [title_of(name) for name in ("TwoRooms", "my corridor", "-")] == ["TwoRooms", "My corridor", "-"]
