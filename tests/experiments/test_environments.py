"""Programs and PPO are judged alike, in the environment itself."""

from pathlib import Path

import pytest

from leaps.experiments.catalogue import EXPERIMENTS, TABLES
from leaps.experiments.computing import Job, do
from leaps.experiments.environments import EFFORTS, NAME, Playing, judge, markdown
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


def test_the_table_of_the_page_is_that_of_the_stored_results() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "your-own-environment.md").read_text()
    assert markdown(Store(root / "results", only_read=True).all(NAME)) in page
