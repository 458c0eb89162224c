"""Requests are checked before anything is computed."""

import re
from pathlib import Path
from typing import Any

import pytest
from gymnasium.error import DependencyNotInstalled
from hypothesis import given
from hypothesis import strategies as st

from leaps.karel.tasks import KarelTask
from leaps.karel.world import LANGUAGE
from leaps.studio import requests
from leaps.studio.requests import (
    BUDGET,
    SIDE,
    Fields,
    RequestError,
    SearchRequest,
    find_task,
    mistake,
    read_json,
    read_search,
    with_words,
)
from leaps.tasks import get
from tests.gym.corridor import CORRIDOR, corridor, long
from tests.karel.tasks.corridor import edit
from tests.studio.harness import OWN

ROWS = ["####", "#.1#", "####"]


def refused(fields: dict[str, Any], method: str, *arguments: Any) -> str:
    with pytest.raises(RequestError) as caught:
        getattr(Fields(fields), method)(*arguments)
    assert caught.value.status == 422
    return str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"3", b"null", b'{"a": NaN}', b'{"a": -Infinity}', b"\xff\xfe{}"),
        *(b"[" * 60_000, b'{"a": ' + b"9" * 5000 + b"}"),
    ],
)
def test_body_that_is_not_a_json_object_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(RequestError, match="expected a JSON object") as caught:
        read_json(body)
    assert caught.value.status == 400


def test_body_is_read() -> None:
    assert read_json(b'{"a": "\\ud800", "b": 1}').values == {"a": "\ud800", "b": 1}


def test_null_means_absent() -> None:
    fields = Fields({"seed": None})
    assert not fields.has("seed")
    assert fields.seed() == 0


def test_field_that_is_not_a_text_raises() -> None:
    assert Fields({"program": "move"}).text("program") == "move"
    assert refused({"program": 3}, "text", "program") == "program: expected a text, found 3"
    assert "found None" in refused({}, "text", "program")


@pytest.mark.parametrize("value", [True, 1.0, "1", [1], {}, 1e300])
def test_field_that_is_not_an_integer_raises(value: object) -> None:
    assert "expected a whole number" in refused({"seed": value}, "seed")


@pytest.mark.parametrize("value", [-1, 2**31, 10**400])
def test_seed_out_of_bounds_raises(value: int) -> None:
    assert "expected 0 to 2147483647" in refused({"seed": value}, "seed")


def test_largest_seed_is_accepted() -> None:
    assert Fields({"seed": 2**31 - 1}).seed() == 2**31 - 1


def test_empty_or_too_long_list_raises() -> None:
    assert Fields({"a": [1, 2]}).items("a", 2) == [1, 2]
    assert "expected a list of 1 to 2, found 0 items" in refused({"a": []}, "items", "a", 2)
    assert "found 3 items" in refused({"a": [1, 2, 3]}, "items", "a", 2)
    assert "found 'ab'" in refused({"a": "ab"}, "items", "a", 2)
    assert "expected texts, found 1" in refused({"a": ["x", 1]}, "texts", "a", 2)


def test_task_is_found_by_name() -> None:
    task = Fields({"task": "top-off@0.25"}).task()
    assert isinstance(task, KarelTask)
    assert task.seen_share == 0.25
    assert Fields({"task": "maze~100000"}).task().horizon() == 100_000
    assert "did you mean 'top-off'" in refused({"task": "topoff"}, "task")


@pytest.mark.parametrize(
    "name",
    [
        "top-off@0.009",
        "top-off@1e-300",
        "top-off@nan",
        "maze@0.5",
        "maze~100001",
        "maze~2147483647",
        "maze~100001calls",
        "x" * 60_000,
    ],
)
def test_unknown_or_too_long_task_is_refused(name: str) -> None:
    with pytest.raises(RequestError) as caught:
        find_task(name)
    assert len(str(caught.value)) < 200


def test_task_is_never_taken_from_a_file(tmp_path: Path) -> None:
    """A path would import the file."""
    trace = tmp_path / "t"
    (tmp_path / "a.py").write_text(f"open({str(trace)!r}, 'w').close()")
    with pytest.raises(RequestError):
        find_task(f"{tmp_path}/a.py:A")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        with pytest.raises(RequestError, match=r"unknown task 'a.py:A'"):
            find_task("a.py:A")
    assert not trace.exists()


