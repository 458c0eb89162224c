"""Parallel searches: each finds what it finds alone, and none is lost when others end."""

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import pytest

from leaps.base import parallel
from leaps.search.several import work_all
from leaps.search.solve import Round, Run, Solution, SolveConfig, solve
from tests.embedding.helpers import needs_shipped_weights
from tests.search.solutions import assert_same

pytestmark = needs_shipped_weights


def runs(task: str, method: str, seeds: int, budget: int) -> list[Run]:
    return [Run(SolveConfig(task, method, seed, budget)) for seed in range(seeds)]


@pytest.fixture
def three_threads() -> Iterator[None]:
    parallel.set_threads(3)
    yield
    parallel.set_threads(None)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("method", ["ladder", "leaps+"])
def test_parallel_searches_find_what_each_finds_alone(method: str) -> None:
    reported: list[Solution] = []
    together = work_all(runs("top-off", method, 5, 1200), done=reported.append)
    for seed, solution in enumerate(together):
        assert_same(solution, solve("top-off", method, seed, budget=1200))
    assert sorted(solution.config.seed for solution in reported) == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("three_threads")
def test_on_interruption_running_searches_return_and_no_other_starts() -> None:
    reported: list[Solution] = []
    begun = set()
    pressed = Lock()  # once

    def interrupt(step: Round) -> None:
        begun.add(step.seed)
        if step.round == 20 and pressed.acquire(blocking=False):
            signal.raise_signal(signal.SIGINT)

    found = work_all(runs("snake", "ladder", 8, 10**9), interrupt, reported.append)
    assert {solution.config.seed for solution in found} == begun
    assert len(begun) <= 3
    assert all(solution.interrupted for solution in found)
    assert len(reported) == len(found)


@pytest.mark.usefixtures("three_threads")
def test_an_interruption_during_submission_starts_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    submit, submitted = ThreadPoolExecutor.submit, []

    def interrupted(pool: ThreadPoolExecutor, *words: Any) -> Any:
        submitted.append(submit(pool, *words))
        time.sleep(0.1)  # it could begin
        if len(submitted) == 2:
            raise KeyboardInterrupt
        return submitted[-1]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    steps: list[Round] = []
    with pytest.raises(KeyboardInterrupt):
        work_all(runs("snake", "ladder", 3, 100), steps.append)
    assert steps == []
    assert [future.result() for future in submitted] == [None, None]


@pytest.mark.usefixtures("three_threads")
def test_when_a_search_fails_the_others_are_reported_before_the_error() -> None:
    reported: list[Solution] = []

    def fail(step: Round) -> None:
        if step.seed == 1 and step.round == 20:
            raise ValueError("no more of this")

    with pytest.raises(ValueError, match=r"no more of this\. The best program before that: DEF run"):
        work_all(runs("snake", "ladder", 2, 10**9), fail, reported.append)
    assert [(solution.config.seed, solution.interrupted) for solution in reported] == [(0, True)]
