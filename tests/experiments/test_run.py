"""A run computes what is missing, once; what fails is said and stops nothing else; what is there stays."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from leaps.experiments import catalogue
from leaps.experiments.backends import Failure
from leaps.experiments.catalogue import Experiment
from leaps.experiments.cell import Cell, cell
from leaps.experiments.computing import Job, Values
from leaps.experiments.run import Progress, needed_by, run
from leaps.experiments.store import Store

COMPUTED: list[str] = []


class Here:
    """A backend that does everything in this process, last first."""

    name = "here"

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for number in reversed(range(len(items))):
            try:
                yield number, work(items[number])
            except ValueError as error:
                yield number, Failure(str(error))

    def close(self) -> None: ...


def add_up(job: Job) -> Values:
    """A cell is worth its seed, and all that it needs."""
    COMPUTED.append(job.cell.name)
    if job.cell.task == "bad":
        raise ValueError("no good")
    return {"return": job.cell.seed + sum(needed.values["return"] for needed in job.needed)}


def needs(one: Cell) -> tuple[Cell, ...]:
    """High ones need middle ones, which need low ones of two seeds."""
    if one.method == "high":
        return (cell("sums", "middle", one.task, one.seed),)
    if one.method == "middle":
        return tuple(cell("sums", "low", one.task, one.seed + more) for more in (0, 1))
    return ()


SUMS = Experiment(
    "sums",
    "sums",
    ("low", "middle", "high"),
    ("good", "bad"),
    lambda method, task, seed, quick: [cell("sums", method, task, seed)],  # noqa: ARG005
    add_up,
    needs,
)


@pytest.fixture(autouse=True)
def sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.EXPERIMENTS, "sums", SUMS)
    COMPUTED.clear()


HIGH = cell("sums", "high", "good", 5)


def test_what_a_cell_needs_is_computed_before_it(tmp_path: Path) -> None:
    outcome = run([HIGH], Store(tmp_path), Here())
    assert outcome.results[HIGH].values["return"] == 5 + 5 + 5 + 6
    assert COMPUTED[-2:] == ["sums/middle/good-5", "sums/high/good-5"]
    assert sorted(COMPUTED[:2]) == ["sums/low/good-5", "sums/low/good-6"]
    assert [len(wave) for wave in needed_by([HIGH])] == [2, 1, 1]


def test_what_is_there_is_not_computed_again(tmp_path: Path) -> None:
    first = run([HIGH], Store(tmp_path), Here())
    assert first.computed == 4
    COMPUTED.clear()
    again = run([HIGH, cell("sums", "high", "good", 6)], Store(tmp_path), Here())
    assert sorted(COMPUTED) == ["sums/high/good-6", "sums/low/good-7", "sums/middle/good-6"]
    assert again.computed == 3
    assert again.results[HIGH] == first.results[HIGH]


def test_a_cell_that_is_asked_for_twice_is_computed_once(tmp_path: Path) -> None:
    run([HIGH, HIGH, cell("sums", "low", "good", 5)], Store(tmp_path), Here())
    assert len(COMPUTED) == len(set(COMPUTED)) == 4


def test_a_failing_cell_is_reported_and_stops_no_other(tmp_path: Path) -> None:
    bad = cell("sums", "high", "bad", 0)
    told: list[Progress] = []
    outcome = run([bad, HIGH], Store(tmp_path), Here(), listener=told.append)
    assert outcome.results[HIGH].values["return"] == 21
    assert outcome.failures == {
        cell("sums", "low", "bad", 0): "no good",
        cell("sums", "low", "bad", 1): "no good",
        cell("sums", "middle", "bad", 0): "it needs sums/low/bad-0, which failed",
        bad: "it needs sums/middle/bad-0, which failed",
    }
    assert not Store(tmp_path).file(bad).exists()
    assert [progress.done for progress in told] == list(range(1, 9))
    assert {progress.cells for progress in told} == {8}
    assert {progress.cell: progress.failure for progress in told if progress.failure} == outcome.failures


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """Killed after each number of cells, the run and its continuation compute every cell once."""
    cells = SUMS.cells(tasks=["good"], seeds=3)
    run(cells, Store(tmp_path / "straight"), Here())
    everything = sorted(COMPUTED)
    for survived in range(len(everything)):
        COMPUTED.clear()

        def kill(progress: Progress, survived: int = survived) -> None:
            if progress.done > survived:
                raise KeyboardInterrupt

        folder = tmp_path / str(survived)
        with pytest.raises(KeyboardInterrupt):
            run(cells, Store(folder), Here(), listener=kill)
        run(cells, Store(folder), Here())
        assert sorted(COMPUTED) == everything


def test_results_say_where_and_when_they_were_made(tmp_path: Path) -> None:
    result = run([HIGH], Store(tmp_path), Here()).results[HIGH]
    assert result.seconds >= 0
    assert {"processor", "cores", "python", "torch"} <= result.machine.keys()
    assert "T" in result.finished
