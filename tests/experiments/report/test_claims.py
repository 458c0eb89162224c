"""Verdicts on the paper's claims follow from stored results."""

from collections.abc import Sequence
from typing import Any

import pytest

from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.cell import Result, cell
from leaps.experiments.report.claims import CLAIMS, TESTS, claims_page
from leaps.experiments.report.contents import Exhibit
from leaps.experiments.report.verdicts import FAILS, HOLDS, PARTLY, Verdict
from leaps.karel.tasks import PAPER_TASKS
from tests.experiments.report.stored import Returns, StoredContents, StoredSection, entry, results


def verdict(quote: str, exhibits: Sequence[Exhibit] = (), **tables: Returns) -> Verdict:
    (claim,) = (claim for claim in CLAIMS if quote in claim.quote)
    return claim.judge(results(exhibits, **tables))


def figure(name: str, **methods: dict[str, Any]) -> Exhibit:
    """A figure of one task, with the values of each method."""
    (task,) = EXPERIMENTS[name].tasks[:1]
    shown = {
        (method.replace("_", "-"), task): Result(cell(name, method.replace("_", "-"), task), values, 0.0, "0")
        for method, values in methods.items()
    }
    return Exhibit(EXPERIMENTS[name], shown, None)  # type: ignore[arg-type]


def on_all(method: str, value: float, **others: float) -> dict[tuple[str, str], float]:
    return {(method, task): others.get(task.replace("-", "_"), value) for task in PAPER_TASKS}


MAPS = ("leaps_p", "leaps_p+r", "leaps_p+l", "leaps")


def maps(shapes: Sequence[float], apart: Sequence[float] = (1, 1, 1, 1)) -> Exhibit:
    return figure(
        "latent-map",
        **{
            row: {"from_normal": shape, "dimensions": 30.0, "tests": {"WHILE": {"apart": distance}}}
            for row, shape, distance in zip(MAPS, shapes, apart, strict=True)
        },
    )


@pytest.mark.parametrize(("shape", "word"), [(0.2, HOLDS), (0.05, PARTLY)])
def test_spaces_with_the_loss_l_have_to_be_farther_from_normal(shape: float, word: str) -> None:
    found = verdict("significantly different from a normal", [maps((0.1, 0.1, 0.2, shape))])
    assert found.word == word
    assert "leaps-p+l: 0.200, without the loss L at most 0.100" in found.evidence


@pytest.mark.parametrize(("apart", "word"), [(0.5, HOLDS), (1.5, FAILS)])
def test_reconstructions_have_to_be_closer_in_the_full_space(apart: float, word: str) -> None:
    assert verdict("is much closer in the", [maps((0, 0, 0, 0), (1, 1, 1, apart))]).word == word


def test_a_tree_that_earns_more_than_its_teachers_is_not_bounded_by_them() -> None:
    teachers = on_all("drl", 0.5)
    assert verdict("bounded", tasks=teachers | on_all("viper", 0.5)).word == HOLDS
    found = verdict("bounded", tasks=teachers | on_all("viper", 0.4, four_corner=1.0))
    assert found.word == PARTLY
    assert found.share == "5 of 6"
    assert "four-corner: best teacher 0.50, trees 1.00 (0.00) · 5: **no**" in found.evidence


def test_transfer_is_judged_where_something_is_left_to_learn() -> None:
    before = on_all("drl-abs", 0.3, maze=1.0)
    assert verdict("transferring", tasks=before | on_all("drl-abs-t", 0.31)).word == HOLDS
    found = verdict("transferring", tasks=before | on_all("drl-abs-t", 0.0, top_off=0.9))
    assert found.word == PARTLY
    assert "top-off: drl-abs-t 0.90 (0.00) · 5, drl-abs 0.30 (0.00) · 5: **no**" in found.evidence
    assert "maze" not in found.evidence
    assert verdict("transferring", tasks=before | on_all("drl-abs-t", 0.9)).word == FAILS


BASELINES = ("drl", "drl-abs", "drl-abs-t", "hrl", "hrl-abs", "naive", "viper")


def test_best_but_for_one_task_counts_for_each_set_of_rivals() -> None:
    tasks = on_all("leaps", 0.8) | on_all("leaps-220", 0.6) | on_all("drl-fcn", 0.9)
    for method in BASELINES:
        tasks |= on_all(method, 0.1, harvester=0.9)
    short: Returns = {
        (method, f"{task}~100"): value
        for method, value in (("leaps", 0.8), ("drl", 0.1), ("drl-fcn", 0.1), ("drl-abs", 0.1))
        for task in PAPER_TASKS
    }
    found = verdict("all but one task", tasks=tasks, short=short)
    assert found.word == PARTLY
    assert "the baselines of Table 3: behind on 1 of 6, harvester" in found.evidence
    assert "with drl-fcn: behind on 6 of 6" in found.evidence
    assert (
        "in rollouts of 100 actions (drl, drl-fcn, drl-abs): behind on 0 of 6, none: **yes**"
        in found.evidence
    )


