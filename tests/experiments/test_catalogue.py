"""The experiments are the paper's tables: their rows, columns and seeds, and cells that need each other."""

from itertools import pairwise

import pytest

from leaps.experiments.catalogue import EXPERIMENTS, FIGURES, TABLES, get_experiment
from leaps.experiments.cell import Cell, cell
from leaps.experiments.run import needed_by
from leaps.karel.tasks import HARD, PAPER_TASKS
from leaps.search.ladder import IDEAS
from leaps.search.methods import get_method

TABLE_3 = EXPERIMENTS["tasks"]


def test_table_3_has_all_ten_rows_and_later_searches() -> None:
    assert TABLE_3.methods == (
        "drl", "drl-fcn", "drl-abs", "drl-abs-t", "ppo-last-action", "hrl", "hrl-abs", "naive", "viper",
        "leaps-rand-8", "leaps-rand-64", "leaps-220", "leaps", "leaps+", "hc", "cebs", "ladder",
    )  # fmt: skip
    assert TABLE_3.tasks == tuple(PAPER_TASKS)


def test_policies_have_five_seeds_searches_five_in_each_of_three_spaces_and_others_32() -> None:
    expected = {
        "drl": 5,
        "leaps-rand-8": 15,
        "leaps-220": 15,
        "leaps": 15,
        "leaps+": 15,
        "hc": 32,
        "ladder": 32,
    }
    cells = TABLE_3.cells(methods=list(expected), tasks=["maze"])
    assert {method: sum(one.method == method for one in cells) for method in expected} == expected


def test_steps_lead_from_leaps_to_leaps_plus() -> None:
    """Three of them are rows of Table 3, which are not searched again."""
    steps = EXPERIMENTS["steps"]
    assert steps.methods[:2] == ("leaps-220", "leaps")
    for before, after in pairwise(steps.methods[1:6]):
        assert set(after.split("+")) > set(before.split("+"))
    shared = {method for method in steps.methods if steps.needs(cell("steps", method, "maze"))}
    assert shared == {"leaps-220", "leaps", "leaps+"}


def test_budget_curves_of_peers_are_those_of_their_tables() -> None:
    budget = EXPERIMENTS["budget"]
    assert budget.needs(cell("budget", "hc", "maze", 3)) == (cell("tasks", "hc", "maze", 3),)
    assert budget.needs(cell("budget", "cebs", "snake", 3)) == (cell("karel-hard", "cebs", "snake", 3),)
    assert budget.needs(cell("budget", "ladder", "maze", 3)) == ()


def test_all_tasks_have_their_first_seed_before_any_has_its_second() -> None:
    cells = TABLE_3.cells(methods=["drl", "leaps"], seeds=3)
    assert [one.seed for one in cells] == [0] * 12 + [1] * 12 + [2] * 12


def test_a_transfer_is_tried_from_every_other_task_and_begins_with_a_policy_of_a_million_steps() -> None:
    cells = TABLE_3.cells(methods=["drl-abs-t"], tasks=["maze"], seeds=1)
    assert {one.option("source") for one in cells} == set(PAPER_TASKS) - {"maze"}
    for one in cells:
        source = str(one.option("source"))
        assert TABLE_3.needs(one) == (cell("tasks", "drl-abs", source, 0, steps=1_000_000),)


def test_a_tree_imitates_the_best_of_five() -> None:
    (one,) = TABLE_3.cells(methods=["viper"], tasks=["maze"], seeds=1)
    assert TABLE_3.needs(one) == tuple(cell("tasks", "drl", "maze", seed) for seed in range(5))


def test_large_worlds_use_the_results_of_table_3() -> None:
    for one in EXPERIMENTS["generalization"].cells(seeds=2):
        alone = one.method in ("ladder-sizes", "drl")  # searched at several sizes, and trained at this one
        expected = () if alone else (cell("tasks", one.method, one.task, one.seed),)
        assert EXPERIMENTS["generalization"].needs(one) == expected
        assert one.option("size") == "100x100"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_cells_differ_from_full_ones(name: str) -> None:
    experiment = EXPERIMENTS[name]
    unchanged = {f"{leaps}-rand-{count}" for leaps in ("leaps", "leaps+") for count in (8, 64)}

    def all_of(cells: list[Cell]) -> set[Cell]:
        return {one for wave in needed_by(cells) for one in wave if one.method not in unchanged}

    assert not all_of(experiment.cells(quick=True)) & all_of(experiment.cells())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_row_and_column_has_distinct_cells(name: str) -> None:
    experiment = EXPERIMENTS[name]
    for quick in (False, True):
        cells = experiment.cells(seeds=1, quick=quick)
        assert len(cells) == len(set(cells))
        assert {(one.method, one.task) for one in cells} == {
            (method, task)
            for method in experiment.methods
            for task in experiment.tasks
            if experiment.entries(method, task, 0, quick)
        }
        assert {one.method for one in cells} == set(experiment.methods)
        assert {one.task for one in cells} == set(experiment.tasks)
        assert {one.experiment for one in cells} == {name}


