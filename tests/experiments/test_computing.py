"""The values of a cell match the output of the corresponding command."""

import json
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.numpy import load_file, save_file

from leaps import __version__
from leaps.analysis.repair import repair
from leaps.base.tensors import metadata, read_about
from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.naive import behaviour_score
from leaps.baselines.policies import load_policy
from leaps.baselines.train import POLICY_FILE
from leaps.baselines.viper import POSSIBLE, TreePolicy
from leaps.embedding.space import Space
from leaps.evaluate import UNSEEN_SEEDS, evaluate
from leaps.experiments import computing
from leaps.experiments.catalogue import get_experiment
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.computing import SEARCHES, Job, do, thinned
from leaps.experiments.explore import smoothness
from leaps.experiments.spaces import open_space
from leaps.experiments.study import STUDY
from leaps.karel.dataset import DataConfig, make_dataset, worlds_for
from leaps.karel.observe import PERCEIVED
from leaps.karel.world import LANGUAGE
from leaps.search.reconstruct import TEST_PROGRAMS
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


@pytest.mark.parametrize("method", ["leaps", "leaps+", "leaps-rand-8", "hc", "ladder"])
def test_a_search_is_that_of_solve(method: str, tmp_path: Path) -> None:
    found = done(cell("tasks", method, "maze", 3, budget=200), tmp_path).values
    expected = solve(SolveConfig("maze", SEARCHES[method].method, 3, budget=200)).summary()
    perfect = [entry["evaluations"] for entry in expected["history"] if entry["score"] == 1.0]
    assert found["evaluations_to_perfect"] == (perfect[0] if perfect else None)
    expected["evaluations_to_perfect"] = found["evaluations_to_perfect"]
    expected["history"] = thinned(expected["history"])
    if method != "hc":
        expected["space"] = open_space("leaps", 0, tmp_path, "cpu").about
    assert 0 < found["core_seconds"] < 10_000
    assert {**found, "seconds": 0} == {**expected, "seconds": 0, "core_seconds": found["core_seconds"]}


def test_as_run_the_return_is_the_mean_on_the_worlds_of_the_search(tmp_path: Path) -> None:
    found = done(cell("as-run", "leaps", "top-off", 1, budget=300), tmp_path).values
    expected = solve(SolveConfig("top-off-as-run~220calls", "leaps", 1, budget=300)).summary()
    assert found["program"] == expected["program"]
    assert found["return"] == found["search_return"] == expected["search_return"]
    assert found["held_out_return"] == expected["return"]


def test_the_length_of_programs_reaches_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SolveConfig] = []

    def remember(config: SolveConfig) -> Solution:
        asked.append(config)
        return solve(replace(config, budget=8))

    monkeypatch.setattr("leaps.search.solve.solve", remember)
    for method in ("leaps+-45", "leaps+-100"):
        do(Job(cell("length", method, "maze", 4), computing.search, work=tmp_path))
    assert asked == [
        SolveConfig("maze", "leaps+", 4, space="leaps", max_length=length) for length in (45, 100)
    ]


def test_training_has_a_separate_folder_and_resumes(tmp_path: Path) -> None:
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


def test_a_naive_cell_keeps_the_program_that_was_judged(tmp_path: Path) -> None:
    one = cell("tasks", "naive", "maze", 1, steps=3000, judged=20)
    found = done(one, tmp_path).values
    again = evaluate(found["program"], "maze", episodes=20, seed=UNSEEN_SEEDS + 1)
    assert again.mean_return[0] == found["return"]
    assert "\n" not in found["program"]
    assert_is_a_curve(found)


def test_a_reconstruction_by_naive_keeps_its_program(tmp_path: Path) -> None:
    found = done(cell("reconstruction", "naive", "WHILE", 0, steps=3000, judged=20), tmp_path).values
    tokens = LANGUAGE.batch([LANGUAGE.encode(found["program"].split())])
    worlds = worlds_for(TEST_PROGRAMS["WHILE"], UNSEEN_SEEDS, 20)
    assert behaviour_score(TEST_PROGRAMS["WHILE"], worlds)(tokens)[0][0] == found["r_mat_unseen"]


def test_a_viper_cell_keeps_the_tree_that_was_judged(tmp_path: Path) -> None:
    job = job_of(cell("tasks", "viper", "maze", 0, steps=9000, judged=20), tmp_path)
    found = do(job).values
    policy = load_policy(job.folder)
    assert isinstance(policy, TreePolicy)
    for number in POSSIBLE.tolist():
        perceived = dict(zip(LANGUAGE.perceptions, PERCEIVED[number].tolist(), strict=True))
        assert follow(found["tree"], perceived) == LANGUAGE.actions[policy.choices[number]]
    text = json.dumps(found["tree"])
    assert found["leaves"] == 1 + text.count("perception")
    assert len(text) < 2000
    assert_is_a_curve(found)
    teacher = job.needed[0].values
    assert_is_a_curve(teacher)
    assert not {"program", "tree", "leaves"} & teacher.keys()


