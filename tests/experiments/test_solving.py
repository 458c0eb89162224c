"""Searches on a backend return the same solutions as local ones."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaps.experiments.backends import Failure, connect
from leaps.experiments.solving import solve_all
from leaps.search.solve import Solution, SolveConfig, solve
from tests.embedding.helpers import needs_shipped_weights
from tests.search.solutions import assert_same

pytestmark = needs_shipped_weights


class Here:
    """Does the work at once, the last item first; the items that are named fail."""

    name = "here"

    def __init__(self, failing: tuple[int, ...] = (), interrupted_after: int | None = None) -> None:
        self.failing, self.interrupted_after = failing, interrupted_after

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for count, number in enumerate(reversed(range(len(items)))):
            if count == self.interrupted_after:
                raise KeyboardInterrupt
            yield number, Failure("out of memory") if number in self.failing else work(items[number])

    def close(self) -> None: ...


def configs(count: int) -> list[SolveConfig]:
    return [SolveConfig("stair-climber", seed=seed) for seed in range(count)]


def test_processes_return_the_same_solutions_as_a_local_solve(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file, too, by a path that means nothing in another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("from leaps.karel.tasks.stair_climber import STAIR_CLIMBER as MINE\n")
    asked = [SolveConfig("mine.py:MINE", seed=seed) for seed in (0, 1)]
    place = connect("local", jobs=2)
    finished: list[Solution] = []
    try:
        found = solve_all(asked, place, finished.append)
    finally:
        place.close()
    assert sorted(solution.config.seed for solution in finished) == [0, 1]
    for solution, config in zip(found, asked, strict=True):
        assert_same(solution, solve(config))
        assert solution.config == solve(config).config
        assert solution.task.name == "stair-climber"


def test_failed_searches_are_reported_and_others_returned_in_order() -> None:
    failures: list[tuple[int, str]] = []
    found = solve_all(
        configs(3), Here(failing=(1,)), failed=lambda config, why: failures.append((config.seed, why))
    )
    assert [solution.config.seed for solution in found] == [0, 2]
    assert failures == [(1, "out of memory")]


def test_interruption_returns_finished_solutions() -> None:
    found = solve_all(configs(3), Here(interrupted_after=2))
    assert [solution.config.seed for solution in found] == [1, 2]
    assert_same(found[0], replace(solve(configs(3)[1]), seconds=found[0].seconds))
