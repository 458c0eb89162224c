"""A scene is a task's world that a program acts on step by step."""

import numpy as np

from leaps.dsl.interpreter import Outcome
from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.karel.draw import to_image, to_text
from leaps.karel.world import LANGUAGE
from leaps.tasks import get

WALK = "DEF run m( WHILE c( frontIsClear c) w( putMarker move w) m)"


def test_a_course_plays_the_episode_that_the_executor_plays() -> None:
    for name in ("maze", "door-key", "seesaw~cost", "top-off~3", "four-corner~9calls"):
        task = get(name)
        worlds = task.worlds(5, seed=1)
        fast = evaluate(WALK, task, episodes=5, seed=1)
        for number in range(5):
            course = task.course(parse(WALK, LANGUAGE), worlds.take(np.array([number])))
            assert len(list(course)) == fast.rollouts.steps[0, number]
            assert course.outcome == fast.rollouts.outcome[0, number]
            assert course.stage.worth() == fast.returns[0, number]


def test_the_initial_state_is_not_changed() -> None:
    task = get("top-off")
    worlds = task.worlds(1, seed=0)
    before = worlds.markers.copy()
    course = task.course(parse(WALK, LANGUAGE), worlds)
    assert course.outcome == Outcome.HALTED
    assert list(course)
    assert np.array_equal(worlds.markers, before)


def test_a_scene_shows_its_world() -> None:
    task = get("top-off")
    scene = task.course(parse(WALK, LANGUAGE), task.worlds(1, seed=0)).stage
    before = scene.plain()
    assert before["agent"] == [10, 1, "E"]
    scene.act(LANGUAGE.actions.index("move"))
    assert scene.plain()["agent"] == [10, 2, "E"]
    assert scene.plain()["grid"] == before["grid"]
    assert scene.text().plain == to_text(scene.world).plain
    assert scene.image().tobytes() == to_image(scene.world).tobytes()