def test_user_task_is_found_only_by_its_plain_name(corridor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corridor.parent)  # so that the path is short enough for a task name
    own = {"corridor": "corridor.py:CORRIDOR"}
    assert Fields({"task": "corridor"}, own).task() is get("corridor.py:CORRIDOR")
    assert read_json(b'{"task": "corridor~7"}', own).task().horizon() == 7
    assert "unknown task 'corridor'" in refused({"task": "corridor"}, "task")
    for name in ("corridor.py:CORRIDOR", "./corridor.py:CORRIDOR~9", "corridor.py", "CORRIDOR"):
        with pytest.raises(RequestError, match="unknown task"):
            find_task(name, own)
    with pytest.raises(RequestError, match="expected a number of actions"):
        find_task("corridor~1:corridor.py:CORRIDOR", own)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("size=(4, 12)", "size=(4, 101)", "at most 100 cells a side, found 4x101"),
        ("size=(4, 12)", "size=(4, 12), actions=100_001", "at most 100,000 actions, found 100,001"),
        ("def value(", "def value(:", r"corridor\.py, line 15: SyntaxError: invalid syntax"),
        ("CORRIDOR =", "HALL =", r"corridor\.py has no task 'CORRIDOR'; it has HALL"),
    ],
)
def test_user_task_that_cannot_be_shown_is_refused(corridor: Path, old: str, new: str, message: str) -> None:
    edit(corridor, old, new)
    with pytest.raises(RequestError, match=message):
        find_task("corridor", {"corridor": f"{corridor}:CORRIDOR"})


def test_only_errors_of_user_tasks_become_request_errors(corridor: Path) -> None:
    own = {"corridor": f"{corridor}:CORRIDOR"}
    asked = Fields({"task": "corridor~100"}, own)
    with pytest.raises(RequestError, match=r"corridor\.py: ZeroDivisionError"), asked.task_errors():
        1 / 0  # noqa: B018
    for values in ({"task": "maze"}, {"task": None}, {}, {"task": 3}):
        with pytest.raises(ZeroDivisionError), Fields(values, own).task_errors():
            1 / 0  # noqa: B018
    with pytest.raises(RequestError, match=r"^no$"), asked.task_errors():
        raise RequestError("no")


def test_missing_library_of_an_environment_is_a_request_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "shipped", lambda: {"corridor": CORRIDOR})
    assert mistake(ValueError("it needs MiniGrid"), "corridor~9", {}) == "it needs MiniGrid"
    assert mistake(DependencyNotInstalled("no pygame"), "corridor", {}) == "no pygame"
    assert mistake(IndexError("a mistake here"), "corridor", {}) is None
    assert mistake(ValueError("a mistake here"), "maze", {}) is None


def test_size_that_does_not_fit_the_task_raises() -> None:
    maze = get("maze")
    assert Fields({}).size(maze) == (8, 8)
    assert Fields({"size": [100, 5]}).size(maze) == (100, 5)
    assert "height: expected 3 to 100, found 101" in refused({"size": [101, 5]}, "size", maze)
    assert "width: expected 3 to 100" in refused({"size": [5, 101]}, "size", maze)
    assert "needs at least 5x5" in refused({"size": [5, 4]}, "size", maze)
    assert "a fixed size" in refused({"size": [9, 9]}, "size", get("clean-house"))
    assert "expected [height, width]" in refused({"size": [5]}, "size", maze)
    assert "expected height and width" in refused({"size": "5x5"}, "size", maze)
    assert "expected [height, width] or the name" in refused({"size": "x" * 65}, "size", maze)


def test_variant_of_an_environment_is_a_size() -> None:
    assert Fields({}).size(CORRIDOR) == ""
    assert Fields({"size": "long"}).size(CORRIDOR) == "long"
    assert "corridor has no variant 'huge'" in refused({"size": "huge"}, "size", CORRIDOR)
    assert "corridor has no variant" in refused({"size": [8, 8]}, "size", CORRIDOR)
    endless = corridor(steps=None, variants={"endless": long})
    with pytest.raises(ValueError, match="expected `steps`"):
        Fields({"size": "endless"}).size(endless)


def test_rollouts_of_an_environment_are_bounded() -> None:
    with pytest.raises(RequestError, match="at most 100,000 actions, found 100,001"):
        Fields({"size": "long"}).size(corridor(steps=100_001))


def test_the_language_is_that_of_the_task_or_karels() -> None:
    assert Fields({}).language() is LANGUAGE
    assert Fields({"task": "corridor"}, OWN).language() == CORRIDOR.domain.language


