"""What is marked, and what a row comes to."""

import pytest

from leaps.experiments.cell import Result, cell
from leaps.experiments.paper import Reported
from leaps.experiments.report.comparison import Comparison, summarize
from leaps.experiments.table import Entry


def entry(*returns: float) -> Entry:
    results = [
        Result(cell("tasks", "drl", "maze", seed), {"return": value}, 1.0, "1")
        for seed, value in enumerate(returns)
    ]
    return Entry(tuple(results))


@pytest.mark.parametrize(
    ("here", "reported", "mark"),
    [
        (0.50, Reported(0.45, 0.10), ""),
        (0.56, Reported(0.45, 0.10), "▲"),
        (0.34, Reported(0.45, 0.10), "▼"),
        (0.46, Reported(0.45, 0.00), "▲"),
        (0.454, Reported(0.45, 0.00), ""),  # rounding
        (0.454, Reported(0.45), ""),
        (0.444, Reported(0.45), "▼"),
        (-0.60, Reported(-0.51, 0.05), "▼"),
    ],
)
def test_an_entry_is_marked_outside_the_reported_deviation(
    here: float, reported: Reported, mark: str
) -> None:
    assert Comparison(entry(here), reported).mark == mark


def test_scatter_of_results_does_not_affect_the_mark() -> None:
    assert Comparison(entry(0.0, 1.0), Reported(0.2, 0.1)).mark == "▲"


def test_missing_entries_are_not_marked() -> None:
    assert Comparison(None, Reported(1.0)).mark == Comparison(entry(1.0), None).mark == ""


def test_a_row_is_summarized_over_all_its_runs() -> None:
    row = [
        Comparison(entry(0.0, 0.4), Reported(0.1, 0.01)),  # better
        Comparison(entry(0.6, 1.0), Reported(0.9, 0.01)),  # worse
        Comparison(entry(0.5), None),
        Comparison(None, Reported(0.0)),
    ]
    summary = summarize(row)
    assert summary.runs == 5
    assert summary.interquartile_mean == pytest.approx((0.4 + 0.5 + 0.6) / 3)
    assert summary.means == pytest.approx((0.5, 0.5))
    assert (summary.better, summary.worse, summary.alike) == (1, 1, 0)
    assert summary.interval is not None
    low, high = summary.interval
    assert low <= summary.interquartile_mean <= high


def test_one_run_per_column_has_no_interval_and_nothing_reported_no_means() -> None:
    summary = summarize([Comparison(entry(0.5), None), Comparison(entry(0.7), None)])
    assert (summary.interval, summary.means) == (None, None)
    assert summarize([Comparison(entry(0.5, 0.5), None)]).interval == (0.5, 0.5)
