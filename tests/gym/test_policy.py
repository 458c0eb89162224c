"""A program as a policy."""

from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from leaps.gym import GymTask, ProgramPolicy
from tests.gym.corridor import CORRIDOR, Corridor, light_is_on

SEEING = "DEF run m( REPEAT R=19 r( IFELSE c( lightIsOn c) i( right i) ELSE e( left e) r) m)"
LOOKING = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) m)"
ON, OFF = np.array([0.0, 1.0], np.float32), np.array([0.0, 0.0], np.float32)


def cart_pole() -> GymTask:
    return GymTask(
        "cart-pole",
        make="CartPole-v1",
        actions={"left": 0, "right": 1},
        perceptions={"leansRight": lambda seen: seen[2] > 0, "fallsRight": lambda seen: seen[3] > 0},
        best=500,
    )


BALANCE = (
    "DEF run m( REPEAT R=19 r( REPEAT R=19 r( REPEAT R=2 r( "
    "IFELSE c( fallsRight c) i( right i) ELSE e( left e) r) r) r) m)"
)


def test_it_acts_until_the_program_ends_and_reset_restarts_it() -> None:
    policy = ProgramPolicy(SEEING, CORRIDOR)
    for _ in range(2):
        policy.reset()
        assert [policy.act(ON if step % 3 else OFF) for step in range(20)] == [
            *(1 if step % 3 else 0 for step in range(19)),
            None,
        ]


def test_reasons_has_the_perceptions_of_the_last_action() -> None:
    policy = ProgramPolicy(SEEING, CORRIDOR)
    policy.act(ON)
    assert policy.reasons == {"lightIsOn": True}
    policy.act(OFF)
    assert policy.reasons == {"lightIsOn": False}


def test_the_policy_acts_like_the_evaluated_program() -> None:
    starts = CORRIDOR.worlds(20, seed=7)
    found = CORRIDOR.run(CORRIDOR.compile(LOOKING), starts)
    environment = Corridor()
    policy = ProgramPolicy(LOOKING, CORRIDOR, environment)
    for number, seed in enumerate(starts.seeds.tolist()):
        seen, _ = environment.reset(seed=seed)
        policy.reset()
        steps, arrived = 0, False
        while not arrived and (action := policy.act(seen)) is not None:
            seen, _, arrived, _, _ = environment.step(action)
            steps += 1
        assert steps == found.steps[0, number]


def test_privileged_perceptions_need_the_environment() -> None:
    with pytest.raises(ValueError, match=r"privileged perceptions \(atTheEnd\); expected an environment"):
        ProgramPolicy(LOOKING, CORRIDOR)


def test_a_program_that_has_ended_repeats_its_last_action_in_predict() -> None:
    policy = ProgramPolicy("DEF run m( left right m)", CORRIDOR)
    state, done = None, []
    for _ in range(5):
        action, state = policy.predict(ON, state)
        done.append(int(action))
    assert done == [0, 1, 1, 1, 1]
    assert np.ndim(action) == 0


def test_episodes_of_a_batch_restart_at_episode_start() -> None:
    policy = ProgramPolicy("DEF run m( left right left right m)", CORRIDOR)
    state: Any = None
    done = []
    for begins in ([True, True], [False, True], [False, False], [True, False]):
        actions, state = policy.predict(np.stack([ON, OFF]), state, np.array(begins))
        done.append(actions.tolist())
    assert done == [[0, 0], [1, 0], [0, 1], [0, 0]]


def test_stable_baselines3_evaluates_a_program_as_a_model() -> None:
    task = cart_pole()
    policy = ProgramPolicy(BALANCE, task)
    environments = DummyVecEnv([lambda: Monitor(task.environment()) for _ in range(3)])
    environments.seed(0)
    mean, _ = evaluate_policy(policy, environments, n_eval_episodes=60)
    returns = task.run(task.compile(BALANCE), task.worlds(60, seed=0)).returns
    assert returns is not None
    assert mean == pytest.approx(returns.mean(), rel=0.15)


def test_perceptions_get_single_observations_of_dictionaries() -> None:
    task = GymTask(
        "rooms",
        make=Corridor,
        actions={"left": 0, "right": 1},
        perceptions={"lit": lambda seen: light_is_on(seen["now"])},
        steps=5,
    )
    policy = ProgramPolicy("DEF run m( IFELSE c( lit c) i( right i) ELSE e( left e) m)", task)
    from gymnasium import spaces

    policy._space = spaces.Dict({"now": spaces.Box(0, 1, (2,), np.float32)})
    assert policy.predict({"now": ON})[0] == 1
    assert policy.predict({"now": np.stack([ON, OFF])})[0].tolist() == [1, 0]


def test_a_perception_that_is_not_a_truth_value_raises() -> None:
    def how_bright(seen: Any) -> float:
        return float(seen[1])

    policy = ProgramPolicy(
        SEEING, GymTask(**fields_of(CORRIDOR) | {"perceptions": {"lightIsOn": how_bright}})
    )
    message = (
        r"corridor: perception lightIsOn \(.*test_policy.py, line \d+\): expected True or False, found 1.0"
    )
    with pytest.raises(ValueError, match=message):
        policy.act(ON)


def fields_of(task: GymTask) -> dict[str, Any]:
    names = ("name", "make", "actions", "steps")
    return {name: getattr(task, name) for name in names}
