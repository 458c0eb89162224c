"""What a compiled domain provides: small functions for numba, which the loops of `kernels` are made of.

The functions here are only their documentation. `kernels` imports them, and an `Engine` replaces each by
the domain's function of that name. So a loop calls a domain's rules without paying for it: they are
compiled into the loop.

Worlds are a named tuple of arrays, one world a row, with `count`, `room(count)` for as many of the same size,
and `take(indices)`. In a loop they are

- flat: each array as one row of numbers, since a view of one world costs more than copying a small one;
- the layout: what is constant for worlds of one size, such as the width;
- the registers of a world: the few numbers that nearly every action reads or changes, as a tuple. They are
  kept out of the arrays while a program runs. A domain may have none.
"""

from typing import Any

import numpy as np

STATEFUL = 0
"""bits of what `act` says has changed: those that stand for more than the registers"""
FINAL = 0
"""bits after which `is_over` is asked even if the task wants to hear of none of them"""
CODES = 0
"""how many codes `perceive` can return, for a language of FEW_SENSES. 0 for one with more senses: then each
program has codes of its own"""


def layout_of(worlds: Any) -> Any:
    """Return what is constant for worlds of this size."""
    raise NotImplementedError


def flatten(worlds: Any) -> Any:
    """View worlds flat."""
    raise NotImplementedError


def world_at(worlds: Any, number: int) -> Any:
    """View one of the worlds."""
    raise NotImplementedError


def copy_world(source: Any, read: int, target: Any, write: int, layout: Any) -> None:
    """Overwrite world `write` of a flat `target` with world `read` of a flat `source`."""
    raise NotImplementedError


def same_state(one: Any, other: Any) -> bool:
    """Whether two flat worlds are equal but, perhaps, for what is in the registers."""
    raise NotImplementedError


def load(flat: Any, number: int, layout: Any) -> Any:
    """Read the registers of a world."""
    raise NotImplementedError


def store(flat: Any, number: int, layout: Any, registers: Any) -> None:
    """Write the registers of a world."""
    raise NotImplementedError


def perceive(flat: Any, layout: Any, registers: Any) -> np.uint64:
    """Return what is perceived: bit k says whether sense k of the language holds."""
    raise NotImplementedError


def act(flat: Any, layout: Any, registers: Any, action: int) -> tuple[Any, int]:
    """Do one action: the new registers, and what has changed, as bits."""
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
    """Turn an address into the task's function that `react` calls."""
    raise NotImplementedError


def value_at(address: int) -> Any:
    """Turn an address into the task's function (world, world at the start) → value."""
    raise NotImplementedError
