"""Means and intervals, against small examples by hand and what must hold of all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaps.experiments.report.statistics import interquartile_mean, interval, mean

returns = st.lists(st.floats(-1, 1), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([0.3], 0.3),
        ([0.0, 0.5, 1.0], 0.5),  # a quarter of three is none
        ([0.0, 0.4, 0.6, 1.0], 0.5),
        ([-9.0, 0.1, 0.2, 0.3, 99.0], 0.2),
        ([8.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0, 4.0], 4.5),
        ([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0.75),
    ],
)
def test_the_interquartile_mean_is_that_of_the_middle_half(runs: list[float], expected: float) -> None:
    assert interquartile_mean(np.array(runs)) == pytest.approx(expected)


@given(returns)
def test_interquartile_mean_ignores_outliers(runs: list[float]) -> None:
    ordered = sorted(runs + [0.0] * 4)
    wild = [ordered[0] - 1000, *ordered[1:-1], ordered[-1] + 1000]
    assert interquartile_mean(np.array(wild)) == pytest.approx(interquartile_mean(np.array(ordered)))


def test_many_samples_have_a_mean_each() -> None:
    samples = np.array([[0.0, 1.0, 2.0, 9.0], [9.0, 5.0, 3.0, 1.0]])
    assert interquartile_mean(samples).tolist() == [1.5, 4.0]
    assert mean(samples).tolist() == [3.0, 4.5]


@settings(max_examples=30)
@given(st.lists(returns, min_size=1, max_size=4))
def test_interval_is_ordered_within_the_runs_and_reproducible(strata: list[list[float]]) -> None:
    low, high = interval(strata, mean)
    flat = [run for runs in strata for run in runs]
    assert min(flat) - 1e-9 <= low <= high <= max(flat) + 1e-9
    assert low - 1e-9 <= np.mean(flat) + 0.5 * (max(flat) - min(flat))
    assert interval(strata, mean) == (low, high)


@pytest.mark.parametrize("statistic", [mean, interquartile_mean])
def test_interval_of_identical_runs_has_width_0(statistic: object) -> None:
    low, high = interval([[0.3] * 5, [0.3] * 7], statistic)  # type: ignore[arg-type]
    assert low == high == pytest.approx(0.3)


def test_an_interval_holds_the_mean_of_runs_that_scatter() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        runs = rng.random(8).tolist()
        low, high = interval([runs], mean)
        assert low < np.mean(runs) < high


def test_interval_width_matches_theory() -> None:
    runs = np.random.default_rng(1).normal(0, 1, 400)
    low, high = interval([runs.tolist()], mean)
    assert high - low == pytest.approx(2 * 1.96 * runs.std() / 20, rel=0.1)


def test_more_seeds_narrow_the_interval_on_average() -> None:
    rng = np.random.default_rng(2)

    def width(seeds: int) -> float:
        intervals = [interval([rng.random(seeds).tolist()], interquartile_mean) for _ in range(20)]
        return float(np.mean([high - low for low, high in intervals]))

    assert width(5) > width(20) > width(80)


def test_runs_are_resampled_within_their_task() -> None:
    """Two tasks that differ, with no scatter in either: drawn together they would seem uncertain."""
    assert interval([[0.0] * 5, [1.0] * 5], mean) == (0.5, 0.5)
    low, high = interval([[0.0] * 5 + [1.0] * 5], mean)
    assert high - low > 0.3
