"""Replay a rollout into a list of states, and compute Karel's path."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.compiled.kernels import Hooks
from leaps.domain import NO_ACTION
from leaps.dsl.compiler import Compiled
from leaps.karel.draw.grid import Cell
from leaps.karel.executor import replay, run
from leaps.karel.world import LANGUAGE, World, Worlds

_CHUNK = 256
"""number of actions replayed at a time; all states of a long rollout in a large world take too much memory"""


def frames_of_actions(
    world: World, actions: Sequence[int] | NDArray[np.uint8], hooks: Hooks | None = None
) -> list[World]:
    """Replay actions with the hooks of a task, if any, and return all states.

    actions: may be a row of `Rollouts.actions`; its padding is ignored. States share equal arrays, so clone a
    state before changing it.
    """
    done = np.asarray(actions, np.uint8)
    done = done[done != NO_ACTION]
    if (done >= len(LANGUAGE.actions)).any():
        raise ValueError(f"actions must be from 0 to {len(LANGUAGE.actions) - 1}, found {done.max()}")
    frames = [world.clone()]
    for start in range(0, len(done), _CHUNK):
        states = replay(Worlds.stack([frames[-1]]), done[None, start : start + _CHUNK], hooks)
        for index in range(1, states.count):
            frames.append(_shared(frames[-1], states.world(index)))
    return frames


def frames_of_program(
    world: World, program: Compiled, horizon: int, hooks: Hooks | None = None
) -> list[World]:
    """Run one program, and return all states; see `frames_of_actions`."""
    if program.count != 1:
        raise ValueError(f"expected one program, found {program.count}")
    rollouts = run(program, Worlds.stack([world]), horizon, hooks, want_actions=True)
    assert rollouts.actions is not None
    return frames_of_actions(world, rollouts.actions[0, 0], hooks)


def path_of(frames: Sequence[World]) -> list[Cell]:
    """List the cells on Karel's path, oldest first."""
    cells = [frame.place[:2] for frame in frames]
    return [cell for cell, _ in itertools.groupby(cells)]


def _shared(before: World, after: World) -> World:
    """Copy `after`, but reuse the unchanged arrays of `before`."""
    pairs: Any = zip(before, after, strict=True)
    return World(*(old if np.array_equal(old, new) else new.copy() for old, new in pairs))