def follow(tree: Any, perceived: dict[str, int]) -> Any:
    """Answer a tree's questions, down to its action."""
    while not isinstance(tree, str):
        tree = tree["yes" if perceived[tree["perception"]] else "no"]
    return tree


def assert_is_a_curve(values: Mapping[str, Any]) -> None:
    steps = [point[0] for point in values["curve"]]
    assert 1 <= len(steps) <= 100
    assert steps == sorted(steps)
    assert steps[-1] <= values["steps"]
    assert all(-1 <= point[1] <= 1 for point in values["curve"])


def test_policy_missing_on_this_machine_is_retrained(tmp_path: Path) -> None:
    one = cell("generalization", "viper", "maze", 0, size="10x10", steps=9000, judged=20)
    (tmp_path / "a").mkdir()
    job = job_of(one, tmp_path / "a")
    here = do(job).values
    assert here["return_at_own_size"] == job.needed[0].values["return"]
    assert here["trained"] == {name: job.needed[0].values[name] for name in ("steps", "seconds")}
    shutil.rmtree(tmp_path / "a")
    assert without_seconds(do(job).values) == without_seconds(here)


def without_seconds(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, "trained": {**values["trained"], "seconds": 0}}


def other_policy(job: Job, **about: Any) -> None:
    """Replace the policy in a training's folder and remove all else, so that training restarts."""
    file = job.folder / POLICY_FILE
    tensors, stored = load_file(file), read_about(file)
    shutil.rmtree(job.folder)
    job.folder.mkdir()
    save_file(tensors, file, metadata(stored | about))


LARGER = cell("generalization", "drl-abs", "maze", 0, size="10x10", steps=9000, judged=20)


def test_stored_training_is_that_of_the_evaluated_policy(tmp_path: Path) -> None:
    """A stored result may be of a training on another machine, which came to something else."""
    job = job_of(LARGER, tmp_path)
    other_policy(job.needed[0], **{"return": 0.123, "seconds": 45.0})
    found = do(job).values
    assert found["return_at_own_size"] == 0.123
    assert found["trained"]["seconds"] == 45.0


@pytest.mark.parametrize(
    "about",
    [
        {"version": "0.0.1"},
        {"method": "drl-abs-t"},
        {"task": "harvester"},
        {"seed": 7},
        {"config": {"steps": 5}},
    ],
)
def test_policy_of_another_training_is_not_used(tmp_path: Path, about: dict[str, Any]) -> None:
    job = job_of(LARGER, tmp_path)
    other_policy(job.needed[0], **{"return": 0.123} | about)
    found = do(job).values
    assert found["return_at_own_size"] == job.needed[0].values["return"] != 0.123
    judged = read_about(job.needed[0].folder / POLICY_FILE)
    assert {name: judged[name] for name in about} == {name: job.needed[0].values[name] for name in about}


def test_damaged_policy_is_retrained(tmp_path: Path) -> None:
    job = job_of(LARGER, tmp_path)
    file = job.needed[0].folder / POLICY_FILE
    file.write_bytes(file.read_bytes()[:100])
    assert do(job).values["return_at_own_size"] == job.needed[0].values["return"]


def test_stored_result_with_other_training_settings_raises(tmp_path: Path) -> None:
    job = job_of(LARGER, tmp_path)
    needed, result = job.needed[0], job.needed[0].result
    assert result is not None
    config = result.values["config"] | {"settings": result.values["config"]["settings"] | {"clip": 0.3}}
    changed = replace(needed, result=replace(result, values={**result.values, "config": config}))
    with pytest.raises(ValueError, match=r"holds a different training than .*/maze-.*: clip=0\.2, not 0\.3;"):
        do(replace(job, needed=(changed,)))


def test_teacher_is_chosen_by_seen_configurations_only(tmp_path: Path) -> None:
    def teacher(seed: int, **values: float) -> Job:
        one = cell("unseen", "drl", "top-off@0.05", seed)
        return Job(one, computing.unseen, result=Result(one, values, 1.0, __version__), work=tmp_path)

    seen_well = teacher(0, **{"return": 0.1, "return_on_seen": 0.9})
    unseen_well = teacher(1, **{"return": 0.8, "return_on_seen": 0.2})
    assert max((seen_well, unseen_well), key=computing._worth) is seen_well
    assert (
        max((teacher(0, **{"return": 0.1}), other := teacher(1, **{"return": 0.2})), key=computing._worth)
        is other
    )


