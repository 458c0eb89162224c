import json
from pathlib import Path
from typing import Any

import pytest

from leaps.karel.conformance import conform

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize(("name", "count"), [("traces.jsonl", 1200), ("tasks.jsonl", 376)])
def test_both_runners_agree_with_every_recorded_run(name: str, count: int) -> None:
    assert conform(GOLDEN / name) == (count, [])


def trace() -> dict[str, Any]:
    return {
        "program": "DEF run m( move putMarker m)",
        "grid": ["####", "#..#", "####"],
        "agent": [1, 1, "E"],
        "actions": "mu",
        "halted": True,
        "final_grid": ["####", "#.1#", "####"],
        "final_agent": [1, 2, "E"],
    }


def written(folder: Path, *records: Any) -> Path:
    file = folder / "records.jsonl"
    file.write_text(
        "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    )
    return file


def test_a_right_record_agrees(tmp_path: Path) -> None:
    assert conform(written(tmp_path, trace())) == (1, [])


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("actions", "mp", "actions: recorded mp, found mu"),
        ("actions", "m", "actions: recorded m, found mu"),
        ("halted", False, "recorded as not halted, found halted"),
        ("final_grid", ["####", "#.2#", "####"], "the final worlds differ"),
        ("final_agent", [1, 1, "E"], "the final worlds differ"),
        ("final_agent", [1, 2, "W"], "the final worlds differ"),
    ],
)
def test_a_wrong_record_is_found(tmp_path: Path, field: str, value: Any, what: str) -> None:
    count, disagreements = conform(written(tmp_path, trace(), {**trace(), field: value}))
    assert count == 2
    assert [(d.line, d.runner) for d in disagreements] == [(2, "executor")]
    assert what in disagreements[0].what


def test_a_wrong_return_is_found(tmp_path: Path) -> None:
    record = {
        "task": "harvester",
        "program": "DEF run m( pickMarker m)",
        "grid": ["####", "#1.#", "#1.#", "####"],
        "agent": [1, 1, "E"],
        "steps": 1,
        "return": 0.5,
    }
    assert conform(written(tmp_path, record)) == (1, [])
    assert (
        "recorded return 0.250000, found 0.500000"
        in conform(written(tmp_path, {**record, "return": 0.25}))[1][0].what
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agent": [1, 9, "E"]}, r"line 1: Karel at \(1, 9\) is outside"),
        ({"agent": [0, 0, "E"]}, r"line 1: Karel at \(0, 0\) is inside a wall"),
        ({"agent": [1, 1, "X"]}, "one of N E S W"),
        ({"agent": [[1, 1, "E"], [1, 2, "E"]]}, "one of N E S W"),
        ({"agent": None}, "'agent' has the wrong type"),
        ({"grid": ["####", "#>.#", "####"]}, "row 1 has '>'"),
        ({"grid": "####"}, "'grid' has the wrong type"),
        ({"program": "DEF run m( mvoe m)"}, "did you mean 'move'"),
        ({"task": "labyrinth"}, "unknown task 'labyrinth'"),
    ],
)
def test_an_invalid_record_raises(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        conform(written(tmp_path, {**trace(), **change}))


@pytest.mark.parametrize(
    "field", ["program", "grid", "agent", "actions", "halted", "final_grid", "final_agent"]
)
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    record = trace()
    del record[field]
    with pytest.raises(ValueError, match=f"line 1: the field '{field}' is missing"):
        conform(written(tmp_path, record))


@pytest.mark.parametrize(
    ("text", "message"), [("", "holds no record"), ("{", "line 1: expected a JSON"), ("[1]", "line 1")]
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        conform(written(tmp_path, text))
