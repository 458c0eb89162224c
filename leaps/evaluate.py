"""Evaluate programs on worlds: every reported return is computed here.

The worlds are drawn from the seed, one stream each, so the same seed gives the same numbers whatever the
number of cores, and world `i` is the same however many are drawn.

Where a task lists its initial states (`Task.states`), the expected return can be computed exactly: with
`prefer_exact` the worlds are all those states, weighted by their probabilities, instead of draws.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.seeds import UNSEEN_SEEDS as UNSEEN_SEEDS
from leaps.domain import Outcome, Programs, Rollouts, Size, Task, words_of
from leaps.dsl.compiler import Compiled
from leaps.tasks import get

UNSEEN = 1000
"""number of fresh worlds behind a reported mean return, where it can't be exact. Their seed is UNSEEN_SEEDS
plus the seed of the search or training"""


@dataclass(frozen=True)
class ExpectedReturn:
    """The expected return of one program or policy, and the worlds that it was computed on."""

    mean: float
    lowest: float
    """the lowest return in any of the worlds"""
    states: int | None
    """number of the task's initial states, if the mean is exact; None if worlds were drawn"""
    episodes: int

    def __str__(self) -> str:
        if self.states is None:
            return f"{self.episodes:,} fresh {'draw' if self.episodes == 1 else 'draws'}"
        return "exact, the only state" if self.states == 1 else f"exact, all {self.states:,} states"


@dataclass(frozen=True)
class Evaluation:
    """Rollouts of programs on a task: rollouts[program, world]. A policy counts as one program."""

    task: Any
    size: Size
    seed: int
    worlds: Any
    """the initial states, in the task's representation"""
    rollouts: Rollouts
    weights: NDArray[np.float64] | None = None
    """[worlds] the probability of each, if they are all initial states; None if they were drawn"""

    @property
    def returns(self) -> NDArray[np.float64]:
        """[programs, episodes]"""
        assert self.rollouts.returns is not None
        return self.rollouts.returns

    @property
    def mean_return(self) -> NDArray[np.float64]:
        """[programs]"""
        return self.average(self.returns)

    def average(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """[programs] the mean of values [programs, worlds], exact if the worlds are all initial states."""
        if self.weights is None:
            return np.asarray(values.mean(axis=1))
        return np.asarray(np.average(values, axis=1, weights=self.weights))

    def expected(self, program: int = 0) -> ExpectedReturn:
        """Summarise the returns of one program."""
        returns = self.returns[program]
        states = None if self.weights is None else len(returns)
        return ExpectedReturn(float(self.mean_return[program]), float(returns.min()), states, len(returns))

    def count(self, outcome: Outcome) -> NDArray[np.int64]:
        """[programs] number of episodes with this outcome."""
        return np.asarray((self.rollouts.outcome == outcome).sum(axis=1))


def evaluate(
    programs: Programs | Compiled,
    task: Task | str,
    *,
    episodes: int = 100,
    seed: int = 0,
    size: Size | None = None,
    horizon: int | None = None,
    first: int = 0,
    prefer_exact: bool = False,
) -> Evaluation:
    """Run programs on fresh worlds of a task, and score them.

    Args:
        programs: A program as text or tree, a list of programs, or token ids [programs, length].
        task: A name of `leaps tasks`, or a user-defined task: the object or `"FILE.py:NAME"`.
        episodes: Number of worlds to draw. Every program runs in all of them.
        seed: Seed of the worlds. The same seed gives the same worlds.
        size: Height and width of the worlds, walls included, or a variant's name. Default: the task's own.
        horizon: Maximum number of actions of a rollout. Default: the task's own.
        first: Number of the first world to draw.
        prefer_exact: Run in all initial states instead, if the task lists them. The mean return is then
            exact, and `episodes` and `seed` have no effect.

    Returns:
        Returns and rollouts, as arrays [programs, episodes].

    >>> from leaps.evaluate import evaluate
    >>> program = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"
    >>> float(evaluate(program, "top-off", episodes=1000).mean_return[0])
    1.0
    >>> str(evaluate(program, "top-off", prefer_exact=True).expected())
    'exact, all 512 states'
    """
    task = get(task) if isinstance(task, str) else task
    if not isinstance(programs, Compiled):
        task = task.fitting(words_of(programs))
    size = task.check_size(size)
    worlds, weights = starts(task, episodes, seed, size, first, prefer_exact)
    compiled = programs if isinstance(programs, Compiled) else task.compile(programs)
    rollouts = task.run(compiled, worlds, horizon=horizon)
    return Evaluation(task, size, seed, worlds, rollouts, weights)


def starts(
    task: Task, episodes: int, seed: int, size: Size, first: int, prefer_exact: bool
) -> tuple[Any, NDArray[np.float64] | None]:
    """Return all initial states with their probabilities, if wanted and possible; else draw fresh worlds."""
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, found {episodes}")
    if prefer_exact and (listed := task.states(size)) is not None:
        return listed.worlds, listed.weights
    return task.worlds(episodes, seed, size, first=first), None
