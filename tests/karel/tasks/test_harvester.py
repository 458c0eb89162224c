import pytest

from leaps.karel.tasks.harvester import HARVESTER, HARVESTER_SUBSETS, configuration
from leaps.karel.tasks.task import is_seen
from leaps.tasks import get
from tests.karel.tasks.play import play

FIELD = "####\n#>1#\n#11#\n####"


@pytest.mark.parametrize(
    ("actions", "share"),
    [
        ("turnLeft", 0),
        ("move pickMarker", 1 / 3),
        ("move putMarker putMarker", 0),
        ("putMarker move pickMarker", 0),
    ],
)
def test_a_state_is_worth_the_share_of_markers_gone(actions: str, share: float) -> None:
    assert play("harvester", FIELD, actions)[0] == pytest.approx(share)


def test_every_inner_cell_starts_with_one_marker() -> None:
    worlds = HARVESTER.worlds(3, seed=0)
    assert (worlds.markers[:, 1:-1, 1:-1] == 1).all()
    assert worlds.markers.sum() == 3 * 36


def test_subsets_hold_a_marker_in_half_of_the_cells() -> None:
    worlds = HARVESTER_SUBSETS.worlds(3000, seed=0)
    assert worlds.markers[:, 1:-1, 1:-1].mean() == pytest.approx(0.5, abs=0.01)
    assert worlds.markers.sum(axis=(1, 2)).min() > 0


@pytest.mark.parametrize("fraction", [0.75, 0.05])
def test_a_split_draws_only_seen_subsets(fraction: float) -> None:
    worlds = HARVESTER_SUBSETS.seen(fraction).worlds(500, seed=1)
    assert all(is_seen(configuration(worlds.world(i)), 36, fraction) for i in range(500))
    unsplit = HARVESTER_SUBSETS.worlds(4000, seed=1)
    share = sum(is_seen(configuration(unsplit.world(i)), 36, fraction) for i in range(4000)) / 4000
    assert share == pytest.approx(fraction, abs=0.03)


def test_a_task_without_configurations_cannot_be_split() -> None:
    with pytest.raises(ValueError, match="maze has no configurations to split"):
        get("maze").seen(0.5)
