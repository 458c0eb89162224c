from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps import parallel
from leaps.dsl.sample import sample_programs
from leaps.dsl.text import ProgramError, parse
from leaps.evaluate import compile_programs, encode, evaluate, evaluate_policy
from leaps.karel.executor import NO_ACTION
from leaps.karel.interpreter import Outcome
from leaps.karel.world import (
    EAST,
    LANGUAGE,
    MOVE,
    PROGRAMS,
    TURN_LEFT,
    World,
    clear,
    place_karel,
)
from leaps.randomness import Stream
from leaps.simulation import Arrays, Observation
from leaps.tasks import Task

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


def test_no_program_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least one program, found none"):
        evaluate([], "maze")


def test_a_size_may_be_a_list() -> None:
    size: Any = [14, 22]
    assert evaluate(WALK, "clean-house", size=size).size == (14, 22)


def place(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, 1, 1, EAST)


def spoiled(world: World, start: World) -> float:  # noqa: ARG001
    """No number at the right wall, too much beside it."""
    column, width = world.pose[1], world.ground.shape[1]
    if column == width - 2:
        return np.nan
    return 1.5 if column == width - 3 else 0.5


SPOILED = Task("spoiled", "stay where you are", (5, 9), (5, 5), place, spoiled)


def test_a_value_that_is_no_number_is_refused() -> None:
    message = "spoiled: a state's value must be a finite number, found nan"
    assert evaluate("DEF run m( move m)", SPOILED).mean_return[0] == 0.5
    with pytest.raises(ValueError, match=message):
        evaluate(WALK, SPOILED)
    with pytest.raises(ValueError, match=message):
        evaluate_policy(Walker(), SPOILED, horizon=6)
    with pytest.raises(ValueError, match="spoiled: a state's value must be at most 1"):
        evaluate_policy(Walker(), SPOILED, horizon=5)


# Policies


class Walker:
    """A policy that follows a program's rule by itself: forward where it is clear, else left."""

    observation: Observation = "perceptions"
    deterministic = True

    def __init__(self) -> None:
        self.begun: list[int] = []

    def check(self, task: Task, size: tuple[int, int]) -> None:
        if size == (9, 9):
            raise ValueError(f"{task.name} is too small")

    def begin(self, count: int) -> None:
        self.begun.append(count)

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        return np.where(observations[:, 0] == 1, MOVE, TURN_LEFT)


@pytest.mark.parametrize("task", ["maze", "stair-climber", "four-corner"])
def test_a_policy_earns_what_a_program_that_does_the_same_earns(task: str) -> None:
    # Endless, as the policy is; the outer loops go on until the horizon.
    rule = "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e)"
    program = f"DEF run m( REPEAT R=19 r( REPEAT R=19 r( REPEAT R=19 r( {rule} r) r) r) m)"
    walker = Walker()
    ours = evaluate_policy(walker, task, episodes=60, seed=4, want_actions=True)
    theirs = evaluate(program, task, episodes=60, seed=4)
    np.testing.assert_allclose(ours.returns, theirs.returns)
    np.testing.assert_array_equal(ours.rollouts.steps, theirs.rollouts.steps)
    np.testing.assert_array_equal(ours.rollouts.outcome, theirs.rollouts.outcome)
    assert walker.begun == [60]
    assert ours.rollouts.actions is not None
    taken = (ours.rollouts.actions != NO_ACTION).sum(axis=2)
    np.testing.assert_array_equal(taken, theirs.rollouts.steps)


def test_a_policy_is_asked_whether_it_can_act_there() -> None:
    with pytest.raises(ValueError, match="maze is too small"):
        evaluate_policy(Walker(), "maze", size=(9, 9))
    with pytest.raises(ValueError, match="episodes must be at least 1, found 0"):
        evaluate_policy(Walker(), "maze", episodes=0)
