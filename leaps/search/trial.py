"""Put programs on trial: in worlds that the search hasn't seen, and that the final judgement won't use.

A program that is perfect on the few worlds of its search may fail on others, and one that is a little better
than another may be lucky.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Episodes, Size, Task
from leaps.search.near import return_to_origin
from leaps.search.objective import Objective, perfect
from leaps.search.simplify import simplify

Tokens = NDArray[np.uint8]
"""[length] a program"""

CHECKED_ELSEWHERE = 100
"""fresh worlds of each other size on which a good program is checked, at most: large worlds take long"""
CHECKS = 10
"""as often that must hold before it is believed to be perfect: one that fails once in a thousand worlds
gets through a single check too often"""
ADDED = 16
"""worlds that broke it and are kept, at most, each time"""
SIMPLIFYING = 3
"""attempts to simplify a program, each on more worlds"""
SIMPLIFIED_ON = 100
"""fresh worlds of the search's own size that a simpler program must be as good on, besides those of the
search"""


class Trial:
    """Worlds of a task that nobody has seen yet, each of which is used once."""

    def __init__(self, task: Task, seed: int, sizes: Sequence[Size]) -> None:
        self.task, self.seed, self.sizes = task, seed, sizes
        """sizes: that of the search first, and all others that a program has to hold at"""
        self.drawn = 0
        """worlds so far"""

    def fresh(self, count: int, size: Size | None = None) -> Any:
        first = self.drawn
        self.drawn += count
        return self.task.worlds(count, self.seed, self.sizes[0] if size is None else size, first=first)

    def _many(self, size: Size, times: int = 1) -> Episodes:
        """As many fresh worlds as are worth a check, or several."""
        count = self.task.checked
        if size != self.sizes[0]:
            count = min(count, CHECKED_ELSEWHERE)
        return self.fresh(times * count, size)

    def check(
        self, program: Tokens, size: Size, objective: Objective
    ) -> tuple[Episodes, NDArray[np.float64]]:
        """Draw fresh worlds until the program fails on some: the last of them, and what it earns there."""
        for _ in range(CHECKS):
            worlds = self._many(size)
            returns = objective.returns(program[None], worlds)[0]
            if returns.mean() < perfect(self.task):
                break
        return worlds, returns

    def best_of(self, programs: NDArray[np.uint8], objective: Objective) -> Tokens:
        """Choose among programs [n, length]; the first of equals."""
        means = [objective.returns(programs, self._many(size)).mean(axis=1) for size in self.sizes]
        chosen: Tokens = programs[int(np.mean(means, axis=0).argmax())]
        return chosen

    def is_better(self, program: Tokens, other: Tokens, objective: Objective) -> bool:
        """Compare two programs on many worlds; what may be luck is not better."""
        gain = variance = 0.0  # sums over the sizes, which count alike
        for size in self.sizes:
            worlds = self._many(size, CHECKS)
            gains = objective.returns(program[None], worlds)[0] - objective.returns(other[None], worlds)[0]
            gain += gains.mean()
            variance += gains.var() / len(gains)
        return bool(gain > 3 * np.sqrt(variance))

    def simplified(self, program: Tokens, objective: Objective, origin: Tokens | None, seed: int) -> Tokens:
        """Shorten a program, or take back edits of its origin, and believe that it is as good only if many
        fresh worlds agree.
        """
        more = objective.worlds.join([objective.worlds, self.fresh(SIMPLIFIED_ON)])
        walked = Objective(self.task, more, objective.elsewhere)
        try:
            return self._simplified(program, walked, objective, origin, seed)
        finally:
            objective.count_also(walked)

    def _simplified(
        self, program: Tokens, walked: Objective, objective: Objective, origin: Tokens | None, seed: int
    ) -> Tokens:
        for attempt in range(SIMPLIFYING):
            if origin is None:
                simpler = simplify(program, walked, seed + attempt)
            else:
                simpler = return_to_origin(program, walked, origin, seed + attempt)
            for size in self.sizes:
                worlds, after = self.check(simpler, size, objective)
                before = objective.returns(program[None], worlds)[0]
                if after.mean() < before.mean():
                    walked.add(worst(worlds, after - before))
                    break
            else:
                return simpler
        return program


def worst(worlds: Episodes, returns: NDArray[np.float64]) -> Episodes:
    """The worlds in which least was earned, ADDED at most; in their order, where equal."""
    return worlds.take(np.argsort(returns, kind="stable")[:ADDED])
