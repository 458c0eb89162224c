"""What is said of many runs: the interquartile mean, and intervals by stratified bootstrap."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
CONFIDENCE = 0.95
SEED = 0
"""always the same, so that a report is the same twice"""

Numbers = NDArray[np.float64]
Statistic = Callable[[Numbers], Numbers]
"""of [samples, runs], a number per sample"""


def is_number(value: Any) -> bool:
    """Whether what a result says can be reckoned with."""
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)


def mean(runs: Numbers) -> Numbers:
    return np.asarray(runs.mean(axis=-1))


def interquartile_mean(runs: Numbers) -> Numbers:
    """The mean of the middle half: a quarter of the runs, rounded down, is left out at either end."""
    ordered = np.sort(runs, axis=-1)
    count = ordered.shape[-1]
    return np.asarray(ordered[..., count // 4 : count - count // 4].mean(axis=-1))


def interval(strata: Sequence[Sequence[float]], statistic: Statistic) -> tuple[float, float]:
    """Where a statistic of all runs lies with a confidence of 95 %.

    Runs are drawn anew within each stratum (a task), so that every sample has as many of each as there are.
    """
    rng = np.random.default_rng(SEED)
    drawn = [rng.choice(np.asarray(runs, np.float64), (RESAMPLES, len(runs))) for runs in strata]
    outside = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(statistic(np.concatenate(drawn, axis=1)), [outside, 100 - outside])
    return float(low), float(high)
