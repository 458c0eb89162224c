"""Checks that tasks of all compiled domains share: names, seeds, probabilities, and changes behind a name."""

import re
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

N = TypeVar("N", int, float)

SEEDS = 2**63
"""how many seeds there are: compiled code counts in 64 bits"""


def check_name(name: str) -> None:
    """Refuse a name that a path or a change could be mistaken for."""
    if not name.strip() or set(name) & set("/\\:"):
        raise ValueError(f"a task's name is not empty and has no '/', '\\\\' or ':'; found {name!r}")


def check_seed(seed: int) -> None:
    """Refuse a seed that compiled code has no room for."""
    if not 0 <= seed < SEEDS:
        raise ValueError(f"a seed is 0 or more and below 2^63, found {seed}")


def check_draws(count: int, first: int) -> None:
    """Refuse numbers of worlds that compiled code has no room for."""
    if count < 0 or not 0 <= first <= SEEDS - 1 - count:
        raise ValueError(f"worlds are numbered from 0 to 2^63 - 1, found {count} from {first} on")


def check_weights(task: str, weights: NDArray[np.float64]) -> None:
    """Refuse probabilities of listed states that can't be any."""
    if not (np.min(weights, initial=1) > 0 and abs(np.sum(weights) - 1) < 1e-6):
        raise ValueError(
            f"{task}: listing: expected positive probabilities that sum to 1, found a sum of "
            f"{np.sum(weights):g}, lowest {np.min(weights, initial=1):g}"
        )


def whole_number(text: str) -> int:
    """Read a whole number of 0 or more, written in digits."""
    if not re.fullmatch("[0-9]+", text):
        raise ValueError
    return int(text)


def read_number(text: str, kind: Callable[[str], N], what: str, sign: str) -> N:
    """Read the number behind a sign in a task's name; `kind` raises a ValueError for anything else."""
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"expected a {what} after {sign}, found {text!r}") from None
