import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.tasks.stair_climber import STAIR_CLIMBER
from tests.karel.tasks.play import play

STAIRS = """
######
#...1#
#...##
#.>###
#.####
######"""


def test_reaching_the_marker_pays_one_and_ends() -> None:
    assert play("stair-climber", STAIRS, "turnLeft move turnRight move turnLeft move turnRight move")[:2] == (
        1.0,
        Outcome.ENDED,
    )


def test_stepping_off_the_stairs_costs_one_and_ends() -> None:
    assert play("stair-climber", STAIRS, "turnLeft move move")[:2] == (-1.0, Outcome.ENDED)


def test_the_cell_above_a_step_is_on_the_stairs() -> None:
    assert play("stair-climber", STAIRS, "turnLeft move")[:2] == (0.0, Outcome.HALTED)


def test_walking_down_the_stairs_is_allowed() -> None:
    assert play("stair-climber", STAIRS, "turnLeft turnLeft move turnLeft move")[:2] == (0.0, Outcome.HALTED)


CLIMB = "turnLeft move turnRight move turnLeft move turnRight move"
BACK = "turnLeft turnLeft move"


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (CLIMB, 1.0),
        (f"{CLIMB} {BACK}", 0.0),  # away again
        (f"{CLIMB} {BACK} {BACK}", 0.0),  # on the marker, but not for the first time
        (f"{CLIMB} putMarker", 0.0),  # an action too many
        (f"{CLIMB} turnLeft", 0.0),
        (f"{CLIMB} turnLeft turnLeft turnLeft turnLeft", 0.0),
        (f"{CLIMB} pickMarker pickMarker", 0.0),
        (f"{CLIMB} turnRight move", 0.0),  # into the wall
        ("turnLeft move move turnRight move move", 1.0),  # off the stairs on the way, which costs nothing
        ("turnLeft move move", 0.0),
    ],
)
def test_as_run_only_the_last_action_may_reach_the_marker_and_leaving_the_stairs_is_free(
    actions: str, expected: float
) -> None:
    assert play("stair-climber-as-run", STAIRS, actions)[:2] == (expected, Outcome.HALTED)


def test_karel_starts_below_the_marker_anywhere_on_the_stairs() -> None:
    worlds = STAIR_CLIMBER.worlds(2000, seed=0)
    _, rows, columns = (worlds.markers > 0).nonzero()
    assert len(rows) == 2000
    assert (rows == 11 - columns).all()
    assert (worlds.pose[:, 0] == 11 - worlds.pose[:, 1]).all()
    assert (columns > worlds.pose[:, 1]).all()
    assert set(np.unique(worlds.pose[:, 1])) == set(range(1, 10))
    assert set(np.unique(columns)) == set(range(2, 11))


def test_the_first_world_looks_like_stairs() -> None:
    world = STAIR_CLIMBER.worlds(1, seed=0, size=(6, 6)).world(0)
    assert [row.replace("1", ".") for row in world.rows()] == [
        "######",
        "#....#",
        "#...##",
        "#..###",
        "#.####",
        "######",
    ]
