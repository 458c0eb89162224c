"""The states of a rollout, one by one, and the path through them."""

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
"""actions replayed at a time: in a large world all states of a long rollout would fill the memory"""


def frames_of_actions(
    world: World, actions: Sequence[int] | NDArray[np.uint8], hooks: Hooks | None = None
) -> list[World]:
    """Do the actions, and return every state from the first to the last. With the hooks of the task, if any.

    A row of `Rollouts.actions` will do: what it is filled up with is left out. States share the arrays in
    which they agree; clone one before changing it.
    """
    done = np.asarray(actions, np.uint8)
    done = done[done != NO_ACTION]
    if (done >= len(LANGUAGE.actions)).any():
        raise ValueError(f"an action is a number below {len(LANGUAGE.actions)}, found {done.max()}")
    frames = [world.clone()]
    for start in range(0, len(done), _CHUNK):
        states = replay(Worlds.stack([frames[-1]]), done[None, start : start + _CHUNK], hooks)
        for index in range(1, states.count):
            frames.append(_shared(frames[-1], states.world(index)))
    return frames


def frames_of_program(
    world: World, program: Compiled, horizon: int, hooks: Hooks | None = None
) -> list[World]:
    """Run one program, and return every state from the first to the last; see `frames_of_actions`."""
    if program.count != 1:
        raise ValueError(f"expected one program, found {program.count}")
    rollouts = run(program, Worlds.stack([world]), horizon, hooks, want_actions=True)
    assert rollouts.actions is not None
    return frames_of_actions(world, rollouts.actions[0, 0], hooks)


def path_of(frames: Sequence[World]) -> list[Cell]:
    """The cells that Karel came through, oldest first."""
    places = [frame.place[:2] for frame in frames]
    return [place for place, _ in itertools.groupby(places)]


def _shared(before: World, after: World) -> World:
    """Copy `after`, but take over the arrays that haven't changed."""
    pairs: Any = zip(before, after, strict=True)
    return World(*(old if np.array_equal(old, new) else new.copy() for old, new in pairs))
