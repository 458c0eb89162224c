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


def reconstruct(
    space: Space, program: str, config: CEMConfig, seed: int, iterations: int = 1000
) -> Reconstruction:
    """Search the space for the behaviour of `program`, by R_mat on ten random worlds."""
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, found {iterations}")
    worlds = random_worlds(WORLDS, seed)
    wanted = run(compile_programs([program] * config.population), worlds, HORIZON, want_actions=True)
    cem = CEM(config, space.dimensions, seed)
    best = Reconstruction(np.zeros(0, np.uint8), np.zeros(0, np.float32), -1.0, 0)
    perfect = 0
    for iteration in range(1, iterations + 1):
        points = cem.ask()
        tokens = space.decode(points)
        found = run(compile_karel(tokens), worlds, HORIZON, want_actions=True)
        scores = match(found, wanted).mean(axis=1)
        top = int(scores.argmax())
        if scores[top] > best.r_mat:
            best = Reconstruction(tokens[top], points[top], float(scores[top]), iteration)
        perfect = perfect + 1 if scores[top] == 1.0 else 0
        if perfect == IN_A_ROW:
            break
        cem.tell(points, scores + VALID_BONUS)
    return best
