import pytest

from leaps.karel.tasks.four_corner import FOUR_CORNER, value
from leaps.karel.world import World


@pytest.mark.parametrize(
    ("picture", "worth"),
    [
        ("#####\n#1.1#\n#.>.#\n#1.1#\n#####", 1.0),
        ("#####\n#1.1#\n#.>.#\n#..1#\n#####", 0.75),
        ("#####\n#1.2#\n#.>.#\n#1.1#\n#####", 0.75),
        ("#####\n#111#\n#.>.#\n#1.1#\n#####", 0.0),
        ("#####\n#...#\n#.>.#\n#...#\n#####", 0.0),
    ],
)
def test_a_state_is_worth_its_right_corners(picture: str, worth: float) -> None:
    world = World.parse(picture)
    assert value(world, world) == worth


def test_karel_starts_beside_the_bottom_left_corner() -> None:
    assert FOUR_CORNER.worlds(1, seed=0).world(0).place == (10, 2, 1)
