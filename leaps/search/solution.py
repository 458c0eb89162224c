"""The result of a search: choose the final program, simplify it, and judge it on held-out worlds."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.seeds import UNSEEN_SEEDS
from leaps.domain import Task, size_text
from leaps.dsl.syntax import Program
from leaps.evaluate import UNSEEN, ExpectedReturn, evaluate
from leaps.search.config import SolveConfig
from leaps.search.objective import perfect
from leaps.search.run import SHORTLIST, Run

UNSEEN_ELSEWHERE = 100
"""held-out worlds of each other size on which the final program is judged"""


@dataclass(frozen=True)
class Solution:
    """The result of a search: the program, its return on held-out worlds, and what the search cost."""

    config: SolveConfig
    task: Task = field(repr=False)
    program: str
    search_return: float
    """mean return on the search's own worlds"""
    unseen_return: float
    """mean return over all initial states where the task lists them, else on UNSEEN fresh worlds"""
    found: str
    """the program before simplification"""
    evaluations: int
    """all evaluations: candidates, checks, the final choice, simplification (see `Objective`)"""
    budget_spent: int
    """evaluations of the search with its checks, which the budget limits"""
    rollouts: int
    seconds: float
    """wall-clock time of all that, without the final judgement"""
    evaluations_to_found: int
    """evaluations until the search first scored the program it found"""
    worlds: int
    """number of worlds that programs were scored on at the end"""
    interrupted: bool
    history: list[dict[str, Any]] = field(repr=False)
    """whenever the best program changed: round, evaluations, rollouts, score, worlds, program"""
    elsewhere: dict[str, float] = field(default_factory=dict)
    """return at each other size in `also`, exact or on UNSEEN_ELSEWHERE fresh worlds"""
    judged: tuple[ExpectedReturn, ...] = ()
    """the expected returns with their sample sizes: the search's own size first, then each other size"""

    @property
    def solved(self) -> bool:
        """Whether the program is perfect in every world that it was judged in."""
        # Where a single episode can exceed `best`, `best` is a mean, and single episodes may fall below it.
        counts = self.task.highest <= self.task.best
        lowest = [judged.lowest for judged in self.judged] if counts else []
        return min([self.unseen_return, *self.elsewhere.values(), *lowest]) >= perfect(self.task)

    @property
    def privileged(self) -> list[str]:
        """The program's perceptions that need more than a policy observes."""
        domain = self.task.domain
        return domain.privileged_in(domain.parse(self.program))

    def summary(self) -> dict[str, Any]:
        return {
            "task": self.config.task,
            "method": self.config.method,
            "seed": self.config.seed,
            "program": self.program,
            "found": self.found,
            "return": self.unseen_return,
            "judged": str(self.judged[0]) if self.judged else None,
            "elsewhere": self.elsewhere,
            "search_return": self.search_return,
            "evaluations": self.evaluations,
            "budget_spent": self.budget_spent,
            "evaluations_to_found": self.evaluations_to_found,
            "rollouts": self.rollouts,
            "seconds": self.seconds,
            "solved": self.solved,
            "interrupted": self.interrupted,
            "worlds": self.worlds,
            "config": self.config.plain(),
            "history": self.history,
            **({"privileged": self.privileged} if self.task.domain.privileged else {}),
        }


def conclude(run: Run, interrupted: bool = False) -> Solution:
    """Choose the final program, simplify it, and judge it on worlds that nothing else has used."""
    assert run.best is not None
    program, budget_spent = run.best[1], run.objective.evaluations
    if run.search.answer is None and not (run.solved and run.method.counterexamples):
        ranked = sorted(run.shortlist.items(), key=lambda item: -item[1])[:SHORTLIST]
        candidates = np.stack([np.frombuffer(key, np.uint8) for key, _ in ranked])
        program = run.trial.best_of(candidates, run.objective)
        if run.origin is not None and not run.trial.is_better(program, run.origin, run.objective):
            program = run.origin
    found = program
    if run.method.simplifies and not interrupted:
        program = run.trial.simplified(program, run.objective, run.origin, run.config.seed)
    seconds, evaluations, rollouts = run.seconds, run.objective.evaluations, run.objective.rollouts
    search_return = float(run.objective.scores(program[None])[0])
    judged = judge(program[None], run.task, run.config)
    return Solution(
        run.config,
        run.task,
        run.domain.text(program),
        search_return,
        judged[0].mean,
        run.domain.text(found),
        evaluations,
        budget_spent,
        rollouts,
        seconds,
        min(run.evaluations_to(found), evaluations),
        run.objective.count,
        interrupted,
        run.history,
        returns_by_size(run.config, judged),
        judged,
    )


def judge(
    program: Program | NDArray[np.uint8], task: Task, config: SolveConfig
) -> tuple[ExpectedReturn, ...]:
    """Compute a program's expected return at the search's own size, then at each size in `also`.

    The return is exact where the task lists its initial states, else a mean over held-out worlds.
    """
    asked = [(config.size, UNSEEN), *((size, UNSEEN_ELSEWHERE) for size in config.also)]
    seed = UNSEEN_SEEDS + config.seed
    return tuple(
        evaluate(program, task, episodes=episodes, seed=seed, size=size, prefer_exact=True).expected()
        for size, episodes in asked
    )


def returns_by_size(config: SolveConfig, judged: tuple[ExpectedReturn, ...]) -> dict[str, float]:
    """Return the mean return at each size in `also`."""
    return {size_text(size): one.mean for size, one in zip(config.also, judged[1:], strict=True)}
