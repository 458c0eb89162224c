"""Input checks for the tasks of all compiled domains: names, seeds, probabilities, and suffixes of names."""

import re
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

N = TypeVar("N", int, float)

SEEDS = 2**63
"""number of seeds: compiled code has 64-bit integers"""


def check_name(name: str) -> None:
    """Raise a ValueError for a name that looks like a path or has a suffix."""
    if not name.strip() or set(name) & set("/\\:"):
        raise ValueError(f"a task's name must not be empty or contain '/', '\\\\' or ':', found {name!r}")


def check_seed(seed: int) -> None:
    """Raise a ValueError for a seed that compiled code can't represent."""
    if not 0 <= seed < SEEDS:
        raise ValueError(f"seed must be from 0 to 2^63 - 1, found {seed}")


def check_draws(count: int, first: int) -> None:
    """Raise a ValueError for world numbers that compiled code can't represent."""
    if count < 0 or not 0 <= first <= SEEDS - 1 - count:
        raise ValueError(f"world numbers must be from 0 to 2^63 - 1, found {count} worlds from {first}")


def check_weights(task: str, weights: NDArray[np.float64]) -> None:
    """Raise a ValueError for invalid probabilities of listed states."""
    if not (np.min(weights, initial=1) > 0 and abs(np.sum(weights) - 1) < 1e-6):
        raise ValueError(
            f"{task}: listing: expected positive probabilities that sum to 1, found a sum of "
            f"{np.sum(weights):g}, lowest {np.min(weights, initial=1):g}"
        )


def whole_number(text: str) -> int:
    """Parse a whole number, 0 or more, written in digits."""
    if not re.fullmatch("[0-9]+", text):
        raise ValueError
    return int(text)


def read_number(text: str, kind: Callable[[str], N], what: str, sign: str) -> N:
    """Parse the number after a sign in a task's name; `kind` raises a ValueError for anything else."""
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"expected a {what} after {sign}, found {text!r}") from None
