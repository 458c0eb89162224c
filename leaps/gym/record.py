"""Record an episode with given actions, and compare two records."""

import time
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from leaps.gym.scene import GymScene

NEARLY = 1e-5
"""tolerance between floats, as in Gymnasium's own checker"""


class Moment(NamedTuple):
    """The results of one step of an environment; step 0 is the reset."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    key: Any
    """the state's key, from the task's `key`; None without one"""


def record(scene: GymScene, actions: Sequence[int], seconds: float = np.inf) -> list[Moment]:
    """Record an episode that has begun, until it ends, the actions are used up, or the time is up."""
    begin = time.perf_counter()
    moments = [_moment(scene)]
    for action in actions:
        end = scene.act(action)
        moments.append(_moment(scene))
        if end is not None or time.perf_counter() - begin > seconds:
            break
    return moments


def _moment(scene: GymScene) -> Moment:
    # A copy, since an environment may write its next observation into the same array.
    reward = scene.rewards[-1] if scene.rewards else 0.0
    key = None if scene.task.key is None else scene.key()
    return Moment(deepcopy(scene.observation), reward, scene.terminated, scene.truncated, key)


def difference(one: Sequence[Moment], other: Sequence[Moment]) -> tuple[int, str] | None:
    """Return the first step in which two records differ, and the field that differs; None if they agree."""
    for step, (left, right) in enumerate(zip(one, other, strict=False)):
        for name in Moment._fields:
            if not same(getattr(left, name), getattr(right, name)):
                return step, name
    if len(one) != len(other):
        return min(len(one), len(other)), "end"
    return None


def same(one: Any, other: Any) -> bool:
    """Compare observations or other values of an environment; NaN equals NaN."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    try:
        left, right = np.asarray(one), np.asarray(other)
        if left.shape != right.shape:
            return False
        if left.dtype.kind in "fc" or right.dtype.kind in "fc":
            return bool(np.allclose(left, right, rtol=NEARLY, atol=NEARLY, equal_nan=True))
        if left.dtype != object:
            return bool(np.array_equal(left, right))
        return bool(one == other) if left.shape == () else all(map(same, left.ravel(), right.ravel()))
    except Exception:  # objects that can't be compared count as equal
        return True
