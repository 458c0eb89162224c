import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.tasks.door_key import DOOR_KEY
from leaps.karel.world import WALL, World
from tests.karel.tasks.play import play

ROOMS = """
########
#...#..#
#.>1#.1#
#...#..#
#...#..#
#...#..#
#...#..#
########"""


def test_the_key_pays_half_and_opens_the_door() -> None:
    value, outcome, world = play("door-key", ROOMS, "move pickMarker")
    assert (value, outcome) == (0.5, Outcome.HALTED)
    assert world.rows()[1:5] == ["#...#..#", "#.....1#", "#......#", "#...#..#"]


def test_a_second_marker_on_the_goal_pays_the_other_half_and_ends() -> None:
    assert play("door-key", ROOMS, "move pickMarker move move move putMarker move")[:2] == (
        1.0,
        Outcome.ENDED,
    )


def test_a_marker_put_anywhere_else_costs_one_and_ends() -> None:
    assert play("door-key", ROOMS, "putMarker move")[:2] == (-1.0, Outcome.ENDED)
    assert play("door-key", ROOMS, "move putMarker move")[:2] == (-1.0, Outcome.ENDED)
    assert play("door-key", ROOMS, "move pickMarker move putMarker move")[:2] == (-0.5, Outcome.ENDED)


def test_picking_the_goal_up_costs_one_and_ends() -> None:
    assert play("door-key", ROOMS, "move pickMarker move move move pickMarker move")[:2] == (
        -0.5,
        Outcome.ENDED,
    )


def test_the_door_is_shut_without_the_key() -> None:
    assert play("door-key", ROOMS, "move move")[2].place == (2, 3, 3)


def test_key_and_karel_are_left_and_the_goal_right_of_the_wall() -> None:
    worlds = DOOR_KEY.worlds(3000, seed=0)
    assert (worlds.ground[:, :, 4] == WALL).all()
    left, right = worlds.markers[:, :, 1:4], worlds.markers[:, :, 5:7]
    assert (left.sum(axis=(1, 2)) == 1).all()
    assert (right.sum(axis=(1, 2)) == 1).all()
    assert (worlds.pose[:, 1] <= 3).all()
    assert (worlds.markers[np.arange(3000), worlds.pose[:, 0], worlds.pose[:, 1]] == 0).all()
    assert (left.sum(axis=0)[1:-1] > 0).all()
    assert (right.sum(axis=0)[1:-1] > 0).all()


def test_a_world_without_room_for_the_door_is_refused() -> None:
    """It would open in the border, or outside of the world."""
    with pytest.raises(ValueError, match=r"door-key needs at least 6x6 cells .*, found 3x5"):
        DOOR_KEY.prepare(World.parse("#####\n#>1.#\n#####"))
