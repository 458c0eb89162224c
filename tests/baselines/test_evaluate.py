"""Policies act on the same worlds as programs, with the same returns as equivalent programs."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from leaps.baselines.evaluate import check_domain, evaluate_policy, film_policy, frames_of_policy
from leaps.domain import NO_ACTION
from leaps.evaluate import evaluate
from leaps.karel.simulation import Arrays, Observation
from leaps.karel.tasks import KarelTask
from leaps.karel.world import MOVE, TURN_LEFT
from leaps.tasks import get
from tests.hoover import CleanCorridor
from tests.spoiled import SPOILED


class Walker:
    """A policy that applies a program's rule: move if the front is clear, otherwise turn left."""

    observation: Observation = "perceptions"
    deterministic = True

    def __init__(self) -> None:
        self.begun: list[int] = []

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        if size == (9, 9):
            raise ValueError(f"{task.name} is too small")

    def begin(self, count: int) -> None:
        self.begun.append(count)

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        return np.where(observations[:, 0] == 1, MOVE, TURN_LEFT)


@pytest.mark.parametrize("task", ["maze", "stair-climber", "four-corner"])
def test_policy_and_equivalent_program_have_the_same_returns(task: str) -> None:
    # The policy never halts, so the program's outer loops repeat the rule until the horizon.
    rule = "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e)"
    program = f"DEF run m( REPEAT R=19 r( REPEAT R=19 r( REPEAT R=19 r( {rule} r) r) r) m)"
    walker = Walker()
    found = evaluate_policy(walker, task, episodes=60, seed=4, want_actions=True)
    expected = evaluate(program, task, episodes=60, seed=4)
    np.testing.assert_allclose(found.returns, expected.returns)
    np.testing.assert_array_equal(found.rollouts.steps, expected.rollouts.steps)
    np.testing.assert_array_equal(found.rollouts.outcome, expected.rollouts.outcome)
    assert walker.begun == [60]
    assert found.rollouts.actions is not None
    taken = (found.rollouts.actions != NO_ACTION).sum(axis=2)
    np.testing.assert_array_equal(taken, expected.rollouts.steps)


@pytest.mark.parametrize("task", ["maze", "stair-climber", "top-off"])
def test_policy_and_equivalent_program_have_the_same_exact_return(task: str) -> None:
    rule = "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e)"
    program = f"DEF run m( REPEAT R=19 r( REPEAT R=19 r( REPEAT R=19 r( {rule} r) r) r) m)"
    found = evaluate_policy(Walker(), task, prefer_exact=True).expected()
    assert found == evaluate(program, task, prefer_exact=True).expected()
    assert found.states is not None


def test_policy_that_draws_actions_is_judged_on_fresh_worlds() -> None:
    walker = Walker()
    walker.deterministic = False
    found = evaluate_policy(walker, "maze", episodes=7, prefer_exact=True).expected()
    assert str(found) == "7 fresh draws"


def test_policy_that_cannot_act_at_a_size_raises() -> None:
    with pytest.raises(ValueError, match="maze is too small"):
        evaluate_policy(Walker(), "maze", size=(9, 9))
    with pytest.raises(ValueError, match="episodes must be at least 1, found 0"):
        evaluate_policy(Walker(), "maze", episodes=0)


def test_invalid_state_value_raises() -> None:
    with pytest.raises(ValueError, match="spoiled: a state's value must be a finite number, found nan"):
        evaluate_policy(Walker(), SPOILED, horizon=6)
    with pytest.raises(ValueError, match="spoiled: a state's value must be at most 1"):
        evaluate_policy(Walker(), SPOILED, horizon=5)


def test_task_of_another_domain_raises() -> None:
    check_domain(get("maze"))
    with pytest.raises(ValueError, match="expected a task of karel, found one of hoover"):
        check_domain(CleanCorridor())


def test_policy_episode_is_shown_as_text_and_saved_as_gif(tmp_path: Path) -> None:
    task = get("maze")
    result = evaluate_policy(Walker(), task, episodes=1, seed=3)
    frames = frames_of_policy(Walker(), task, 3, None)
    assert len(frames) == 1 + result.rollouts.steps[0, 0]
    assert frames[-1][1] == result.returns[0, 0]
    assert any(arrow in frames[0][0].plain for arrow in "▲►▼◄")
    film_policy(Walker(), task, 3, None, tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.format == "GIF"
