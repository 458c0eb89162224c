import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.executor import run
from leaps.karel.tasks.seesaw import GOAL, PICKS, SEESAW
from leaps.karel.world import EAST, KAREL, WALL, World, Worlds
from tests.karel.tasks.play import play

# Room, corridor and room are each 3 cells wide.
ROOMS = """
###########
#..1###...#
#.........#
#>........#
#...###...#
###########"""
FETCH = "move move turnLeft move move pickMarker "


def test_a_pick_makes_the_next_marker_appear_in_the_other_room() -> None:
    cells = set()
    for seed in range(200):
        world = play("seesaw", ROOMS, FETCH, seed=seed)[2]
        assert world.markers.sum() == 1
        ((row, column),) = np.argwhere(world.markers).tolist()
        cells.add((row, column))
    assert cells == {(row, column) for row in (1, 2, 3, 4) for column in (7, 8, 9)}


def test_a_pick_in_the_right_room_makes_one_appear_in_the_left() -> None:
    world = ROOMS.replace("1", ".").replace("#>........#", "#.......1>#")
    columns = set()
    for seed in range(100):
        left = play("seesaw", world, "turnLeft turnLeft move pickMarker", seed=seed)[2]
        columns |= {int(column) for _, column in np.argwhere(left.markers)}
    assert columns == {1, 2, 3}


def test_a_pick_pays_a_64th() -> None:
    assert play("seesaw", ROOMS, FETCH)[:2] == (1 / 64, Outcome.HALTED)
    assert play("seesaw", ROOMS, FETCH + "pickMarker")[0] == 1 / 64


def test_the_64th_pick_ends_the_rollout() -> None:
    start = SEESAW.prepare(World.parse(ROOMS))
    start.memory[PICKS] = GOAL - 1
    program = KAREL.compile(f"DEF run m( {FETCH} turnLeft m)")
    rollouts = run(program, Worlds.stack([start]), 99, SEESAW.hooks, want_final=True)
    assert rollouts.returns is not None
    assert rollouts.final is not None
    assert (rollouts.returns[0, 0], rollouts.outcome[0, 0]) == (1.0, Outcome.ENDED)
    assert rollouts.final.markers.sum() == 0


def test_putting_a_marker_changes_nothing() -> None:
    value, outcome, world = play("seesaw", ROOMS, "putMarker putMarker pickMarker")
    assert (value, outcome) == (0.0, Outcome.HALTED)
    assert str(world) == ROOMS.strip()


def test_all_worlds_begin_alike_with_two_rooms_and_a_corridor() -> None:
    worlds = SEESAW.worlds(50, seed=0)
    assert (worlds.pose == [8, 1, EAST]).all()
    assert [np.argwhere(markers).tolist() for markers in worlds.markers] == [[[6, 3]]] * 50
    free = np.argwhere(worlds.ground[0] != WALL).tolist()
    rooms = [[row, column] for row in range(6, 10) for column in (1, 2, 3, 4, 11, 12, 13, 14)]
    corridor = [[row, column] for row in (7, 8) for column in range(5, 11)]
    assert free == sorted(rooms + corridor)


def test_later_markers_differ_from_world_to_world_and_follow_from_the_seed() -> None:
    fetch = KAREL.compile("DEF run m( move move turnLeft move move pickMarker m)")
    finals = [
        run(fetch, SEESAW.worlds(50, seed), 9, SEESAW.hooks, want_final=True).final for seed in (3, 3, 4)
    ]
    first, again, other = (final.markers for final in finals if final is not None)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len({markers.tobytes() for markers in first}) > 10


@pytest.mark.parametrize(
    ("picture", "flaw"),
    [
        ("####\n#>1#\n####", "seesaw needs at least 6x11 cells .*, found 3x4"),
        (
            ROOMS.replace("###...#", "###..##", 1),
            "needs a room without walls in rows 1 to 4, columns 7 to 9, found a wall",
        ),
    ],
)
def test_a_world_without_the_rooms_is_refused(picture: str, flaw: str) -> None:
    with pytest.raises(ValueError, match=flaw):
        SEESAW.prepare(World.parse(picture))
