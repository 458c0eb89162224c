"""Recorded rollouts of any task: steps as in the interpreter, bounds, pictures, films."""

import io
import math
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from PIL import Image

from leaps.dsl.text import parse
from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE
from leaps.studio import tracing
from leaps.studio.requests import Fields
from leaps.studio.rollouts import rollout_of
from leaps.studio.spans import read
from leaps.studio.tracing import Trace, state_text
from leaps.tasks import get
from tests.gym.corridor import CORRIDOR, LENGTH, corridor
from tests.studio.harness import OWN, RIGHT, WALK

BY_LIGHT = "DEF run m( REPEAT R=3 r( IFELSE c( lightIsOff c) i( right i) ELSE e( left e) r) m)"


def trace(program: str = RIGHT, task: Any = CORRIDOR, size: str = "", index: int = 0) -> Trace:
    return Trace(read(program, task.domain.language), task, size, 0, index)


def test_recorded_rollout_equals_the_interpreter() -> None:
    result = trace(BY_LIGHT, index=3).answer()
    course = CORRIDOR.course(parse(BY_LIGHT, CORRIDOR.domain.language), CORRIDOR.worlds(1, 0, first=3))
    statement_of = {"right": 2, "left": 3}
    for number, step in enumerate(course):
        assert result["steps"]["statement"][number] == statement_of[step.statement.name]
        assert result["steps"]["value"][number] == course.stage.worth()
        assert [test[1:] for test in result["steps"]["tests"] if test[0] == number] == [
            (1, int(held)) for _, held in step.tests
        ]
        assert result["statements"][1]["text"] == "IFELSE c( lightIsOff c)"
    assert (result["outcome"], result["return"]) == ("halted", course.stage.worth())
    assert result["shown"] == result["total"] == course.steps == 3
    assert result["horizon"] == 30


def test_all_perceptions_are_recorded_before_each_step_and_at_the_end() -> None:
    result = trace().answer()
    perceived = [*result["steps"]["perceived"], result["final_perceived"]]
    assert len(perceived) == result["shown"] + 1
    assert all(len(bits) == 3 and bits[0] != bits[2] for bits in perceived)  # lightIsOn, lightIsOff
    assert [bits[1] for bits in perceived] == ["0"] * result["shown"] + ["1"]  # atTheEnd


def test_states_are_one_line_of_text() -> None:
    result = trace().answer()
    assert len(result["states"]) == result["shown"] + 1
    assert result["states"][-1].startswith("[1, ")


def test_long_state_is_cut_off() -> None:
    class Scene:
        def plain(self) -> Any:
            return {
                "image": np.zeros((100, 100)).tolist(),
                "more": {"a": True, "b": 1.5},
                "name": "x" * 1000,
            }

    text = state_text(Scene())  # type: ignore[arg-type]
    assert text == "image 100×100 numbers, more a True, b 1.5, name " + "x" * 192 + "…"
    assert len(text) == tracing.STATE + 1


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        ({"a": 1.23456, "b": -0.5}, "a 1.235, b -0.5"),
        ({"a": [1, 1e9], "b": 1}, "a [1, 1e+09], b 1"),
        ({"observation": [1.0, 2.5]}, "[1, 2.5]"),
        ({"a": list(range(13)), "b": []}, "a 13 numbers, b []"),
        ({"a": math.nan, "b": math.inf, "c": None, "d": "x"}, "a nan, b inf, c None, d x"),
    ],
)
def test_numbers_of_a_state_are_rounded(plain: Any, text: str) -> None:
    class Scene:
        def plain(self) -> Any:
            return plain

    assert state_text(Scene()) == text  # type: ignore[arg-type]


def test_terminated_episode_has_the_outcome_ended() -> None:
    wait = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) left m)"
    result = trace(wait).answer()
    assert (result["outcome"], result["return"], result["final_tests"]) == ("ended", 1.0, [])


def test_cut_off_rollout_has_its_final_tests() -> None:
    result = trace("DEF run m( WHILE c( not c( atTheEnd c) c) w( left w) m)").answer()
    assert (result["outcome"], result["total"], result["final_tests"]) == ("cut-off", 30, [(0, 1)])


