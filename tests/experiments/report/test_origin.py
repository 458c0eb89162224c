"""Commands reproduce exactly the stored results; machines and versions are listed once."""

import shlex
from collections.abc import Iterable
from typing import Any

import pytest

from leaps.experiments.catalogue import EXPERIMENTS, Experiment
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.report.origin import commands_of, is_full, machines_of, origin_of, versions_of
from leaps.experiments.table import tabulate

TASKS = EXPERIMENTS["tasks"]


def result(one: Cell, **machine: Any) -> Result:
    return Result(one, {"return": 0.5}, 90.0, "0.1", machine)


def commands(experiment: Experiment, cells: Iterable[Cell]) -> tuple[str, ...]:
    return commands_of(experiment, tabulate(experiment, [result(one) for one in cells]))


def cells_of(command: str) -> list[Cell]:
    """What `leaps experiment` computes for a command."""
    words = shlex.split(command)
    assert words[:2] == ["leaps", "experiment"]
    options: dict[str, str] = {}
    rest = iter([word for word in words[3:] if word != "--quick"])
    for word in rest:
        options[word] = next(rest)
    chosen = {
        name: options[f"--{name}"].split(",") for name in ("methods", "tasks") if f"--{name}" in options
    }
    seeds = int(options["--seeds"]) if "--seeds" in options else None
    return EXPERIMENTS[words[2]].cells(**chosen, seeds=seeds, quick="--quick" in words)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_command_of_a_whole_experiment_has_no_options(name: str) -> None:
    assert commands(EXPERIMENTS[name], EXPERIMENTS[name].cells()) == (f"leaps experiment {name}",)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_command_of_a_quick_run_has_the_quick_option(name: str) -> None:
    experiment = EXPERIMENTS[name]
    (one,) = commands(
        experiment, experiment.cells(methods=["leaps"] if "leaps" in experiment.methods else None, quick=True)
    )
    assert one.endswith("--quick")


def test_rows_with_the_same_options_share_a_command() -> None:
    cells = [
        *TASKS.cells(methods=["drl", "hc"]),  # as many seeds as they have by default, 5 and 32
        *TASKS.cells(methods=["leaps", "viper"], seeds=3),
        *TASKS.cells(methods=["ladder"], tasks=["maze", "top-off"]),
    ]
    assert commands(TASKS, cells) == (
        "leaps experiment tasks --methods drl,hc",
        "leaps experiment tasks --methods viper,leaps --seeds 3",
        "leaps experiment tasks --methods ladder --tasks top-off,maze",
    )


def test_commands_compute_exactly_the_stored_cells() -> None:
    cells = [
        *TASKS.cells(methods=["drl"], seeds=2),
        *TASKS.cells(methods=["ladder"], tasks=["maze"]),
        *TASKS.cells(methods=["leaps-rand-8"]),
    ]
    assert {one for command in commands(TASKS, cells) for one in cells_of(command)} == set(cells)


def test_row_with_fixed_columns_needs_no_task_option() -> None:
    rollouts = EXPERIMENTS["rollouts"]
    for quick, option in ((False, ""), (True, " --quick")):
        cells = rollouts.cells(["leaps", "ladder"], quick=quick)
        assert commands(rollouts, cells) == (f"leaps experiment rollouts --methods leaps,ladder{option}",)
    assert commands(rollouts, rollouts.cells(["leaps"], ["maze"])) == (
        "leaps experiment rollouts --methods leaps --tasks maze",
    )


def test_command_includes_missing_seeds() -> None:
    (one,) = commands(TASKS, [cell("tasks", "drl", "maze", 6)])
    assert cell("tasks", "drl", "maze", 6) in cells_of(one)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_full_cells_are_full_and_quick_ones_are_not(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert all(is_full(experiment, one) for one in experiment.cells())
    unchanged = {method for method in experiment.methods if "-rand-" in method}
    assert not any(
        is_full(experiment, one) for one in experiment.cells(quick=True) if one.method not in unchanged
    )


@pytest.mark.parametrize(
    "one",
    [
        cell("tasks", "drl-abs", "maze", steps=1_000_000),
        cell("tasks", "leaps", "maze", budget=2_000),
        cell("tasks", "drl", "maze", judged=50),
        cell("reconstruction", "leaps", "WHILE", iterations=50),
        cell("smoothness", "leaps", "train", programs=1000),
        cell("generalization", "leaps", "maze", size="20x20"),
        cell("generalization", "leaps", "maze", size="100x100", budget=2_000),
        cell("tasks", "unheard-of", "maze"),
        cell("tasks", "drl", "snake"),
        cell("rollouts", "leaps", "snake"),
    ],
)
def test_dependency_cells_are_not_full_cells(one: Cell) -> None:
    assert not is_full(EXPERIMENTS[one.experiment], one)


@pytest.mark.parametrize(
    "one",
    [
        cell("generalization", "leaps", "maze", 40, size="100x100"),
        cell("tasks", "drl-abs-t", "maze", source="top-off"),
    ],
)
def test_cells_with_table_options_are_full_cells(one: Cell) -> None:
    assert is_full(EXPERIMENTS[one.experiment], one)


def test_versions_and_machines_are_listed_once() -> None:
    one = cell("tasks", "drl", "maze")
    here = {
        "processor": "Intel(R)  Xeon(R) CPU",
        "cores": 8,
        "python": "3.11.2",
        "numpy": "2.3",
        "torch": "2.8",
    }
    results = [
        result(one, **here),
        result(one, **here),
        result(one, **here | {"gpu": "H200", "torch": "2.9", "cores": 1}),
        result(one),
    ]
    assert machines_of(results) == ("Intel Xeon CPU, 1 core, H200", "Intel Xeon CPU, 8 cores")
    assert versions_of(results) == ("leaps 0.1", "Python 3.11.2", "numpy 2.3", "torch 2.8 and 2.9")
    assert origin_of(TASKS, tabulate(TASKS, results), results).seconds == 360


def test_the_seconds_of_all_sessions_count() -> None:
    one = cell("tasks", "drl", "maze")
    results = [Result(one, {"return": 0.5, "seconds": 600.0}, 2.0, "0.1"), result(one)]
    assert origin_of(TASKS, tabulate(TASKS, results), results).seconds == 690
