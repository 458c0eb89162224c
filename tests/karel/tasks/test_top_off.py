import numpy as np
import pytest

from leaps.evaluate import evaluate
from leaps.experiments.study import STUDY
from leaps.karel.tasks.task import is_seen
from leaps.karel.tasks.top_off import TOP_OFF, TOP_OFF_AS_RUN, configuration
from tests.karel.tasks.play import play

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


def test_as_run_the_last_cell_has_a_marker_as_well() -> None:
    text, as_run = TOP_OFF.worlds(300, seed=0), TOP_OFF_AS_RUN.worlds(300, seed=0)
    assert (as_run.markers[:, 10, 10] == 1).all()
    as_run.markers[:, 10, 10] = 0
    assert np.array_equal(as_run.markers, text.markers)
    listed = TOP_OFF_AS_RUN.listing
    assert listed is not None
    states = listed((12, 12))
    assert states is not None
    assert (states.worlds.markers[:, 10, 10] == 1).all()
    assert len(np.unique(states.worlds.markers.reshape(512, -1), axis=0)) == 512


TRUTH = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"


@pytest.mark.parametrize(
    ("program", "text", "as_run"),
    [
        # The paper prints this as the task's solution; as run, the last cell lacks its second marker.
        (TRUTH, 1.0, 9 / 11),
        (TRUTH.replace("w) m)", "w) putMarker m)"), 9 / 11, 1.0),
    ],
)
def test_as_run_a_solution_has_to_top_off_the_last_cell_too(program: str, text: float, as_run: float) -> None:
    for task, expected in (("top-off", text), ("top-off-as-run", as_run)):
        judged = evaluate(program, task, prefer_exact=True)
        assert judged.mean_return[0] == pytest.approx(expected)


def test_as_run_the_program_of_the_study_earns_what_the_paper_reports() -> None:
    program, reported = STUDY["top-off"].program, STUDY["top-off"].reported[0]
    text, as_run = (
        float(evaluate(program, f"{task}~220calls", prefer_exact=True).mean_return[0])
        for task in ("top-off", "top-off-as-run")
    )
    assert reported == 0.86
    assert as_run == pytest.approx(reported, abs=0.02)
    assert text < 0.5
