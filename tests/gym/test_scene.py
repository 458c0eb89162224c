"""Scenes: episodes run one action at a time, by a program's tree or table."""

import numpy as np

from leaps.dsl.interpreter import Outcome
from tests.gym.corridor import corridor

RIGHT = "DEF run m( WHILE c( not c( atTheEnd c) c) w( IF c( lightIsOff c) i( right i) right w) m)"


def test_a_course_runs_the_same_episode_as_a_batch() -> None:
    task = corridor()
    starts = task.worlds(20, seed=2)
    played = task.run(task.compile(RIGHT), starts)
    assert played.returns is not None
    for number in range(20):
        course = task.course(task.domain.parse(RIGHT), starts.take(np.array([number])))
        assert len(list(course)) == played.steps[0, number]
        assert course.outcome == played.outcome[0, number]
        assert course.stage.worth() == played.returns[0, number]


def test_a_course_is_cut_off_at_the_horizon() -> None:
    task = corridor()
    course = task.course(
        task.domain.parse("DEF run m( REPEAT R=9 r( left r) m)"), task.worlds(1, 0), horizon=4
    )
    assert [step.action for step in course] == [0, 0, 0, 0]
    assert course.outcome == Outcome.CUT_OFF


def test_a_scene_shows_its_state() -> None:
    task = corridor()
    scene = task.course(task.domain.parse(RIGHT), task.worlds(1, seed=3)).stage
    place, light = scene.plain()["observation"]
    assert (round(place * 5), light) == (scene.environment.place, scene.environment.light)
    assert str(scene.observation) == scene.text()
    assert scene.image().size == (48, 8)
