"""Descriptions of tasks for the page, which contains no task's language."""

import json

import pytest

from leaps.dsl.text import parse
from leaps.karel.tasks import HARD, PAPER_TASKS, TASKS
from leaps.karel.world import LANGUAGE
from leaps.studio.offer import describe_tasks, kinds_beyond, offered, privileged_of, step_cost
from tests.gym.corridor import CORRIDOR, corridor, light_is_on
from tests.studio.harness import RIGHT


def test_karel_task_is_described() -> None:
    result = describe_tasks(offered(), {})
    maze = next(task for task in result["tasks"] if task["name"] == "maze")
    assert (maze["title"], maze["size"], maze["smallest"], maze["horizon"]) == ("Maze", [8, 8], [5, 5], 640)
    assert (maze["drawn"], maze["mapped"], maze["unit"], maze["best"]) == (True, True, "world", 1.0)
    assert (maze["variants"], maze["privileged"], maze["episodes"]) == ([], [], 100)
    assert len(maze["methods"]) == 6
    assert [task["name"] for task in result["tasks"] if not task["resizable"]] == ["clean-house"]


def test_environment_is_described() -> None:
    (result,) = describe_tasks({}, {"corridor": CORRIDOR})["tasks"]
    assert result["summary"] == "2 actions and 3 perceptions; an episode takes at most 30 steps"
    assert (result["size"], result["smallest"], result["resizable"]) == (None, None, False)
    assert result["variants"] == ["long"]
    assert (result["drawn"], result["mapped"]) == (False, False)
    assert (result["unit"], result["best"]) == ("episode", 1.0)
    assert result["privileged"] == ["atTheEnd"]
    assert [method["name"] for method in result["methods"]] == ["ladder", "hc"]
    assert result["search"] == {"budget": 1000, "worlds": 4}
    assert result["episodes"] == 20
    assert parse(result["program"], CORRIDOR.domain.language)


def test_unknown_best_return_is_null() -> None:
    (result,) = describe_tasks({}, {"corridor": corridor(best=float("inf"))})["tasks"]
    assert result["best"] is None
    json.dumps(result, allow_nan=False)


def test_tasks_are_grouped_under_headings() -> None:
    result = describe_tasks({**offered(), "seesaw": TASKS["seesaw"]}, {"corridor": CORRIDOR})["tasks"]
    headings = {
        heading: [task["name"] for task in result if task["group"] == heading]
        for heading in dict.fromkeys(task["group"] for task in result)
    }
    assert headings == {
        "Tasks of the paper": list(PAPER_TASKS),
        "Harder tasks": list(HARD),
        "Other tasks": ["seesaw"],
        "Your own": ["corridor"],
    }


def test_language_is_described_once_with_the_kind_of_each_word() -> None:
    result = describe_tasks(offered(), {"corridor": CORRIDOR})
    assert {task["language"] for task in result["tasks"] if task["name"] in offered()} == {0}
    karel, other = result["languages"]
    assert list(karel["words"]) == list(LANGUAGE.tokens[:-1])
    assert other["actions"] == ["left", "right"]
    assert other["perceptions"] == ["lightIsOn", "atTheEnd", "lightIsOff"]
    kinds = other["words"]
    assert (kinds["left"], kinds["lightIsOff"], kinds["R=3"]) == ("action", "perception", "count")
    assert (kinds["WHILE"], kinds["w("]) == ("keyword", "bracket")


@pytest.mark.parametrize(
    ("program", "names"),
    [
        (RIGHT, ["atTheEnd"]),
        ("DEF run m( IF c( lightIsOn c) i( right i) m)", []),
        (
            "DEF run m( IF c( notYet c) i( REPEAT R=2 r( IF c( atTheEnd c) i( right i) r) i) m)",
            ["atTheEnd", "notYet"],
        ),
    ],
)
def test_privileged_perceptions_of_a_program_include_opposites(program: str, names: list[str]) -> None:
    task = corridor(opposites={"lightIsOff": "lightIsOn", "notYet": "atTheEnd"})
    assert privileged_of(task, parse(program, task.domain.language)) == names


def test_step_of_an_environment_costs_many_steps_of_karel() -> None:
    assert step_cost(TASKS["maze"]) == 1
    assert step_cost(corridor(perceptions={"lightIsOn": light_is_on}, opposites={})) > 100


def test_kinds_of_words_outside_the_base_language() -> None:
    language = corridor(opposites={"notYet": "atTheEnd"}).domain.language
    program = parse("DEF run m( WHILE c( notYet c) w( right w) m)", language)
    assert kinds_beyond(language, program, CORRIDOR.domain.language) == {"notYet": "perception"}
    assert kinds_beyond(language, program, language) == {}
