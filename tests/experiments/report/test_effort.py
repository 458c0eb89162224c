"""Of searches: how many solved their task, and what that took."""

from pathlib import Path

from leaps import __version__
from leaps.experiments.catalogue import TABLES
from leaps.experiments.cell import Result, cell
from leaps.experiments.report.effort import EARLIER, LEGEND, effort_of, legend_of
from leaps.experiments.report.parts import Listing
from leaps.experiments.store import Store
from leaps.experiments.table import tabulate
from tests.experiments.report.synthetic import keep, keep_search

TASKS = TABLES["tasks"]


def legend(store: Store) -> str:
    return legend_of(tabulate(TASKS, store.all("tasks")))


def listing(store: Store) -> Listing | None:
    return effort_of("tasks", tabulate(TASKS, store.all("tasks")), TASKS.tasks)


def test_effort_shows_solved_searches_and_medians(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed, search in enumerate([(True, 10, 0.5), (False, 9000, 7.0), (True, 1234, 1.0)]):
        keep_search(store, cell("tasks", "hc", "maze", seed), *search)
    keep(store, cell("tasks", "drl", "maze", 0), 1.0)  # which searches nothing
    found = listing(store)
    assert found is not None
    assert found.head == ("", *TASKS.tasks)
    (row,) = found.rows
    assert row[0] == "hc"
    assert dict(zip(TASKS.tasks, row[1:], strict=True))["maze"] == "2/3 · 1,229 · 1,234 · 20k · 1.0 s"
    assert set(row[1:]) == {"–", "2/3 · 1,229 · 1,234 · 20k · 1.0 s"}


def test_seconds_are_cpu_time_if_stored(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_search(store, cell("tasks", "hc", "maze", 0), True, 10, 99.0, core_seconds=3.0)
    found = listing(store)
    assert found is not None
    assert "1/1 · 5 · 10 · 0.2k · 3.0 s" in found.rows[0]


def test_results_that_did_not_count_everything_are_left_out_of_medians(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_search(store, cell("tasks", "hc", "maze", 0), True, 10, 1.0)
    assert legend(store) == LEGEND
    earlier = {"return": 1.0, "solved": False, "search_return": 1.0}
    store.write(Result(cell("tasks", "hc", "maze", 1), earlier, 1.0, __version__))
    store.write(Result(cell("tasks", "cebs", "maze", 0), earlier, 1.0, __version__))
    found = listing(store)
    assert found is not None
    assert "1/2 · 5 · 10 · 0.2k · 1.0 s" in found.rows[0]
    assert "0/1 · – · – · – · –" in found.rows[1]
    assert legend(store) == LEGEND + EARLIER


def test_table_without_searches_has_no_effort(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep(store, cell("tasks", "drl", "maze", 0), 1.0)
    assert listing(store) is None


def test_searches_on_a_fraction_of_the_worlds_are_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_search(store, cell("tasks", "ladder", "maze", 0), True, 5, 1.0, return_on_seen=1.0)
    assert listing(store) is None
