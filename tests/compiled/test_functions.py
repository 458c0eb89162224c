"""Exceptions in users' functions are raised, or returned as special values."""

import numpy as np
import pytest

from leaps.compiled.functions import engine_of, guarded_reaction, guarded_value
from leaps.compiled.plain import FAILED, World
from tests.compiled.sweeper import act, is_over, perceive


def world(number: int) -> World:
    return World(np.ones((1, 1, 2), np.uint8), np.array([number]))


def looks(world: World, _change: int) -> bool:
    return bool(world.cells[0, 0, world.numbers[0]] > 0)


def worth(world: World, start: World) -> bool:
    return bool(world.cells[0, 0, world.numbers[0]] > start.cells[0, 0, 0])


def test_a_failing_reaction_returns_failed() -> None:
    guarded = guarded_reaction(looks)
    assert [guarded(world(number), 1) for number in (0, 9)] == [1, FAILED]


def test_a_failing_value_returns_nan() -> None:
    guarded = guarded_value(worth)
    assert guarded(world(1), world(0)) == 0.0
    assert np.isnan(guarded(world(9), world(0)))


def test_tasks_with_the_same_functions_share_their_loops() -> None:
    assert engine_of(perceive, act, is_over, 0) is engine_of(perceive, act, is_over, 0)
    assert engine_of(perceive, act, None, 0) is not engine_of(perceive, act, is_over, 0)


def unknown(world: World) -> int:
    return open(world)  # type: ignore[call-overload,no-any-return]


def test_a_function_that_can_not_be_compiled_is_named() -> None:
    with pytest.raises(ValueError, match=r"test_functions.py, line \d+: unknown can't be compiled"):
        engine_of(unknown, act, None, 0)