def test_there_are_the_papers_figures_and_each_needs_one_seed() -> None:
    assert list(FIGURES) == [
        "latent-map", "cem-trajectory", "evolution", "interpolation", "data-histogram", "rollouts",
    ]  # fmt: skip
    assert not set(FIGURES) & set(TABLES)
    for experiment in FIGURES.values():
        assert {one.seed for one in experiment.cells()} == {0}


def test_evolution_uses_the_search_of_the_trajectory_figure() -> None:
    for quick in (False, True):
        for one in FIGURES["evolution"].cells(quick=quick):
            (needed,) = FIGURES["evolution"].needs(one)
            assert needed.method == one.method
            assert needed in FIGURES["cem-trajectory"].cells(quick=quick)


def test_rollouts_are_of_the_programs_in_the_tables() -> None:
    for quick in (False, True):
        for one in FIGURES["rollouts"].cells(quick=quick):
            (needed,) = FIGURES["rollouts"].needs(one)
            table = "karel-hard" if one.task in HARD else "tasks"
            assert needed in TABLES[table].cells([one.method], [one.task], 1, quick)
    assert FIGURES["rollouts"].tasks == (*PAPER_TASKS, *HARD)


def test_only_ladder_has_rollouts_of_harder_tasks() -> None:
    rollouts = FIGURES["rollouts"]
    for quick in (False, True):
        cells = rollouts.cells(tasks=["maze", "snake"], quick=quick)
        assert [(one.method, one.task) for one in cells] == [
            ("drl", "maze"), ("drl-abs", "maze"), ("leaps", "maze"), ("ladder", "maze"), ("ladder", "snake"),
        ]  # fmt: skip
        with pytest.raises(ValueError, match="rollouts has no cells of drl, leaps on snake; choose other"):
            rollouts.cells(["leaps", "drl"], ["snake"], quick=quick)
    assert len(rollouts.cells()) == 3 * len(PAPER_TASKS) + len(rollouts.tasks)


def test_rows_come_in_the_tables_order_whatever_the_order_asked_for() -> None:
    cells = TABLE_3.cells(methods=["ladder", "drl"], tasks=["maze"], seeds=1)
    assert [one.method for one in cells] == ["drl", "ladder"]


def test_unknown_names_raise() -> None:
    with pytest.raises(ValueError, match="unknown experiment 'task'; did you mean 'tasks'"):
        get_experiment("task")
    with pytest.raises(ValueError, match="unknown experiment 'xyz'; expected one of reconstruction, smooth"):
        get_experiment("xyz")
    with pytest.raises(ValueError, match="unknown method 'dqn'; expected one of drl, "):
        TABLE_3.cells(methods=["dqn"])
    with pytest.raises(ValueError, match="unknown task 'snake'; expected one of stair-climber, "):
        TABLE_3.cells(tasks=["snake"])
    with pytest.raises(ValueError, match="at least one task of stair-climber, "):
        TABLE_3.cells(tasks=[])
    with pytest.raises(ValueError, match="seeds must be at least 1, found 0"):
        TABLE_3.cells(seeds=0)


def test_an_experiment_without_randomness_has_one_seed() -> None:
    experiment = EXPERIMENTS["interpolation"]
    assert experiment.cells(seeds=1) == experiment.cells()
    with pytest.raises(
        ValueError, match=r"interpolation does not depend on the seed; expected seeds=1, found 2"
    ):
        experiment.cells(seeds=2)


def test_a_seed_of_smoothness_is_a_training() -> None:
    assert {one.seed for one in EXPERIMENTS["smoothness"].cells()} == {0, 1, 2}


def test_the_ablation_gives_ladder_and_its_variants_the_same_budget() -> None:
    ablation = EXPERIMENTS["ablation"]
    assert ablation.methods == ("ladder", *(f"ladder-{idea}" for idea in IDEAS))
    assert ablation.tasks == (*PAPER_TASKS, "door-key", "seeder")
    assert {one.option("budget") for one in ablation.cells()} == {200_000}
    for method in ablation.methods:
        assert {one.seed for one in ablation.cells([method])} == set(range(16))
        assert get_method(method).worlds == get_method("ladder").worlds
