"""What an experiment costs as a whole, from what some of it took."""

import pytest

from leaps import __version__
from leaps.experiments.catalogue import TABLES
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.report.costs import Cost, cost_of, costs_table


def took(one: Cell, seconds: float, **machine: str) -> tuple[Cell, Result]:
    return one, Result(one, {"return": 1.0}, seconds, __version__, machine)


def test_missing_seeds_cost_as_much_as_stored_ones() -> None:
    results = dict(
        took(cell("smoothness", "leaps", split), seconds) for split, seconds in [("train", 30), ("test", 50)]
    )
    cost = cost_of(TABLES["smoothness"], results)
    assert (cost.cells, cost.measured) == (36, 2)
    assert cost.core_seconds == pytest.approx(9 * 40)
    assert cost.gpu_seconds == 0
    assert cost.unknown == ("leaps-p", "leaps-p+r", "leaps-p+l")


def test_gpu_seconds_are_counted_separately() -> None:
    results = dict(
        [
            took(cell("smoothness", "leaps", "train"), 100.0, gpu="fast"),
            took(cell("smoothness", "leaps", "test"), 10.0),
            took(cell("smoothness", "leaps", "validation"), 20.0),
        ]
    )
    cost = cost_of(TABLES["smoothness"], results)
    assert cost.core_seconds == pytest.approx(3 * 30.0)
    assert cost.gpu_seconds == pytest.approx(3 * 100.0)


def test_all_sessions_of_a_training_count() -> None:
    one = cell("tasks", "drl", "maze")
    resumed = Result(one, {"return": 1.0, "seconds": 600.0}, 2.0, __version__)
    assert cost_of(TABLES["tasks"], {one: resumed}).core_seconds == pytest.approx(30 * 600)


def test_dependency_cells_are_a_separate_kind_of_cost() -> None:
    """A transfer begins with a policy of half the usual steps, which must not be taken for a whole one."""
    results = dict(
        [
            took(cell("tasks", "drl-abs", "maze", 0, steps=1_000_000), 100.0),
            took(cell("tasks", "drl-abs", "maze", 0), 1000.0),
        ]
    )
    cost = cost_of(TABLES["tasks"], results)
    assert cost.core_seconds == pytest.approx(30 * 100 + 30 * 1000)
    assert "drl-abs-t" in cost.unknown
    without = cost_of(TABLES["tasks"], {})
    assert "drl-abs (1,000,000 steps)" in without.unknown
    assert without.measured == 0


def test_what_belongs_to_another_experiment_is_not_counted_twice() -> None:
    large = TABLES["generalization"]
    assert cost_of(large, {}).cells == len(large.cells())


def test_quick_results_are_no_measure() -> None:
    quick = dict(took(one, 1.0) for one in TABLES["length"].cells(quick=True))
    assert cost_of(TABLES["length"], quick).measured == 0


def test_the_table_sums_up() -> None:
    listing = costs_table(
        [Cost("one", 1000, 10, 3600.0, 0.0, ("x", "y")), Cost("two", 500, 20, 1800.0, 7200.0, ())]
    )
    assert listing.rows == (
        ("one", "1,000", "10", "1.00", "–", "x, y"),
        ("two", "500", "20", "0.50", "2.00", "–"),
        ("all", "1,500", "30", "1.50", "2.00", ""),
    )
