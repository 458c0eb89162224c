"""Programs for readers: the shortest of the best."""

from pathlib import Path

import pytest

from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.report.programs import programs_of
from leaps.experiments.store import Store
from leaps.experiments.table import Rows, tabulate
from tests.experiments.report.synthetic import LONG, SHORT, keep_entry

MIDDLE = "DEF run m( move move m)"


def tables(store: Store) -> dict[str, Rows]:
    return {name: tabulate(one, store.all(name)) for name, one in EXPERIMENTS.items()}


def test_best_program_is_the_shortest_then_the_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "tasks", "leaps", "maze", [1.0, 0.9, 1.0, 1.0], [LONG, SHORT, MIDDLE, MIDDLE])
    (found,) = programs_of(tables(store))
    assert (found.task, found.method, found.seed, found.mean_return) == ("maze", "leaps", 2, 1.0)
    assert found.text == "DEF run m(\n  move\n  move\nm)"
    assert found.tokens == 6


def test_programs_are_ordered_by_task_then_method(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for experiment, method, task in (
        ("karel-hard", "ladder", "snake"),
        ("tasks", "ladder", "maze"),
        ("tasks", "leaps", "top-off"),
        ("tasks", "leaps", "maze"),
        ("tasks", "hc", "maze"),
        ("length", "leaps-45", "maze"),
        ("reconstruction", "leaps", "WHILE"),
    ):
        keep_entry(store, experiment, method, task, [1.0], [SHORT])
    assert [(found.task, found.method) for found in programs_of(tables(store))] == [
        ("top-off", "leaps"),
        ("maze", "leaps"),
        ("maze", "ladder"),
        ("snake", "ladder"),
    ]


def test_results_without_program_are_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "tasks", "leaps", "maze", [1.0])
    assert programs_of(tables(store)) == ()


def test_invalid_program_raises(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "tasks", "leaps", "maze", [1.0], ["DEF run m( fly m)"])
    with pytest.raises(
        ValueError, match=r"the program of tasks/leaps/maze-0 is not valid: token 3: 'fly' is not"
    ):
        programs_of(tables(store))
