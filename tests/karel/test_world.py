import numpy as np
import pytest

from leaps.karel.world import EAST, NORTH, WALL, World, Worlds, random_worlds

PICTURE = """
######
#.3..#
#.#A>#
######"""


def test_a_picture_round_trips() -> None:
    assert str(World.parse(PICTURE)) == PICTURE.strip()


def test_a_parsed_world_knows_walls_markers_and_karel() -> None:
    world = World.parse(PICTURE)
    assert world.ground[2, 2] == WALL
    assert (world.markers[1, 2], world.markers[2, 3]) == (3, 10)
    assert world.place == (2, 4, EAST)


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        ("####\n#..#\n####", "exactly one Karel .*found 0"),
        ("####\n#><#\n####", "exactly one Karel .*found 2"),
        ("", "exactly one Karel .*found 0"),
        ("####\n#>.#\n###", "row 2 has 3"),
        ("####\n#>?#\n####", "row 1 has '\\?'"),
        ("####\n#>..\n####", "border must be wall"),
        ("##\n>#\n##", "at least 3x3"),
    ],
)
def test_an_invalid_picture_raises_a_specific_error(picture: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        World.parse(picture)


def test_karel_inside_a_wall_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Karel at \(1, 1\) is inside a wall"):
        World.of(["####", "##.#", "####"], 1, 1, NORTH)


def test_karel_outside_the_world_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Karel at \(1, 9\) is outside the 3x4 world"):
        World.of(["####", "#..#", "####"], 1, 9, NORTH)


def test_random_worlds_follow_the_papers_densities() -> None:
    worlds = random_worlds(4000, seed=0)
    inner = worlds.ground[:, 1:-1, 1:-1] == WALL
    assert inner.mean() == pytest.approx(0.1, abs=0.005)
    assert worlds.markers[:, 1:-1, 1:-1][~inner].mean() == pytest.approx(0.1, abs=0.005)
    assert worlds.markers.max() == 1
    assert np.bincount(worlds.pose[:, 2], minlength=4) / 4000 == pytest.approx([0.25] * 4, abs=0.03)


def test_random_karel_never_stands_in_a_wall() -> None:
    worlds = random_worlds(2000, seed=1, size=(4, 4))
    rows, columns = worlds.pose[:, 0], worlds.pose[:, 1]
    assert (worlds.ground[np.arange(2000), rows, columns] != WALL).all()


def test_a_random_world_depends_on_seed_and_number_alone() -> None:
    ten, three = random_worlds(10, seed=5), random_worlds(3, seed=5, first=4)
    assert [str(ten.world(4 + i)) for i in range(3)] == [str(three.world(i)) for i in range(3)]
    assert str(random_worlds(1, seed=6).world(0)) != str(ten.world(0))


def test_worlds_can_be_stacked_taken_and_cloned() -> None:
    worlds = random_worlds(4, seed=2)
    again = Worlds.stack([worlds.world(i) for i in range(4)])
    assert str(again.take(np.array([3, 1])).world(0)) == str(worlds.world(3))
    clone = worlds.clone()
    clone.markers[:] = 7
    assert worlds.markers.max() <= 1
