import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.executor import run
from leaps.karel.tasks.inf_door_key import INF_DOOR_KEY, STEPS, STEPS_WANTED
from leaps.karel.world import EAST, KAREL, WALL, World, Worlds
from tests.karel.tasks.play import play

ROOMS = """
########
#...#..#
#>1.#1.#
#...#..#
########
#...#..#
#1..#.1#
########"""
KEY_1 = "move pickMarker "
TARGET_1 = KEY_1 + "move move move putMarker "
KEY_2 = TARGET_1 + "move turnRight move move move move pickMarker "
TARGET_2 = KEY_2 + "turnRight move move move move move putMarker "


@pytest.mark.parametrize(
    ("actions", "steps", "door", "markers"),
    [
        ("move", 0, [], [(2, 2), (2, 5), (6, 1), (6, 6)]),
        (KEY_1, 1, [(2, 4)], [(2, 5), (6, 1), (6, 6)]),
        (TARGET_1, 2, [(4, 6)], [(6, 1), (6, 6)]),
        (KEY_2, 3, [(6, 4)], [(6, 1)]),
        (TARGET_2, 4, [(4, 2)], [(2, 2)]),
    ],
)
def test_each_step_opens_the_next_door_and_closes_the_last(
    actions: str, steps: int, door: list[tuple[int, int]], markers: list[tuple[int, int]]
) -> None:
    value, outcome, world = play("inf-door-key", ROOMS, actions)
    assert value == pytest.approx(steps / 100)
    assert outcome == Outcome.HALTED
    closed = INF_DOOR_KEY.prepare(World.parse(ROOMS)).ground == WALL
    assert [tuple(cell) for cell in np.argwhere(closed & (world.ground != WALL)).tolist()] == door
    assert [tuple(cell) for cell in np.argwhere(world.markers).tolist()] == markers


@pytest.mark.parametrize(
    "actions",
    [
        "putMarker",
        "move putMarker",  # on the key
        KEY_1 + "putMarker",  # not on the target
        KEY_1 + "pickMarker",
        KEY_1 + "move move move pickMarker",  # the target, which is not a key
    ],
)
def test_other_actions_do_not_count_as_a_step(actions: str) -> None:
    value, outcome, world = play("inf-door-key", ROOMS, actions)
    assert value == (0.01 if actions.startswith(KEY_1) else 0.0)
    assert outcome == Outcome.HALTED
    assert world.markers.max() == 1


def test_a_target_whose_marker_was_picked_up_still_counts() -> None:
    assert play("inf-door-key", ROOMS, KEY_1 + "move move move pickMarker putMarker")[0] == 0.02


def test_the_second_round_has_its_markers_where_the_first_had() -> None:
    again = TARGET_2 + "turnRight move turnRight move turnLeft move move move pickMarker"
    value, _, world = play("inf-door-key", ROOMS, again)
    assert value == 0.05
    assert np.argwhere(world.markers).tolist() == [[2, 5]]


def test_the_hundredth_step_ends_the_rollout() -> None:
    start = INF_DOOR_KEY.prepare(World.parse(ROOMS))
    start.memory[STEPS] = STEPS_WANTED - 4
    rollouts = run(
        KAREL.compile(f"DEF run m( {TARGET_2} turnLeft m)"), Worlds.stack([start]), 99, INF_DOOR_KEY.hooks
    )
    assert rollouts.returns is not None
    assert (rollouts.returns[0, 0], rollouts.outcome[0, 0]) == (1.0, Outcome.ENDED)


def test_karel_and_the_four_markers_start_anywhere_in_their_rooms() -> None:
    worlds = INF_DOOR_KEY.worlds(3000, seed=0)
    assert {tuple(pose) for pose in worlds.pose.tolist()} == {(r, c, EAST) for r in (1, 2) for c in (1, 2)}
    top, bottom, left, right = slice(1, 4), slice(5, 7), slice(1, 4), slice(5, 7)
    for rows, columns in ((top, left), (top, right), (bottom, right), (bottom, left)):
        room = worlds.markers[:, rows, columns]
        assert (room.sum(axis=(1, 2)) == 1).all()
        assert (room.sum(axis=0) > 0).all()
    assert (worlds.ground[:, 4, :] == WALL).all()
    assert (worlds.ground[:, :, 4] == WALL).all()


@pytest.mark.parametrize(
    ("picture", "flaw"),
    [
        ("####\n#>1#\n####", "inf-door-key needs at least 6x6 cells .*, found 3x4"),
        (ROOMS.replace("#1..#.1#", "#1..#..#"), "found 0 in the bottom right one"),
        (ROOMS.replace("#...#..#", "#1..#..#", 1), "found 2 in the top left one"),
    ],
)
def test_a_world_without_its_four_markers_is_refused(picture: str, flaw: str) -> None:
    with pytest.raises(ValueError, match=flaw):
        INF_DOOR_KEY.prepare(World.parse(picture))
