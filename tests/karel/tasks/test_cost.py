"""The published cost per action of KAREL-LONG, an option of every task: `seesaw~cost`."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.baselines.evaluate import evaluate_policy
from leaps.domain import NO_ACTION, Outcome, Programs
from leaps.dsl.sample import sample_programs
from leaps.dsl.text import build, parse
from leaps.evaluate import evaluate
from leaps.karel.env import KarelEnv, KarelVectorEnv
from leaps.karel.simulation import Observation, Simulation
from leaps.karel.tasks import TASKS, KarelTask
from leaps.karel.world import LANGUAGE, PROGRAMS, TURN_RIGHT
from leaps.search.solve import solve
from leaps.tasks import get

KAREL_LONG = ("seesaw", "up-n-down", "farmer", "inf-door-key", "inf-harvester")
COST = 0.0001
EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> str:
    return (EXAMPLES / f"{name}.karel").read_text()


def some_programs() -> NDArray[np.uint8]:
    """Programs of all kinds: some halt at once, some never end."""
    return sample_programs(LANGUAGE, PROGRAMS, 40, seed=12)


def test_actions_cost_nothing_by_default() -> None:
    assert {task.cost for task in TASKS.values()} == {0.0}


@pytest.mark.parametrize("name", KAREL_LONG)
def test_a_name_may_add_the_cost(name: str) -> None:
    task = get(f"{name}~cost")
    assert (task.name, task.cost, task.variant_of) == (f"{name}~cost", COST, name)
    assert task.horizon() == get(name).horizon()
    assert get(task.name) == task


@pytest.mark.parametrize("name", ["top-off~cost@0.5~70", "top-off~70~cost@0.5", "top-off@0.5~cost~70"])
def test_the_cost_can_be_combined_with_other_variants(name: str) -> None:
    task = get(name)
    assert (task.name, task.cost, task.actions, task.seen_share) == (name, COST, 70, 0.5)


@pytest.mark.parametrize("name", [*KAREL_LONG, "maze", "farmer~300calls"])
def test_a_return_is_lower_by_the_cost_of_the_actions(name: str) -> None:
    listed: tuple[Programs, ...] = (example(name.partition("~")[0]), some_programs())
    for programs in listed:
        free = evaluate(programs, name, episodes=10, seed=3)
        costly = evaluate(programs, f"{name}~cost", episodes=10, seed=3)
        np.testing.assert_array_equal(costly.rollouts.steps, free.rollouts.steps)
        np.testing.assert_array_equal(costly.rollouts.outcome, free.rollouts.outcome)
        np.testing.assert_array_equal(costly.returns, free.returns - COST * free.rollouts.steps)
        assert costly.rollouts.steps.max() > 10


def test_the_published_return_of_a_solved_rollout() -> None:
    result = evaluate(example("seesaw"), "seesaw~cost", episodes=20)
    assert (result.rollouts.outcome == Outcome.ENDED).all()
    np.testing.assert_array_equal(result.returns, 1 - COST * result.rollouts.steps)


@pytest.mark.parametrize("name", KAREL_LONG)
def test_the_interpreter_returns_the_same(name: str) -> None:
    task = get(f"{name}~500~cost")
    programs = [parse(example(name), LANGUAGE)]
    programs += [build(LANGUAGE.decode(ids)) for ids in some_programs()[:10]]
    result = evaluate(programs, task, episodes=3, seed=5)
    for number, program in enumerate(programs):
        for index in range(3):
            start = result.worlds.world(index)
            world = start.clone()
            steps = len(list(task.play(program, world, task.horizon())))
            assert task.return_after(world, start, steps) == result.returns[number, index]


@pytest.mark.parametrize("name", KAREL_LONG)
def test_the_rewards_of_a_vector_environment_include_the_cost(name: str) -> None:
    """Acting as the example does, step by step; blocked moves and turns cost as much as any action."""
    task = get(f"{name}~400~cost")
    result = evaluate(example(name), task, episodes=4, seed=7)
    free, costly = Simulation(get(f"{name}~400"), 4), Simulation(task, 4)
    active, total = np.ones(4, np.bool_), np.zeros(4)
    for simulation in (free, costly):
        simulation.place(result.worlds)
    actions = actions_of(name, task)
    for step in range(actions.shape[1]):
        active &= actions[:, step] != NO_ACTION
        chosen = np.where(active, actions[:, step], 0).astype(np.int64)
        before, ended, _ = free.advance(chosen, active)
        rewards, also_ended, _ = costly.advance(chosen, active)
        np.testing.assert_allclose(rewards, before - COST * active, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(ended, also_ended)
        total += rewards
    np.testing.assert_array_equal(costly.values, result.returns[0])
    np.testing.assert_allclose(total, result.returns[0], rtol=0, atol=1e-12)


def actions_of(name: str, task: KarelTask) -> NDArray[np.uint8]:
    """[worlds, horizon] what the example does in the worlds of seed 7, by the interpreter."""
    actions = np.full((4, task.horizon()), NO_ACTION, np.uint8)
    for index, world in enumerate(map(task.worlds(4, seed=7).world, range(4))):
        course = task.play(parse(example(name), LANGUAGE), world, task.horizon())
        for step, taken in enumerate(course):
            actions[index, step] = taken.action
    return actions


def test_gymnasium_environments_take_the_variant() -> None:
    single, many = KarelEnv("seesaw~cost"), KarelVectorEnv("seesaw~cost", 3)
    single.reset(seed=0)
    many.reset(seed=0)
    assert single.step(TURN_RIGHT)[1] == pytest.approx(-COST)
    for _ in range(3):
        assert many.step(np.full(3, TURN_RIGHT))[1] == pytest.approx(np.full(3, -COST))


class Turning:
    """A policy that turns right all the time."""

    observation: Observation = "perceptions"
    deterministic = True

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        """Turn anywhere."""

    def begin(self, count: int) -> None:
        """Remember nothing."""

    def act(self, observations: NDArray[np.uint8]) -> NDArray[np.int64]:
        return np.full(len(observations), TURN_RIGHT, np.int64)


def test_a_policy_pays_what_a_program_pays() -> None:
    turning = "DEF run m( WHILE c( noMarkersPresent c) w( turnRight w) m)"
    policy = evaluate_policy(Turning(), "seesaw~50~cost", episodes=3)
    program = evaluate(turning, "seesaw~50~cost", episodes=3)
    assert policy.returns.tolist() == program.returns.tolist() == [[-50 * COST] * 3]


def test_exact_returns_are_lower_by_the_expected_cost() -> None:
    free = evaluate(some_programs(), "maze~100", prefer_exact=True)
    costly = evaluate(some_programs(), "maze~100~cost", prefer_exact=True)
    assert costly.expected().states == free.expected().states == 23_936
    cost = COST * free.average(free.rollouts.steps)
    np.testing.assert_allclose(costly.mean_return, free.mean_return - cost, rtol=0, atol=1e-12)


def test_a_search_maximises_the_return_with_cost_and_is_never_solved() -> None:
    solution = solve("four-corner~cost", "hc", budget=3_000)
    judged = evaluate(solution.program, "four-corner~cost", prefer_exact=True)
    assert solution.unseen_return == judged.mean_return[0] < 1
    assert not solution.solved


@pytest.mark.parametrize("cost", [-0.1, np.nan, np.inf])
def test_a_cost_is_a_finite_number(cost: float) -> None:
    with pytest.raises(ValueError, match=f"seesaw: cost must be a finite number of 0 or more, found {cost}"):
        replace(get("seesaw"), cost=cost)


def test_a_task_with_a_cost_takes_no_second_one() -> None:
    with pytest.raises(ValueError, match=r"expected a task without a cost per action, found 0\.02"):
        replace(get("seesaw"), cost=0.02).with_cost()
