"""A claim is judged by differences that exceed their errors."""

from collections.abc import Sequence

import pytest

from leaps.experiments.cell import Result
from leaps.experiments.report.claims import TESTS
from leaps.experiments.report.verdicts import FAILS, HOLDS, OPEN, PARTLY, Case, decide
from leaps.experiments.table import Entry
from tests.experiments.report.stored import results


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ((0.5, 0.5), (0.4, 0.4), 1),
        ((0.4, 0.4), (0.5, 0.5), -1),
        ((0.51, 0.51), (0.5, 0.5), 0),  # below the level
        ((0.0, 1.0), (0.2, 0.2), 0),  # within its error
        ((0.5,), (0.1, 0.1), 0),  # the error is not known
    ],
)
def test_a_difference_counts_above_a_level_and_its_error(
    one: Sequence[float], other: Sequence[float], sign: int
) -> None:
    found = results(tasks={("drl", "maze"): one, ("hrl", "maze"): other})
    assert found.gap("tasks", "drl", "hrl", "maze").sign == sign
    assert found.gap("tasks", "hrl", "drl", "maze").sign == -sign


def test_the_error_of_searches_is_that_between_trainings() -> None:
    found = results(tasks={("leaps", "maze"): [0.0] * 5 + [1.0] * 5, ("hrl", "maze"): 0.05})
    assert found.gap("tasks", "leaps", "hrl", "maze").sign == 1  # 0.5 and an error of 0.17
    searched = [
        Result(one.cell, {**one.values, "space": {"name": f"leaps-{one.cell.seed // 5}"}}, 0.0, "0")
        for one in found.entry("tasks", "leaps", "maze").results
    ]
    found.entries["tasks"]["leaps", "maze"] = Entry(tuple(searched))
    assert found.gap("tasks", "leaps", "hrl", "maze").sign == 0  # two trainings, an error of 0.5


def test_the_gap_over_several_tasks_is_that_of_the_means() -> None:
    tests = TESTS[:2]
    found = results(reconstruction={("leaps", tests[0]): 0.5, ("leaps", tests[1]): 0.7}
                    | {("leaps-p", test): 0.5 for test in tests})  # fmt: skip
    gap = found.gap("reconstruction", "leaps", "leaps-p", tests)
    assert gap.size == pytest.approx(0.1)
    assert gap.numbers == "leaps 0.60, leaps-p 0.50"


@pytest.mark.parametrize(
    ("cases", "word", "share"),
    [
        ([True, True], HOLDS, ""),
        ([True, False], PARTLY, "1 of 2"),
        ([True, None], PARTLY, "1 of 2"),
        ([False, None], FAILS, ""),
        ([None, None], OPEN, ""),
    ],
)
def test_a_claim_holds_where_its_cases_do(cases: list[bool | None], word: str, share: str) -> None:
    found = decide([Case(f"place {i}", holds, f"number {i}") for i, holds in enumerate(cases)], "A note.")
    assert (found.word, found.share) == (word, share)
    assert "place 1: number 1" in found.evidence
    assert found.evidence.endswith("A note.")
