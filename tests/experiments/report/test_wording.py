"""Numbers as people read them."""

from pathlib import Path

import pytest

from leaps.experiments.cell import Result, cell
from leaps.experiments.paper import Reported
from leaps.experiments.report.comparison import Summary
from leaps.experiments.report.contents import gather
from leaps.experiments.report.wording import (
    DRAWS,
    SUMMARY_HEAD,
    duration,
    entry_text,
    judged_line,
    number,
    reported_text,
    summary_cells,
)
from leaps.experiments.store import Store
from leaps.experiments.table import Entry
from tests.experiments.report.synthetic import keep


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


def test_summary_line_of_a_row() -> None:
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
    none = summary_cells("ladder", Summary(1, 1.0, None, None, 0, 0, 0))
    assert none == ("ladder", "1.00", "–", "1", "–", "–", "nothing was reported")
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


def test_a_table_names_its_exact_columns_and_rows_with_draws(tmp_path: Path) -> None:
    store = Store(tmp_path)
    exact = {"maze": "exact, all 45 states", "top-off": "exact, all 512 states"}
    for task in ("maze", "top-off", "harvester"):
        keep(store, cell("tasks", "leaps", task), 1.0, judged=exact.get(task, DRAWS))
        keep(store, cell("tasks", "drl", task), 1.0)  # stored without `judged`
    keep(store, cell("tasks", "viper", "maze"), 1.0)
    keep(store, cell("tasks", "viper", "top-off"), 1.0, judged=exact["top-off"])
    (tasks,) = gather(store).sections
    assert judged_line(tasks) == (
        "Returns are exact means over all initial states on top-off (all 512 states), maze (all 45 states). "
        "On harvester they are means over 1,000 fresh draws. "
        "Rows with means over 1,000 fresh draws in all columns: drl, viper (on maze)."
    )


def test_a_table_of_draws_only_is_described_as_such_and_other_tables_not_at_all(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep(store, cell("short", "drl", "maze~100"), 1.0)
    keep(store, cell("smoothness", "leaps", "train"), 1.0)
    lines = {section.experiment.name: judged_line(section) for section in gather(store).sections}
    assert lines == {"short": "All returns are means over 1,000 fresh draws.", "smoothness": ""}
