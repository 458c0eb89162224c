"""A program runs on any stage, which tests conditions and may end the run."""

from leaps.dsl.interpreter import Course, Outcome
from leaps.dsl.language import Language
from leaps.dsl.syntax import Condition
from leaps.dsl.text import parse

LANGUAGE = Language(actions=("up", "wait"), perceptions=("high",))


class Ladder:
    """A ladder of three rungs; climbing above the top falls off."""

    def __init__(self) -> None:
        self.rung = 0

    def holds(self, condition: Condition) -> bool:
        return (self.rung >= 3) != condition.negated

    def act(self, action: int) -> Outcome | None:
        self.rung += action == LANGUAGE.actions.index("up")
        return Outcome.ENDED if self.rung > 3 else None


def course(text: str, horizon: int = 100, calls: int | None = None) -> Course:
    return Course(parse(text, LANGUAGE), Ladder(), LANGUAGE.actions, horizon, calls=calls)


def test_the_stage_tests_conditions() -> None:
    climb = course("DEF run m( WHILE c( not c( high c) c) w( up w) wait m)")
    assert [step.action for step in climb] == [0, 0, 0, 1]
    assert (climb.outcome, climb.steps, climb.stage.rung) == (Outcome.HALTED, 4, 3)


def test_the_stage_ends_a_run() -> None:
    climb = course("DEF run m( REPEAT R=9 r( up r) m)")
    assert len(list(climb)) == 4
    assert climb.outcome == Outcome.ENDED


def test_a_run_is_cut_off_by_its_horizon_or_its_calls() -> None:
    wait = "DEF run m( WHILE c( not c( high c) c) w( wait w) m)"
    for run in (course(wait, horizon=5), course(wait, calls=8)):
        assert len(list(run)) == 5
        assert run.outcome == Outcome.CUT_OFF


def test_a_loop_that_never_acts_is_stuck() -> None:
    stuck = course("DEF run m( WHILE c( not c( high c) c) w( IF c( high c) i( up i) w) m)")
    assert list(stuck) == []
    assert stuck.outcome == Outcome.STUCK
