"""Records of episodes, and their comparison."""

from typing import Any

import numpy as np
import pytest

from leaps.gym.record import difference, record, same
from leaps.gym.scene import GymScene
from tests.gym.corridor import Corridor, corridor


def played(seed: int, actions: list[int]) -> list[Any]:
    scene = GymScene(corridor(key=lambda env: (env.place, env.light)), Corridor())
    scene.begin(seed)
    return list(record(scene, actions))


def test_a_record_has_every_step_until_the_end() -> None:
    moments = played(3, [1] * 30)
    assert moments[-1].terminated
    assert [moment.key[0] for moment in moments] == list(range(6 - len(moments), 6))
    assert [moment.reward for moment in moments][-2:] == [0.0, 1.0]


def test_the_first_difference_is_returned_with_the_field() -> None:
    one, other = played(3, [0, 1, 0, 0]), played(3, [0, 1, 0, 0])
    assert difference(one, other) is None
    other[2] = other[2]._replace(reward=0.5)
    assert difference(one, other) == (2, "reward")
    assert difference(one, one[:3]) == (3, "end")


def test_observations_are_copied() -> None:
    class Reuses(Corridor):
        buffer = np.zeros(2, np.float32)

        def _seen(self) -> Any:
            self.buffer[:] = super()._seen()
            return self.buffer

    scene = GymScene(corridor(), Reuses())
    scene.begin(1)
    moments = record(scene, [0, 0, 0, 0, 0])
    assert len({tuple(moment.observation) for moment in moments}) > 1


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (np.array([1.0, np.nan]), np.array([1.0 + 1e-7, np.nan]), True),
        (np.array([1.0, 2.0]), np.array([1.0, 2.1]), False),
        (np.zeros(2), np.zeros(3), False),
        ({"a": 1, "b": (2, "x")}, {"a": 1, "b": (2, "x")}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": [np.ones(2), 3]}, {"a": [np.ones(2), 4]}, False),
        ("north", "south", False),
        (True, np.True_, True),
        (np.array([{1}, {2}], object), np.array([{1}, {3}], object), False),
    ],
)
def test_observations_are_compared_by_value(one: object, other: object, equal: bool) -> None:
    assert same(one, other) is equal
    assert same(other, one) is equal
