"""Initial states by seed: reset an environment, or copy it as it was after a reset where that is faster.

A search plays thousands of programs from the same seeds. Some environments take long to reset, since they
generate a level or load a scene, and are quickly copied. Whether that is so, and whether a copy plays the
same episode, is tried out once per environment. Other environments are reset as ever.
"""

import pickle
import time
from copy import deepcopy
from typing import Any

import numpy as np

from leaps.gym.record import difference, record
from leaps.gym.scene import GymScene

MOST_COPIES = 256
"""kept of an environment: one for each world that a search tries programs on"""
MOST_BYTES = 64 * 2**20
"""that all copies of an environment may take"""
WITHOUT_SIZE = 16
"""copies kept of an environment that can't be pickled, so that nobody knows how large it is"""
FASTER = 0.7
"""of the time of a reset that a copy may take, to be worth it"""
TRIES = 3
"""of which the fastest counts"""
TRIED_STEPS = 50
"""actions for which a copy has to do what the environment does"""
UNUSED = 8
"""episodes for each copy that is kept, after which one that began none of them is out of use"""
MOST_SEEDS = 100_000
"""whose first use is remembered"""


class Resets:
    """Where the episodes of one environment begin."""

    def __init__(self, environment: Any) -> None:
        self.environment = environment
        self.copying: bool | None = None
        """whether copies are used; None until it was tried"""
        self._used: set[int] = set()
        """seeds: one that is used for the first time may be used but once, as in a check on fresh worlds"""
        self._copies: dict[int, tuple[Any, Any, Any]] = {}
        """by seed, the one used last is last: environment, observation and info after the reset"""
        self._last_use: dict[int, int] = {}
        """by seed, the number of episodes that had begun before"""
        self._begun = self._most = 0

    def begin(self, scene: GymScene) -> None:
        """Begin an episode of the scene with its seed."""
        self._begun += 1
        if (kept := self._copies.pop(scene.seed, None)) is not None:
            self._copies[scene.seed], self._last_use[scene.seed] = kept, self._begun
            scene.environment, scene.observation, scene.info = deepcopy(kept)
            return
        scene.environment = self.environment
        if self.copying is not False and scene.seed in self._used:
            if self.copying is None:
                self.copying = self._try(scene)
            scene.reset()
            if self.copying and self._room():
                self._copies[scene.seed], self._last_use[scene.seed] = _copy(scene), self._begun
            return
        if self.copying is not False and len(self._used) < MOST_SEEDS:
            self._used.add(scene.seed)
        scene.reset()

    def _room(self) -> bool:
        """Make room for a copy, if there is none, by giving up one that is out of use."""
        if len(self._copies) < self._most:
            return True
        oldest = next(iter(self._copies))
        if self._begun - self._last_use[oldest] < UNUSED * self._most:
            return False
        del self._copies[oldest], self._last_use[oldest]
        return True

    def _try(self, scene: GymScene) -> bool:
        """Find out whether copies play the same episode, and are faster to come by than resets."""
        seconds = list[float]()
        for _ in range(TRIES):
            begin = time.perf_counter()
            scene.reset()
            seconds.append(time.perf_counter() - begin)
        try:
            kept = _copy(scene)
            copying = []
            for _ in range(TRIES):
                begin = time.perf_counter()
                deepcopy(kept)
                copying.append(time.perf_counter() - begin)
            if min(copying) > FASTER * min(seconds):
                return False
            self._most = _how_many(kept)
            return self._most > 0 and _plays_the_same(scene, kept)
        except Exception:  # whatever an environment raises that is copied, and was not made for it
            return False
        finally:
            scene.environment = self.environment
            scene.restart()


def _copy(scene: GymScene) -> tuple[Any, Any, Any]:
    return deepcopy((scene.environment, scene.observation, scene.info))


def _how_many(kept: Any) -> int:
    """Count the copies that may be kept at once."""
    try:
        size = len(pickle.dumps(kept))
    except Exception:
        return WITHOUT_SIZE
    return min(MOST_COPIES, MOST_BYTES // max(size, 1))


def _plays_the_same(scene: GymScene, kept: tuple[Any, Any, Any]) -> bool:
    """Whether copies do what the environment does, also after another copy was played; and do it no harm."""
    draws = np.random.default_rng(scene.seed).integers(len(scene.task.actions), size=TRIED_STEPS).tolist()
    original = scene.environment
    expected = record(scene, draws)
    for _ in range(2):
        scene.environment, scene.observation, scene.info = deepcopy(kept)
        scene.restart()
        if difference(expected, record(scene, draws)) is not None:
            return False
    scene.environment = original
    scene.restart()
    scene.reset()
    return difference(expected, record(scene, draws)) is None