def test_language_of_a_task_may_take_words_from_programs() -> None:
    class Wordy:
        def fitting(self, words: Any) -> Any:
            if "x>" in words:
                raise ValueError("wordy: expected a number after x>")
            return sorted(words)

    wordy: Any = Wordy()
    found: Any = with_words(wordy, "DEF run # x>1\n m(", "m(")
    assert found == ["DEF", "m(", "run"]
    with pytest.raises(RequestError, match="program: wordy: expected a number after x>"):
        with_words(wordy, "x>")
    assert with_words(get("maze"), "anything") is get("maze")


def test_search_in_an_environment_takes_variants_and_methods_without_a_space() -> None:
    found = read_search({"task": "corridor", "also": "long", "worlds": "4"}, OWN)
    assert found == SearchRequest(OWN["corridor"], "ladder", 0, None, None, ("long",), worlds=4, mapped=False)
    assert read_search({"task": "corridor", "size": "long"}, OWN).size == "long"
    for change, message in (
        ({"size": "8x8"}, "has no variant '8x8'"),
        ({"also": "huge"}, "has no variant 'huge'"),
        ({"method": "leaps"}, "expected one of ladder, hc, found 'leaps'"),
        ({"worlds": "0"}, "worlds: expected 1 to 256"),
        ({"worlds": "257"}, "worlds: expected 1 to 256"),
    ):
        with pytest.raises(RequestError, match=re.escape(message)):
            read_search({"task": "corridor"} | change, OWN)


def test_drawing_has_rows_and_a_pose() -> None:
    assert Fields({"world": {"rows": ROWS, "karel": [1, 1, 2]}}).drawing() == (ROWS, (1, 1, 2))


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ([], "expected rows and karel"),
        ({"rows": ROWS}, "karel: expected a list"),
        ({"rows": ROWS, "karel": [1, 1]}, "karel: expected row, column and heading"),
        ({"rows": ROWS, "karel": [1, 1, 4]}, "heading: expected 0 to 3"),
        ({"rows": ["#" * (SIDE + 1)] * 3, "karel": [1, 1, 0]}, "at most 100 cells a row, found 101"),
        ({"rows": ["###"] * (SIDE + 1), "karel": [1, 1, 0]}, "a list of 1 to 100"),
        ({"rows": [3], "karel": [1, 1, 0]}, "expected texts"),
    ],
)
def test_wrong_drawing_is_refused(world: object, message: str) -> None:
    assert message in refused({"world": world}, "drawing")


def test_search_is_read_from_the_query() -> None:
    assert read_search({"task": "maze"}) == SearchRequest("maze", "ladder", 0, None, None)
    everything = {
        "task": "maze",
        "method": "leaps+",
        "seed": "3",
        "budget": "1000",
        "size": "8x9",
        "token": "x",
    }
    assert read_search(everything) == SearchRequest("maze", "leaps+", 3, 1000, (8, 9))
    assert read_search({"task": "maze", "also": "9x9"}).also == ((9, 9),)
    assert read_search({"task": "maze", "also": " 9x9, 100x20,"}).also == ((9, 9), (100, 20))
    assert read_search({"task": "maze", "also": ""}).also == ()


def test_search_request_has_the_file_of_a_user_task(corridor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corridor.parent)
    own = {"corridor": f"{corridor}:CORRIDOR"}
    assert read_search({"task": "corridor~40"}, own).task == f"{corridor}:CORRIDOR~40"
    assert read_search({"task": "maze~40"}, own).task == "maze~40"
    with pytest.raises(RequestError, match="unknown task"):
        read_search({"task": "corridor.py:CORRIDOR"}, own)


@pytest.mark.parametrize(
    "change",
    [
        {"task": "nowhere"},
        {"method": "guess"},
        {"seed": "-1"},
        {"seed": "1.5"},
        {"seed": "²"},
        {"seed": "9" * 12},
        {"budget": "0"},
        {"budget": str(BUDGET + 1)},
        {"budget": ""},
        {"size": "8"},
        {"size": "8x"},
        {"size": "101x8"},
        {"size": "8x8x8"},
        {"size": ""},
        {"also": "8"},
        {"also": "9x9;10x10"},
        {"also": "9x9,101x9"},
        {"also": "9x9,2x9"},
        {"also": "9x9,10x10,11x11,12x12,13x13"},
    ],
)
def test_invalid_search_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(RequestError):
        read_search({"task": "maze"} | change)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values, st.sampled_from([("seed", "seed"), ("task", "task"), ("world", "drawing")]))
def test_any_value_of_a_field_is_read_or_refused(value: Any, read: tuple[str, str]) -> None:
    name, method = read
    problem = ""
    try:
        getattr(Fields({name: value}), method)()
    except RequestError as error:
        problem = str(error)
    assert len(problem) < 1000
