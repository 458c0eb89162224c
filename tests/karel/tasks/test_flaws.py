"""Worlds that are invalid for compiled code are detected."""

import numpy as np
import pytest

from leaps.karel.tasks.flaws import flaw_of
from leaps.karel.world import EXIT, FLOOR, WALL, World, random_worlds


def room() -> World:
    return World.parse("#####\n#>.1#\n#...#\n#####")


def test_a_valid_world_has_no_flaw() -> None:
    assert flaw_of(room()) is None
    worlds = random_worlds(200, seed=0, size=(5, 7))
    assert all(flaw_of(worlds.world(number)) is None for number in range(200))


def test_an_exit_within_the_border_is_valid() -> None:
    world = room()
    world.ground[2, 2] = EXIT
    world.markers[1, 3] = 10
    assert flaw_of(world) is None


@pytest.mark.parametrize("cell", [(0, 0), (0, 2), (3, 4), (3, 1), (1, 0), (2, 4)])
@pytest.mark.parametrize("ground", [FLOOR, EXIT])
def test_every_cell_of_the_border_must_be_wall(cell: tuple[int, int], ground: int) -> None:
    world = room()
    world.ground[cell] = ground
    message = flaw_of(world)
    assert message is not None
    assert "expected wall all around" in message
    assert message.endswith(f"found none at {cell}")


@pytest.mark.parametrize("place", [(0, 0), (0, 2), (3, 1), (2, 4), (-1, 1), (1, -1), (4, 1), (1, 2**40)])
def test_karel_must_be_within_the_border(place: tuple[int, int]) -> None:
    world = room()
    world.pose[:2] = place
    message = flaw_of(world)
    assert message is not None
    assert message.endswith(f"found it at {place}")


def test_karel_must_not_stand_in_a_wall() -> None:
    world = room()
    world.ground[1, 1] = WALL
    message = flaw_of(world)
    assert message is not None
    assert message.endswith("found it in a wall at (1, 1)")


@pytest.mark.parametrize("heading", [-1, 4])
def test_a_heading_is_one_of_four(heading: int) -> None:
    world = room()
    world.pose[2] = heading
    assert flaw_of(world) == f"expected a heading from 0 to 3, found {heading}"


def test_a_cell_holds_ten_markers_at_most() -> None:
    world = room()
    world.markers[2, 3] = 11
    assert flaw_of(world) == "expected 0 to 10 markers in a cell, found 11 at (2, 3)"


def test_there_are_three_kinds_of_ground() -> None:
    world = room()
    world.ground[2, 2] = np.uint8(3)
    assert flaw_of(world) == "expected ground that is FLOOR, WALL or EXIT, found 3 at (2, 2)"
