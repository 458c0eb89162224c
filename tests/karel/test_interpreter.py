from leaps.domain import Outcome
from leaps.dsl.interpreter import Course
from leaps.dsl.syntax import Action, While
from leaps.dsl.text import parse
from leaps.karel.interpreter import play
from leaps.karel.world import LANGUAGE, World

CORRIDOR = "######\n#>..1#\n######"


def course(text: str, picture: str = CORRIDOR, horizon: int = 100) -> Course:
    return play(parse(text, LANGUAGE), World.parse(picture), horizon)


def test_a_step_says_where_it_stands_and_why() -> None:
    steps = list(
        course("DEF run m( WHILE c( noMarkersPresent c) w( IF c( leftIsClear c) i( turnLeft i) move w) m)")
    )
    first = steps[0]
    assert first.statement == Action("move")
    assert [type(statement) for statement in first.path] == [While]
    assert [(statement.condition.perception, result) for statement, result in first.tests] == [
        ("noMarkersPresent", True),
        ("leftIsClear", False),
    ]


def test_the_last_tests_tell_why_a_program_ended() -> None:
    run = course("DEF run m( WHILE c( noMarkersPresent c) w( move w) m)")
    assert len(list(run)) == 3
    assert run.outcome == Outcome.HALTED
    assert [result for _, result in run.tests] == [False]


def test_if_else_takes_exactly_one_branch() -> None:
    run = course("DEF run m( IFELSE c( markersPresent c) i( turnLeft i) ELSE e( turnRight e) m)")
    assert [step.statement.name for step in run] == ["turnRight"]


def test_repeat_repeats() -> None:
    assert len(list(course("DEF run m( REPEAT R=7 r( turnLeft r) m)"))) == 7
    assert len(list(course("DEF run m( REPEAT R=0 r( turnLeft r) m)"))) == 0


def test_a_run_is_cut_off_after_its_horizon() -> None:
    run = course("DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)", horizon=9)
    assert len(list(run)) == 9
    assert run.outcome == Outcome.CUT_OFF


def test_a_loop_that_cannot_act_is_stuck() -> None:
    run = course("DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( move i) w) m)")
    assert list(run) == []
    assert run.outcome == Outcome.STUCK
