import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.executor import run
from leaps.karel.tasks.up_n_down import COLUMN, GOALS, REACHED, ROW, UP_N_DOWN, move_goal
from leaps.karel.world import EAST, KAREL, WALL, World, Worlds
from tests.karel.tasks.play import play

STAIRS = """
######
#...1#
#...##
#.>###
#.####
######"""
UP = "turnLeft move turnRight move "


def test_a_goal_pays_a_hundredth_and_moves_down() -> None:
    cells = set()
    for seed in range(200):
        value, outcome, world = play("up-n-down", STAIRS, UP + UP, seed=seed)
        assert (value, outcome) == (0.01, Outcome.HALTED)
        ((row, column),) = np.argwhere(world.markers).tolist()
        cells.add((row, column))
    assert cells == {(2, 3), (2, 2), (3, 2), (3, 1), (4, 1)}  # all stair cells below row 1


def test_goals_alternate_between_strictly_below_and_strictly_above() -> None:
    world = UP_N_DOWN.prepare(World.parse(STAIRS))
    for reached in range(1, 500):
        before = int(world.memory[ROW])
        world.memory[REACHED] = reached
        move_goal(world)
        row, column = world.memory[ROW], world.memory[COLUMN]
        assert (row > before) if reached % 2 else (row < before)
        assert 5 - row - column in (0, 1)  # on a step, or the cell above one
        assert np.argwhere(world.markers).tolist() == [[row, column]]


def test_a_move_above_the_stairs_costs() -> None:
    north = "turnLeft move "  # onto the cell above the step, which is a stair cell
    assert play("up-n-down", STAIRS, north)[0] == 0.0
    assert play("up-n-down", STAIRS, north + "move")[0] == pytest.approx(-0.0005)
    assert play("up-n-down", STAIRS, north + "move turnLeft turnLeft")[0] == pytest.approx(-0.0005)
    assert play("up-n-down", STAIRS, north + "move turnLeft move")[0] == pytest.approx(-0.001)


def test_no_state_is_worth_less_than_minus_one() -> None:
    stray = "turnLeft move move WHILE c( noMarkersPresent c) w( turnLeft move w)"
    value, outcome, _ = play("up-n-down", STAIRS, stray, horizon=10_000)
    assert (value, outcome) == (-1.0, Outcome.CUT_OFF)


def test_the_hundredth_goal_ends_the_rollout() -> None:
    start = UP_N_DOWN.prepare(World.parse(STAIRS))
    start.memory[REACHED] = GOALS - 1
    rollouts = run(
        KAREL.compile(f"DEF run m( {UP + UP} turnLeft m)"), Worlds.stack([start]), 99, UP_N_DOWN.hooks
    )
    assert rollouts.returns is not None
    assert (rollouts.returns[0, 0], rollouts.outcome[0, 0], rollouts.steps[0, 0]) == (1.0, Outcome.ENDED, 8)


def test_all_worlds_begin_alike_with_the_goal_on_the_top_step() -> None:
    worlds = UP_N_DOWN.worlds(50, seed=0)
    assert (worlds.pose == [5, 2, EAST]).all()
    assert [np.argwhere(markers).tolist() for markers in worlds.markers] == [[[1, 6]]] * 50
    rows, columns = np.indices((8, 8))
    inside = (rows > 0) & (columns > 0) & (rows + columns <= 7)
    assert ((worlds.ground[0] != WALL) == inside).all()


@pytest.mark.parametrize(
    ("picture", "flaw"),
    [
        ("####\n#>1#\n####", "up-n-down needs at least 5x5 cells .*, found 3x4"),
        (STAIRS.replace("#...##", "#..###"), r"found a wall at \(2, 3\)"),
        (STAIRS.replace("1", "."), r"needs one marker, on the stairs .*, found markers at \[\]"),
        (STAIRS.replace("#...1#", "#1...#"), r"found markers at \[\(1, 1\)\]"),
        (STAIRS.replace("1", ".").replace("#.####", "#1####"), r"found markers at \[\(4, 1\)\]"),
    ],
)
def test_a_world_where_the_goal_cannot_move_is_refused(picture: str, flaw: str) -> None:
    with pytest.raises(ValueError, match=flaw):
        UP_N_DOWN.prepare(World.parse(picture))
