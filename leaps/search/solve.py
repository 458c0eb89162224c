"""Run a search for a task and return its solution.

Import the parts of a search from here: SolveConfig, Run and Solution.
"""

from typing import Any

from leaps.domain import Task
from leaps.search.config import SolveConfig
from leaps.search.run import Listener, Round, Run
from leaps.search.solution import Solution, conclude

__all__ = ["Listener", "Round", "Run", "Solution", "SolveConfig", "conclude", "solve", "work"]


def work(run: Run, listener: Listener = id) -> Solution:
    """Run a search to its end. On KeyboardInterrupt, return the best program so far."""
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
    except ValueError as error:  # for example, a reward of NaN
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
    """Find a program for a task, given by name, as a `Task`, or as a complete configuration.

    >>> solve("stair-climber").solved
    True

    settings: fields of SolveConfig.
    """
    if isinstance(task, SolveConfig):
        if settings or (method, seed) != ("ladder", 0):
            raise ValueError("expected no settings besides the SolveConfig, which contains them all")
        return work(Run(task), listener)
    if isinstance(task, str):
        return work(Run(SolveConfig(task, method, seed, **settings)), listener)
    return work(Run(SolveConfig(task.name, method, seed, **settings), task), listener)
