"""Find a program that behaves like a given one: the paper's four reconstruction tests (Table 1).

The caller chooses the initial states and runs programs in them. For Karel they are generated for the given
program, as in the data set (`leaps.karel.dataset.worlds_for`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Rollouts
from leaps.dsl.syntax import tokens_of
from leaps.dsl.text import parse
from leaps.embedding.behaviour import match
from leaps.embedding.space import Space
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
"""the paper's test programs, named after their control flow"""

PLUS = replace(ONE_SETTING, restart_after=RESTART_AFTER)
"""the setting of leaps+, for any program"""
PAPER_RECONSTRUCTION = {
    "WHILE": CEMConfig(32, 0.25, 0.1, False, "narrow"),
    "IFELSE+WHILE": CEMConfig(32, 0.25, 0.1, True, "narrow"),
    "2IF+IFELSE": CEMConfig(16, 0.25, 0.2, True, "narrow"),
    "WHILE+2IF+IFELSE": CEMConfig(32, 0.25, 0.2, False, "narrow"),
}
"""the hyperparameters that the paper searched with, in its space"""

Execute = Callable[[NDArray[np.uint8]], Rollouts]
"""runs programs [n, length] in all initial states of a test; the rollouts include their actions"""


@dataclass(frozen=True)
class Reconstruction:
    program: NDArray[np.uint8]
    point: NDArray[np.float32]
    r_mat: float
    """mean R_mat on the search's own worlds"""
    iterations: int
    """iterations until this program was found"""
    evaluations: int
    """evaluations of the whole search"""


class _Likeness:
    """Score points by the R_mat between their programs and a given program."""

    def __init__(self, space: Space, program: str, execute: Execute) -> None:
        self.space, self.execute = space, execute
        self.program = space.language.encode(tokens_of(parse(program, space.language)))
        self.evaluations = 0
        self._wanted: dict[int, Rollouts] = {}

    def wanted(self, count: int) -> Rollouts:
        """Return the rollouts of the given program, repeated `count` times."""
        if count not in self._wanted:
            self._wanted[count] = self.execute(np.repeat(self.program[None], count, axis=0))
        return self._wanted[count]

    def __call__(self, points: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Decode points [count, dimensions] to programs [count, length], and compute their R_mat [count]."""
        self.evaluations += len(points)
        tokens = self.space.decode(points)
        return tokens, np.asarray(match(self.execute(tokens), self.wanted(len(points))).mean(axis=1))


def reconstruct(
    space: Space,
    program: str,
    execute: Execute,
    config: CEMConfig,
    seed: int,
    iterations: int = CEM.ITERATIONS,
    best_answers: bool = True,
) -> Reconstruction:
    """Search the space for a program that behaves like `program`: maximize R_mat in the states of `execute`.

    best_answers: return the best program sampled, and stop after ten populations in a row with a perfect
    program, as leaps+ does. Otherwise both rules apply to the program at the centre, as published.
    """
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, found {iterations}")
    score = _Likeness(space, program, execute)
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


def reconstruct_at_random(
    space: Space, program: str, execute: Execute, config: RandomConfig, seed: int
) -> Reconstruction:
    """Return the best of a few random points of the space: the paper's ablation of the search."""
    points = RandomSearch(config, space.dimensions, seed).ask()
    tokens, scores = _Likeness(space, program, execute)(points)
    top = int(scores.argmax())
    return Reconstruction(tokens[top], points[top], float(scores[top]), 1, len(points))
