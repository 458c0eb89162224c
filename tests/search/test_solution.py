"""The result of a search: how the final program is chosen and judged."""

import json
from dataclasses import replace

import pytest

from leaps.base.seeds import UNSEEN_SEEDS
from leaps.evaluate import ExpectedReturn, evaluate
from leaps.search.solve import SolveConfig, solve
from leaps.tasks import get
from tests.embedding.helpers import needs_shipped_weights

pytestmark = needs_shipped_weights


def test_a_program_that_fails_at_another_size_does_not_solve_the_task() -> None:
    solution = solve("four-corner", seed=1, method="random-64", also=((9, 14),))
    assert set(solution.elsewhere) == {"9x14"}
    judged = evaluate(solution.program, "four-corner", episodes=100, seed=UNSEEN_SEEDS + 1, size=(9, 14))
    assert solution.elsewhere["9x14"] == judged.mean_return[0]
    perfect = replace(solution, unseen_return=1.0, judged=())
    assert replace(perfect, elsewhere={"9x14": 1.0}).solved
    assert not replace(perfect, elsewhere={"9x14": 0.99}).solved
    assert not replace(perfect, unseen_return=0.9, elsewhere={"9x14": 1.0}).solved


def test_solved_means_perfect_in_every_state_even_unlikely_ones() -> None:
    solution = solve("top-off")
    assert solution.solved
    almost = ExpectedReturn(1 - 1e-12, 0.1, 512, 512)
    assert not replace(solution, unseen_return=almost.mean, judged=(almost,)).solved


@pytest.mark.parametrize(
    ("task", "over"), [("top-off", "exact, all 512 states"), ("clean-house", "1,000 fresh draws")]
)
def test_a_solution_reports_what_its_return_is_over(task: str, over: str) -> None:
    solution = solve(task, budget=200)
    assert str(solution.judged[0]) == solution.summary()["judged"] == over
    assert solution.unseen_return == solution.judged[0].mean


def test_the_final_program_is_neither_worse_nor_longer_than_the_found_one() -> None:
    for seed in range(2):
        solution = solve("top-off", seed=seed)
        assert len(solution.program.split()) <= len(solution.found.split())
        found = evaluate(solution.found, "top-off", episodes=1000, seed=99).mean_return[0]
        assert evaluate(solution.program, "top-off", episodes=1000, seed=99).mean_return[0] >= found


def test_the_summary_of_a_solution_is_complete() -> None:
    solution = solve("stair-climber", seed=3)
    summary = solution.summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary["return"] == solution.unseen_return
    assert summary["solved"] is True
    assert SolveConfig(**summary["config"]) == solution.config
    assert get(summary["task"]).name == "stair-climber"
