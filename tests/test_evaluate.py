import numpy as np
import pytest

from leaps import parallel
from leaps.dsl.sample import sample_programs
from leaps.dsl.text import ProgramError, parse
from leaps.evaluate import compile_programs, encode, evaluate
from leaps.karel.interpreter import Outcome
from leaps.karel.world import LANGUAGE, PROGRAMS

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"


def test_text_tree_and_tokens_are_the_same_program() -> None:
    forms = [WALK, parse(WALK, LANGUAGE), [WALK], LANGUAGE.encode(WALK.split())[None]]
    returns = [evaluate(form, "top-off", episodes=50).returns for form in forms]  # type: ignore[arg-type]
    assert all(np.array_equal(returns[0], other) for other in returns)


def test_same_seed_same_numbers_whatever_the_number_of_cores() -> None:
    programs = sample_programs(LANGUAGE, PROGRAMS, 300, seed=1)
    try:
        parallel.set_threads(1)
        alone = evaluate(programs, "snake", episodes=10, seed=3).returns
        parallel.set_threads(3)
        assert np.array_equal(alone, evaluate(programs, "snake", episodes=10, seed=3).returns)
    finally:
        parallel.set_threads(None)
    assert not np.array_equal(alone, evaluate(programs, "snake", episodes=10, seed=4).returns)


def test_more_episodes_begin_with_the_same_worlds() -> None:
    assert np.array_equal(
        evaluate(WALK, "top-off", episodes=100, seed=2).returns[:, :10],
        evaluate(WALK, "top-off", episodes=10, seed=2).returns,
    )


def test_outcomes_are_counted() -> None:
    result = evaluate(
        [WALK, "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)"], "four-corner", episodes=9
    )
    assert result.count(Outcome.HALTED).tolist() == [9, 0]
    assert result.count(Outcome.CUT_OFF).tolist() == [0, 9]


def test_the_wrong_one_of_several_programs_is_pointed_at() -> None:
    with pytest.raises(ProgramError, match=r"token 4: found 'move'|token 3: found 'm\)'"):
        compile_programs([WALK, "DEF run m( m)"])


def test_comments_are_fine_in_what_is_evaluated() -> None:
    assert encode(f"# walks\n{WALK}").tolist() == encode(WALK).tolist()


def test_no_episode_is_refused() -> None:
    with pytest.raises(ValueError, match="episodes must be at least 1"):
        evaluate(WALK, "maze", episodes=0)
