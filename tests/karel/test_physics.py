"""Each action and each perception, on worlds drawn as pictures."""

import pytest

from leaps.dsl.syntax import Condition
from leaps.karel.interpreter import apply, holds
from leaps.karel.physics import FAILED, MOVED, PICKED, PUT, TURNED
from leaps.karel.world import MOVE, PICK_MARKER, PUT_MARKER, TURN_LEFT, TURN_RIGHT, World


def after(picture: str, *actions: int) -> str:
    world = World.parse(picture)
    for action in actions:
        apply(world, action)
    return str(world)


def test_move_goes_one_cell_ahead() -> None:
    assert after("#####\n#>..#\n#####", MOVE) == "#####\n#.>.#\n#####"


def test_a_blocked_move_turns_karel_around() -> None:
    assert after("####\n#.>#\n####", MOVE) == "####\n#.<#\n####"


@pytest.mark.parametrize(("before", "left", "right"), ["^<>", ">^v", "v><", "<v^"])
def test_turns_are_quarter_turns(before: str, left: str, right: str) -> None:
    assert after(f"###\n#{before}#\n###", TURN_LEFT) == f"###\n#{left}#\n###"
    assert after(f"###\n#{before}#\n###", TURN_RIGHT) == f"###\n#{right}#\n###"


def test_markers_are_put_and_picked() -> None:
    assert after("####\n#>.#\n####", PUT_MARKER, PUT_MARKER, PICK_MARKER, MOVE) == "####\n#1>#\n####"


def test_a_cell_holds_at_most_ten_markers() -> None:
    assert after("####\n#>.#\n####", *[PUT_MARKER] * 12, MOVE) == "####\n#A>#\n####"


def test_an_action_reports_its_change() -> None:
    world = World.parse("####\n#>.#\n####")
    changes = [
        apply(world, action) for action in (TURN_LEFT, PICK_MARKER, PUT_MARKER, PICK_MARKER, MOVE, MOVE)
    ]
    assert changes == [TURNED, FAILED, PUT, PICKED, FAILED, FAILED]
    assert apply(World.parse("####\n#>.#\n####"), MOVE) == MOVED


def test_an_eleventh_marker_fails() -> None:
    world = World.parse("####\n#>.#\n####")
    assert [apply(world, PUT_MARKER) for _ in range(11)] == [PUT] * 10 + [FAILED]


@pytest.mark.parametrize(
    ("picture", "front", "left", "right"),
    [
        ("####\n#..#\n#>.#\n####", True, True, False),
        ("####\n#..#\n#^.#\n####", True, False, True),
        ("####\n#.<#\n#..#\n####", True, True, False),
        ("####\n#.v#\n#.##\n####", False, False, True),
    ],
)
def test_karel_looks_to_the_front_left_and_right(picture: str, front: bool, left: bool, right: bool) -> None:
    world = World.parse(picture)
    seen = tuple(holds(Condition(f"{side}IsClear"), world) for side in ("front", "left", "right"))
    assert seen == (front, left, right)


def test_markers_present_looks_under_karel() -> None:
    world = World.parse("####\n#>1#\n####")
    assert holds(Condition("noMarkersPresent"), world)
    apply(world, MOVE)
    assert holds(Condition("markersPresent"), world)
    assert not holds(Condition("markersPresent", negated=True), world)
