"""Scores equal the returns of `leaps.evaluate`."""

from typing import Any

import pytest

from leaps.domain import Outcome
from leaps.dsl.text import to_line
from leaps.evaluate import evaluate
from leaps.karel.studio import START
from leaps.karel.tasks import TASKS
from leaps.studio import scoring
from leaps.studio.lanes import CHEAP
from leaps.studio.offer import STEP_COST
from leaps.studio.requests import Fields, RequestError
from leaps.studio.scoring import STEPS, Scoring
from tests.gym.corridor import CORRIDOR
from tests.studio.harness import OWN, RIGHT, WALK


def score(**fields: Any) -> dict[str, Any]:
    return Scoring.of(Fields({"program": WALK, "task": "maze"} | fields)).answer()


def score_corridor(**fields: Any) -> dict[str, Any]:
    return Scoring.of(Fields({"program": RIGHT, "task": "corridor"} | fields, OWN)).answer()


@pytest.mark.parametrize("task", START)
def test_score_equals_evaluate(task: str) -> None:
    program = START[task]
    expected = evaluate(program, task, episodes=30, seed=7)
    result = score(program=to_line(program), task=task, episodes=30, seed=7)
    assert result["returns"] == expected.returns[0].tolist()
    assert result["mean"] == expected.mean_return[0]
    assert result["steps"] == expected.rollouts.steps[0].tolist()
    names = {0: "halted", 1: "ended", 2: "cut-off", 3: "stuck"}
    assert result["outcomes"] == [names[code] for code in expected.rollouts.outcome[0].tolist()]
    assert result["returns"][result["worst"]] == min(result["returns"])
    assert result["worst"] == result["returns"].index(min(result["returns"]))
    assert "asked" not in result
    assert "distance" not in result


def test_all_outcomes_have_a_name() -> None:
    stuck = "DEF run m( WHILE c( frontIsClear c) w( IF c( not c( frontIsClear c) c) i( move i) w) m)"
    assert "stuck" in score(program=stuck)["outcomes"]
    assert len(Outcome) == 4


def test_100_worlds_of_seed_zero_are_the_default() -> None:
    assert score()["returns"] == evaluate(WALK, "maze", episodes=100, seed=0).returns[0].tolist()


def test_size_is_used() -> None:
    expected = evaluate(WALK, "maze", episodes=5, size=(20, 30)).rollouts.steps[0].tolist()
    assert score(size=[20, 30], episodes=5)["steps"] == expected


def test_too_many_steps_mean_fewer_worlds() -> None:
    request = Scoring.of(Fields({"program": WALK, "task": "maze", "size": [100, 100], "episodes": 1000}))
    assert request.episodes == STEPS // 100_000 == 200
    result = request.answer()
    assert len(result["returns"]) == 200
    assert result["asked"] == 1000
    assert result["returns"][:3] == score(size=[100, 100], episodes=3)["returns"]


def test_evaluation_in_parts_has_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = score(episodes=50)
    monkeypatch.setattr(scoring, "PART", 7 * 640)
    pauses: list[int] = []
    request = Scoring.of(Fields({"program": WALK, "task": "maze", "episodes": 50}))
    result = request.answer(lambda: pauses.append(1))
    assert len(pauses) == 7
    assert {**result, "ms": 0} == {**whole, "ms": 0}


def test_the_distance_is_counted_in_statements() -> None:
    edited = "DEF run m( WHILE c( frontIsClear c) w( move turnLeft w) putMarker m)"
    assert score(program=edited, original=WALK)["distance"] == 2
    assert score(original=WALK)["distance"] == 0
    assert "distance" not in score(original="DEF run m( jump m)")


def test_syntax_error_is_a_normal_answer() -> None:
    result = score(program="DEF run m( mov m)")
    assert result["valid"] is False
    assert result["error"]["span"] == [11, 14]


@pytest.mark.parametrize("task", TASKS)
def test_100_worlds_of_a_tasks_own_size_are_cheap(task: str) -> None:
    request = Scoring.of(Fields({"program": WALK, "task": task}))
    assert request.cost == 100 * TASKS[task].horizon() <= CHEAP


def test_drawing_from_a_small_fraction_is_costly() -> None:
    request = Scoring.of(Fields({"program": WALK, "task": "top-off@0.01"}))
    assert request.cost == 100 * 1440 * 100


@pytest.mark.parametrize("episodes", [0, 1001, 1.5, "3"])
def test_episodes_are_bounded(episodes: object) -> None:
    with pytest.raises(RequestError, match="episodes"):
        score(episodes=episodes)


def test_score_of_an_environment_equals_evaluate() -> None:
    result = score_corridor()
    expected = evaluate(RIGHT, CORRIDOR, episodes=100)
    assert result["returns"] == expected.returns[0].tolist()
    assert result["steps"] == expected.rollouts.steps[0].tolist()
    assert result["privileged"] == ["atTheEnd"]
    assert score()["privileged"] == []


def test_variant_of_an_environment_is_scored() -> None:
    expected = evaluate(RIGHT, CORRIDOR, episodes=5, size="long").rollouts.steps[0].tolist()
    assert score_corridor(size="long", episodes=5)["steps"] == expected


def test_the_distance_is_counted_in_the_language_of_the_task() -> None:
    assert score_corridor(original="DEF run m( left m)")["distance"] == 2


def test_step_of_an_environment_costs_more_than_one_of_karel() -> None:
    slow = Scoring.of(Fields({"program": RIGHT, "task": "corridor"}, OWN))
    assert slow.cost == 100 * 30 * STEP_COST > CHEAP


def test_slow_environment_is_scored_in_fewer_episodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = score_corridor()
    monkeypatch.setattr(scoring, "SECONDS", -1.0)
    result = score_corridor()
    assert 0 < len(result["returns"]) < 100
    assert result["asked"] == 100
    assert result["returns"] == whole["returns"][: len(result["returns"])]
