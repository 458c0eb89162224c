"""Simulate many worlds of one task, which step together in compiled code, for environments and policies."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.base.parallel import run_sliced
from leaps.base.randomness import seed_stream
from leaps.karel.executor import ENGINE
from leaps.karel.observe import perceptions, planes
from leaps.karel.physics import copy_world, layout_of
from leaps.karel.tasks import TASKS, VARIANTS, KarelTask
from leaps.karel.tasks.task import Sampler, draw_world
from leaps.karel.world import WALL, Worlds, flatten, world_at

Observation = Literal["grid", "perceptions"]
Arrays = NDArray[np.uint8]

BLIND_TO_HEADING = frozenset(task.value for task in (*TASKS.values(), *VARIANTS.values()))
"""values that do not depend on Karel's heading (a test checks this); not computed again after a turn"""


@jit
def _renew_range(
    sampler: Sampler,
    bits: int,
    seen_share: float,
    streams: NDArray[np.uint64],
    worlds: Worlds,
    starts: Worlds,
    values: NDArray[np.float64],
    steps: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    first: int,
    last: int,
) -> None:
    """Draw a new initial state into each wanted world of first..last-1."""
    source, target = flatten(worlds), flatten(starts)
    layout = layout_of(worlds)
    for number in range(first, last):
        if wanted[number]:
            world = world_at(worlds, number)
            # Start from zeros, as in `Task.worlds`, so that no values of the last episode remain.
            world.ground[:], world.markers[:], world.pose[:], world.memory[:] = 0, 0, 0, 0
            draw_world(sampler, streams[number : number + 1], world, bits, seen_share)
            copy_world(source, number, target, number, layout)
            values[number] = 0.0
            steps[number] = 0


class Simulation:
    """Worlds of one task, each with its number of steps, its value and its own random stream for resets."""

    def __init__(
        self, task: KarelTask, count: int, size: tuple[int, int] | None = None, horizon: int | None = None
    ) -> None:
        task.check_policies()
        self.task = task
        self.size = task.check_size(size)
        self.horizon = task.horizon(self.size) if horizon is None else horizon
        if self.horizon < 1:
            raise ValueError(f"the horizon must be at least 1, found {self.horizon}")
        self.worlds = Worlds.empty(count, self.size, task.memory)
        self.starts = Worlds.empty(count, self.size, task.memory)
        # Before `place` or `renew`, a world is all wall, so that Karel can't move.
        self.worlds.ground[:], self.worlds.pose[:, :2] = WALL, 1
        self.values = np.zeros(count, np.float64)
        self.steps = np.zeros(count, np.int64)
        self.streams = np.zeros(count, np.uint64)
        self._checked = not task.ships
        self._blind = task.value in BLIND_TO_HEADING
        self._bits = task.configuration_bits(self.size) if task.configuration_bits else 0

    @property
    def count(self) -> int:
        return len(self.steps)

    def seed(self, index: int, seed: int, stream: int) -> None:
        """Draw the initial states of world `index` from stream `stream` of `seed`."""
        seed_stream(self.streams[index : index + 1], seed, stream)

    def place(self, worlds: Worlds) -> None:
        """Start from these worlds."""
        if (worlds.count, worlds.size) != (self.count, self.size):
            raise ValueError(
                f"expected {self.count} worlds of {self.size}, found {worlds.count} of {worlds.size}"
            )
        for target in (self.worlds, self.starts):
            copied, source = flatten(target), flatten(worlds)
            copied.ground[:], copied.markers[:] = source.ground, source.markers
            copied.pose[:], copied.memory[:] = source.pose, source.memory
        self.values[:] = 0.0
        self.steps[:] = 0

    def renew(self, wanted: NDArray[np.bool_]) -> None:
        """Draw new initial states for the wanted worlds."""
        try:
            run_sliced(
                lambda first, last: _renew_range(
                    self.task.sampler,
                    self._bits,
                    self.task.seen_share,
                    self.streams,
                    self.worlds,
                    self.starts,
                    self.values,
                    self.steps,
                    wanted,
                    first,
                    last,
                ),
                self.count,
                grain=1024,
            )
        except ValueError as error:  # a user-defined task drew an invalid world
            raise ValueError(f"{self.task.name}: {error}") from None

    def advance(
        self, actions: NDArray[np.int64], active: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Take one action in each active world; return rewards, terminated and truncated."""
        found = ENGINE.advance(
            self.worlds,
            self.starts,
            self.values,
            self.steps,
            actions,
            active,
            self.horizon,
            self.task.hooks,
            coarse=self._blind,
        )
        if self._checked and np.isnan(self.values).any():  # a reaction made a world invalid
            self.task.check_values(self.values)
        return found

    def observe(self, observation: Observation) -> Arrays:
        return planes(self.worlds) if observation == "grid" else perceptions(self.worlds)
