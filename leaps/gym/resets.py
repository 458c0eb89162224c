"""Initial states by seed: reset an environment, or copy its state after a reset where that is faster.

A search runs thousands of programs from the same seeds. Some environments are slow to reset, since they
generate a level or load a scene, but fast to copy. Whether copies are faster, and whether a copy plays the
same episode, is tested once per environment. Other environments are reset as usual.
"""

import pickle
import time
from copy import deepcopy
from typing import Any

import numpy as np

from leaps.gym.record import difference, record
from leaps.gym.scene import GymScene

MOST_COPIES = 256
"""maximum copies per environment: one for each world that a search scores programs on"""
MOST_BYTES = 64 * 2**20
"""maximum bytes of all copies of an environment"""
WITHOUT_SIZE = 16
"""maximum copies of an environment that can't be pickled, so that its size is unknown"""
FASTER = 0.7
"""maximum time of a copy relative to a reset; slower copies are not used"""
TRIES = 3
"""time measurements, of which the fastest counts"""
TRIED_STEPS = 50
"""actions over which a copy is compared with the environment"""
UNUSED = 8
"""a copy counts as unused after this many episodes, times the maximum number of copies, without it"""
MOST_SEEDS = 100_000
"""maximum number of seeds whose first use is remembered"""


class Resets:
    """The initial states of one environment, by reset or by copy."""

    def __init__(self, environment: Any) -> None:
        self.environment = environment
        self.copying: bool | None = None
        """whether copies are used; None until tested"""
        self._used: set[int] = set()
        """seeds used before; copies are kept from the second use on, since seeds of a check on fresh worlds
        are used only once"""
        self._copies: dict[int, tuple[Any, Any, Any]] = {}
        """environment, observation and info after the reset, by seed; the last used one is last"""
        self._last_use: dict[int, int] = {}
        """number of the episode in which each copy was last used, by seed"""
        self._begun = self._most = 0

    def begin(self, scene: GymScene) -> None:
        """Start an episode of the scene with its seed."""
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
        """Whether there is room for a copy; if needed, delete one that is unused."""
        if len(self._copies) < self._most:
            return True
        oldest = next(iter(self._copies))
        if self._begun - self._last_use[oldest] < UNUSED * self._most:
            return False
        del self._copies[oldest], self._last_use[oldest]
        return True

    def _try(self, scene: GymScene) -> bool:
        """Test whether copies play the same episode and are faster than resets."""
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
        except Exception:  # from an environment that does not support copying
            return False
        finally:
            scene.environment = self.environment
            scene.restart()


def _copy(scene: GymScene) -> tuple[Any, Any, Any]:
    return deepcopy((scene.environment, scene.observation, scene.info))


def _how_many(kept: Any) -> int:
    """Return the maximum number of copies."""
    try:
        size = len(pickle.dumps(kept))
    except Exception:
        return WITHOUT_SIZE
    return min(MOST_COPIES, MOST_BYTES // max(size, 1))


def _plays_the_same(scene: GymScene, kept: tuple[Any, Any, Any]) -> bool:
    """Whether copies play the same episode as the environment, also repeatedly, without affecting it."""
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
