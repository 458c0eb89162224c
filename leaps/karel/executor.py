"""Run many programs in many worlds in compiled code.

The fast counterpart of `leaps.karel.interpreter`, compiled from the rules in `leaps.karel.physics`; see
`leaps.compiled.kernels`.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import address_of
from leaps.compiled.engine import GRAIN, Engine
from leaps.compiled.kernels import Hooks
from leaps.domain import Rollouts
from leaps.dsl.compiler import Compiled
from leaps.karel import physics
from leaps.karel.physics import REACT_TYPE, VALUE_TYPE
from leaps.karel.world import World, Worlds

ENGINE = Engine(physics, physics.__file__)


@cache
def no_task() -> Hooks:
    """Return hooks that do nothing."""
    return Hooks(0, address_of(_never, REACT_TYPE), address_of(_worthless, VALUE_TYPE), 0.0)


def _never(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    return False


def _worthless(world: World, start: World) -> float:  # noqa: ARG001
    return 0.0


def run(
    compiled: Compiled,
    worlds: Worlds,
    horizon: int,
    hooks: Hooks | None = None,
    *,
    needed: NDArray[np.float64] | None = None,
    grain: int = GRAIN,
    **wanted: bool,
) -> Rollouts:
    """Run every program in every world, with a task's hooks or without; see `Engine.run`."""
    return ENGINE.run(
        compiled,
        worlds,
        horizon,
        hooks or no_task(),
        needed=needed,
        grain=grain,
        want_returns=hooks is not None,
        **wanted,
    )


def replay(worlds: Worlds, actions: NDArray[np.uint8], hooks: Hooks | None = None) -> Any:
    """Replay actions [worlds, horizon], and return every state; see `Engine.replay`."""
    return ENGINE.replay(worlds, actions, hooks or no_task())