def test_stuck_program_has_the_outcome_stuck() -> None:
    stuck = "DEF run m( WHILE c( not c( atTheEnd c) c) w( IF c( atTheEnd c) i( left i) w) m)"
    result = trace(stuck).answer()
    assert (result["outcome"], result["total"], result["states"]) == ("stuck", 0, result["states"][:1])


def test_only_the_beginning_of_a_long_rollout_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trace(BY_LIGHT).answer()
    monkeypatch.setattr(tracing, "SHOWN", 2)
    result = trace(BY_LIGHT).answer()
    assert (result["shown"], result["total"], result["outcome"]) == (2, 3, "halted")
    assert result["return"] == whole["return"]
    assert result["final_tests"] == []
    for name, values in result["steps"].items():
        assert values == whole["steps"][name][: len(values)]
    assert len(result["steps"]["value"]) == len(result["steps"]["perceived"]) == 2
    assert trace(BY_LIGHT).length == 2


def test_rollout_that_takes_too_long_has_no_return(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "SECONDS", -1.0)
    result = trace(BY_LIGHT).answer()
    assert (result["outcome"], result["return"], result["shown"], result["total"]) == (None, None, 1, 1)


def test_rollout_of_a_variant() -> None:
    assert trace(size="long").answer()["total"] > trace().answer()["total"]


def test_return_that_is_not_finite_raises() -> None:
    class Broken:
        name = "broken"

    class Scene:
        def worth(self) -> float:
            return math.nan

    lost = trace()
    object.__setattr__(lost, "task", Broken())
    with pytest.raises(ValueError, match="broken: a rollout's return must be a finite number, found nan"):
        lost.worth(Scene())  # type: ignore[arg-type]


def sizes_of(result: dict[str, Any]) -> list[tuple[int, int]]:
    images = [Image.open(io.BytesIO(b64decode(picture))) for picture in result["pictures"]]
    assert all(image.format == "PNG" for image in images)
    return [image.size for image in images]


def test_pictures_are_of_the_requested_steps() -> None:
    all_of_them = trace().pictures(0, 24)
    count = trace().answer()["total"] + 1
    assert sizes_of(all_of_them) == [(8 * LENGTH, 8)] * count
    assert len(set(all_of_them["pictures"])) == count
    some = trace().pictures(1, 2)
    assert some == {"first": 1, "pictures": all_of_them["pictures"][1:3]}
    assert trace().pictures(99, 2)["pictures"] == []


def test_large_picture_is_scaled_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PICTURE_PIXELS", 24)
    assert sizes_of(trace().pictures(0, 1)) == [(24, 4)]


def test_pictures_stop_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "SECONDS", -1.0)
    assert len(trace().pictures(0, 5)["pictures"]) == 1


def test_rollout_is_filmed_from_its_first_state_to_its_last(monkeypatch: pytest.MonkeyPatch) -> None:
    film = Image.open(io.BytesIO(trace().film()))
    assert film.format == "GIF"
    assert getattr(film, "n_frames", 1) == trace().answer()["total"] + 1
    monkeypatch.setattr(tracing, "FRAMES", 2)
    trace().check_film()
    assert getattr(Image.open(io.BytesIO(trace().film())), "n_frames", 1) == 2


def test_trace_of_a_karel_task_equals_the_compiled_one() -> None:
    """Both recordings of a rollout in Karel are equal."""
    task = get("maze")
    assert isinstance(task, KarelTask)
    slow = Trace(read(WALK, LANGUAGE), task, (8, 8), 5, 2).answer()
    fast = rollout_of(Fields({"program": WALK, "task": "maze", "seed": 5, "index": 2})).answer()
    for name in ("statements", "final_tests", "final_perceived", "outcome", "return", "shown", "total"):
        assert slow[name] == fast[name], name
    for name, values in slow["steps"].items():
        assert values == fast["steps"][name], name


def test_perception_that_fails_is_named() -> None:
    def broken(_: Any) -> bool:
        raise RuntimeError("too bright")

    with pytest.raises(ValueError, match=r"perception tooBright .*RuntimeError: too bright"):
        trace(BY_LIGHT, corridor(perceptions={"lightIsOn": broken, "tooBright": broken})).answer()


def test_environment_is_loaded_from_the_file_of_the_tests() -> None:
    rollout = rollout_of(Fields({"program": RIGHT, "task": "corridor"}, OWN))
    assert isinstance(rollout, Trace)
    assert rollout.answer() == trace().answer()
