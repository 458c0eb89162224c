"""Rehearsal: a user's task is tested before it is run, and errors are traced to the user's line."""

from dataclasses import replace

import numpy as np
import pytest

from leaps.base.jit import jit
from leaps.compiled.plain import World
from leaps.compiled.task import CompiledTask
from tests.compiled.sweeper import CLEANED, PLACE, TASK, WORK, act, value

STILL = "DEF run m( suck m)"
"""a program that goes wrong in none of these tasks"""
LONG = "DEF run m( REPEAT R=3 r( REPEAT R=3 r( REPEAT R=3 r( REPEAT R=3 r( turn r) r) r) r) m)"
"""81 actions, more than a rehearsal takes"""


def run(task: CompiledTask, program: str) -> None:
    task.run(task.compile(program), task.worlds(3, seed=1))


def test_a_task_is_rehearsed_before_its_first_run() -> None:
    def act(world: World, action: int) -> int:
        world.numbers[PLACE] += 1
        world.cells[0, 0, world.numbers[PLACE]] = action
        return CLEANED

    broken = replace(TASK, act=act)
    line = act.__code__.co_firstlineno + 2
    with pytest.raises(ValueError, match=rf"sweep: act \(.*rehearsal.py, line {line}\): IndexError: index 7"):
        run(broken, STILL)


def test_random_numbers_in_an_action_are_detected() -> None:
    def act(world: World, _action: int) -> int:
        world.numbers[PLACE] = np.random.randint(0, 7)
        return CLEANED

    with pytest.raises(
        ValueError, match=r"expected the same .* in plain Python and compiled; the .* differed"
    ):
        run(replace(TASK, act=act), STILL)


def test_an_action_that_can_not_be_compiled_is_named() -> None:
    def act(_world: World, _action: int) -> int:
        return int(eval("1"))  # which numba has not

    line = act.__code__.co_firstlineno
    with pytest.raises(ValueError, match=rf"rehearsal.py, line {line}: act can't be compiled"):
        run(replace(TASK, act=act), STILL)


@jit
def far(world: World, place: int) -> int:
    return int(world.cells[0, 0, place])


def late_action(world: World, _action: int) -> int:
    world.numbers[WORK] -= 1
    if world.numbers[WORK] < -60:
        world.cells[0, 0, 1000 - world.numbers[WORK]] = 1
    return CLEANED


def late_value(world: World, _start: World) -> float:
    return float(world.cells[0, 0, 5000] if world.numbers[WORK] > 60 else 0)


def late_reaction(world: World, _change: int) -> bool:
    return bool(world.numbers[WORK] > 60 and world.cells[0, 0, 5000] > 0)


def late_perception(world: World) -> tuple[bool, ...]:
    late = world.numbers[WORK] > 60 and far(world, 5000) > 0
    return late, late, late, late, late, late


def counted(world: World, _action: int) -> int:
    world.numbers[WORK] += 1
    return CLEANED


def infinite(world: World, _start: World) -> float:
    return float(1.0 / (61 - max(world.numbers[WORK], 0)) - 1.0)


ASKING = LONG.replace("turn", "IF c( dirt c) i( suck i) turn")


@pytest.mark.parametrize(
    ("function", "task", "program"),
    [
        ("act", replace(TASK, act=late_action), LONG),
        ("value", replace(TASK, act=counted, react=None, value=late_value), LONG),
        ("react", replace(TASK, act=counted, react=late_reaction), LONG),
        ("perceive", replace(TASK, act=counted, react=None, perceive=late_perception), ASKING),
    ],
)
def test_an_index_out_of_range_in_a_late_state_is_traced_back(
    function: str, task: CompiledTask, program: str
) -> None:
    """A rehearsal does not reach this state: the executor's bounds checks detect the error."""
    task = replace(task, is_over=None)
    run(task, STILL)
    line = getattr(task, function).__code__.co_firstlineno
    place = rf"sweep: {function} \(.*test_rehearsal\.py, line ({line + 1}|{line + 2}|{line + 3})\)"
    with pytest.raises(ValueError, match=rf"{place}: IndexError: .*, after \d+ actions"):
        run(task, program)


def test_a_value_that_is_infinite_in_a_late_state_is_traced_back() -> None:
    task = replace(TASK, act=counted, react=None, is_over=None, value=infinite, highest=np.inf, best=1.0)
    exactly = "DEF run m( REPEAT R=3 r( REPEAT R=3 r( REPEAT R=3 r( turn turn r) r) r) REPEAT R=3 r( turn r) "
    run(task, STILL)
    with pytest.raises(ValueError, match=r"sweep: value \(.*expected a finite number, found inf, after 61"):
        run(task, exactly + "turn turn turn turn m)")


def test_a_valid_task_is_rehearsed_once_and_runs() -> None:
    assert TASK.rehearsed
    assert replace(TASK, act=act, value=value).rehearsed
