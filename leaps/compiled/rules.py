"""The interface of a compiled domain: small functions for numba, which the loops of `kernels` call.

The functions here are only documentation. `kernels` imports them, and an `Engine` replaces each by the
domain's function of the same name. They are compiled into the loop, so a call costs nothing.

Worlds are a named tuple of arrays, one world per row, with `count`, `room(count)`, which allocates worlds of
the same size, and `take(indices)`. A loop uses them as

- flat worlds: each array as one row of numbers, since a view of one world costs more than copying a small
  one;
- the layout: constants of worlds of one size, such as the width;
- the registers of a world: the few numbers that nearly every action reads or changes, as a tuple. They are
  kept out of the arrays while a program runs. A domain may have none.
"""

from typing import Any

import numpy as np

STATEFUL = 0
"""change bits returned by `act` that stand for changes outside the registers"""
FINAL = 0
"""change bits after which `is_over` is called even if they are not among the task's events"""
CODES = 0
"""number of codes that `perceive` can return, for a language with at most FEW_SENSES. 0 for one with more
senses: then each program has its own codes"""


def layout_of(worlds: Any) -> Any:
    """Return the constants of worlds of this size."""
    raise NotImplementedError


def flatten(worlds: Any) -> Any:
    """Return a flat view of worlds."""
    raise NotImplementedError


def world_at(worlds: Any, number: int) -> Any:
    """Return a view of one world."""
    raise NotImplementedError


def copy_world(source: Any, read: int, target: Any, write: int, layout: Any) -> None:
    """Overwrite world `write` of a flat `target` with world `read` of a flat `source`."""
    raise NotImplementedError


def same_state(one: Any, other: Any) -> bool:
    """Whether two flat worlds are equal, apart from the registers."""
    raise NotImplementedError


def load(flat: Any, number: int, layout: Any) -> Any:
    """Read the registers of a world."""
    raise NotImplementedError


def store(flat: Any, number: int, layout: Any, registers: Any) -> None:
    """Write the registers of a world."""
    raise NotImplementedError


def perceive(flat: Any, layout: Any, registers: Any) -> np.uint64:
    """Return the perceptions: bit k is 1 if sense k of the language holds."""
    raise NotImplementedError


def act(flat: Any, layout: Any, registers: Any, action: int) -> tuple[Any, int]:
    """Do one action; return the new registers and the changes as bits."""
    raise NotImplementedError


def is_over(flat: Any, layout: Any, registers: Any) -> bool:
    """Whether the world itself ends the rollout."""
    raise NotImplementedError


def react(hook: Any, world: Any, number: int, layout: Any, change: int, before: Any) -> bool:
    """Let the task react to a change: call its hook, and return whether the rollout is over.

    world: number `number` of its batch. before: the registers before the action.
    """
    raise NotImplementedError


def react_at(address: int) -> Any:
    """Convert an address to the task's function that `react` calls."""
    raise NotImplementedError


def value_at(address: int) -> Any:
    """Convert an address to the task's function (world, initial world) → value."""
    raise NotImplementedError
