"""Policies act in the worlds that programs are run in, and earn what a program that does the same earns."""

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
    """A policy that follows a program's rule by itself: forward where it is clear, else left."""

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


@pytest.mark.parametrize("task", ["maze", "stair-climber", "top-off"])
def test_a_policy_has_the_exact_return_of_a_program_that_does_the_same(task: str) -> None:
    rule = "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e)"
    program = f"DEF run m( REPEAT R=19 r( REPEAT R=19 r( REPEAT R=19 r( {rule} r) r) r) m)"
    found = evaluate_policy(Walker(), task, prefer_exact=True).expected()
    assert found == evaluate(program, task, prefer_exact=True).expected()
    assert found.states is not None


def test_a_policy_that_draws_its_actions_is_judged_on_fresh_worlds() -> None:
    walker = Walker()
    walker.deterministic = False
    found = evaluate_policy(walker, "maze", episodes=7, prefer_exact=True).expected()
    assert str(found) == "7 fresh draws"


def test_a_policy_is_asked_whether_it_can_act_there() -> None:
    with pytest.raises(ValueError, match="maze is too small"):
        evaluate_policy(Walker(), "maze", size=(9, 9))
    with pytest.raises(ValueError, match="episodes must be at least 1, found 0"):
        evaluate_policy(Walker(), "maze", episodes=0)


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="spoiled: a state's value must be a finite number, found nan"):
        evaluate_policy(Walker(), SPOILED, horizon=6)
    with pytest.raises(ValueError, match="spoiled: a state's value must be at most 1"):
        evaluate_policy(Walker(), SPOILED, horizon=5)


def test_a_task_of_another_domain_is_refused() -> None:
    check_domain(get("maze"))
    with pytest.raises(ValueError, match="expected a task of karel, found one of hoover"):
        check_domain(CleanCorridor())


def test_an_episode_of_a_policy_is_shown_and_filmed(tmp_path: Path) -> None:
    task = get("maze")
    result = evaluate_policy(Walker(), task, episodes=1, seed=3)
    frames = frames_of_policy(Walker(), task, 3, None)
    assert len(frames) == 1 + result.rollouts.steps[0, 0]
    assert frames[-1][1] == result.returns[0, 0]
    assert any(arrow in frames[0][0].plain for arrow in "▲►▼◄")
    film_policy(Walker(), task, 3, None, tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.format == "GIF"
