"""Repair a program with a few edits, so that its readers still recognize it."""

from dataclasses import dataclass
from typing import Any

from leaps.domain import Task, words_of
from leaps.dsl.edit import edit_distance
from leaps.dsl.syntax import Program
from leaps.dsl.text import to_line
from leaps.search.solution import judge, returns_by_size
from leaps.search.solve import Listener, Run, Solution, SolveConfig, work
from leaps.tasks import get

BUDGET = 500_000
"""default maximum number of evaluations"""


@dataclass(frozen=True)
class Repair:
    """The result of a repair: the program before and after."""

    original: str
    original_return: float
    """return on the same held-out worlds as the repaired program"""
    original_elsewhere: dict[str, float]
    """return by size, on the held-out worlds of each other size in `also`"""
    edits: int
    """number of edits: statements added, removed or changed"""
    solution: Solution
    """the repaired program, and the search that found it"""

    @property
    def program(self) -> str:
        return self.solution.program

    def summary(self) -> dict[str, Any]:
        return self.solution.summary() | {
            "original": self.original,
            "original_return": self.original_return,
            "original_elsewhere": self.original_elsewhere,
            "edits": self.edits,
        }


def repair(
    program: str | Program, task: str | Task, edits: int = 3, listener: Listener = id, **settings: Any
) -> Repair:
    """Search for the best program within `edits` edits of a given one.

    >>> repair("DEF run m( WHILE c( noMarkersPresent c) w( move w) m)", "maze", edits=2).edits
    1

    An edit adds, removes or changes a statement (`leaps.dsl.edit`). Edits that make no difference are taken
    back. settings: the fields seed, budget, size and also of SolveConfig.
    """
    wanted: Task = get(task) if isinstance(task, str) else task
    if isinstance(program, str):
        wanted = wanted.fitting(words_of(program))
    original = to_line(wanted.domain.parse(program) if isinstance(program, str) else program)
    config = SolveConfig(wanted.name, origin=original, edits=edits, **({"budget": BUDGET} | settings))
    return repaired(work(Run(config, wanted), listener))


def repaired(solution: Solution) -> Repair:
    """Compare the repaired program with the original."""
    config = solution.config
    assert config.origin is not None
    domain = solution.task.domain
    before = domain.parse(config.origin)
    judged = judge(before, solution.task, config)
    return Repair(
        config.origin,
        judged[0].mean,
        returns_by_size(config, judged),
        edit_distance(before, domain.parse(solution.program), domain.language),
        solution,
    )
