"""The vector environment of stable-baselines3 equals that of Gymnasium."""

from typing import Any

import numpy as np
import pytest

from leaps.baselines.vec_env import KarelVecEnv
from leaps.karel.env import KarelVectorEnv
from leaps.karel.simulation import Observation
from leaps.karel.tasks import TASKS
from leaps.karel.world import MOVE
from leaps.tasks import get
from tests.baselines.corridor import CORRIDOR, LENGTH


def stepped(env: KarelVecEnv, steps: int, seed: int = 0) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    return [env.step(rng.integers(0, 5, env.num_envs))[:3] for _ in range(steps)]


@pytest.mark.parametrize("observation", ["grid", "perceptions"])
@pytest.mark.parametrize("name", TASKS)
def test_steps_equal_those_of_the_gymnasium_environment(name: str, observation: Observation) -> None:
    reference = KarelVectorEnv(name, 6, observation, autoreset_mode="same-step")
    env = KarelVecEnv(get(name), 6, observation)
    expected, _ = reference.reset(seed=3)
    env.simulation.streams[:] = 0
    env.reset()
    for index in range(6):  # copy the random streams, then the worlds
        env.simulation.streams[index] = reference.simulation.streams[index]
    env.simulation.place(reference.simulation.worlds)
    np.testing.assert_array_equal(env.observe(), expected)
    rng = np.random.default_rng(1)
    for _ in range(700):
        actions = rng.integers(0, 5, 6)
        expected, rewards, terminated, truncated, info = reference.step(actions)
        found, found_rewards, ended, infos = env.step(actions)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(found_rewards, rewards)
        np.testing.assert_array_equal(ended, terminated | truncated)
        for index in np.flatnonzero(ended).tolist():
            np.testing.assert_array_equal(infos[index]["terminal_observation"], info["final_obs"][index])
            assert infos[index]["TimeLimit.truncated"] == truncated[index]


def test_returns_of_episodes_are_kept_until_the_caller_empties_them() -> None:
    env = KarelVecEnv(CORRIDOR, 4)
    env.reset()
    for _ in range(3 * LENGTH):
        env.step(np.full(4, MOVE))
    assert len(env.episodes) >= 12
    assert set(env.episodes) == {1.0}


def test_equal_seeds_give_equal_episodes_and_others_differ() -> None:
    courses = []
    for seed in (5, 5, 6):
        env = KarelVecEnv(get("maze"), 3, seed=seed)
        env.reset()
        courses.append(stepped(env, 40))
    for one, same in zip(courses[0], courses[1], strict=True):
        for left, right in zip(one, same, strict=True):
            np.testing.assert_array_equal(left, right)
    assert any((one[0] != other[0]).any() for one, other in zip(courses[0], courses[2], strict=True))


@pytest.mark.parametrize("name", ["maze", "snake"])
def test_restored_worlds_continue_the_same(name: str) -> None:
    env, other = KarelVecEnv(get(name), 5, seed=1), KarelVecEnv(get(name), 5, seed=2)
    env.reset()
    other.reset()
    stepped(env, 100)
    other.restore({key: array.copy() for key, array in env.state().items()})
    env.episodes = []
    for found, expected in zip(stepped(other, 900, 7), stepped(env, 900, 7), strict=True):
        for one, same in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, same)
    assert env.episodes == other.episodes


def test_calls_for_a_single_environment_raise() -> None:
    env = KarelVecEnv(CORRIDOR, 2)
    with pytest.raises(AttributeError, match="all worlds share their settings"):
        env.set_attr("horizon", 3)
    with pytest.raises(AttributeError, match="not separate environments"):
        env.env_method("render")
    assert env.env_is_wrapped(object) == [False, False]
