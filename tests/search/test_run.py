"""The loop of a search: its rounds, its history, its clock."""

from itertools import pairwise

import pytest

from leaps.karel.world import LANGUAGE
from leaps.search.run import Round, Run
from leaps.search.solve import SolveConfig, solve, work
from tests.embedding.helpers import needs_shipped_weights

pytestmark = needs_shipped_weights


def test_the_seconds_of_a_search_begin_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10**6, 10))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(now)))
    run = Run(SolveConfig("maze", "random-8", 0))
    for _ in range(1000):  # it waits for its turn
        next(now)
    assert work(run).seconds <= 100


def test_what_a_watcher_hears_adds_up() -> None:
    steps: list[Round] = []
    solution = solve("one-stroke", budget=800, listener=steps.append)
    assert [step.round for step in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].evaluations == solution.budget_spent == 800
    for before, step in pairwise(steps):  # the incumbent may be run as well
        assert len(step.asked) <= step.evaluations - before.evaluations <= len(step.asked) + 1
    for step in steps:
        assert step.best == step.scores.max()
        assert len(step.scores) == len(step.asked)
        assert 0 <= step.mean <= max(step.best, 0)
        assert step.best <= step.best_so_far


def test_without_a_hunt_worlds_stay_as_they_are() -> None:
    assert solve("maze", "leaps+", worlds=3, budget=2000).worlds == 3


def test_the_history_has_every_program_that_was_the_best() -> None:
    best: list[tuple[str, float]] = []

    def look(step: Round) -> None:
        best.append((LANGUAGE.text(step.program), step.best_so_far))

    for seed in range(5):
        best.clear()
        solution = solve("maze", seed=seed, worlds=1, listener=look)
        assert set(best) <= {(row["program"], row["score"]) for row in solution.history}
