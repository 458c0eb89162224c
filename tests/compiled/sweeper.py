"""A domain by its author's two functions: a robot in a corridor with dirt, compiled and in plain Python."""

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import address_of, jit
from leaps.compiled.engine import Engine
from leaps.compiled.kernels import Hooks
from leaps.compiled.plain import REACT_TYPE, VALUE_TYPE, World, Worlds, plain_rules
from leaps.domain import Domain
from leaps.dsl.interpreter import Outcome
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution
from leaps.dsl.syntax import Condition

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


@jit
def perceive(world: World) -> np.uint64:
    place, ahead, width = world.numbers[PLACE], world.numbers[AHEAD], world.cells.shape[2]
    front, back = place + ahead, place - ahead
    code = np.uint64(world.cells[0, 0, place])
    code |= np.uint64(not 0 <= front < width) << np.uint64(1)
    if 0 <= front < width:
        code |= np.uint64(world.cells[0, 0, front]) << np.uint64(2)
    if 0 <= back < width:
        code |= np.uint64(world.cells[0, 0, back]) << np.uint64(3)
    code |= np.uint64(world.numbers[WORK] > 3) << np.uint64(4)
    code |= np.uint64(ahead > 0) << np.uint64(5)
    return code


@jit
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


@jit
def is_over(world: World) -> bool:
    return bool(world.numbers[WORK] > ENOUGH)


ENGINE = Engine(plain_rules(perceive, act, is_over), __file__)


def react(world: World, change: int) -> bool:  # noqa: ARG001
    """After the third cleaning, dirt falls on the last cell. Two cells of dirt end the rollout."""
    world.cells[0, 0, -1] |= world.numbers[WORK] == 3
    return bool(world.cells.sum() == 2)


def value(world: World, start: World) -> float:
    return float(1.0 - world.cells.sum() / max(start.cells.sum(), 1))


def hooks() -> Hooks:
    return Hooks(CLEANED, address_of(react, REACT_TYPE), address_of(value, VALUE_TYPE), 0.01)


def corridors(count: int, seed: int, width: int = 7) -> Worlds:
    rng = np.random.default_rng(seed)
    cells = (rng.random((count, 1, 1, width)) < 0.6).astype(np.uint8)
    numbers = np.stack(
        [rng.integers(width, size=count), rng.choice([-1, 1], count), np.zeros(count, np.int64)], axis=1
    )
    return Worlds(cells, numbers.astype(np.int64))


class Stage:
    """The same world, acted in by plain Python."""

    def __init__(self, world: World) -> None:
        self.world = World(world.cells.copy(), world.numbers.copy())

    def holds(self, condition: Condition) -> bool:
        sense = SENSES.index(condition.perception)
        return bool(int(perceive(self.world)) >> sense & 1) != condition.negated

    def act(self, action: int) -> Outcome | None:
        change = act(self.world, action)
        over = bool(change & CLEANED) and react(self.world, change)
        return Outcome.ENDED if over or is_over(self.world) else None


def state(world: World) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return world.cells, world.numbers
