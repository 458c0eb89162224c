"""Scenes in plain Python report errors of users' functions with their line."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leaps.compiled.plain import World
from leaps.compiled.scene import CompiledScene
from leaps.dsl.interpreter import Outcome
from leaps.dsl.syntax import Condition
from tests.compiled.sweeper import AHEAD, CLEANED, PLACE, SENSES, TASK, WORK

FORWARD, TURN, SUCK = range(3)


def world(dirt: str = ".#.", place: int = 0, ahead: int = 1, work: int = 0) -> World:
    cells = np.array([[[cell == "#" for cell in dirt]]], np.uint8)
    return World(cells, np.array([place, ahead, work]))


def test_a_scene_perceives_and_acts_in_a_copy() -> None:
    start = world()
    scene = CompiledScene(TASK, start)
    assert [name for name in SENSES if scene.holds(Condition(name))] == ["dirtAhead", "right"]
    assert scene.holds(Condition("bump", negated=True))
    assert [scene.act(action) for action in (FORWARD, SUCK, TURN)] == [None] * 3
    assert scene.world.numbers[[PLACE, AHEAD, WORK]].tolist() == [1, -1, 1]
    assert scene.worth() == pytest.approx(1 - 3 * 0.01)
    assert (start.numbers.tolist(), start.cells.sum()) == ([0, 1, 0], 1)


def test_a_reaction_or_the_world_ends_the_rollout() -> None:
    assert CompiledScene(TASK, world(work=12)).act(SUCK) == Outcome.ENDED
    decided = CompiledScene(TASK, world("#..", place=1, work=2))  # dirt falls on the last cell: two of dirt
    assert decided.act(SUCK) == Outcome.ENDED
    assert CompiledScene(replace(TASK, react=None), world("#..", place=1, work=2)).act(SUCK) is None


def test_a_scene_is_drawn_by_the_task() -> None:
    assert str(CompiledScene(TASK, world()).text()) == ".1.\n0 1 0"
    drawn = replace(TASK, draw=lambda world: f"at {world.numbers[PLACE]}")
    assert str(CompiledScene(drawn, world()).text()) == "at 0"
    from PIL import Image

    pictured = replace(TASK, picture=lambda world: Image.new("RGB", (world.cells.shape[2], 2)))
    assert CompiledScene(pictured, world()).image().size == (3, 2)
    assert CompiledScene(TASK, world()).image().size[0] > 3
    assert CompiledScene(TASK, world()).plain() == {"cells": [[[0, 1, 0]]], "numbers": [0, 1, 0]}


def out_of_range(world: World, _action: int) -> int:
    world.cells[0, 0, world.numbers[PLACE] + 3] = 1
    return CLEANED


def nothing_returned(world: World, _action: int) -> Any:
    world.numbers[PLACE] = 1


def changes_and_returns_zero(world: World, _action: int) -> int:
    world.numbers[PLACE] = 1
    return 0


def wraps_around(world: World, _action: int) -> int:
    world.cells[0, 0, 0] = world.cells[0, 0, 2] - 1
    return CLEANED


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (out_of_range, "IndexError: index 3 is out of bounds for axis 2 with size 3"),
        (nothing_returned, "expected a number, 0 if nothing has changed, found None"),
        (changes_and_returns_zero, "it changed the world and returned 0"),
        (wraps_around, "OverflowError: .* cells are uint8|FloatingPointError: overflow .* cells are uint8"),
    ],
)
def test_a_wrong_action_is_named_with_its_line(act: Callable[[World, int], int], message: str) -> None:
    line = act.__code__.co_firstlineno
    place = rf"sweep: act \(.*test_scene\.py, line ({line}|{line + 1})\)"
    with pytest.raises(ValueError, match=rf"{place}: ({message}).*, after [01] action"):
        CompiledScene(replace(TASK, act=act), world()).act(SUCK)


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ((True, False), "expected 6 truth values, found 2"),
        (None, "expected a truth value for each of dirt, .* found None"),
        (64, "found 64"),
    ],
)
def test_perceptions_of_a_wrong_type_raise(seen: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"sweep: perceive .*{message}"):
        CompiledScene(replace(TASK, perceive=lambda _: seen), world()).look(0)


@pytest.mark.parametrize(
    ("worth", "message"),
    [
        (lambda *_: np.nan, "expected a finite number, found nan"),
        (lambda *_: "1", "expected a finite number, found '1'"),
        (lambda *_: 2.0, "expected at most highest=1, found 2; raise highest"),
        (lambda world, _: world.numbers[9], "IndexError: index 9"),
        (lambda world, _: float(world.cells.fill(0) is None), "it changed the world"),
    ],
)
def test_an_impossible_value_raises(worth: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"sweep: value .*{message}"):
        CompiledScene(replace(TASK, value=worth), world()).worth()
