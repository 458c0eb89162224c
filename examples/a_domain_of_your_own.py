"""Write a domain: the perceptions and actions in a user-defined world. It runs millions of steps a second.

A lift takes everybody who waits in a building down to the ground floor. It holds two people at a time.
"""

import numpy as np

import leaps
from leaps.compiled.plain import World
from leaps.domain import Domain

FLOOR, INSIDE = 0, 1
"""indices into a world's numbers: the lift's floor, and the people in it; a cell counts waiting people"""
ROOM = 2
UP, DOWN, OPEN = range(3)
LIFT = Domain.of(
    "lift", actions=("up", "down", "open"), perceptions=("ground", "top", "full", "waiting", "waitingAbove")
)


def perceive(world: World) -> tuple[bool, ...]:
    """Return whether each perception holds, in their order."""
    floor, top = world.numbers[FLOOR], world.cells.shape[1] - 1
    waiting = world.cells[0, floor, 0] > 0
    above = world.cells[0, floor + 1 :, 0].sum() > 0
    return floor == 0, floor == top, world.numbers[INSIDE] == ROOM, waiting, above


def act(world: World, action: int) -> int:
    """Do an action; return 0 only if it changes nothing."""
    floor, top = world.numbers[FLOOR], world.cells.shape[1] - 1
    if action == UP and floor < top:
        world.numbers[FLOOR] += 1
        return 1
    if action == DOWN and floor > 0:
        world.numbers[FLOOR] -= 1
        return 1
    if action == OPEN and floor == 0 and world.numbers[INSIDE] > 0:
        world.numbers[INSIDE] = 0
        return 1
    if action == OPEN and floor > 0 and world.cells[0, floor, 0] > 0 and world.numbers[INSIDE] < ROOM:
        world.cells[0, floor, 0] -= 1
        world.numbers[INSIDE] += 1
        return 1
    return 0


def sample(rng: np.random.Generator, size: tuple[int, int]) -> World:
    """Draw an initial state."""
    cells = np.zeros((1, *size), np.uint8)
    cells[0, 1:, 0] = rng.integers(0, 4, size[0] - 1)
    cells[0, rng.integers(1, size[0]), 0] += 1  # somebody waits
    return World(cells, np.array([rng.integers(size[0]), 0]))


def value(world: World, start: World) -> float:
    """Return the value of a state: the fraction of the people who are down."""
    return float(1.0 - (world.cells.sum() + world.numbers[INSIDE]) / start.cells.sum())


def draw(world: World) -> str:
    """Draw the building from the side, the top floor first: the lift, then waiting people."""
    floors = range(world.cells.shape[1])
    lift = {int(world.numbers[FLOOR]): f"[{'o' * world.numbers[INSIDE]:{ROOM}}]"}
    return "\n".join(
        f"{lift.get(floor, '    ')} {'o' * world.cells[0, floor, 0]}" for floor in reversed(floors)
    )


EVERYBODY_DOWN = leaps.CompiledTask(
    name="everybody-down",
    summary="bring everybody down to the ground floor",
    domain=LIFT,
    perceive=perceive,
    act=act,
    sample=sample,
    value=value,
    draw=draw,
    size=(5, 1),
    smallest=(2, 1),
    steps=lambda size: 20 * size[0] ** 2,
)

if __name__ == "__main__":
    found = leaps.solve(EVERYBODY_DOWN, also=[(12, 1)])
    print(f"{found.unseen_return:.3f} after {found.evaluations:,} evaluations: {found.program}")
