"""A caching environment gives the same episodes with fewer steps."""

from typing import Any

import numpy as np

from leaps.evaluate import evaluate
from leaps.gym.memory import Remembering
from tests.gym.corridor import Corridor, corridor
from tests.gym.test_task import IN_LIGHT, RIGHT


class Counting(Corridor):
    """A corridor that counts its steps and resets."""

    steps = resets = 0

    def reset(self, **settings: Any) -> Any:
        self.resets += 1
        return super().reset(**settings)

    def step(self, action: int) -> Any:
        self.steps += 1
        return super().step(action)


def test_episodes_are_those_of_the_environment() -> None:
    plain, remembering = Corridor(), Remembering(Corridor(), most=40)
    rng = np.random.default_rng(0)
    for _ in range(200):
        seed, actions = int(rng.integers(5)), rng.integers(2, size=6).tolist()
        assert plain.reset(seed=seed)[0].tolist() == remembering.reset(seed=seed)[0].tolist()
        for action in actions:
            expected, cached = plain.step(action), remembering.step(action)
            assert expected[0].tolist() == cached[0].tolist()
            assert expected[1:] == cached[1:]
        assert remembering.unwrapped.place == plain.place
        assert np.array_equal(remembering.render(), plain.render())


def test_cached_steps_are_not_run_again() -> None:
    environment = Counting()
    remembering = Remembering(environment)
    for _ in range(3):
        remembering.reset(seed=1)
        for action in (0, 0, 1):
            remembering.step(action)
    assert (environment.resets, environment.steps) == (1, 3)
    remembering.reset(seed=1)
    remembering.step(0)
    remembering.step(1)  # new: the environment has to come here first
    assert (environment.resets, environment.steps) == (2, 5)


def test_a_task_that_remembers_has_the_same_returns() -> None:
    plain, remembering = corridor(), corridor(remembers=True)
    for program in (RIGHT, IN_LIGHT, RIGHT):
        found = [evaluate(program, task, episodes=25) for task in (plain, remembering)]
        assert found[0].returns.tolist() == found[1].returns.tolist()
        assert found[0].rollouts.steps.tolist() == found[1].rollouts.steps.tolist()
