"""Cells have names of their own, and results are read back as they were written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaps.experiments.cell import Cell, Result, cell

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9+.x_]{0,8}", fullmatch=True)
OPTIONS = st.fixed_dictionaries(
    {}, optional={"size": NAMES, "share": st.integers(0, 99), "tokens": st.booleans()}
)
"""an option has one type: 5 and "5" would have the same name"""
CELLS = st.builds(
    lambda experiment, method, task, seed, options: cell(experiment, method, task, seed, **options),
    NAMES, NAMES, NAMES, st.integers(0, 9), OPTIONS,
)  # fmt: skip


def test_name_of_a_cell() -> None:
    assert cell("tasks", "drl-abs", "maze", 3).name == "tasks/drl-abs/maze-3"
    assert cell("unseen", "leaps", "top-off", 1, share=0.25).name == "unseen/leaps/top-off-share=0.25-1"
    assert cell("reconstruction", "p+r", "2IF+IFELSE").name == "reconstruction/p+r/2IF+IFELSE-0"


@given(CELLS, CELLS)
def test_different_cells_have_different_names(one: Cell, other: Cell) -> None:
    assert (one == other) == (one.name == other.name)


@given(CELLS)
def test_result_json_round_trip(one: Cell) -> None:
    result = Result(
        one,
        {"return": 0.5, "program": "DEF"},
        1.5,
        "1.2",
        {"cores": 2},
        "2030-01-01T00:00:00",
        "a1b2+changed",
    )
    assert Result.of_json(json.loads(json.dumps(result.as_json()))) == result


def test_result_without_commit_has_an_empty_one() -> None:
    stored = Result(cell("tasks", "drl", "maze"), {"return": 0.5}, 1.0, "1.2", commit="a1b2").as_json()
    del stored["commit"]
    assert Result.of_json(stored).commit == ""


def test_the_order_of_options_does_not_matter() -> None:
    assert cell("a", "b", "c", size="8x8", share=1) == cell("a", "b", "c", share=1, size="8x8")


@pytest.mark.parametrize("wrong", ["", "a/b", "..", "a b", "-a", "ä"])
def test_names_invalid_in_file_names_raise(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected names of letters, digits"):
        cell("tasks", wrong, "maze")


def test_invalid_cells_raise() -> None:
    with pytest.raises(ValueError, match="seed must be 0 or more, found -1"):
        cell("tasks", "drl", "maze", -1)
    with pytest.raises(ValueError, match="alphabetical order"):
        Cell("a", "b", "c", 0, (("z", 1), ("y", 2)))


@pytest.mark.parametrize("content", [None, [], {}, {"cell": {}}, {"cell": {"experiment": "a"}, "values": 3}])
def test_invalid_json_raises(content: Any) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Result.of_json(content)
