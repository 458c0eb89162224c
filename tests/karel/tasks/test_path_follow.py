import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.tasks.path_follow import PATH_FOLLOW
from leaps.karel.world import EXIT, NORTH, World
from tests.karel.tasks.play import play

ROWS = ["######", "#...1#", "#.111#", "#.1..#", "#11..#", "######"]  # 7 markers
START = World.of(ROWS, 4, 1, NORTH)


@pytest.mark.parametrize(
    ("actions", "worth", "outcome"),
    [
        ("pickMarker", 1 / 7, Outcome.HALTED),
        ("pickMarker pickMarker", 1 / 7, Outcome.HALTED),
        ("pickMarker turnRight move pickMarker", 2 / 7, Outcome.HALTED),
        ("pickMarker move turnRight move pickMarker", 2 / 7, Outcome.HALTED),  # (3, 1) is next to the path
        ("pickMarker move move move", 1 / 7 - 1, Outcome.ENDED),  # (2, 1) is next to it, (1, 1) is not
        ("pickMarker putMarker turnRight", 1 / 7 - 1, Outcome.ENDED),
        ("putMarker turnRight", -1.0, Outcome.ENDED),
    ],
)
def test_a_state_is_worth_the_markers_picked(actions: str, worth: float, outcome: Outcome) -> None:
    value, end, _ = play("path-follow", START, actions)
    assert value == pytest.approx(worth)
    assert end == outcome


def test_picking_the_last_marker_ends_the_rollout() -> None:
    east, north = "pickMarker turnRight move turnLeft ", "pickMarker move "
    walk = east + north + north + east + east + north + "pickMarker turnLeft"
    value, outcome, world = play("path-follow", START, walk)
    assert (value, outcome) == (1.0, Outcome.ENDED)
    assert world.markers.sum() == 0


def test_cells_away_from_the_path_end_a_rollout() -> None:
    exits = np.argwhere(PATH_FOLLOW.prepare(START).ground == EXIT).tolist()
    assert exits == [[1, 1], [4, 4]]


def test_a_path_leads_up_or_right_from_corner_to_corner() -> None:
    worlds = PATH_FOLLOW.worlds(500, seed=0)
    assert (worlds.pose == [6, 1, NORTH]).all()
    for number in range(worlds.count):
        cells = sorted(np.argwhere(worlds.markers[number]).tolist(), key=lambda cell: cell[1] - cell[0])
        assert cells[0] == [6, 1]
        assert cells[-1] == [1, 6]
        steps = np.diff(cells, axis=0).tolist()
        assert all(step in ([-1, 0], [0, 1]) for step in steps)
    assert worlds.markers.max() == 1


def test_every_order_of_the_steps_is_equally_likely() -> None:
    worlds = PATH_FOLLOW.worlds(6000, seed=1, size=(5, 5))  # 2 up and 2 right: 6 orders
    _, counts = np.unique(worlds.markers.reshape(6000, -1), axis=0, return_counts=True)
    assert len(counts) == 6
    assert (abs(counts - 1000) < 150).all()
