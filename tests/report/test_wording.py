"""Numbers as people read them."""

import pytest

from leaps.experiments.cell import Result, cell
from leaps.experiments.paper import Reported
from leaps.experiments.table import Entry
from leaps.report.comparison import Summary
from leaps.report.wording import SUMMARY_HEAD, duration, entry_text, number, reported_text, summary_cells


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1.00"), (-0.51, "−0.51"), (-0.001, "0.00"), (0.996, "1.00"), (-10.0, "−10.00")]
)
def test_numbers_have_two_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_an_entry_says_how_many_seeds_it_has() -> None:
    def entry(*returns: float) -> Entry:
        return Entry(tuple(Result(cell("a", "b", "c"), {"return": value}, 0, "1") for value in returns))

    assert entry_text(entry(0.25, 0.75)) == "0.50 (0.35) · 2"
    assert entry_text(entry(0.25)) == "0.25 · 1"  # one seed has no deviation
    assert entry_text(None) == "–"


def test_what_was_reported_has_a_deviation_if_one_was_given() -> None:
    assert reported_text(Reported(0.45, 0.4)) == "0.45 (0.40)"
    assert reported_text(Reported(0.45)) == "0.45"
    assert reported_text(None) == "–"


def test_a_row_in_one_line() -> None:
    some = summary_cells("leaps", Summary(30, 0.812, (0.7, 0.9), (0.8, 0.65), 3, 1, 2))
    assert some == (
        "leaps",
        "0.81",
        "0.70 to 0.90",
        "30",
        "0.80",
        "0.65",
        "3 ▲ better, 1 ▼ worse, 2 as reported",
    )
    none = summary_cells("ours", Summary(1, 1.0, None, None, 0, 0, 0))
    assert none == ("ours", "1.00", "–", "1", "–", "–", "nothing was reported")
    assert len(SUMMARY_HEAD) == len(some)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 seconds"),
        (89, "89.0 seconds"),
        (90, "1.5 minutes"),
        (5400, "1.5 hours"),
        (7.2e6, "2,000.0 hours"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
