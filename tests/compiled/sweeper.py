"""A task in a user-defined domain: a robot in a corridor with dirt."""

import numpy as np

from leaps.compiled.plain import World, Worlds
from leaps.compiled.task import CompiledTask
from leaps.domain import Domain
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution

SENSES = ("dirt", "bump", "dirtAhead", "dirtBehind", "tired", "right")
SWEEPER = Domain(
    "sweeper",
    Language(actions=("forward", "turn", "suck"), perceptions=SENSES, max_repeat=3),
    ProgramDistribution(actions=(0.5, 0.25, 0.25), perceptions=(1 / 6,) * 6),
)
PLACE, AHEAD, WORK = range(3)
"""numbers of a world: the cell, the direction, and how often the robot has sucked"""
MOVED, CLEANED = 1, 2
ENOUGH = 12


def perceive(world: World) -> tuple[bool, ...]:
    place, ahead, width = world.numbers[PLACE], world.numbers[AHEAD], world.cells.shape[2]
    front, back = place + ahead, place - ahead
    bump = not 0 <= front < width
    dirt_ahead = not bump and world.cells[0, 0, front] > 0
    dirt_behind = 0 <= back < width and world.cells[0, 0, back] > 0
    dirt = world.cells[0, 0, place] > 0
    return dirt, bump, dirt_ahead, dirt_behind, world.numbers[WORK] > 3, ahead > 0


def act(world: World, action: int) -> int:
    if action == 0:
        front = world.numbers[PLACE] + world.numbers[AHEAD]
        if 0 <= front < world.cells.shape[2]:
            world.numbers[PLACE] = front
            return MOVED
        return 0
    if action == 1:
        world.numbers[AHEAD] = -world.numbers[AHEAD]
        return MOVED
    world.numbers[WORK] += 1
    world.cells[0, 0, world.numbers[PLACE]] = 0
    return CLEANED


def is_over(world: World) -> bool:
    return bool(world.numbers[WORK] > ENOUGH)


def react(world: World, change: int) -> bool:  # noqa: ARG001
    """After the third cleaning, dirt falls on the last cell. Two cells of dirt end the rollout."""
    world.cells[0, 0, -1] |= world.numbers[WORK] == 3
    return bool(world.cells.sum() == 2)


def value(world: World, start: World) -> float:
    return float(1.0 - world.cells.sum() / max(start.cells.sum(), 1))


def sample(rng: np.random.Generator, size: tuple[int, int]) -> World:
    cells = (rng.random((1, *size)) < 0.6).astype(np.uint8)
    return World(cells, np.array([rng.integers(size[1]), rng.choice([-1, 1]), 0]))


TASK = CompiledTask(
    name="sweep",
    domain=SWEEPER,
    perceive=perceive,
    act=act,
    sample=sample,
    value=value,
    size=(1, 7),
    smallest=(1, 2),
    is_over=is_over,
    react=react,
    events=CLEANED,
    steps=150,
    cost=0.01,
)


def corridors(count: int, seed: int, width: int = 7) -> Worlds:
    return TASK.worlds(count, seed, (1, width)).worlds
