"""A cell of a figure holds what its picture is drawn from: the same twice, and no more than it needs."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from leaps.baselines.evaluate import evaluate_policy
from leaps.baselines.policies import load_policy
from leaps.dsl.text import parse, to_line
from leaps.embedding.space import Space
from leaps.evaluate import UNSEEN_SEEDS, evaluate
from leaps.experiments.catalogue import FIGURES, get_experiment
from leaps.experiments.cell import Cell, Result, cell
from leaps.experiments.computing import Job, do
from leaps.experiments.explore import chart_of_space, interpolate
from leaps.experiments.figures import FRAMES, TRUTHS
from leaps.experiments.paper import INTERPOLATIONS
from leaps.experiments.spaces import open_space
from leaps.experiments.trajectory import record
from leaps.karel.dataset import DataConfig, make_dataset
from leaps.karel.draw import frames_of_actions, frames_of_program, path_of
from leaps.karel.world import KAREL, LANGUAGE, World
from leaps.search.solve import SolveConfig
from leaps.tasks import get
from tests.embedding.helpers import needs_shipped_weights

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> None:
    torch.set_num_threads(1)


def values_of(one: Cell, *needed: Job) -> Any:
    return do(Job(one, get_experiment(one.experiment).compute, needed)).values


def came_to(one: Cell, **values: Any) -> Job:
    """A job that is done, with these values."""
    return Job(one, get_experiment(one.experiment).compute, result=Result(one, values, 1.0, "1"))


def quick(name: str, task: str) -> Cell:
    experiment = FIGURES[name]
    return experiment.cells([experiment.methods[-1]], [task], quick=True)[0]


@needs_shipped_weights
def test_a_map_is_that_of_the_space_and_its_training_programs() -> None:
    one = cell("latent-map", "leaps-p+l", "test-programs", 3, iterations=2, programs=200)
    data = make_dataset(DataConfig(programs=200))
    expected = chart_of_space(Space.load("pl", raw=True), data.tokens[data.split("train")], 3, 2)
    found = values_of(one)
    assert found == {"programs": 140, **expected.report(), "space": open_space("pl", 0, Path(), "cpu").about}
    assert values_of(one) == found
    assert values_of(replace(one, method="leaps")) != found


@needs_shipped_weights
def test_a_trajectory_is_that_of_the_search_in_table_3() -> None:
    one = cell("cem-trajectory", "leaps", "four-corner", 1, budget=130, programs=50)
    config = SolveConfig("four-corner", "leaps", 1, budget=130)
    recorded = record(config, Space.load("leaps", raw=True), TRUTHS["four-corner"], programs=50)
    assert values_of(one) == recorded.summary() | {"space": open_space("leaps", 0, Path(), "cpu").about}


@pytest.mark.parametrize("task", TRUTHS)
def test_a_ground_truth_is_the_example_and_solves_its_task(task: str) -> None:
    assert TRUTHS[task] == to_line(parse((EXAMPLES / f"{task}.karel").read_text(), LANGUAGE))
    assert evaluate(TRUTHS[task], task, episodes=200).mean_return[0] == 1.0


def test_an_evolution_is_judged_on_worlds_that_the_search_never_saw() -> None:
    wrong, right = "DEF run m( turnLeft m)", TRUTHS["stair-climber"]
    one = cell("evolution", "leaps", "stair-climber", 4)
    recorded = came_to(
        cell("cem-trajectory", "leaps", "stair-climber", 4),
        programs={"10": right, "2": wrong},
        best_returns=[0.0, 0.25, *[0.5] * 7, 1.0],
        converged=True,
    )
    expected = evaluate(wrong, "stair-climber", episodes=1000, seed=UNSEEN_SEEDS + 4).mean_return[0]
    assert values_of(one, recorded) == {
        "iterations": 10,
        "converged": True,
        "rows": [
            {"iteration": 2, "search_return": 0.25, "return": round(expected, 4), "program": wrong},
            {"iteration": 10, "search_return": 1.0, "return": 1.0, "program": right},
        ],
    }


@needs_shipped_weights
@pytest.mark.parametrize("pair", INTERPOLATIONS)
def test_interpolation_connects_the_papers_programs(pair: str) -> None:
    found = values_of(cell("interpolation", "leaps", pair))
    ends = INTERPOLATIONS[pair][0], INTERPOLATIONS[pair][-1]
    assert found["programs"] == interpolate(Space.load("leaps"), *ends, 8)
    assert (found["programs"][0], found["programs"][-1]) == ends
    assert len(found["likeness"]) == len(found["likeness_of_reported"]) == 9
    for name, programs in (("likeness", found["programs"]), ("likeness_of_reported", INTERPOLATIONS[pair])):
        for alike, one, other in zip(found[name], programs[:-1], programs[1:], strict=True):
            assert 0 <= alike <= 1
            if one == other:
                assert alike == 1.0
        assert min(found[name]) < 1
    assert found["likeness"] != found["likeness_of_reported"]


@needs_shipped_weights
def test_interpolation_of_a_close_pair_is_smoother() -> None:
    close, far = (values_of(cell("interpolation", "leaps", pair)) for pair in ("close", "far"))
    for name in ("likeness", "likeness_of_reported"):
        assert np.mean(close[name]) > np.mean(far[name]) + 0.3


@pytest.mark.parametrize("split", ["train", "validation"])
def test_lengths_are_those_of_the_data_set(split: str) -> None:
    data = make_dataset(DataConfig(programs=300))
    lengths = data.lengths[data.split(split)]
    found = values_of(cell("data-histogram", "programs", split, programs=300))
    assert found["programs"] == sum(found["counts"]) == len(lengths)
    assert found["counts"] == np.bincount(lengths).tolist()
    assert (found["mean"], found["longest"]) == (round(float(lengths.mean()), 4), lengths.max())


def rolled_out(task: str, program: str, seed: int = 0) -> Any:
    needed = came_to(cell("tasks", "ladder", task, seed), program=program, **{"return": 0.75})
    return values_of(cell("rollouts", "ladder", task, seed), needed)


def test_a_rollout_is_that_of_the_program_in_a_world_that_it_was_judged_on() -> None:
    program = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"
    found = rolled_out("top-off", program, 2)
    task = get("top-off")
    start = task.worlds(1, UNSEEN_SEEDS + 2).world(0)
    states = frames_of_program(start, KAREL.compile([program]), task.horizon(), task.hooks)
    assert (found["program"], found["mean_return"], found["actions"]) == (program, 0.75, len(states) - 1)
    assert found["rollout_return"] == 1.0
    replayed = frames_of_actions(start, found["taken"], task.hooks)
    assert list(map(str, replayed)) == list(map(str, states))
    assert len(found["frames"]) == FRAMES
    assert [found["frames"][i]["actions"] for i in (0, -1)] == [0, len(states) - 1]
    before = 0
    for frame in found["frames"]:
        at = frame["actions"]
        assert str(World.of(frame["rows"], *frame["karel"])) == str(states[at])
        way = list(zip(frame["way_rows"], frame["way_columns"], strict=True))
        assert way == path_of(states[before : at + 1])
        before = at
    assert [found["frames"][i]["value"] for i in (0, -1)] == [round(task.value(start, start), 4), 1.0]


def ready(one: Cell, work: Path) -> Job:
    """A job whose needed cells are computed."""
    experiment = get_experiment(one.experiment)
    needed = [
        Job(other, get_experiment(other.experiment).compute, work=work) for other in experiment.needs(one)
    ]
    done = tuple(replace(job, result=do(job)) for job in needed)
    return Job(one, experiment.compute, done, None, work)


LITTLE = {"steps": 3000, "judged": 20}


@pytest.mark.parametrize("method", ["drl", "drl-abs"])
def test_the_rollout_of_a_policy_is_consistent(method: str, tmp_path: Path) -> None:
    job = ready(cell("rollouts", method, "maze", 3, **LITTLE), tmp_path)
    found, trained = do(job).values, job.needed[0].values
    assert "program" not in found
    assert (found["mean_return"], found["judged"]) == (trained["return"], "20 fresh draws")
    assert found["trained"] == {name: trained[name] for name in ("steps", "seconds")}
    task, frames = get("maze"), found["frames"]
    first, last = (World.of(frames[i]["rows"], *frames[i]["karel"]) for i in (0, -1))
    replayed = frames_of_actions(first, found["taken"][: frames[-1]["actions"]])
    assert str(replayed[-1]) == str(last)
    start = task.worlds(1, UNSEEN_SEEDS + 3).world(0)  # knows the exits, which no picture shows
    states = frames_of_actions(start, found["taken"], task.hooks)
    assert found["actions"] == len(found["taken"]) == len(states) - 1 > 0
    for frame in frames:
        assert str(World.of(frame["rows"], *frame["karel"])) == str(states[frame["actions"]])
        assert frame["value"] == round(task.value(states[frame["actions"]], start), 4)
    assert found["rollout_return"] == round(task.value(states[-1], start), 4) == frames[-1]["value"]
    policy = load_policy(job.needed[0].folder)
    judged = evaluate_policy(policy, task, episodes=1, seed=UNSEEN_SEEDS + 3)
    assert found["rollout_return"] == round(judged.returns[0, 0], 4)
    assert found["actions"] == judged.rollouts.steps[0, 0]


def test_missing_policy_is_retrained(tmp_path: Path) -> None:
    job = ready(cell("rollouts", "drl-abs", "maze", **LITTLE), tmp_path)
    before = dict(do(job).values)
    shutil.rmtree(job.needed[0].folder)
    again = dict(do(job).values)
    assert before.pop("trained")["steps"] == again.pop("trained")["steps"]
    assert again == before


def test_all_methods_start_in_the_same_world(tmp_path: Path) -> None:
    starts: dict[str, Any] = {}
    for method in FIGURES["rollouts"].methods:
        options = LITTLE if method.startswith("drl") else {}
        one = cell("rollouts", method, "maze", 1, **options)
        if options:
            found: Any = do(ready(one, tmp_path)).values
        else:
            (needed,) = FIGURES["rollouts"].needs(one)
            program = "DEF run m( move m)"
            found = values_of(one, came_to(needed, program=program, **{"return": 0.0}))
        starts[method] = found["frames"][0]["rows"], found["frames"][0]["karel"]
    expected = get("maze").worlds(1, UNSEEN_SEEDS + 1).world(0)
    assert starts == dict.fromkeys(FIGURES["rollouts"].methods, (expected.rows(), list(expected.place)))


def test_states_after_success_are_not_shown() -> None:
    found = rolled_out(
        "four-corner",
        "DEF run m( WHILE c( frontIsClear c) w( WHILE c( frontIsClear c) w( move w) turnLeft pickMarker "
        "putMarker w) m)",
    )
    *before, last = (frame["value"] for frame in found["frames"])
    assert max(before) < last == 1.0
    assert found["frames"][-1]["actions"] < found["actions"] == get("four-corner").horizon()


@pytest.mark.parametrize("end", ["", "putMarker pickMarker"])
def test_rollout_without_success_is_shown_to_its_end(end: str) -> None:
    program = f"DEF run m( WHILE c( frontIsClear c) w( move w) turnLeft {end} m)"
    found = rolled_out("four-corner", program)
    assert found["frames"][-1]["actions"] == found["actions"] > 0
    assert found["frames"][-1]["value"] == 0.0


@needs_shipped_weights
@pytest.mark.parametrize("name", FIGURES)
def test_a_cells_file_is_small(name: str) -> None:
    task = FIGURES[name].tasks[-1]
    needed = []
    for other in FIGURES[name].needs(quick(name, task)):
        values = values_of(other)
        needed.append(came_to(other, **values))
    found = values_of(quick(name, task), *needed)
    assert len(json.dumps(found)) < 60_000
