import pytest

from leaps.domain import Outcome
from leaps.karel.tasks.seeder import SEEDER
from tests.karel.tasks.play import play

ROOM = "#####\n#.>.#\n#...#\n#####"


@pytest.mark.parametrize(
    ("actions", "worth", "outcome"),
    [
        ("putMarker", 1 / 6, Outcome.HALTED),
        ("putMarker move putMarker", 2 / 6, Outcome.HALTED),
        ("putMarker move putMarker putMarker move", 2 / 6 - 1, Outcome.ENDED),
        ("putMarker pickMarker move", 1 / 6 - 1, Outcome.ENDED),
        ("pickMarker", 0.0, Outcome.HALTED),
    ],
)
def test_a_state_is_worth_the_seeded_cells(actions: str, worth: float, outcome: Outcome) -> None:
    value, end, _ = play("seeder", ROOM, actions)
    assert value == pytest.approx(worth)
    assert end == outcome


def test_a_full_room_ends_the_rollout() -> None:
    corner = "####\n#>.#\n#..#\n####"
    around = "putMarker move turnRight putMarker move turnRight putMarker move turnRight putMarker"
    assert play("seeder", corner, around + " putMarker")[:2] == (1.0, Outcome.ENDED)


def test_karel_starts_away_from_the_side_walls() -> None:
    worlds = SEEDER.worlds(2000, seed=0)
    assert set(worlds.pose[:, 1].tolist()) == {2, 3, 4, 5}
    assert set(worlds.pose[:, 0].tolist()) == {1, 2, 3, 4, 5, 6}
    assert worlds.markers.sum() == 0
