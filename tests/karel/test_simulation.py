"""Worlds that step together do what the executor does, one action after another."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.base.randomness import Stream, below
from leaps.baselines.evaluate import evaluate_policy
from leaps.domain import NO_ACTION, Outcome
from leaps.evaluate import evaluate
from leaps.karel.executor import run
from leaps.karel.simulation import BLIND_TO_HEADING, Observation, Simulation
from leaps.karel.tasks import TASKS, VARIANTS, KarelTask
from leaps.karel.world import (
    KAREL,
    MOVE,
    PUT_MARKER,
    TURN_LEFT,
    TURN_RIGHT,
    World,
    place_karel,
)
from leaps.tasks import get
from tests.karel.tricky import COMPASS, PORTAL

PROGRAM = (
    "DEF run m( WHILE c( noMarkersPresent c) w( move IF c( rightIsClear c) i( turnRight i) "
    "putMarker move pickMarker w) REPEAT R=9 r( move turnLeft r) m)"
)


@pytest.mark.parametrize("name", TASKS)
def test_the_actions_of_a_program_lead_where_the_program_led(name: str) -> None:
    task = TASKS[name]
    worlds = task.worlds(40, seed=3)
    rollouts = run(KAREL.compile(PROGRAM), worlds, 100, task.hooks, want_actions=True, want_final=True)
    assert rollouts.actions is not None
    assert rollouts.returns is not None
    assert rollouts.final is not None
    simulation = Simulation(task, 40, horizon=100)
    simulation.place(worlds)
    active, returns = np.ones(40, np.bool_), np.zeros(40)
    for step in range(100):
        actions = rollouts.actions[0, :, step].astype(np.int64)
        active &= actions != NO_ACTION
        rewards, terminated, truncated = simulation.advance(np.where(active, actions, 0), active)
        returns += rewards
        # Who stops here is who was decided by the task: a program that halts says nothing to its world.
        last = active & (rollouts.steps[0] == step + 1)
        np.testing.assert_array_equal(terminated, last & (rollouts.outcome[0] == Outcome.ENDED))
        assert not (truncated & (step < 99)).any()
    acted = rollouts.steps[0] > 0
    np.testing.assert_allclose(returns[acted], rollouts.returns[0][acted])
    np.testing.assert_array_equal(simulation.steps, rollouts.steps[0])
    np.testing.assert_array_equal(simulation.worlds.ground, rollouts.final.ground)
    np.testing.assert_array_equal(simulation.worlds.markers, rollouts.final.markers)
    np.testing.assert_array_equal(simulation.worlds.pose, rollouts.final.pose)
    np.testing.assert_array_equal(simulation.worlds.memory, rollouts.final.memory)


def test_worlds_that_are_placed_are_copied() -> None:
    worlds = get("maze").worlds(3, seed=1)
    before = worlds.markers.copy()
    simulation = Simulation(get("maze"), 3)
    simulation.place(worlds)
    simulation.advance(np.full(3, 4, np.int64), np.ones(3, np.bool_))  # put a marker
    assert (simulation.worlds.markers != before).any()
    np.testing.assert_array_equal(worlds.markers, before)


def test_other_worlds_than_there_is_room_for_are_refused() -> None:
    simulation = Simulation(get("maze"), 3)
    with pytest.raises(ValueError, match=r"expected 3 worlds of \(8, 8\), found 2 of \(8, 8\)"):
        simulation.place(get("maze").worlds(2, seed=1))
    with pytest.raises(ValueError, match=r"found 3 of \(9, 9\)"):
        simulation.place(get("maze").worlds(3, seed=1, size=(9, 9)))


def test_a_horizon_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="the horizon must be at least 1, found 0"):
        Simulation(get("maze"), 1, horizon=0)


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


@pytest.mark.parametrize("horizon", [1, 2, 5, 40, 41])
def test_a_policy_that_turns_earns_what_a_program_that_turns_earns(horizon: int) -> None:
    turning = "DEF run m( WHILE c( noMarkersPresent c) w( turnRight w) m)"
    of_policy = evaluate_policy(Turning(), COMPASS, episodes=3, horizon=horizon)
    of_program = evaluate(turning, COMPASS, episodes=3, horizon=horizon)
    assert of_policy.returns.tolist() == of_program.returns.tolist() == [[float(horizon % 4 == 1)] * 3]


def test_a_horizon_that_an_evaluation_could_not_tell_is_refused() -> None:
    for horizon in (2**31, 2**33):
        with pytest.raises(ValueError, match="horizon must be from 0 to 2,147,483,647, found"):
            evaluate_policy(Turning(), COMPASS, horizon=horizon)
        with pytest.raises(ValueError, match="horizon must be from 0 to 2,147,483,647, found"):
            evaluate("DEF run m( move m)", COMPASS, horizon=horizon)


def test_each_turn_pays_what_it_changes() -> None:
    simulation = Simulation(COMPASS, 1)
    simulation.place(COMPASS.worlds(1, seed=0))
    actions = [
        TURN_RIGHT,
        TURN_RIGHT,
        TURN_LEFT,
        PUT_MARKER,
        MOVE,
        MOVE,
        MOVE,
        MOVE,
    ]  # from (1, 1), 4 cells high
    rewards = [simulation.advance(np.array([a]), np.ones(1, np.bool_))[0][0] for a in actions]
    assert rewards == [1, -1, 1, 0, 0, 0, 0, -1]  # the last move is blocked, so Karel turns around


@pytest.mark.parametrize("name", [*TASKS, *VARIANTS])
def test_the_values_of_our_tasks_do_not_ask_where_karel_faces(name: str) -> None:
    """Or they must not be in BLIND_TO_HEADING."""
    task = get(name)
    assert task.value in BLIND_TO_HEADING
    worlds = task.worlds(20, seed=5)
    texts = [f"DEF run m( REPEAT R={n} r( move pickMarker r) move turnLeft putMarker m)" for n in range(5)]
    final = run(KAREL.compile(texts), worlds, 50, task.hooks, want_final=True).final
    assert final is not None
    for number in range(final.count):
        world, start = final.world(number), worlds.world(number % 20)
        values = set()
        for heading in range(4):
            world.pose[2] = heading
            values.add(task.value(world, start))
        assert len(values) == 1


def sample_sloppily(stream: Stream, world: World) -> None:
    """Draw no more than has to be, in the belief that all else is 0."""
    height, width = world.ground.shape
    world.ground[0], world.ground[height - 1] = 1, 1
    world.ground[:, 0], world.ground[:, width - 1] = 1, 1
    world.ground[2, 1 + below(stream, width - 2)] = 1
    place_karel(world, 1, 1, 1)


def test_nothing_is_left_in_a_world_that_begins_anew() -> None:
    task = replace(PORTAL, sample=sample_sloppily, memory=1)
    simulation = Simulation(task, 1)
    everyone = np.ones(1, np.bool_)
    for stream in range(6):
        simulation.seed(0, 3, stream)
        simulation.renew(everyone)
        fresh = task.worlds(1, seed=3, first=stream)
        for found, expected in zip(simulation.worlds, fresh, strict=True):
            np.testing.assert_array_equal(found, expected)
        simulation.advance(np.array([PUT_MARKER]), everyone)
        simulation.worlds.memory[:] = 7


def test_before_worlds_are_drawn_nothing_can_happen() -> None:
    simulation = Simulation(get("maze"), 3)
    for _ in range(20):
        simulation.advance(np.full(3, MOVE, np.int64), np.ones(3, np.bool_))
    assert simulation.worlds.pose[:, :2].tolist() == [[1, 1]] * 3
