"""Many worlds of one task that step together in compiled code: what environments and policies live in."""

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
"""values that don't ask where Karel faces (a test holds them to that): not asked again after a turn"""


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
            # What a task doesn't draw is 0, as in `Task.worlds`, and not what the last episode left there.
            world.ground[:], world.markers[:], world.pose[:], world.memory[:] = 0, 0, 0, 0
            draw_world(sampler, streams[number : number + 1], world, bits, seen_share)
            copy_world(source, number, target, number, layout)
            values[number] = 0.0
            steps[number] = 0


class Simulation:
    """Worlds of one task, each with its steps, its value and a stream of its own to begin anew from."""

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
        # Until worlds are placed or drawn, all is wall around Karel.
        self.worlds.ground[:], self.worlds.pose[:, :2] = WALL, 1
        self.values = np.zeros(count, np.float64)
        self.steps = np.zeros(count, np.int64)
        self.streams = np.zeros(count, np.uint64)
        self._looked_at = not task.ships
        self._blind = task.value in BLIND_TO_HEADING
        self._bits = task.configuration_bits(self.size) if task.configuration_bits else 0

    @property
    def count(self) -> int:
        return len(self.steps)

    def seed(self, index: int, seed: int, stream: int) -> None:
        """Let world `index` draw its initial states from stream `stream` of `seed`."""
        seed_stream(self.streams[index : index + 1], seed, stream)

    def place(self, worlds: Worlds) -> None:
        """Begin in these worlds."""
        if (worlds.count, worlds.size) != (self.count, self.size):
            raise ValueError(
                f"expected {self.count} worlds of {self.size}, found {worlds.count} of {worlds.size}"
            )
        for mine in (self.worlds, self.starts):
            copied, source = flatten(mine), flatten(worlds)
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
        except ValueError as error:  # of a task of one's own: what it drew can't be
            raise ValueError(f"{self.task.name}: {error}") from None

    def advance(
        self, actions: NDArray[np.int64], active: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Do one action in each active world: rewards, terminated, truncated."""
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
        if self._looked_at and np.isnan(self.values).any():  # a world that can't be played in any more
            self.task.check_values(self.values)
        return found

    def observe(self, observation: Observation) -> Arrays:
        return planes(self.worlds) if observation == "grid" else perceptions(self.worlds)
