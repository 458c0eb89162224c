"""Statistics over many runs: interquartile mean and stratified bootstrap intervals."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
CONFIDENCE = 0.95
SEED = 0
"""fixed, so that reports are reproducible"""

Numbers = NDArray[np.float64]
Statistic = Callable[[Numbers], Numbers]
"""[samples, runs] → one number per sample"""


def is_number(value: Any) -> bool:
    """Whether a stored value is a finite number."""
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)


def mean(runs: Numbers) -> Numbers:
    return np.asarray(runs.mean(axis=-1))


def interquartile_mean(runs: Numbers) -> Numbers:
    """The mean of the middle half; a quarter of the runs, rounded down, is left out at each end."""
    ordered = np.sort(runs, axis=-1)
    count = ordered.shape[-1]
    return np.asarray(ordered[..., count // 4 : count - count // 4].mean(axis=-1))


def interval(strata: Sequence[Sequence[float]], statistic: Statistic) -> tuple[float, float]:
    """The 95 % confidence interval of a statistic of all runs; strata as in `band`."""
    ends = band([np.asarray(runs, np.float64)[:, None] for runs in strata], statistic)
    return float(ends[0, 0]), float(ends[1, 0])


def band(strata: Sequence[Numbers], statistic: Statistic) -> Numbers:
    """The 95 % confidence intervals of a statistic at each point of curves: [2, points].

    strata: [runs, points] each. Runs are resampled within their stratum (a task), so the size of each stratum
    stays the same. A resampled run keeps all its points.
    """
    rng = np.random.default_rng(SEED)
    picks = [rng.integers(len(runs), size=(RESAMPLES, len(runs))) for runs in strata]
    outside = 50 * (1 - CONFIDENCE)
    ends: list[Numbers] = []
    for point in range(strata[0].shape[1]):
        if point and all(np.array_equal(runs[:, point], runs[:, point - 1]) for runs in strata):
            ends.append(ends[-1])  # curves have long flat parts
            continue
        drawn = [runs[:, point][pick] for runs, pick in zip(strata, picks, strict=True)]
        samples = statistic(np.concatenate(drawn, axis=1))
        ends.append(np.percentile(samples, [outside, 100 - outside]))
    return np.stack(ends, axis=1)
