import numpy as np
import pytest

from leaps.karel.tasks.clean_house import CLEAN_HOUSE, PLAN
from leaps.karel.world import WALL
from tests.karel.tasks.play import play


def test_the_flat_is_always_the_same() -> None:
    worlds = CLEAN_HOUSE.worlds(50, seed=0)
    plan = np.array([[cell == "#" for cell in line] for line in PLAN])
    assert ((worlds.ground == WALL) == plan).all()
    assert (worlds.pose == [1, 13, 2]).all()


def test_ten_cells_along_the_walls_are_littered() -> None:
    worlds = CLEAN_HOUSE.worlds(2000, seed=1)
    assert (worlds.markers[:, 2, 12] == 2).all()
    litter = worlds.markers == 1
    assert (litter.sum(axis=(1, 2)) == 10).all()
    _, rows, columns = litter.nonzero()
    assert columns.min() >= 1
    assert columns.max() <= 12
    cells = set(zip(rows.tolist(), columns.tolist(), strict=True))
    assert not cells & {(2, 12), (3, 10), (4, 11), (5, 11), (6, 10)}
    for row, column in cells:
        around = PLAN[row - 1][column] + PLAN[row + 1][column] + PLAN[row][column - 1] + PLAN[row][column + 1]
        assert "#" in around
    assert len(cells) > 60


def test_a_state_is_worth_the_share_of_clean_cells() -> None:
    world = CLEAN_HOUSE.worlds(1, seed=2).world(0)
    world.markers[world.markers == 1] = 0
    world.markers[2, 13] = world.markers[3, 13] = 1
    assert play("clean-house", world, "turnLeft")[0] == 0.0
    assert play("clean-house", world, "move pickMarker")[0] == pytest.approx(0.5)
    assert play("clean-house", world, "move pickMarker move pickMarker")[0] == 1.0
    assert play("clean-house", world, "move pickMarker putMarker")[0] == 0.0


def test_no_other_size_is_possible() -> None:
    with pytest.raises(ValueError, match="a fixed size of 14x22; found 30x30"):
        CLEAN_HOUSE.worlds(1, seed=0, size=(30, 30))
