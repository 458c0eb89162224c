"""The study is the paper's."""

import pytest

from leaps.dsl.syntax import walk
from leaps.evaluate import evaluate
from leaps.experiments.study import STUDY


def test_the_study_is_the_papers() -> None:
    assert [studied.task for studied in STUDY.values()] == ["top-off", "four-corner", "harvester"]
    assert [studied.reported for studied in STUDY.values()] == [
        {0: 0.86, 3: 0.95, 5: 1.0},
        {0: 0.25, 3: 0.75, 5: 0.92},
        {0: 0.47, 3: 0.85, 5: 0.89},
    ]
    assert [len(list(walk(studied.program))) for studied in STUDY.values()] == [20, 36, 42]


@pytest.mark.parametrize("task", ["four-corner", "harvester"])
def test_a_studied_program_earns_what_was_reported(task: str) -> None:
    studied = STUDY[task]
    earned = evaluate(studied.program, studied.task, episodes=100).mean_return[0]
    assert earned == pytest.approx(studied.reported[0], abs=0.01)


def test_the_one_that_does_not_would_if_it_were_cut_off_as_its_note_says() -> None:
    studied = STUDY["top-off"]
    assert "cut off after 50 actions, this program earns 0.89" in studied.note
    short, whole = (
        evaluate(studied.program, studied.task, episodes=1000, horizon=horizon).mean_return[0]
        for horizon in (50, None)
    )
    assert short == pytest.approx(0.89, abs=0.005)
    assert whole < 0.5
