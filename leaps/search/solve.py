"""From a task to a program: run a search until it has found one that holds.

The parts of a search are imported from here: its configuration, its run, and what it found.
"""

from typing import Any

from leaps.domain import Task
from leaps.search.config import SolveConfig
from leaps.search.run import Listener, Round, Run
from leaps.search.solution import Solution, conclude

__all__ = ["Listener", "Round", "Run", "Solution", "SolveConfig", "conclude", "solve", "work"]


def work(run: Run, listener: Listener = id) -> Solution:
    """Run a search to its end. Interrupted (KeyboardInterrupt), it returns the best so far."""
    interrupted = False
    try:
        try:
            while not run.finished:
                listener(run.step())
            return conclude(run)
        except KeyboardInterrupt:
            if run.best is None:
                raise
            interrupted = True
        return conclude(run, interrupted)
    except ValueError as error:  # a task's value that is no number, say
        if run.best is None:
            raise
        raise ValueError(f"{error}. The best program before that: {run.domain.text(run.best[1])}") from None


def solve(
    task: str | Task | SolveConfig,
    method: str = "ladder",
    seed: int = 0,
    listener: Listener = id,
    **settings: Any,
) -> Solution:
    """Find a program for a task: its name, a task of your own, or a whole configuration.

    >>> solve("stair-climber").solved
    True

    settings: those of SolveConfig.
    """
    if isinstance(task, SolveConfig):
        if settings or (method, seed) != ("ladder", 0):
            raise ValueError("a configuration says all: expected no other settings beside it")
        return work(Run(task), listener)
    if isinstance(task, str):
        return work(Run(SolveConfig(task, method, seed, **settings)), listener)
    return work(Run(SolveConfig(task.name, method, seed, **settings), task), listener)
