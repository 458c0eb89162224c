import numpy as np
import pytest

from leaps.tasks.task import is_seen
from leaps.tasks.top_off import TOP_OFF, configuration
from tests.tasks.play import play

ROW = "########\n#......#\n#>1.1..#\n########"  # width 8: a share is a seventh


@pytest.mark.parametrize(
    ("actions", "sevenths"),
    [
        ("turnLeft", 1),  # the first cell is right
        ("move", 1),  # the second is not: its marker is still one
        ("move putMarker", 2),
        ("move putMarker move move putMarker move", 5),
        ("move putMarker move move putMarker move move", 7),  # the last cell, all right: one more
        ("move putMarker move putMarker", 2),  # a marker where none was
        ("putMarker move putMarker move move putMarker move move", 0),
        ("move putMarker move move putMarker move move turnLeft move", 6),  # all right, not on the last cell
    ],
)
def test_a_state_is_worth_the_right_cells_up_to_karel(actions: str, sevenths: int) -> None:
    assert play("top-off", ROW, actions)[0] == pytest.approx(sevenths / 7)


def test_a_quarter_of_the_row_has_markers_and_the_last_cell_never() -> None:
    worlds = TOP_OFF.worlds(4000, seed=0)
    row = worlds.markers[:, 10]
    assert row[:, 1:10].mean() == pytest.approx(0.25, abs=0.01)
    assert row[:, 10].max() == 0
    assert worlds.markers.sum() == row.sum()


def test_there_are_512_configurations() -> None:
    worlds = TOP_OFF.worlds(20_000, seed=1)
    numbers = {configuration(worlds.world(i)) for i in range(20_000)}
    assert max(numbers) < 512
    assert len(numbers) > 400


@pytest.mark.parametrize("percent", [75, 50, 25, 10, 5])
def test_a_split_draws_only_from_its_share_of_the_configurations(percent: int) -> None:
    worlds = TOP_OFF.seen(percent / 100).worlds(3000, seed=2)
    drawn = {configuration(worlds.world(i)) for i in range(3000)}
    seen = {number for number in range(512) if is_seen(number, 9, percent / 100)}
    assert len(seen) == int(np.ceil(512 * percent / 100))
    assert drawn <= seen
    assert len(drawn) > 0.5 * len(seen)


def test_splits_are_nested_and_the_same_for_every_seed() -> None:
    few = {number for number in range(512) if is_seen(number, 9, 0.1)}
    more = {number for number in range(512) if is_seen(number, 9, 0.5)}
    assert few < more


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.5])
def test_a_share_outside_0_to_1_is_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match="share of seen configurations"):
        TOP_OFF.seen(fraction)
