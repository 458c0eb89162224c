"""The loop of a search: its rounds, its history, its clock."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import leaps
from leaps.embedding.model import ModelConfig, ProgramSpace
from leaps.embedding.weights import save_weights
from leaps.gym import GymTask
from leaps.karel.world import LANGUAGE
from leaps.search.run import Round, Run
from leaps.search.solve import SolveConfig, solve, work
from tests.embedding.helpers import needs_shipped_weights
from tests.gym.corridor import corridor

pytestmark = needs_shipped_weights


def test_the_clock_starts_with_the_first_round(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10**6, 10))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(now)))
    run = Run(SolveConfig("maze", "random-8", 0))
    for _ in range(1000):  # it waits for its turn
        next(now)
    assert work(run).seconds <= 100


def test_the_rounds_passed_to_a_listener_are_consistent() -> None:
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


def test_without_counterexamples_worlds_do_not_change() -> None:
    assert solve("maze", "leaps+", worlds=3, budget=2000).worlds == 3


def test_the_history_has_every_best_program() -> None:
    best: list[tuple[str, float]] = []

    def look(step: Round) -> None:
        best.append((LANGUAGE.text(step.program), step.best_so_far))

    for seed in range(5):
        best.clear()
        solution = solve("maze", seed=seed, worlds=1, listener=look)
        assert set(best) <= {(row["program"], row["score"]) for row in solution.history}


# Spaces of tasks with numeric perceptions


def with_numbers(**settings: Any) -> GymTask:
    place = leaps.number(lambda seen: seen[0])
    return corridor(
        perceptions={"place": place}, opposites={}, constants={"place": (0.2, 0.4)}, best=9.0, **settings
    )


@pytest.fixture
def space(tmp_path: Path) -> str:
    """An untrained space with constants other than the task's initial ones."""
    language = with_numbers().fitting(["place>0.35", "place>0.77"]).domain.language
    save_weights(ProgramSpace(language, ModelConfig(8, 8), None), tmp_path / "w")
    return str(tmp_path / "w")


@pytest.mark.parametrize("method", ["ladder", "leaps+", "hc"])
def test_a_search_with_a_space_keeps_the_constants_of_the_space(space: str, method: str) -> None:
    run = Run(SolveConfig("corridor", method, budget=1500, worlds=2, space=space), with_numbers())
    words = set()
    while not run.finished:
        words.add(run.step().domain.language.perceptions)
    assert words == {("place>0.35", "place>0.77")}


def test_a_search_without_a_space_refines_the_constants() -> None:
    run = Run(SolveConfig("corridor", "ladder", budget=1500, worlds=2), with_numbers())
    words = {run.domain.language.perceptions}
    while not run.finished:
        words.add(run.step().domain.language.perceptions)
    assert ("place>0.2", "place>0.4") in words
    assert len(words) > 1


def test_a_space_of_more_constants_than_the_task_has_raises(space: str) -> None:
    fewer = with_numbers().with_constants({"place": (0.35,)})
    narrow = with_numbers().with_constants({"place": (0.1, 0.2, 0.3)})
    message = "is a program space of another language: it lacks place>"
    with pytest.raises(ValueError, match=message):
        Run(SolveConfig("corridor", "ladder", space=space), narrow)
    assert Run(SolveConfig("corridor", "ladder", space=space), fewer).domain.language.perceptions == (
        "place>0.35",
        "place>0.77",
    )


def test_ladder_starts_from_programs_of_the_space(space: str) -> None:
    run = Run(SolveConfig("corridor", "ladder", worlds=2, space=space), with_numbers())
    alone = Run(SolveConfig("corridor", "ladder-space", worlds=2, space=space), with_numbers())
    assert run.step().asked.tolist() != alone.step().asked.tolist()
