"""Compile the functions of a task: into the domain's loops, or as native functions behind a pointer.

Users' functions are compiled with bounds checks. An exception can pass through the loops, but not through a
pointer. A function behind a pointer returns a special value instead.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from leaps.base.jit import compiled_for, is_ours, jit, python_of
from leaps.compiled.engine import Engine
from leaps.compiled.plain import FAILED, WORLD_TYPE, World, plain_rules


@cache
def engine_of(
    perceive: Callable[[World], Any],
    act: Callable[[World, int], int],
    is_over: Callable[[World], bool] | None,
    codes: int,
) -> Engine:
    """Compile the loops of a domain, once for all tasks with these functions."""
    rules = plain_rules(
        _compiled(perceive, WORLD_TYPE),
        _compiled(act, WORLD_TYPE, types.int64),
        None if is_over is None else _compiled(is_over, WORLD_TYPE),
        codes,
    )
    own = [python_of(function).__qualname__ for function in (perceive, act, is_over) if function is not None]
    return Engine(rules, python_of(perceive).__code__.co_filename, f"{'-'.join(own)}-{codes}")


def _compiled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Compile a function of the domain; keep one that the package has compiled with its own options."""
    if is_ours(python_of(function)):
        return function if python_of(function) is not function else jit(function)
    return compiled_for(python_of(function), *arguments)


def never(world: World, change: int) -> bool:  # noqa: ARG001
    """Return False: the reaction of a task without `react`."""
    return False


@cache
def guarded_reaction(react: Callable[[World, int], bool]) -> Callable[[World, int], int]:
    """Wrap a reaction to return FAILED on an exception, which can't pass through a pointer."""
    compiled = compiled_for(react, WORLD_TYPE, types.int64)

    def guarded(world: World, change: int) -> int:
        over = FAILED
        try:
            over = 1 if compiled(world, change) else 0
        except Exception:  # numba supports no other type
            over = FAILED
        return over

    return guarded


@cache
def guarded_value(value: Callable[[World, World], float]) -> Callable[[World, World], float]:
    """Wrap a value function to return NaN on an exception, which can't pass through a pointer."""
    compiled = compiled_for(value, WORLD_TYPE, WORLD_TYPE)

    def guarded(world: World, start: World) -> float:
        worth = np.nan
        try:
            worth = 1.0 * compiled(world, start)  # converts True and False, too
        except Exception:  # numba supports no other type
            worth = np.nan
        return worth

    return guarded
