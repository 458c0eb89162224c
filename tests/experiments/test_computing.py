"""A cell's values are what the command of its method would have said."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from leaps.baselines.policies import load_policy
from leaps.baselines.train import POLICY_FILE
from leaps.dataset import DataConfig, make_dataset
from leaps.embedding.space import Space
from leaps.evaluate import UNSEEN_SEEDS, evaluate, evaluate_policy
from leaps.experiments import computing
from leaps.experiments.catalogue import get_experiment
from leaps.experiments.cell import Cell, cell
from leaps.experiments.computing import SEARCHES, Job, do
from leaps.explore import smoothness
from leaps.search.solve import Solution, SolveConfig, solve
from leaps.tasks import get


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> None:
    torch.set_num_threads(1)


def job_of(one: Cell, work: Path) -> Job:
    """A job whose needs are done."""
    experiment = get_experiment(one.experiment)
    needed = tuple(done(other, work) for other in experiment.needs(one))
    return Job(one, experiment.compute, needed, None, work)


def done(one: Cell, work: Path) -> Job:
    job = job_of(one, work)
    return replace(job, result=do(job))


@pytest.mark.parametrize("method", ["leaps", "leaps-rand-8", "hc", "ours"])
def test_a_search_is_that_of_solve(method: str, tmp_path: Path) -> None:
    found = done(cell("tasks", method, "maze", 3, budget=200), tmp_path).values
    expected = solve(SolveConfig("maze", SEARCHES[method], 3, budget=200)).summary()
    assert {**found, "seconds": 0} == {**expected, "seconds": 0}


def test_the_length_of_programs_reaches_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SolveConfig] = []

    def remember(config: SolveConfig) -> Solution:
        asked.append(config)
        return solve(replace(config, budget=8))

    monkeypatch.setattr("leaps.search.solve.solve", remember)
    for method in ("leaps-45", "leaps-100"):
        do(Job(cell("length", method, "maze", 4), computing.search, work=tmp_path))
    assert asked == [SolveConfig("maze", "cem", 4, max_length=length) for length in (45, 100)]


def test_a_training_lives_in_a_folder_of_its_own_and_goes_on(tmp_path: Path) -> None:
    one = cell("tasks", "drl-abs", "maze", 1, steps=9000, judged=20)
    first = done(one, tmp_path)
    assert (first.folder / POLICY_FILE).exists()
    assert first.folder == tmp_path / "tasks" / "drl-abs" / "maze-judged=20-steps=9000-1"
    (first.folder / "result.json").unlink()
    again = done(one, tmp_path)
    assert again.values == first.values  # to the second: nothing was trained again


def test_a_tree_and_a_transfer_begin_from_the_policies_that_they_need(tmp_path: Path) -> None:
    tree = done(cell("tasks", "viper", "maze", 0, steps=9000, judged=20), tmp_path)
    assert tree.values["config"]["settings"]["teacher"].startswith("drl on maze, seed 0, ")
    moved = done(cell("tasks", "drl-abs-t", "maze", 0, source="harvester", steps=9000, judged=20), tmp_path)
    assert moved.values["config"]["settings"]["origin"].startswith("drl-abs on harvester, seed 0, ")


def test_a_policy_that_is_on_another_machine_is_trained_anew(tmp_path: Path) -> None:
    one = cell("generalization", "viper", "maze", 0, size="10x10", steps=9000, judged=20)
    (tmp_path / "a").mkdir()
    job = job_of(one, tmp_path / "a")
    here = do(job).values
    shutil.rmtree(tmp_path / "a")
    assert do(job).values == here
    assert here["return_at_own_size"] == job.needed[0].values["return"]


def test_a_program_is_judged_in_larger_worlds_that_it_never_saw(tmp_path: Path) -> None:
    one = cell("generalization", "ours", "maze", 2, size="20x20", budget=2000)
    job = job_of(one, tmp_path)
    program = job.needed[0].values["program"]
    expected = evaluate(program, "maze", episodes=100, seed=UNSEEN_SEEDS + 2, size=(20, 20)).mean_return[0]
    assert do(job).values["return"] == expected


@pytest.mark.parametrize(("method", "options"), [("ours", {"budget": 500}), ("drl-abs", None)])
def test_what_saw_some_configurations_is_judged_on_all(
    method: str, options: dict[str, int] | None, tmp_path: Path
) -> None:
    one = cell("unseen", method, "top-off@0.05", 1, **(options or {"steps": 9000, "judged": 30}))
    job = Job(one, computing.unseen, (), None, tmp_path)
    found = do(job).values
    assert get(found["task"]).seen_share == 0.05
    settings: dict[str, Any] = {"episodes": 1000 if options else 30, "seed": UNSEEN_SEEDS + 1}
    judged = [
        evaluate_policy(load_policy(job.folder), task, **settings)
        if method == "drl-abs"
        else evaluate(found["program"], task, **settings)
        for task in ("top-off", found["task"])
    ]
    assert [one.mean_return[0] for one in judged] == [found["return"], found["return_on_seen"]]


def test_a_reconstruction_has_the_papers_bonus(tmp_path: Path) -> None:
    for method, options in (("leaps", {"iterations": 30}), ("leaps-rand-64", {}), ("naive", {"steps": 5000})):
        found = done(cell("reconstruction", method, "WHILE", 0, **options), tmp_path).values
        assert found["return"] == pytest.approx(found["r_mat"] + 0.1)
        assert 0 < found["r_mat"] <= 1


def test_a_searched_reconstruction_beats_a_random_one(tmp_path: Path) -> None:
    searched, random = (
        done(cell("reconstruction", method, "2IF+IFELSE", 1, **options), tmp_path).values["return"]
        for method, options in (("leaps", {"iterations": 100}), ("leaps-rand-8", {}))
    )
    assert searched > random


def test_smoothness_is_that_of_the_space(tmp_path: Path) -> None:
    found = done(cell("smoothness", "leaps-p+l", "test", programs=200), tmp_path).values["return"]
    data = make_dataset(DataConfig(programs=200))
    assert found == pytest.approx(smoothness(Space.load("pl"), data, "test"))
