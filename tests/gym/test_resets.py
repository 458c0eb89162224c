"""Copies replace resets only where they are faster and give the same episode."""

import threading
import time
from typing import Any, ClassVar

import numpy as np
import pytest

from leaps.gym import GymTask
from leaps.gym.resets import MOST_BYTES, Resets
from leaps.gym.scene import GymScene
from tests.gym.corridor import Corridor, corridor

SEEING = "DEF run m( REPEAT R=19 r( IFELSE c( lightIsOn c) i( right i) ELSE e( left e) r) m)"
TRIPLE = 3


class Slow(Corridor):
    """Slow to reset, like an environment that generates a level."""

    resets = 0

    def reset(self, **settings: Any) -> Any:
        type(self).resets += 1
        time.sleep(0.003)
        return super().reset(**settings)


class Locked(Slow):
    """Can't be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Outside(Slow):
    """Its state is outside of the object, for example in a simulator, so that copies share it."""

    simulator: ClassVar = [0]

    def reset(self, **settings: Any) -> Any:
        found = super().reset(**settings)
        self.simulator[0] = self.place
        return found

    def step(self, action: int) -> Any:
        self.place = self.simulator[0]
        found = super().step(action)
        self.simulator[0] = self.place
        return found


class Large(Slow):
    """Fast to copy, but too large to keep."""

    def __init__(self) -> None:
        super().__init__()
        self.ballast = np.zeros(MOST_BYTES + 1, np.uint8)

    def __deepcopy__(self, memo: Any) -> "Large":
        raise AssertionError("copied")


def returns_and_resets(maker: type[Slow], rounds: int = TRIPLE) -> tuple[GymTask, list[Any], int]:
    maker.resets = 0
    task = corridor(make=maker, variants={})
    task._memory.checked.add("")
    compiled = task.compile(SEEING)
    found = [task.run(compiled, task.worlds(8, seed=3), want_actions=True) for _ in range(rounds)]
    return task, found, maker.resets


def resets_of(task: GymTask) -> Resets:
    return task._environments.resets[""]


def test_copies_give_the_same_episodes_as_resets() -> None:
    reference = corridor()
    expected = reference.run(reference.compile(SEEING), reference.worlds(8, seed=3), want_actions=True)
    task, found, resets = returns_and_resets(Slow, 10)
    assert resets_of(task).copying is True
    for rollouts in found:
        for name in ("returns", "outcome", "steps", "actions"):
            assert np.array_equal(getattr(rollouts, name), getattr(expected, name))
    assert resets < 30  # of 80 episodes


@pytest.mark.parametrize("maker", [Locked, Outside, Corridor])
def test_an_environment_not_worth_copying_is_reset(maker: Any) -> None:
    task, found, resets = returns_and_resets(maker) if maker is not Corridor else plain()
    assert resets_of(task).copying is False
    assert resets >= 8 * TRIPLE
    assert all(np.array_equal(rollouts.actions, found[0].actions) for rollouts in found)


def plain() -> tuple[GymTask, list[Any], int]:
    task = corridor()
    compiled = task.compile(SEEING)
    found = [task.run(compiled, task.worlds(8, seed=3), want_actions=True) for _ in range(TRIPLE)]
    return task, found, 8 * TRIPLE


def test_a_seed_used_once_is_not_copied() -> None:
    Slow.resets = 0
    scene = GymScene(corridor(), Slow(), resets := Resets(environment := Slow()))
    for seed in range(20):
        scene.begin(seed)
    assert Slow.resets == 20
    assert resets.copying is None
    assert scene.environment is environment


def test_the_number_of_copies_is_limited() -> None:
    resets = Resets(Slow())
    scene = GymScene(corridor(), resets.environment, resets)
    for _ in range(2):
        for seed in range(4):
            scene.begin(seed)
    assert len(resets._copies) == 4
    resets._most = 2
    del resets._copies[0], resets._copies[1]
    scene.begin(0)
    assert sorted(resets._copies) == [2, 3]
    for _ in range(100):
        scene.begin(3)
    scene.begin(0)
    assert sorted(resets._copies) == [0, 3]


def test_an_environment_that_is_too_large_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaps.gym.resets.MOST_BYTES", 10)
    task, _, resets = returns_and_resets(Slow)
    assert resets_of(task).copying is False
    assert resets >= 8 * TRIPLE
