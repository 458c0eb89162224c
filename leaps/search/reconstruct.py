"""Find a program that behaves as a given one does: the paper's four reconstruction tests (Table 1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaps.behaviour import HORIZON, match
from leaps.embedding.space import Space
from leaps.evaluate import compile_programs
from leaps.karel.executor import compile_karel, run
from leaps.karel.world import random_worlds
from leaps.search.cem import CEM, CEMConfig
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

PAPER = {
    "WHILE": CEMConfig(32, 0.25, 0.1, False, "narrow"),
    "IFELSE+WHILE": CEMConfig(32, 0.25, 0.1, True, "narrow"),
    "2IF+IFELSE": CEMConfig(16, 0.25, 0.2, True, "narrow"),
    "WHILE+2IF+IFELSE": CEMConfig(32, 0.25, 0.2, False, "narrow"),
}
"""the hyperparameters that the paper searched with, in its space"""

WORLDS = 10
IN_A_ROW = 10
"""perfect iterations that end a search"""


@dataclass(frozen=True)
class Reconstruction:
    program: NDArray[np.uint8]
    point: NDArray[np.float32]
    r_mat: float
    """on the search's own worlds"""
    iterations: int


class _Likeness:
    """Scores points by R_mat of what they decode to and a given program, on ten random worlds."""

    def __init__(self, space: Space, program: str, count: int, seed: int) -> None:
        self.space, self.worlds = space, random_worlds(WORLDS, seed)
        self.wanted = run(compile_programs([program] * count), self.worlds, HORIZON, want_actions=True)

    def __call__(self, points: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Points [count, dimensions] → programs [count, length] and their R_mat [count]."""
        tokens = self.space.decode(points)
        found = run(compile_karel(tokens), self.worlds, HORIZON, want_actions=True)
        return tokens, np.asarray(match(found, self.wanted).mean(axis=1))


def reconstruct(
    space: Space, program: str, config: CEMConfig, seed: int, iterations: int = 1000
) -> Reconstruction:
    """Search the space for the behaviour of `program`, by R_mat on ten random worlds."""
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, found {iterations}")
    score = _Likeness(space, program, config.population, seed)
    cem = CEM(config, space.dimensions, seed)
    best = Reconstruction(np.zeros(0, np.uint8), np.zeros(0, np.float32), -1.0, 0)
    perfect = 0
    for iteration in range(1, iterations + 1):
        points = cem.ask()
        tokens, scores = score(points)
        top = int(scores.argmax())
        if scores[top] > best.r_mat:
            best = Reconstruction(tokens[top], points[top], float(scores[top]), iteration)
        perfect = perfect + 1 if scores[top] == 1.0 else 0
        if perfect == IN_A_ROW:
            break
        cem.tell(points, scores + VALID_BONUS)
    return best


def reconstruct_at_random(space: Space, program: str, config: RandomConfig, seed: int) -> Reconstruction:
    """The best of a few random points of the space: the paper's ablation of the search."""
    points = RandomSearch(config, space.dimensions, seed).ask()
    tokens, scores = _Likeness(space, program, config.samples, seed)(points)
    top = int(scores.argmax())
    return Reconstruction(tokens[top], points[top], float(scores[top]), 1)
