"""The study is the paper's."""

import pytest

from leaps.dsl.syntax import walk
from leaps.evaluate import evaluate
from leaps.experiments.study import STUDY


def test_study_programs_match_the_paper() -> None:
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


def test_top_off_program_reaches_its_return_in_the_authors_worlds() -> None:
    studied = STUDY["top-off"]
    assert "this program has a return of 0.84 (reported: 0.86)" in studied.note
    as_run, text = (
        evaluate(studied.program, task, prefer_exact=True).mean_return[0]
        for task in ("top-off-as-run", studied.task)
    )
    assert as_run == pytest.approx(0.84, abs=0.005)
    assert text < 0.5
