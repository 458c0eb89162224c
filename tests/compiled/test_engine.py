"""The compiled engine agrees with plain Python."""

from types import SimpleNamespace

import numpy as np
import pytest

from leaps.base.jit import jit
from leaps.compiled.engine import LONGEST, NAMES, Engine
from leaps.compiled.plain import Worlds, plain_rules
from leaps.compiled.scene import CompiledScene
from leaps.domain import NO_ACTION
from leaps.dsl.interpreter import Course, Outcome
from leaps.dsl.sample import sample_programs
from tests.compiled.sweeper import SWEEPER, TASK, act, corridors, perceive, value

ENGINE, HOOKS = TASK.engine, TASK.hooks
PROGRAMS = sample_programs(SWEEPER.language, SWEEPER.programs, 300, seed=0)
COMPILED = SWEEPER.compile(PROGRAMS)
WORLDS = corridors(6, seed=1)
HORIZON = 150


def test_executor_and_interpreter_agree_on_random_programs() -> None:
    rollouts = ENGINE.run(COMPILED, WORLDS, HORIZON, HOOKS, want_final=True)
    assert rollouts.returns is not None
    outcomes = set()
    for row, tokens in enumerate(PROGRAMS):
        program = SWEEPER.parse(SWEEPER.text(tokens))
        for number in range(WORLDS.count):
            stage = CompiledScene(TASK, WORLDS.world(number))
            course = Course(program, stage, SWEEPER.language.actions, HORIZON)
            steps = len(list(course))
            assert steps == rollouts.steps[row, number]
            assert course.outcome == rollouts.outcome[row, number]
            final = rollouts.final.world(row * WORLDS.count + number)
            assert np.array_equal(final.cells, stage.world.cells)
            assert np.array_equal(final.numbers, stage.world.numbers)
            paid = value(stage.world, WORLDS.world(number)) - 0.01 * steps
            assert rollouts.returns[row, number] == pytest.approx(paid)
            outcomes.add(course.outcome)
    assert outcomes == set(Outcome)


def test_replayed_actions_lead_to_the_same_states() -> None:
    rollouts = ENGINE.run(COMPILED, WORLDS, 20, HOOKS, want_actions=True, want_final=True)
    assert rollouts.actions is not None
    for row in range(40):
        states = ENGINE.replay(WORLDS, rollouts.actions[row], HOOKS)
        for number in range(WORLDS.count):
            last, final = states.world(number * 21 + 20), rollouts.final.world(row * WORLDS.count + number)
            assert np.array_equal(last.cells, final.cells)
            assert np.array_equal(last.numbers, final.numbers)


def test_rewards_of_vectorized_worlds_sum_to_the_return() -> None:
    rollouts = ENGINE.run(COMPILED, WORLDS, 30, HOOKS, want_actions=True)
    assert rollouts.actions is not None
    assert rollouts.returns is not None
    for row in range(40):
        worlds = Worlds(WORLDS.cells.copy(), WORLDS.numbers.copy())
        values, steps = np.zeros(WORLDS.count), np.zeros(WORLDS.count, np.int64)
        earned, over = np.zeros(WORLDS.count), np.zeros(WORLDS.count, np.bool_)
        for step in range(30):
            actions = rollouts.actions[row, :, step].astype(np.int64)
            active = (actions != NO_ACTION) & ~over
            rewards, terminated, truncated = ENGINE.advance(
                worlds, WORLDS, values, steps, actions, active, 30, HOOKS
            )
            earned += rewards
            over |= terminated
            assert not (terminated & truncated).any()
        assert np.array_equal(steps, rollouts.steps[row])
        assert np.array_equal(over, rollouts.outcome[row] == Outcome.ENDED)
        acted = steps > 0  # before the first action, the value counts as 0
        assert np.allclose(earned[acted], rollouts.returns[row][acted])


def test_a_rejected_program_is_run_no_further() -> None:
    needed = np.cumsum(np.full(WORLDS.count, 0.5))
    whole = ENGINE.run(COMPILED, WORLDS, HORIZON, HOOKS)
    raced = ENGINE.run(COMPILED, WORLDS, HORIZON, HOOKS, needed=needed)
    assert whole.returns is not None
    assert raced.returns is not None
    assert raced.tried is not None
    enough = np.cumsum(whole.returns, axis=1) >= needed
    expected = np.where(enough.all(axis=1), WORLDS.count, enough.argmin(axis=1) + 1)
    assert np.array_equal(raced.tried, expected)
    for row, tried in enumerate(raced.tried):
        assert np.array_equal(raced.returns[row, :tried], whole.returns[row, :tried])


def test_each_program_may_have_its_own_worlds() -> None:
    own = corridors(600, seed=3)
    rollouts = ENGINE.run(COMPILED, own, 40, HOOKS, own_worlds=True)
    assert rollouts.steps.shape == (300, 2)
    for row in (0, 17, 299):
        alone = ENGINE.run(COMPILED.take(np.array([row])), own.take(slice(2 * row, 2 * row + 2)), 40, HOOKS)
        assert np.array_equal(alone.steps[0], rollouts.steps[row])
    with pytest.raises(ValueError, match="6 worlds can't be divided evenly among 300 programs"):
        ENGINE.run(COMPILED, WORLDS, 40, HOOKS, own_worlds=True)


@pytest.mark.parametrize("horizon", [-1, LONGEST + 1])
def test_a_horizon_out_of_range_raises(horizon: int) -> None:
    with pytest.raises(ValueError, match="horizon must be from 0 to"):
        ENGINE.run(COMPILED, WORLDS, horizon, HOOKS)


def test_missing_rules_are_named() -> None:
    rules = vars(plain_rules(jit(perceive), jit(act)))
    assert set(NAMES) == set(rules)
    del rules["perceive"], rules["act"]
    with pytest.raises(ValueError, match=r"expected all of leaps.compiled.rules, found no perceive, act"):
        Engine(SimpleNamespace(**rules), "mine.py")
