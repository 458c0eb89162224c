"""Worlds that step together do what the executor does, one action after another."""

import numpy as np
import pytest

from leaps.evaluate import compile_programs
from leaps.karel.executor import NO_ACTION, run
from leaps.karel.interpreter import Outcome
from leaps.simulation import Simulation
from leaps.tasks import TASKS, get

PROGRAM = (
    "DEF run m( WHILE c( noMarkersPresent c) w( move IF c( rightIsClear c) i( turnRight i) "
    "putMarker move pickMarker w) REPEAT R=9 r( move turnLeft r) m)"
)


@pytest.mark.parametrize("name", TASKS)
def test_the_actions_of_a_program_lead_where_the_program_led(name: str) -> None:
    task = TASKS[name]
    worlds = task.worlds(40, seed=3)
    rollouts = run(compile_programs(PROGRAM), worlds, 100, task.hooks, want_actions=True, want_final=True)
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
