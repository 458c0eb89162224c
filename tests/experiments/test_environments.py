"""Programs and PPO are judged alike, in the environment itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.experiments.catalogue import EXPERIMENTS, TABLES
from leaps.experiments.cell import Result, cell
from leaps.experiments.computing import Job, do
from leaps.experiments.environments import EFFORTS, GOALS, NAME, Playing, judge, markdown, train
from leaps.experiments.store import Store
from leaps.gym import ProgramPolicy
from leaps.gym.known import TASKS

EXPERIMENT = EXPERIMENTS[NAME]
SWING = "DEF run m( IFELSE c( speed>0 c) i( pushRight i) ELSE e( pushLeft e) m)"


def test_every_known_environment_is_a_column_and_none_is_in_the_report() -> None:
    assert set(EXPERIMENT.tasks) == set(EFFORTS) == set(TASKS)
    assert NAME not in TABLES


def test_a_program_is_judged_in_the_environment_itself() -> None:
    task = TASKS["MountainCar-v0"]
    found = judge(task, Playing(ProgramPolicy(SWING, task)), 5)
    assert found["success"] == 1.0
    assert -200 < found["lowest"] <= found["return"] < -90
    idle = judge(task, Playing(ProgramPolicy("DEF run m( coast m)", task)), 2)
    assert (idle["return"], idle["success"]) == (-200.0, 0.0)


def test_success_in_minigrid_is_not_the_return() -> None:
    task = TASKS["MiniGrid-LavaGapS7-v0"]
    program = (
        "DEF run m( IF c( rightIsClear c) i( turnRight i) WHILE c( not c( frontIsClear c) c) w( turnLeft w) "
        "forward m)"
    )
    found = judge(task, Playing(ProgramPolicy(program, task)), 10)
    assert found["success"] == 1.0 > found["return"] > 0.8


@pytest.mark.parametrize("method", ["ladder", "ppo"])
def test_a_quick_cell_is_computed(method: str, tmp_path: Path) -> None:
    (cell,) = EXPERIMENT.cells([method], ["CartPole-v1"], 1, quick=True)
    values = do(Job(cell, EXPERIMENT.compute, work=tmp_path)).values
    assert values["return"] > 9
    assert values["steps"] > 1000
    assert ("program" in values) == (method == "ladder")
    if method == "ladder":
        assert values["evaluations"] >= 500


def test_a_training_counts_its_episodes() -> None:
    found = train("CartPole-v1", 0, 256)
    assert found.values["steps"] == 256
    assert 5 < found.episodes < 26  # of 8 to 500 steps, and 8 are not over
    assert found.act(np.zeros(4, np.float32)) in (0, 1)


def test_the_table_of_the_page_is_that_of_the_stored_results() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "your-own-environment.md").read_text()
    assert markdown(Store(root / "results", only_read=True).all(NAME)) in page


def stored(method: str, task: str, seed: int, **values: Any) -> Result:
    return Result(cell(NAME, method, task, seed), values, 1.0, "0.1.0")


SEARCHED = {"evaluations": 4000, "rollouts": 50_000, "steps": 1_000_000, "core_seconds": 61.4}


def test_a_row_averages_seeds_and_shows_the_lowest_and_highest() -> None:
    results = [
        stored(
            "hc", "MountainCar-v0", seed, **{"return": value, "success": success}, **SEARCHED, program=SWING
        )
        for seed, (value, success) in enumerate([(-110.0, 1.0), (-104.0, 1.0), (-116.0, 0.9)])
    ]
    assert markdown(results).splitlines()[2] == (
        "| MountainCar-v0 | hc | 3 | −110.0 (−116.0 to −104.0) | 0.966 (0.900 to 1.000) | 4,000 | 50,000 "
        "| 1,000,000 | 61 | ≥ −110.8: 2 of 3 |"
    )


def test_one_seed_has_no_range_and_a_training_no_evaluations() -> None:
    values = {"return": 0.9284, "success": 1.0, "steps": 100_352, "core_seconds": 38.2}
    lines = markdown([stored("ppo", "MiniGrid-DoorKey-5x5-v0", 0, **values)]).splitlines()
    assert lines[2] == (
        "| MiniGrid-DoorKey-5x5-v0 | ppo | 1 | 0.928 | 1.000 | – | – | 100,352 | 38 | success 1.000: 1 of 1 |"
    )


def test_a_single_failure_is_not_rounded_to_full_success() -> None:
    task = "MiniGrid-LavaGapS7-v0"
    values = {"return": 0.95, "success": 0.9999, **SEARCHED, "program": SWING}
    row = markdown([stored("ladder", task, 0, **values)]).splitlines()[2]
    assert "| 0.999 |" in row
    assert row.endswith("| success 1.000: 0 of 1 |")


def test_a_goal_for_the_published_seeds_is_not_counted_on_other_seeds() -> None:
    values = {"return": -80.0, "success": 1.0, **SEARCHED, "program": SWING}
    row = markdown([stored("ladder", "Acrobot-v1", 0, **values)]).splitlines()[2]
    assert row.endswith("| ≥ −84.7 on the published seeds |")


def test_the_program_of_the_best_seed_is_shown() -> None:
    worse, better = (
        stored(
            "ladder",
            "MountainCar-v0",
            seed,
            **{"return": value, "success": 1.0},
            **SEARCHED,
            program=f"DEF run m( {action} m)",
        )
        for seed, (value, action) in enumerate([(-120.0, "coast"), (-100.0, "pushLeft")])
    )
    text = markdown([worse, better])
    assert "MountainCar-v0: −100.0\n\n```\nDEF run m( pushLeft m)\n```" in text
    assert "coast" not in text


def test_every_environment_has_a_goal() -> None:
    assert set(GOALS) == set(EFFORTS)
