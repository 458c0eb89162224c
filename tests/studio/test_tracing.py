"""A rollout of any task is recorded as the interpreter runs it, within bounds, and it is pictured."""

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


def test_a_rollout_is_what_the_interpreter_does() -> None:
    told = trace(BY_LIGHT, index=3).answer()
    course = CORRIDOR.course(parse(BY_LIGHT, CORRIDOR.domain.language), CORRIDOR.worlds(1, 0, first=3))
    statement_of = {"right": 2, "left": 3}
    for number, step in enumerate(course):
        assert told["steps"]["statement"][number] == statement_of[step.statement.name]
        assert told["steps"]["value"][number] == course.stage.worth()
        assert [test[1:] for test in told["steps"]["tests"] if test[0] == number] == [
            (1, int(held)) for _, held in step.tests
        ]
        assert told["statements"][1]["text"] == "IFELSE c( lightIsOff c)"
    assert (told["outcome"], told["return"]) == ("halted", course.stage.worth())
    assert told["shown"] == told["total"] == course.steps == 3
    assert told["horizon"] == 30


def test_all_perceptions_are_looked_at_before_each_step_and_at_the_end() -> None:
    told = trace().answer()
    perceived = [*told["steps"]["perceived"], told["final_perceived"]]
    assert len(perceived) == told["shown"] + 1
    assert all(len(bits) == 3 and bits[0] != bits[2] for bits in perceived)  # lightIsOn, lightIsOff
    assert [bits[1] for bits in perceived] == ["0"] * told["shown"] + ["1"]  # atTheEnd


def test_states_are_told_in_a_line() -> None:
    told = trace().answer()
    assert len(told["states"]) == told["shown"] + 1
    assert told["states"][-1].startswith("[1, ")


def test_a_long_state_is_cut_off() -> None:
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


def test_a_decided_episode_has_ended() -> None:
    wait = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) left m)"
    told = trace(wait).answer()
    assert (told["outcome"], told["return"], told["final_tests"]) == ("ended", 1.0, [])


def test_a_rollout_that_is_cut_off_says_what_it_looked_at_last() -> None:
    told = trace("DEF run m( WHILE c( not c( atTheEnd c) c) w( left w) m)").answer()
    assert (told["outcome"], told["total"], told["final_tests"]) == ("cut-off", 30, [(0, 1)])


def test_a_program_that_is_stuck_is_told_so() -> None:
    stuck = "DEF run m( WHILE c( not c( atTheEnd c) c) w( IF c( atTheEnd c) i( left i) w) m)"
    told = trace(stuck).answer()
    assert (told["outcome"], told["total"], told["states"]) == ("stuck", 0, told["states"][:1])


def test_of_a_long_rollout_the_beginning_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trace(BY_LIGHT).answer()
    monkeypatch.setattr(tracing, "SHOWN", 2)
    told = trace(BY_LIGHT).answer()
    assert (told["shown"], told["total"], told["outcome"]) == (2, 3, "halted")
    assert told["return"] == whole["return"]
    assert told["final_tests"] == []
    for name, values in told["steps"].items():
        assert values == whole["steps"][name][: len(values)]
    assert len(told["steps"]["value"]) == len(told["steps"]["perceived"]) == 2
    assert trace(BY_LIGHT).length == 2


def test_a_rollout_that_takes_too_long_has_no_return(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "SECONDS", -1.0)
    told = trace(BY_LIGHT).answer()
    assert (told["outcome"], told["return"], told["shown"], told["total"]) == (None, None, 1, 1)


def test_a_variant_is_watched() -> None:
    assert trace(size="long").answer()["total"] > trace().answer()["total"]


def test_a_return_that_is_no_number_raises() -> None:
    class Broken:
        name = "broken"

    class Scene:
        def worth(self) -> float:
            return math.nan

    lost = trace()
    object.__setattr__(lost, "task", Broken())
    with pytest.raises(ValueError, match="broken: a rollout's return must be a finite number, found nan"):
        lost.worth(Scene())  # type: ignore[arg-type]


def sizes_of(told: dict[str, Any]) -> list[tuple[int, int]]:
    images = [Image.open(io.BytesIO(b64decode(picture))) for picture in told["pictures"]]
    assert all(image.format == "PNG" for image in images)
    return [image.size for image in images]


def test_pictures_are_those_of_the_steps_asked_for() -> None:
    all_of_them = trace().pictures(0, 24)
    count = trace().answer()["total"] + 1
    assert sizes_of(all_of_them) == [(8 * LENGTH, 8)] * count
    assert len(set(all_of_them["pictures"])) == count
    some = trace().pictures(1, 2)
    assert some == {"first": 1, "pictures": all_of_them["pictures"][1:3]}
    assert trace().pictures(99, 2)["pictures"] == []


def test_a_large_picture_is_scaled_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PICTURE_PIXELS", 24)
    assert sizes_of(trace().pictures(0, 1)) == [(24, 4)]


def test_taking_pictures_ends_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "SECONDS", -1.0)
    assert len(trace().pictures(0, 5)["pictures"]) == 1


def test_a_rollout_is_filmed_from_its_first_state_to_its_last(monkeypatch: pytest.MonkeyPatch) -> None:
    film = Image.open(io.BytesIO(trace().film()))
    assert film.format == "GIF"
    assert getattr(film, "n_frames", 1) == trace().answer()["total"] + 1
    monkeypatch.setattr(tracing, "FRAMES", 2)
    trace().check_film()
    assert getattr(Image.open(io.BytesIO(trace().film())), "n_frames", 1) == 2


def test_a_task_of_karel_can_be_traced_in_this_way_too() -> None:
    """The compiled trace of Karel says the same."""
    task = get("maze")
    assert isinstance(task, KarelTask)
    slow = Trace(read(WALK, LANGUAGE), task, (8, 8), 5, 2).answer()
    fast = rollout_of(Fields({"program": WALK, "task": "maze", "seed": 5, "index": 2})).answer()
    for name in ("statements", "final_tests", "final_perceived", "outcome", "return", "shown", "total"):
        assert slow[name] == fast[name], name
    for name, values in slow["steps"].items():
        assert values == fast["steps"][name], name


def test_a_perception_that_fails_is_named() -> None:
    def broken(_: Any) -> bool:
        raise RuntimeError("too bright")

    with pytest.raises(ValueError, match=r"perception tooBright .*RuntimeError: too bright"):
        trace(BY_LIGHT, corridor(perceptions={"lightIsOn": broken, "tooBright": broken})).answer()


def test_the_file_of_the_environment_is_the_one_that_tests_share() -> None:
    rollout = rollout_of(Fields({"program": RIGHT, "task": "corridor"}, OWN))
    assert isinstance(rollout, Trace)
    assert rollout.answer() == trace().answer()
