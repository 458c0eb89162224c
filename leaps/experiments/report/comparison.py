"""Comparison of results with reported numbers, for an entry and for a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from leaps.experiments.paper import Reported
from leaps.experiments.report.statistics import interquartile_mean, interval
from leaps.experiments.table import Entry

BETTER, WORSE = "▲", "▼"
ROUNDING = 0.005
"""reported numbers have two decimals, so smaller differences do not count"""


@dataclass(frozen=True)
class Comparison:
    """A table entry and the reported number; either may be missing."""

    entry: Entry | None
    reported: Reported | None

    @property
    def mark(self) -> str:
        """BETTER or WORSE if the difference exceeds the reported standard deviation, else ''."""
        if self.entry is None or self.reported is None:
            return ""
        difference = self.entry.mean - self.reported.mean
        if abs(difference) <= max(self.reported.deviation or 0.0, ROUNDING):
            return ""
        return BETTER if difference > 0 else WORSE


@dataclass(frozen=True)
class Summary:
    """Summary statistics of a row."""

    runs: int
    interquartile_mean: float
    interval: tuple[float, float] | None
    """95 % interval; None with one run per column"""
    means: tuple[float, float] | None
    """means here and as reported, over the columns with both"""
    better: int
    worse: int
    alike: int


def summarize(row: Sequence[Comparison]) -> Summary:
    """Summarize a row with at least one result."""
    strata = [one.entry.returns for one in row if one.entry]
    both = [(one.entry.mean, one.reported.mean) for one in row if one.entry and one.reported]
    marks = [one.mark for one in row if one.entry and one.reported]
    return Summary(
        sum(len(runs) for runs in strata),
        float(interquartile_mean(np.concatenate(strata))),
        interval(strata, interquartile_mean) if any(len(runs) > 1 for runs in strata) else None,
        (fmean(here for here, _ in both), fmean(reported for _, reported in both)) if both else None,
        marks.count(BETTER),
        marks.count(WORSE),
        marks.count(""),
    )
