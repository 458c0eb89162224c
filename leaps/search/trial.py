"""Put programs on trial: in worlds that the search hasn't seen, and that the final judgement won't use.

A program that is perfect on the few worlds of its search may fail on others, and one that is a little better
than another may be lucky.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.karel.world import Worlds
from leaps.search.near import return_to_origin
from leaps.search.objective import PERFECT, Objective
from leaps.search.simplify import simplify
from leaps.tasks import Task

Tokens = NDArray[np.uint8]
"""[length] a program"""

CHECKED = 1000
"""fresh worlds on which a good program is checked"""
CHECKS = 10
"""as often that must hold before it is believed to be perfect: one that fails once in a thousand worlds
gets through a single check too often"""
ADDED = 16
"""worlds that broke it and are kept, at most, each time"""
SIMPLIFYING = 3
"""attempts to simplify a program, each on more worlds"""
SIMPLIFIED_ON = 100
"""fresh worlds that a simpler program must be as good on, besides those of the search"""


class Trial:
    """Worlds of a task that nobody has seen yet, each of which is used once."""

    def __init__(self, task: Task, seed: int, size: tuple[int, int]) -> None:
        self.task, self.seed, self.size = task, seed, size
        self.drawn = 0
        """worlds so far"""

    def fresh(self, count: int) -> Worlds:
        first = self.drawn
        self.drawn += count
        return self.task.worlds(count, self.seed, self.size, first=first)

    def check(self, program: Tokens, objective: Objective) -> tuple[Worlds, NDArray[np.float64]]:
        """Draw fresh worlds until the program fails on some: the last of them, and what it earns there."""
        for _ in range(CHECKS):
            worlds = self.fresh(CHECKED)
            returns = objective.returns(program[None], worlds)[0]
            if returns.mean() < PERFECT:
                break
        return worlds, returns

    def best_of(self, programs: NDArray[np.uint8], objective: Objective) -> Tokens:
        """Choose among programs [n, length]; the first of equals."""
        returns = objective.returns(programs, self.fresh(CHECKED))
        chosen: Tokens = programs[int(returns.mean(axis=1).argmax())]
        return chosen

    def is_better(self, program: Tokens, other: Tokens, objective: Objective) -> bool:
        """Compare two programs on many worlds; what may be luck is not better."""
        worlds = self.fresh(CHECKS * CHECKED)
        gains = objective.returns(program[None], worlds)[0] - objective.returns(other[None], worlds)[0]
        return bool(gains.mean() > 3 * gains.std() / np.sqrt(len(gains)))

    def simplified(self, program: Tokens, objective: Objective, origin: Tokens | None, seed: int) -> Tokens:
        """Shorten a program, or take back edits of its origin, and believe that it is as good only if many
        fresh worlds agree.
        """
        walked = Objective(self.task, Worlds.join([objective.worlds, self.fresh(SIMPLIFIED_ON)]))
        for attempt in range(SIMPLIFYING):
            if origin is None:
                simpler = simplify(program, walked, seed + attempt)
            else:
                simpler = return_to_origin(program, walked, origin, seed + attempt)
            worlds, after = self.check(simpler, objective)
            before = objective.returns(program[None], worlds)[0]
            if after.mean() >= before.mean():
                return simpler
            walked.add(worst(worlds, after - before))
        return program


def worst(worlds: Worlds, returns: NDArray[np.float64]) -> Worlds:
    """The worlds in which least was earned, ADDED at most; in their order, where equal."""
    return worlds.take(np.argsort(returns, kind="stable")[:ADDED])