def test_workers_that_need_the_same_policy_train_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many threads as workers: each has a lock of its own on the folder."""
    job = job_of(LARGER, tmp_path)
    shutil.rmtree(job.needed[0].folder)
    trained, train = [], computing.baseline

    def remember(job: Job) -> computing.Values:
        trained.append(job.cell)
        return train(job)

    monkeypatch.setattr(computing, "baseline", remember)
    with ThreadPoolExecutor(3) as workers:
        assert set(workers.map(computing.best_of, [job] * 3)) == {job.needed[0].folder}
    assert trained == [job.needed[0].cell]


def test_seconds_are_those_of_all_sessions_of_a_training(tmp_path: Path) -> None:
    one = cell("tasks", "drl-abs", "maze", 1)
    assert do(Job(one, lambda job: {"return": 1.0, "seconds": 1e6}, work=tmp_path)).seconds == 1e6  # noqa: ARG005
    assert 0 < do(Job(one, lambda job: {"return": 1.0, "seconds": 0.0}, work=tmp_path)).seconds < 1e6  # noqa: ARG005
    assert Result(one, {"seconds": 9.0}, 2.0, __version__).all_seconds == 9.0
    assert Result(one, {}, 2.0, __version__).all_seconds == 2.0


def test_unavailable_device_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    job = Job(cell("tasks", "drl-abs", "maze", steps=9000, judged=20), computing.baseline, work=tmp_path)
    with pytest.raises(ValueError, match="device 'cuda' is not available on this worker"):
        do(replace(job, device="cuda"))
    assert list(tmp_path.iterdir()) == []


def test_a_program_is_judged_in_larger_worlds_that_it_never_saw(tmp_path: Path) -> None:
    one = cell("generalization", "ladder", "maze", 2, size="20x20", budget=2000)
    job = job_of(one, tmp_path)
    program = job.needed[0].values["program"]
    expected = evaluate(program, "maze", episodes=100, seed=UNSEEN_SEEDS + 2, size=(20, 20)).mean_return[0]
    assert do(job).values["return"] == expected


def test_a_program_that_had_to_hold_at_several_sizes_is_judged_at_yet_another(tmp_path: Path) -> None:
    one = cell("generalization", "ladder-sizes", "stair-climber", 2, size="20x20", budget=2000)
    found = do(job_of(one, tmp_path)).values
    assert found["search"]["elsewhere"] == {"9x9": 1.0, "16x16": 1.0, "40x40": 1.0}
    settings: dict[str, Any] = {"seed": UNSEEN_SEEDS + 2}
    for size, episodes, expected in (((20, 20), 100, "return"), (None, 1000, "return_at_own_size")):
        judged = evaluate(found["program"], "stair-climber", episodes=episodes, size=size, **settings)
        assert judged.mean_return[0] == found[expected]


@pytest.mark.parametrize(("method", "options"), [("ladder", {"budget": 500}), ("drl-abs", None)])
def test_unseen_is_evaluated_on_all_configurations(
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
        else evaluate(found["program"], task, **settings, prefer_exact=True)
        for task in ("top-off", found["task"])
    ]
    assert [one.mean_return[0] for one in judged] == [found["return"], found["return_on_seen"]]


def test_a_policy_on_grids_is_trained_and_judged_in_the_large_worlds(tmp_path: Path) -> None:
    one = cell("generalization", "drl", "maze", 1, size="20x20", steps=300, episodes=3)
    job = done(one, tmp_path)
    assert job.needed == ()
    assert (job.values["config"]["size"], job.values["episodes"]) == ([20, 20], 3)
    kept = load_policy(job.folder)
    found = evaluate_policy(kept, "maze", episodes=3, seed=UNSEEN_SEEDS + 1, size=(20, 20))
    assert found.mean_return[0] == job.values["return"]
    with pytest.raises(ValueError, match="accepts only grids of 20x20"):
        evaluate_policy(kept, "maze")


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


def test_study_program_is_evaluated_and_repaired(tmp_path: Path) -> None:
    program = STUDY["harvester"].program
    before = done(cell("debugging", "original", "harvester", 2, judged=100), tmp_path).values
    judged = evaluate(program, "harvester", episodes=100, seed=UNSEEN_SEEDS + 2)
    assert before["return"] == judged.mean_return[0]
    for method, edits in (("3-edits", 3), ("5-edits", 5)):
        found = done(cell("debugging", method, "harvester", 2, budget=500), tmp_path).values
        expected = repair(program, "harvester", edits, seed=2, budget=500).summary()
        assert {**found, "seconds": 0} == {**expected, "seconds": 0, "core_seconds": found["core_seconds"]}
        assert found["edits"] <= edits