def test_a_claim_about_all_baselines_needs_all_of_them() -> None:
    tasks = on_all("leaps", 0.8) | on_all("leaps-220", 0.6) | on_all("drl", 0.1)
    with pytest.raises(KeyError, match="drl-abs on stair-climber in tasks"):
        verdict("all but one task", tasks=tasks)


@pytest.mark.parametrize("without", [(), ("clean-house",), tuple(PAPER_TASKS)])
def test_random_search_is_worse_on_all_tasks_or_the_exceptions_are_named(without: tuple[str, ...]) -> None:
    random: dict[tuple[str, str], float] = {
        (f"leaps-rand-{points}", task): 0.9 if task in without else 0.1
        for points in (8, 64)
        for task in PAPER_TASKS
    }
    found = verdict("The LEAPS-rand", tasks=random | on_all("leaps", 0.5))
    assert found.word == {0: HOLDS, 1: PARTLY, 6: FAILS}[len(without)]
    assert all(
        f"- {task}: leaps 0.50 (0.00) · 5, leaps-rand-8 0.90 (0.00) · 5: **no**" in found.evidence
        for task in without
    )


@pytest.mark.parametrize(("large", "word"), [(0.1, HOLDS), (0.9, FAILS)])
def test_networks_have_to_lose_in_large_worlds(large: float, word: str) -> None:
    names = [(method, task) for method in ("drl", "drl-abs", "viper") for task in ("stair-climber", "maze")]
    home = dict.fromkeys(names, 0.9)
    found = verdict("All baselines", tasks=home, generalization=dict.fromkeys(names, large))
    assert found.word == word
    assert f"viper on maze: 0.90 (0.00) · 5 → {large:.2f} (0.00) · 5" in found.evidence


def test_missing_network_result_leaves_the_case_undecided() -> None:
    names = [(method, task) for method in ("drl", "drl-abs", "viper") for task in ("stair-climber", "maze")]
    large = {(method, task): 0.1 for method, task in names if method != "drl"}
    found = verdict("All baselines", tasks=dict.fromkeys(names, 0.9), generalization=large)
    assert (found.word, found.share) == (PARTLY, "4 of 6")
    assert "drl on maze: no result yet: **undecided**" in found.evidence


def test_methods_with_near_zero_returns_are_left_out() -> None:
    names = [(method, task) for method in ("drl", "drl-abs", "viper") for task in ("stair-climber", "maze")]
    home = dict.fromkeys(names, 0.9) | {("viper", "stair-climber"): 0.0}
    found = verdict("All baselines", tasks=home, generalization=dict.fromkeys(names, 0.0))
    assert found.word == HOLDS
    assert "viper on stair-climber" not in found.evidence


def test_rising_returns_are_detected() -> None:
    rising = [0.0, 0.1, 0.3, 0.2, 0.8, 1.0]
    values = {"mean_returns": rising, "centre_returns": rising[::-1]}
    found = verdict("consistently increase as", [figure("cem-trajectory", leaps=values)])
    assert found.word == PARTLY
    assert "population: 0.05 → 0.25 → 0.90: **yes**" in found.evidence
    assert "next centre: 0.90 → 0.25 → 0.05: **no**" in found.evidence


def test_programs_of_the_naive_baseline_are_counted_in_statements() -> None:
    simple, complicated = "DEF run m( move m)", "DEF run m( IF c( frontIsClear c) i( move i) m)"
    found = results(reconstruction={})
    for method, program in (("naive", simple), ("leaps", complicated)):
        for test in TESTS:
            found.entries["reconstruction"][method, test] = entry(
                "reconstruction", (method, test), 0.5, program=program
            )
    (claim,) = (claim for claim in CLAIMS if "rarely synthesizes" in claim.quote)
    judged = claim.judge(found)
    assert judged.word == HOLDS
    assert "naive 0.0, leaps 1.0" in judged.evidence


# The page


def test_claim_without_results_is_not_measured() -> None:
    page = claims_page(StoredContents([StoredSection("tasks", {})]))  # type: ignore[arg-type]
    assert f"Of {len(CLAIMS)} claims: {len(CLAIMS)} are not measured." in page
    assert all(f"> {claim.quote}" in page for claim in CLAIMS)
    assert "There is no result yet for" in page


def test_quotes_are_different() -> None:
    assert len({claim.quote for claim in CLAIMS}) == len(CLAIMS)
