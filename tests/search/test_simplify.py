"""Simplification: the simpler program is as good and costs less."""

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.dsl.sample import sample_programs
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS
from leaps.search.objective import Objective
from leaps.search.simplify import costs, simplify
from leaps.tasks import get

MAZE = "DEF run m( WHILE c( noMarkersPresent c) w( move turnRight w) m)"
TOP_OFF = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"


def row(program: str, length: int = 45) -> NDArray[np.uint8]:
    """A program padded to the maximum length, as in searches."""
    tokens = KAREL.read(program)
    return np.pad(tokens, (0, length - len(tokens)), constant_values=LANGUAGE.pad)


def objective_of(task: str, worlds: int = 60) -> Objective:
    return Objective(get(task), get(task).worlds(worlds, seed=5))


def simplified(program: str, task: str, seed: int = 0) -> str:
    return LANGUAGE.text(simplify(row(program), objective_of(task), seed))


def length(program: str) -> int:
    return len(program.split())


# Quality


@pytest.mark.parametrize("task", ["top-off", "harvester", "seeder", "four-corner"])
@pytest.mark.parametrize("worlds", [8, 60])  # so few that none is dropped in a race, and more
def test_a_simpler_program_is_never_worse_nor_costlier(task: str, worlds: int) -> None:
    objective = objective_of(task, worlds)
    programs = sample_programs(LANGUAGE, PROGRAMS, 300, seed=4)
    best = programs[np.argsort(-objective.scores(programs), kind="stable")[:4]]
    for number, program in enumerate(best):
        simpler = simplify(program, objective, seed=number)
        assert simpler.shape == program.shape
        assert KAREL.compile(simpler[None]).entry[0] >= 0
        assert objective.scores(simpler[None])[0] >= objective.scores(program[None])[0] - 1e-9
        assert costs(simpler[None], LANGUAGE)[0] <= costs(program[None], LANGUAGE)[0]


# Length


@pytest.mark.parametrize(
    ("part", "padded"),
    [
        ("move", "turnLeft turnRight move turnRight turnLeft"),
        ("move", "IF c( markersPresent c) i( turnLeft putMarker move i) move"),
        ("WHILE", "turnLeft turnLeft turnLeft turnLeft IF c( markersPresent c) i( move i) WHILE"),
        ("move", "IFELSE c( noMarkersPresent c) i( move i) ELSE e( turnLeft e)"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_useless_parts_are_removed(part: str, padded: str, seed: int) -> None:
    program = MAZE.replace(part, padded)
    assert objective_of("maze").scores(row(program)[None])[0] == 1.0
    assert length(simplified(program, "maze", seed)) <= length(MAZE)


def test_a_program_without_reward_becomes_the_shortest_program() -> None:
    assert length(simplified("DEF run m( turnLeft IF c( leftIsClear c) i( turnLeft i) m)", "maze")) == 5


@pytest.mark.parametrize(("program", "task"), [(MAZE, "maze"), (TOP_OFF, "top-off")])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_program_without_useless_parts_is_left_alone(program: str, task: str, seed: int) -> None:
    assert simplified(program, task, seed) == program


def test_a_program_of_maximum_length_is_shortened() -> None:
    program = MAZE.replace("move", "turnLeft turnRight move")
    full = row(program, length(program))
    simpler = simplify(full, objective_of("maze"), 0)
    assert (simpler != LANGUAGE.pad).sum() <= length(MAZE)


# WHILE rather than REPEAT


def test_a_while_costs_less_than_a_repeat_of_equal_length() -> None:
    repeat = "DEF run m( REPEAT R=9 r( move move turnLeft r) m)"
    loop = "DEF run m( WHILE c( leftIsClear c) w( move w) m)"
    assert length(repeat) == length(loop)
    cost = costs(np.stack([row(repeat), row(loop)]), LANGUAGE)
    assert cost[1] < cost[0]


def test_padding_costs_nothing() -> None:
    assert costs(row(MAZE)[None], LANGUAGE)[0] == costs(KAREL.read(MAZE)[None], LANGUAGE)[0] == length(MAZE)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_repeat_that_a_while_can_replace_is_replaced(seed: int) -> None:
    # The numbers are large enough for worlds of this size only.
    program = "DEF run m( REPEAT R=19 r( REPEAT R=19 r( move turnRight r) r) m)"
    assert objective_of("maze").scores(row(program)[None])[0] == 1.0
    words = simplified(program, "maze", seed).split()
    assert "REPEAT" not in words
    assert "WHILE" in words


# Reproducibility


def test_the_same_seed_gives_the_same_program() -> None:
    program = "DEF run m( turnLeft turnRight REPEAT R=19 r( REPEAT R=19 r( move turnRight r) turnLeft r) m)"
    assert simplified(program, "maze", 3) == simplified(program, "maze", 3)


def test_the_program_given_is_not_changed() -> None:
    program = row(MAZE.replace("move", "turnLeft turnRight move"))
    before = program.copy()
    simplify(program, objective_of("maze"), 0)
    assert np.array_equal(program, before)
