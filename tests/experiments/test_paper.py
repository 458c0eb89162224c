"""The paper's numbers fit the experiments that they stand beside."""

import pytest

from leaps.dsl.text import parse
from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.computing import SIZES
from leaps.experiments.paper import INTERPOLATIONS, REPORTED, TRAJECTORIES
from leaps.karel.world import LANGUAGE


@pytest.mark.parametrize("name", REPORTED)
def test_every_number_has_a_column_of_its_experiment(name: str) -> None:
    for method, row in REPORTED[name].items():
        partial = method in ("drl-fcn", "ppo-last-action")
        unreported = {"clean-house", "clean-house~100"} if partial else set()
        assert set(row) == set(EXPERIMENTS[name].tasks) - unreported


@pytest.mark.parametrize("name", REPORTED)
def test_rows_of_an_experiment_are_reported_but_for_this_projects_own(name: str) -> None:
    rows = {row for row in EXPERIMENTS[name].methods if not row.startswith(("leaps+", "in-"))}
    unreported = {"ladder", *SIZES} | ({"ppo-last-action"} if name == "unseen" else set())
    assert rows - unreported <= set(REPORTED[name])


def test_known_reported_numbers() -> None:
    assert REPORTED["tasks"]["leaps"]["top-off"] == (0.81, 0.07)
    assert REPORTED["tasks"]["drl-fcn"]["four-corner"] == (0.20, 0.34)
    assert REPORTED["tasks"]["hrl"]["stair-climber"] == (-0.51, 0.17)
    assert REPORTED["reconstruction"]["leaps"]["WHILE+2IF+IFELSE"] == (0.57, 0.23)
    assert REPORTED["generalization"]["viper"]["harvester"] == (0.04, 0.00)
    assert REPORTED["generalization"]["ppo-last-action"]["harvester"] == (0.04, None)
    assert REPORTED["generalization"]["drl"]["top-off"] == (0.01, 0.01)
    assert REPORTED["smoothness"]["leaps"]["test"].deviation is None


@pytest.mark.parametrize("pair", EXPERIMENTS["interpolation"].tasks)
def test_reported_interpolation_has_eight_steps(pair: str) -> None:
    programs = INTERPOLATIONS[pair]
    assert len(programs) == 10
    assert all(parse(program, LANGUAGE) for program in programs)
    assert programs[0] != programs[-1]


def test_trajectory_tasks_match_the_papers() -> None:
    assert set(TRAJECTORIES) == set(EXPERIMENTS["cem-trajectory"].tasks)
