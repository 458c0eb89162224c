import numpy as np
import pytest

from leaps.domain import Outcome
from leaps.karel.executor import run
from leaps.karel.tasks.farmer import FARMER, HARVESTING, HARVESTS, PLANTED, ROUNDS
from leaps.karel.world import EAST, KAREL, World, Worlds
from tests.karel.tasks.play import play

FIELD = """
#####
#..1#
#...#
#>..#
#####"""  # 9 cells: the harvest may begin at 2/3 of them, 6 markers
ROW = "putMarker move putMarker move putMarker "
PLANT = ROW + "turnLeft move turnLeft " + ROW  # 6 of them, and 1 was there
COUNTED = 1 / (2 * ROUNDS * 9)


@pytest.mark.parametrize(
    ("actions", "count", "markers"),
    [
        ("putMarker", 1, 2),
        ("putMarker putMarker putMarker", 1, 2),  # a second marker in a cell
        ("putMarker pickMarker", 1, 2),  # too early for the harvest
        (PLANT, 6, 7),
        (PLANT + "pickMarker", 7, 6),
        (PLANT + "pickMarker putMarker", 7, 6),  # no planting during the harvest
        (PLANT + "pickMarker turnLeft turnLeft move pickMarker move pickMarker", 9, 4),
    ],
)
def test_puts_and_picks_count_when_they_fit(actions: str, count: int, markers: int) -> None:
    value, outcome, world = play("farmer", FIELD, actions)
    assert value == pytest.approx(count * COUNTED)
    assert outcome == Outcome.HALTED
    assert world.markers.sum() == markers == world.memory[PLANTED]


def test_the_harvest_may_begin_with_two_thirds_of_a_3x3_field_planted() -> None:
    five = ROW + "turnLeft move turnLeft putMarker "  # 4, and 1 was there
    assert play("farmer", FIELD, five + "pickMarker")[2].memory[HARVESTING] == 0
    six = five + "move putMarker "
    assert play("farmer", FIELD, six + "pickMarker")[2].memory[HARVESTING] == 1


def test_the_harvest_may_begin_with_30_of_36_markers() -> None:
    for planted, begins in ((29, 0), (30, 1)):
        world = FARMER.worlds(1, seed=0).world(0)
        world.markers[1:-1, 1:-1].flat[:planted] = 1
        start = FARMER.prepare(world)
        start.pose[:] = 1, 1, EAST
        final = run(
            KAREL.compile("DEF run m( pickMarker m)"),
            Worlds.stack([start]),
            9,
            FARMER.hooks,
            want_final=True,
        ).final
        assert final is not None
        assert final.memory[0, HARVESTING] == begins


def almost_harvested(harvests: int) -> World:
    start = FARMER.prepare(World.parse(FIELD))
    start.markers[:] = 0
    start.markers[3, 1] = 1
    start.memory[PLANTED], start.memory[HARVESTING], start.memory[HARVESTS] = 1, 1, harvests
    return start


def test_an_empty_field_begins_the_next_round() -> None:
    final = run(
        KAREL.compile("DEF run m( pickMarker putMarker m)"),
        Worlds.stack([almost_harvested(3)]),
        9,
        FARMER.hooks,
        want_final=True,
    ).final
    assert final is not None
    assert np.argwhere(final.markers[0]).tolist() == [[1, 3], [3, 1]]
    assert final.memory[0, [HARVESTS, HARVESTING, PLANTED]].tolist() == [4, 0, 2]


def test_the_tenth_harvest_ends_the_rollout() -> None:
    rollouts = run(
        KAREL.compile("DEF run m( pickMarker putMarker m)"),
        Worlds.stack([almost_harvested(9)]),
        9,
        FARMER.hooks,
    )
    assert (rollouts.outcome[0, 0], rollouts.steps[0, 0]) == (Outcome.ENDED, 1)


def test_all_worlds_begin_alike_with_one_marker_in_the_corner() -> None:
    worlds = FARMER.worlds(20, seed=0)
    assert (worlds.pose == [6, 1, EAST]).all()
    assert [np.argwhere(markers).tolist() for markers in worlds.markers] == [[[1, 6]]] * 20


@pytest.mark.parametrize(
    ("picture", "flaw"),
    [
        (FIELD.replace("#..1#", "#..##"), "farmer needs a free cell in the top right corner, found a wall"),
        (FIELD.replace("1", "2"), "farmer needs at most one marker in a cell, found 2"),
    ],
)
def test_a_world_that_cannot_be_farmed_is_refused(picture: str, flaw: str) -> None:
    with pytest.raises(ValueError, match=flaw):
        FARMER.prepare(World.parse(picture))
