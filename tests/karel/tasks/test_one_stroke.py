import pytest

from leaps.domain import Outcome
from leaps.karel.tasks.one_stroke import ONE_STROKE
from tests.karel.tasks.play import play

ROOM = "####\n#>.#\n#..#\n####"


def test_the_cell_that_karel_leaves_becomes_a_wall() -> None:
    value, outcome, world = play("one-stroke", ROOM, "move turnRight")
    assert str(world) == "####\n##v#\n#..#\n####"
    assert value == pytest.approx(1 / 3)
    assert outcome == Outcome.HALTED


def test_leaving_all_cells_but_the_last_pays_one_and_ends() -> None:
    actions = "move turnRight move turnRight move turnLeft"
    assert play("one-stroke", ROOM, actions)[:2] == (1.0, Outcome.ENDED)


def test_a_blocked_move_leaves_nothing() -> None:
    assert play("one-stroke", ROOM, "turnLeft move")[0] == 0.0


def test_karel_starts_anywhere() -> None:
    worlds = ONE_STROKE.worlds(1000, seed=0)
    assert len({tuple(place) for place in worlds.pose.tolist()}) == 36
