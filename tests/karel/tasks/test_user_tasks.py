"""User-defined tasks: they behave like built-in ones, and errors in them are reported."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below, uniform
from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.karel.physics import PUT
from leaps.karel.simulation import Simulation
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, LANGUAGE, MOVE, PUT_MARKER, WALL, World, clear, place_karel
from leaps.tasks import get


def sample(stream: Stream, world: World) -> None:
    """Put Karel on a random cell of an empty room."""
    height, width = world.ground.shape
    clear(world)
    place_karel(world, 1 + below(stream, height - 2), 1 + below(stream, width - 2), EAST)


def value(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.markers.sum() / 1000)


OWN = KarelTask("own", "put markers", (6, 9), (3, 4), sample, value)


def drawing(function: Any) -> KarelTask:
    return replace(OWN, sample=function)


def test_a_user_task_behaves_like_a_built_in_one() -> None:
    worlds = OWN.worlds(300, seed=1)
    assert (worlds.ground[:, 1:-1, 1:-1] != WALL).all()
    assert len(np.unique(worlds.pose, axis=0)) > 20
    assert evaluate("DEF run m( putMarker m)", OWN).mean_return[0] == pytest.approx(0.001)


def without_clear(stream: Stream, world: World) -> None:  # noqa: ARG001
    place_karel(world, 1, 1, EAST)


def without_karel(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)


def with_eleven_markers(stream: Stream, world: World) -> None:
    sample(stream, world)
    world.markers[2, 3] = 11


def far_outside(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, 1000, 1, EAST)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (without_clear, "own: expected wall all around"),
        (without_karel, r"own: expected Karel within the border \(`place_karel`\), found it at \(0, 0\)"),
        (with_eleven_markers, r"own: expected 0 to 10 markers in a cell, found 11 at \(2, 3\)"),
        (far_outside, r"found it at \(1000, 1\)"),
    ],
)
def test_a_task_that_draws_an_invalid_world_is_refused(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drawing(function).worlds(1, seed=0)
    with pytest.raises(ValueError, match=message):
        evaluate("DEF run m( move m)", drawing(function))


@jit
def _open_sometimes(stream: Stream, world: World) -> None:
    if uniform(stream) < 0.01:
        world.ground[0, 2] = 0


def sometimes_open(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    place_karel(world, 1 + below(stream, height - 2), 1 + below(stream, width - 2), EAST)
    _open_sometimes(stream, world)


def test_the_error_names_the_invalid_world() -> None:
    """The first of them, however many threads there are."""
    task = drawing(sometimes_open)
    with pytest.raises(ValueError, match="own: world ") as caught:
        task.worlds(2000, seed=7)
    stop = int(str(caught.value).split()[2])
    assert str(caught.value) == (
        f"own: world {stop} of seed 7, 6x9: expected wall all around (`clear` makes it), found none at (0, 2)"
    )
    assert task.worlds(stop, seed=7).count == stop
    with pytest.raises(ValueError, match=f"world {stop} of seed 7"):
        task.worlds(1, seed=7, first=stop)


def test_a_simulation_refuses_an_invalid_world() -> None:
    simulation = Simulation(drawing(sometimes_open), 2000)
    for index in range(2000):
        simulation.seed(index, 7, index)
    with pytest.raises(ValueError, match="drew a world that can't be played"):
        simulation.renew(np.ones(2000, np.bool_))


def begin_in_a_wall(stream: Stream, world: World) -> None:  # noqa: ARG001
    world.ground[world.pose[0], world.pose[1]] = WALL


def test_worlds_are_checked_after_begin_too() -> None:
    with pytest.raises(ValueError, match="own: expected Karel on a free cell"):
        replace(OWN, begin=begin_in_a_wall).worlds(1, seed=0)
    with pytest.raises(ValueError, match="own: expected Karel on a free cell"):
        replace(OWN, begin=begin_in_a_wall).prepare(World.parse("#####\n#>..#\n#####"))


def open_the_border(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    world.ground[0, :] = 0
    return False


def test_a_reaction_that_opens_the_border_is_refused() -> None:
    with pytest.raises(ValueError, match="own: expected wall all around"):
        replace(OWN, react=open_the_border, events=PUT).worlds(1, seed=0)


@jit
def put_often(world: World) -> bool:
    """After more actions than a rehearsal takes."""
    world.memory[0] += 1
    return bool(world.memory[0] > 20)


def open_the_border_later(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if put_often(world):
        world.ground[:, -1] = 0
    return False


def leave_later(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if put_often(world):
        world.pose[0] = -100_000
    return False


def stand_in_a_wall_later(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if put_often(world):
        world.pose[1] = 0
    return False


def turn_too_far_later(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if put_often(world):
        world.pose[2] = 7
    return False


def put_too_many_later(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if put_often(world):
        world.markers[1, 30] = 255
    return False


def fail_later(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if put_often(world):
        world.pose[0] = -100_000
        raise ValueError("it is too much")
    return False


def turn_later(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    if put_often(world):
        world.pose[2] = 3
    return False


PUTS = "DEF run m( WHILE c( noMarkersPresent c) w( putMarker move w) m)"


@pytest.mark.parametrize(
    ("react", "message"),
    [
        (open_the_border_later, "expected wall all around"),
        (leave_later, "expected Karel within the border"),
        (stand_in_a_wall_later, "expected Karel within the border"),
        (turn_too_far_later, "expected a heading from 0 to 3, found 7"),
        (put_too_many_later, "expected 0 to 10 markers in a cell, found 255"),
        (fail_later, "it is too much"),
    ],
)
def test_a_late_invalid_reaction_raises_in_every_runner(react: Any, message: str) -> None:
    task = replace(OWN, size=(3, 40), react=react, events=PUT, memory=1, sample=in_the_corner)
    with pytest.raises(ValueError, match=r"own: a state's value must be .*, found nan .*`react`"):
        evaluate(PUTS, task, episodes=2)
    simulation = Simulation(task, 2)
    simulation.place(task.worlds(2, seed=0))
    everyone = np.ones(2, np.bool_)
    for _ in range(20):
        simulation.advance(np.full(2, PUT_MARKER), everyone)
        simulation.advance(np.full(2, MOVE), everyone)
    with pytest.raises(ValueError, match=r"own: .* found nan .*`react`"):
        simulation.advance(np.full(2, PUT_MARKER), everyone)
    with pytest.raises(ValueError, match=message):
        list(task.play(parse(PUTS, LANGUAGE), task.worlds(1, seed=0).world(0), task.horizon()))


def test_a_valid_reaction_is_not_changed_by_the_checks() -> None:
    task = replace(OWN, size=(3, 40), react=turn_later, events=PUT, memory=1, sample=in_the_corner)
    world = task.worlds(1, seed=0).world(0)
    list(task.play(parse(PUTS, LANGUAGE), world, task.horizon()))
    assert world.markers.sum() == 21
    assert evaluate(PUTS, task, episodes=2).mean_return[0] == pytest.approx(0.021)


def fails_late(world: World, start: World) -> float:  # noqa: ARG001
    if world.markers.sum() > 20:
        raise ValueError("it is too much")
    return 0.0


def indexes_far_outside_late(world: World, start: World) -> float:  # noqa: ARG001
    return float(world.markers[100_000_000, 0]) if world.markers.sum() > 2 else 0.0


def test_an_index_out_of_range_is_an_error_in_compiled_code() -> None:
    """Without the check it would crash the process, in a state that no rehearsal reaches."""
    task = replace(OWN, value=indexes_far_outside_late)
    assert evaluate("DEF run m( putMarker m)", task).mean_return[0] == 0
    with pytest.raises(ValueError, match=r"own: .* found nan .*`value`"):
        evaluate("DEF run m( putMarker putMarker putMarker m)", task)


def test_a_value_that_fails_late_raises() -> None:
    task = replace(OWN, size=(3, 40), value=fails_late, sample=in_the_corner)
    with pytest.raises(ValueError, match=r"own: .* found nan .*`value`"):
        evaluate(PUTS, task, episodes=2)


def enough(world: World, start: World) -> bool:  # noqa: ARG001
    return bool(world.markers.sum() > 0)


def all_or_nothing(world: World, start: World) -> int:  # noqa: ARG001
    return int(world.markers.sum() > 0)


@pytest.mark.parametrize("function", [enough, all_or_nothing])
def test_a_value_may_be_any_kind_of_number(function: Any) -> None:
    task = replace(OWN, value=function)
    assert evaluate("DEF run m( putMarker m)", task).mean_return[0] == 1.0
    assert evaluate("DEF run m( move m)", task).mean_return[0] == 0.0


def remember_too_much(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    world.memory[5000] = 1
    return False


def test_a_task_of_short_rollouts_is_rehearsed_in_full() -> None:
    with pytest.raises(IndexError):
        replace(OWN, react=remember_too_much, events=PUT, actions=1).worlds(1, seed=0)


def in_the_corner(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, 1, 1, EAST)


@pytest.mark.parametrize("name", ["maze", "harvester"])
def test_a_world_drawn_by_hand_is_checked(name: str) -> None:
    world = World.parse("#####\n#>..#\n#...#\n#####")
    world.ground[0, 1] = 0
    with pytest.raises(ValueError, match=f"{name}: expected wall all around"):
        get(name).prepare(world)


def always_five(world: World) -> int:  # noqa: ARG001
    return 5


def two_bits(size: tuple[int, int]) -> int:  # noqa: ARG001
    return 2


def test_a_share_that_is_never_drawn_raises() -> None:
    """All worlds have configuration 5, which is not in every share."""
    task = replace(OWN, configuration=always_five, configuration_bits=two_bits)
    outcomes = []
    for share in (0.25, 0.5, 0.75, 1.0):
        try:
            outcomes.append(task.seen(share).worlds(1, seed=0).count)
        except ValueError as error:
            assert "drew none of its seen configurations" in str(error)  # noqa: PT017
            outcomes.append(0)
    assert outcomes == sorted(outcomes)
    assert outcomes[0] == 0
    assert outcomes[-1] == 1


# Errors in functions are seen


def sample_with_error(stream: Stream, world: World) -> None:
    sample(stream, world)
    raise RuntimeError("in sample")


def begin_with_error(stream: Stream, world: World) -> None:  # noqa: ARG001
    raise RuntimeError("in begin")


def react_with_error(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    raise RuntimeError("in react")


def value_with_error(world: World, start: World) -> float:  # noqa: ARG001
    if world.markers.sum() > 0:
        raise RuntimeError("in value")
    return 0.0


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"sample": sample_with_error}, "sample"),
        ({"begin": begin_with_error}, "begin"),
        ({"react": react_with_error, "events": PUT}, "react"),
        ({"value": value_with_error}, "value"),
    ],
)
def test_an_error_in_a_function_is_raised_unchanged(changes: dict[str, Any], where: str) -> None:
    """Compiled code would print it and continue."""
    task = replace(OWN, **changes)
    for _ in range(2):  # it doesn't go away
        with pytest.raises(RuntimeError, match=f"in {where}") as caught:
            evaluate("DEF run m( move m)", task)
        assert caught.traceback[-1].path == Path(__file__)


def no_value(world: World, start: World) -> float:  # noqa: ARG001
    return None  # type: ignore[return-value]


def test_a_value_must_be_a_number() -> None:
    with pytest.raises(ValueError, match="own: a state's value must be a finite number, found None"):
        replace(OWN, value=no_value).worlds(1, seed=0)


@pytest.mark.parametrize("values", [[], [1.0, -1.0], [1.0 + 1e-12], [-5.0]])
def test_values_up_to_one_are_accepted(values: list[float]) -> None:
    OWN.check_values(np.array([values]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0, np.nan], "own: a state's value must be a finite number, found nan"),
        ([np.inf, 0.0], "must be a finite number, found inf"),
        ([-np.inf, 3.0], "must be a finite number, found -inf"),
        ([0.0, 1.5], "own: a state's value must be at most 1, which is perfect; found 1.5"),
    ],
)
def test_other_values_are_refused(values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OWN.check_values(np.array([values]))


# What a task is made of


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "a task's name must not be empty"),
        ({"name": "  "}, "a task's name must not be empty"),
        ({"name": "../own"}, "found '../own'"),
        ({"name": "own.py:OWN"}, "found 'own.py:OWN'"),
        ({"size": (2, 2)}, r"own: size must be a height and a width from 3 .* to 1000, found \(2, 2\)"),
        ({"size": (8, 1001)}, "size must be a height and a width"),
        ({"size": (8,)}, "size must be a height and a width"),
        ({"smallest": (2, 4)}, "own: smallest must be a height and a width"),
        ({"size": (4, 4), "smallest": (4, 5)}, "own: size must be at least smallest, 4x5, found 4x4"),
        ({"actions": 0}, "own: actions must be from 1 to 2,147,483,647, found 0"),
        ({"actions": 100.0}, "own: actions must be from 1 to 2,147,483,647, found 100.0"),
        ({"memory": -1}, "own: memory must be 0 or more, found -1"),
        ({"events": 32}, "own: events must be of MOVED, PICKED, PUT, FAILED and TURNED, found 32"),
        ({"seen_share": 0.0}, "own: the share of seen configurations must be from 0.01 to 1, found 0.0"),
        ({"value": None}, "own: expected plain Python functions"),
        ({"value": jit(value)}, "own: expected plain Python functions"),
    ],
)
def test_an_invalid_task_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(OWN, **changes)


def test_sizes_may_be_given_as_lists() -> None:
    sizes: dict[str, Any] = {"size": [6, 9], "smallest": [3, 4]}
    assert replace(OWN, **sizes) == OWN
