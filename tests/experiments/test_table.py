"""Results stand in their rows and columns, over their seeds."""

import pytest

from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.table import tabulate

TASKS = EXPERIMENTS["tasks"]


def worth(one: Cell, value: float) -> Result:
    return Result(one, {"return": value}, 1.0, "1")


def test_an_entry_is_over_its_seeds() -> None:
    results = [worth(cell("tasks", "drl", "maze", seed), seed / 4) for seed in (2, 0, 1)]
    entry = tabulate(TASKS, results)["drl"]["maze"]
    assert entry.returns == [0.0, 0.25, 0.5]
    assert (entry.mean, entry.deviation) == (0.25, 0.25)
    assert str(entry) == "0.25 (0.25)"


def test_one_seed_has_no_deviation() -> None:
    entry = tabulate(TASKS, [worth(cell("tasks", "drl", "maze"), -0.5)])["drl"]["maze"]
    assert str(entry) == "-0.50 (0.00)"
    nothing = tabulate(TASKS, [worth(cell("tasks", "drl", "maze"), -0.001)])["drl"]["maze"]
    assert str(nothing) == "0.00 (0.00)"


def test_rows_and_columns_are_in_the_tables_order_and_what_is_missing_is_left_out() -> None:
    found = [("ladder", "maze"), ("drl", "harvester"), ("drl", "top-off")]
    rows = tabulate(TASKS, [worth(cell("tasks", method, task), 1.0) for method, task in found])
    assert [(method, list(row)) for method, row in rows.items()] == [
        ("drl", ["top-off", "harvester"]),
        ("ladder", ["maze"]),
    ]


def test_entry_is_the_variant_with_the_best_mean() -> None:
    def transfer(source: str, seed: int, value: float) -> Result:
        return worth(cell("tasks", "drl-abs-t", "maze", seed, source=source), value)

    results = [
        transfer("harvester", 0, 0.9), transfer("harvester", 1, 0.1),
        transfer("top-off", 0, 0.6), transfer("top-off", 1, 0.7),
    ]  # fmt: skip
    entry = tabulate(TASKS, results)["drl-abs-t"]["maze"]
    assert entry.returns == pytest.approx([0.6, 0.7])
    assert {result.cell.option("source") for result in entry.results} == {"top-off"}


def test_variants_with_fewer_seeds_are_ignored() -> None:
    lucky = worth(cell("tasks", "drl-abs-t", "maze", 0, source="harvester"), 1.0)
    others = [worth(cell("tasks", "drl-abs-t", "maze", seed, source="top-off"), 0.5) for seed in (0, 1)]
    assert tabulate(TASKS, [lucky, *others])["drl-abs-t"]["maze"].returns == [0.5, 0.5]
