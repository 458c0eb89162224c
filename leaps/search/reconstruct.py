"""Find a program that behaves as a given one does: the paper's four reconstruction tests (Table 1).

The worlds of a test are the given program's, as in the data set: it ends by itself in each of them, and they
take all its branches. In worlds where it runs on until it is cut off, hardly any other program is like it.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Outcome, Rollouts
from leaps.embedding.behaviour import HORIZON, match
from leaps.embedding.space import Space
from leaps.karel.dataset import choose_worlds
from leaps.karel.executor import run
from leaps.karel.world import KAREL, LANGUAGE, Worlds, random_worlds
from leaps.search.cem import CEM, ONE_SETTING, RESTART_AFTER, CEMConfig
from leaps.search.leaps import IN_A_ROW
from leaps.search.random_search import RandomConfig, RandomSearch
from leaps.search.search import VALID_BONUS

TEST_PROGRAMS = {
    "WHILE": "DEF run m( WHILE c( frontIsClear c) w( turnRight move pickMarker turnRight w) m)",
    "IFELSE+WHILE": (
        "DEF run m( IFELSE c( markersPresent c) i( move turnRight i) ELSE e( move e) move move "
        "WHILE c( leftIsClear c) w( turnLeft w) m)"
    ),
    "2IF+IFELSE": (
        "DEF run m( IF c( frontIsClear c) i( putMarker i) move IF c( rightIsClear c) i( move i) "
        "IFELSE c( frontIsClear c) i( move i) ELSE e( move e) m)"
    ),
    "WHILE+2IF+IFELSE": (
        "DEF run m( WHILE c( leftIsClear c) w( turnLeft w) IF c( frontIsClear c) i( putMarker move i) move "
        "IF c( rightIsClear c) i( turnRight move i) IFELSE c( frontIsClear c) i( move i) "
        "ELSE e( turnLeft move e) m)"
    ),
}
"""the paper's, named after their control flow"""

PLUS = replace(ONE_SETTING, restart_after=RESTART_AFTER)
"""the setting of leaps+, for any program"""
PAPER_RECONSTRUCTION = {
    "WHILE": CEMConfig(32, 0.25, 0.1, False, "narrow"),
    "IFELSE+WHILE": CEMConfig(32, 0.25, 0.1, True, "narrow"),
    "2IF+IFELSE": CEMConfig(16, 0.25, 0.2, True, "narrow"),
    "WHILE+2IF+IFELSE": CEMConfig(32, 0.25, 0.2, False, "narrow"),
}
"""the hyperparameters that the paper searched with, in its space"""

WORLDS = 10
POOL = 10
"""worlds drawn for each that is chosen"""
WALL_DENSITY = 0.25
"""of the authors' code; their data set has 0.1"""


def worlds_for(program: str, seed: int, count: int = WORLDS) -> Worlds:
    """Random worlds in which the program ends by itself and that together take all its branches.

    Where too few of those drawn are so, the others come last.
    """
    pool = random_worlds(count * POOL, seed, wall_density=WALL_DENSITY)
    compiled = KAREL.compile(LANGUAGE.batch([KAREL.read(program)]), branches=True)
    rollouts = run(compiled, pool, HORIZON)
    assert rollouts.covered is not None
    halted = rollouts.outcome[0] == Outcome.HALTED
    order = np.argsort(~halted, kind="stable")
    chosen = np.empty(count, np.int64)
    choose_worlds(np.where(halted, rollouts.covered[0], np.uint64(0))[order], chosen)
    return pool.take(order[chosen])


@dataclass(frozen=True)
class Reconstruction:
    program: NDArray[np.uint8]
    point: NDArray[np.float32]
    r_mat: float
    """on the search's own worlds"""
    iterations: int
    """until the search came to this program"""
    evaluations: int
    """of the whole search"""


class _Likeness:
    """Score points by R_mat of their programs and a given program, on ten worlds."""

    def __init__(self, space: Space, program: str, seed: int) -> None:
        self.space, self.worlds, self.program = space, worlds_for(program, seed), program
        self.evaluations = 0
        self._wanted: dict[int, Rollouts] = {}

    def wanted(self, count: int) -> Rollouts:
        """The rollouts of the given program, as often as there are points."""
        if count not in self._wanted:
            programs = KAREL.compile([self.program] * count)
            self._wanted[count] = run(programs, self.worlds, HORIZON, want_actions=True)
        return self._wanted[count]

    def __call__(self, points: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Points [count, dimensions] → programs [count, length] and their R_mat [count]."""
        self.evaluations += len(points)
        tokens = self.space.decode(points)
        found = run(KAREL.compile(tokens), self.worlds, HORIZON, want_actions=True)
        return tokens, np.asarray(match(found, self.wanted(len(points))).mean(axis=1))


def reconstruct(
    space: Space,
    program: str,
    config: CEMConfig,
    seed: int,
    iterations: int = CEM.ITERATIONS,
    best_answers: bool = True,
) -> Reconstruction:
    """Search the space for the behaviour of `program`, by R_mat on ten worlds.

    best_answers: return the best program sampled, and stop when ten populations in a row have a perfect one,
    as leaps+ does. Otherwise both concern the program at the centre, as published.
    """
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, found {iterations}")
    score = _Likeness(space, program, seed)
    cem = CEM(config, space.dimensions, seed)
    best = Reconstruction(np.zeros(0, np.uint8), np.zeros(0, np.float32), -1.0, 0, 0)
    perfect = 0
    for iteration in range(1, iterations + 1):
        points = cem.ask()
        tokens, scores = score(points)
        cem.tell(points, scores + VALID_BONUS)
        if not best_answers:
            points = np.asarray(cem.centre[None], np.float32)
            tokens, scores = score(points)
        top = int(scores.argmax())
        if scores[top] > best.r_mat or not best_answers:
            best = Reconstruction(tokens[top], points[top], float(scores[top]), iteration, 0)
        perfect = perfect + 1 if scores[top] == 1.0 else 0
        if perfect == IN_A_ROW:
            break
    return replace(best, evaluations=score.evaluations)


def reconstruct_at_random(space: Space, program: str, config: RandomConfig, seed: int) -> Reconstruction:
    """The best of a few random points of the space: the paper's ablation of the search."""
    points = RandomSearch(config, space.dimensions, seed).ask()
    tokens, scores = _Likeness(space, program, seed)(points)
    top = int(scores.argmax())
    return Reconstruction(tokens[top], points[top], float(scores[top]), 1, len(points))
