"""Runs: missing cells are computed once, failures are reported, and stored results are kept."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaps import __version__
from leaps.experiments import catalogue
from leaps.experiments.backends import Failure
from leaps.experiments.catalogue import Experiment
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.commit import commit
from leaps.experiments.computing import Job, Values
from leaps.experiments.run import Progress, needed_by, run
from leaps.experiments.store import Store
from tests.disk import full_disk

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


class Watched(Here):
    """One that remembers what it was given."""

    def __init__(self) -> None:
        self.handed: list[Job] = []

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        self.handed += items
        return super().run(work, items)


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


def test_dependencies_are_computed_first(tmp_path: Path) -> None:
    outcome = run([HIGH], Store(tmp_path), Here())
    assert outcome.results[HIGH].values["return"] == 5 + 5 + 5 + 6
    assert COMPUTED[-2:] == ["sums/middle/good-5", "sums/high/good-5"]
    assert sorted(COMPUTED[:2]) == ["sums/low/good-5", "sums/low/good-6"]
    assert [len(wave) for wave in needed_by([HIGH])] == [2, 1, 1]


def test_stored_cells_are_not_recomputed(tmp_path: Path) -> None:
    first = run([HIGH], Store(tmp_path), Here())
    assert first.computed == 4
    COMPUTED.clear()
    again = run([HIGH, cell("sums", "high", "good", 6)], Store(tmp_path), Here())
    assert sorted(COMPUTED) == ["sums/high/good-6", "sums/low/good-7", "sums/middle/good-6"]
    assert again.computed == 3
    assert again.results[HIGH] == first.results[HIGH]


def test_duplicate_cells_are_computed_once(tmp_path: Path) -> None:
    run([HIGH, HIGH, cell("sums", "low", "good", 5)], Store(tmp_path), Here())
    assert len(COMPUTED) == len(set(COMPUTED)) == 4


def test_failing_cell_is_reported_and_others_continue(tmp_path: Path) -> None:
    bad = cell("sums", "high", "bad", 0)
    reports: list[Progress] = []
    outcome = run([bad, HIGH], Store(tmp_path), Here(), listener=reports.append)
    assert outcome.results[HIGH].values["return"] == 21
    assert outcome.failures == {
        cell("sums", "low", "bad", 0): "no good",
        cell("sums", "low", "bad", 1): "no good",
        cell("sums", "middle", "bad", 0): "depends on sums/low/bad-0, which failed",
        bad: "depends on sums/middle/bad-0, which failed",
    }
    assert not Store(tmp_path).file(bad).exists()
    assert [progress.done for progress in reports] == list(range(1, 9))
    assert {progress.cells for progress in reports} == {8}
    assert {progress.cell: progress.failure for progress in reports if progress.failure} == outcome.failures


def test_killed_run_resumes(tmp_path: Path) -> None:
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


def test_dependencies_of_stored_results_are_not_computed(tmp_path: Path) -> None:
    run([HIGH], Store(tmp_path), Here())
    for low in (tmp_path / "sums" / "low").iterdir():
        low.unlink()
    COMPUTED.clear()
    reports: list[Progress] = []
    outcome = run([HIGH], Store(tmp_path), Here(), listener=reports.append)
    assert (COMPUTED, list(outcome.results), [progress.cells for progress in reports]) == ([], [HIGH], [1])
    Store(tmp_path).file(HIGH).unlink()
    assert run([HIGH], Store(tmp_path), Here()).results[HIGH].values["return"] == 21
    assert [HIGH.name] == COMPUTED


def test_failed_dependency_of_a_stored_result_is_harmless(tmp_path: Path) -> None:
    """The middle one is there, one of its needs fails, and a high one needs it."""
    middle, high = (cell("sums", method, "bad", 0) for method in ("middle", "high"))
    Store(tmp_path).write(Result(middle, {"return": 3}, 1.0, __version__))
    outcome = run([cell("sums", "low", "bad", 0), middle], Store(tmp_path), Here())
    assert set(outcome.failures) == {cell("sums", "low", "bad", 0)}
    assert set(outcome.results) == {middle}
    watched = Watched()
    run([cell("sums", "low", "bad", 0), high], Store(tmp_path), watched)
    (job,) = [job for job in watched.handed if job.cell == high]
    assert [needed.result is not None for needed in job.needed] == [True]
    assert job.needed[0].needed == ()


def test_job_includes_dependencies_of_dependencies(tmp_path: Path) -> None:
    """A worker that lacks a policy trains it again, from what that needed."""
    run([cell("sums", "middle", "good", 5)], Store(tmp_path), Here())
    watched = Watched()
    run([HIGH], Store(tmp_path), watched)
    ((middle,),) = (job.needed for job in watched.handed)
    assert [low.values["return"] for low in middle.needed] == [5, 6]


def test_result_of_another_version_is_a_failure_and_not_stored(tmp_path: Path) -> None:
    class Old(Here):
        def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
            for number, answer in super().run(work, items):
                yield number, replace(answer, version="0.0.1")

    low = cell("sums", "low", "good", 5)
    outcome = run([low], Store(tmp_path), Old())
    assert outcome.failures[low].startswith("the worker has leaps 0.0.1, but this process has ")
    assert (outcome.results, outcome.computed, Store(tmp_path).read(low)) == ({}, 0, None)


def test_unwritable_folder_raises_before_computing(tmp_path: Path) -> None:
    with full_disk(after=0), pytest.raises(OSError, match="results"):
        run([HIGH], Store(tmp_path / "results"), Here())
    assert COMPUTED == []
    run([HIGH], Store(tmp_path / "results"), Here())
    with full_disk(after=0):  # nothing is to be written then
        assert run([HIGH], Store(tmp_path / "results"), Here()).computed == 0


def test_full_disk_raises_with_file_name_and_keeps_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (cell("sums", "low", "good", seed) for seed in (0, 1))
    run([first], Store(tmp_path), Here())
    monkeypatch.setattr(Store, "check_writable", lambda store: None)  # it was not full yet  # noqa: ARG005
    with full_disk(after=0), pytest.raises(OSError) as caught:
        run([first, second], Store(tmp_path), Here())
    assert caught.value.filename == str(Store(tmp_path).file(second))
    assert Store(tmp_path).read(first) is not None
    assert Store(tmp_path).read(second) is None


def test_results_store_machine_and_time(tmp_path: Path) -> None:
    result = run([HIGH], Store(tmp_path), Here()).results[HIGH]
    assert result.seconds >= 0
    assert {"processor", "cores", "python", "torch"} <= result.machine.keys()
    assert "T" in result.finished
    assert result.commit == commit()
