"""Verify programs on fresh worlds, which neither the search nor the final judgement uses.

A program that is perfect on the few worlds of its search may fail on others. A small advantage over another
program may be luck.
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
"""maximum number of fresh worlds of each other size in one check: large worlds take long"""
CHECKS = 10
"""checks that a program must pass to count as perfect: one that fails once in 1,000 worlds passes a single
check too often"""
ADDED = 16
"""maximum number of counterexamples kept from one failed check"""
SIMPLIFYING = 3
"""attempts to simplify a program, each on more worlds"""
SIMPLIFIED_ON = 100
"""fresh worlds of the search's own size on which a simpler program must be as good, in addition to those of
the search"""


class Trial:
    """A supply of fresh worlds, each used once, and the checks that use them."""

    def __init__(self, task: Task, seed: int, sizes: Sequence[Size]) -> None:
        self.task, self.seed, self.sizes = task, seed, sizes
        """sizes: the search's own first, then all others at which a program has to succeed"""
        self.drawn = 0
        """worlds drawn so far"""

    def fresh(self, count: int, size: Size | None = None) -> Any:
        first = self.drawn
        self.drawn += count
        return self.task.worlds(count, self.seed, self.sizes[0] if size is None else size, first=first)

    def _many(self, size: Size, times: int = 1) -> Episodes:
        """Draw fresh worlds for one check, or for `times` checks."""
        count = self.task.checked
        if size != self.sizes[0]:
            count = min(count, CHECKED_ELSEWHERE)
        return self.fresh(times * count, size)

    def check(
        self, program: Tokens, size: Size, objective: Objective
    ) -> tuple[Episodes, NDArray[np.float64]]:
        """Check a program on up to CHECKS batches of fresh worlds, until it fails on one.

        Return the last batch, and the program's returns on it.
        """
        for _ in range(CHECKS):
            worlds = self._many(size)
            returns = objective.returns(program[None], worlds)[0]
            if returns.mean() < perfect(self.task):
                break
        return worlds, returns

    def best_of(self, programs: NDArray[np.uint8], objective: Objective) -> Tokens:
        """Return the best of programs [n, length] on fresh worlds; of equals, the first."""
        means = [objective.returns(programs, self._many(size)).mean(axis=1) for size in self.sizes]
        chosen: Tokens = programs[int(np.mean(means, axis=0).argmax())]
        return chosen

    def is_better(self, program: Tokens, other: Tokens, objective: Objective) -> bool:
        """Whether a program is better than another on fresh worlds, by more than three standard errors."""
        gain = variance = 0.0  # sums over the sizes, which have equal weight
        for size in self.sizes:
            worlds = self._many(size, CHECKS)
            gains = objective.returns(program[None], worlds)[0] - objective.returns(other[None], worlds)[0]
            gain += gains.mean()
            variance += gains.var() / len(gains)
        return bool(gain > 3 * np.sqrt(variance))

    def simplified(self, program: Tokens, objective: Objective, origin: Tokens | None, seed: int) -> Tokens:
        """Shorten a program, or take back edits of its origin; verify the result on fresh worlds."""
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
    """Return the worlds with the lowest returns, ADDED at most; equal ones keep their order."""
    return worlds.take(np.argsort(returns, kind="stable")[:ADDED])
