import pytest

from leaps.domain import Outcome
from leaps.karel.tasks.wall_avoider import CELLS, WALL_AVOIDER
from leaps.karel.world import World
from tests.karel.tasks.play import play

ROOM = "######\n#....#\n#.>..#\n#....#\n######"


@pytest.mark.parametrize(
    ("actions", "worth", "outcome"),
    [
        ("putMarker", 1 / 2, Outcome.HALTED),
        ("putMarker move putMarker turnLeft", 1.0, Outcome.ENDED),
        ("putMarker putMarker turnLeft", 1 / 2 - 1, Outcome.ENDED),
        ("putMarker pickMarker turnLeft", 1 / 2 - 1, Outcome.ENDED),
        ("putMarker turnLeft move putMarker turnLeft", 1 / 2 - 1, Outcome.ENDED),
        ("pickMarker move move turnLeft", 0.0, Outcome.HALTED),
    ],
)
def test_a_state_is_worth_the_inner_cells_marked(actions: str, worth: float, outcome: Outcome) -> None:
    assert play("wall-avoider", ROOM, actions)[:2] == (worth, outcome)


def test_cells_next_to_a_wall_inside_the_room_do_not_count() -> None:
    world = World.parse("######\n#....#\n#.>..#\n#....#\n#.#..#\n#....#\n######")
    inner = [(2, 2), (2, 3), (3, 3)]  # (3, 2) and (4, 3) touch the wall in the room
    assert WALL_AVOIDER.prepare(world).memory[CELLS] == len(inner)


def test_karel_starts_on_any_cell_facing_anywhere() -> None:
    worlds = WALL_AVOIDER.worlds(3000, seed=0)
    assert worlds.size == (8, 5)
    assert len({tuple(pose) for pose in worlds.pose.tolist()}) == 6 * 3 * 4
    assert worlds.markers.sum() == 0
    assert set(worlds.memory[:, CELLS].tolist()) == {4}
