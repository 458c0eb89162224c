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
"""worlds of each other size on which a program is judged in the end"""


@dataclass(frozen=True)
class Solution:
    """The result of a search: the program, its return on held-out worlds, and what the search cost."""

    config: SolveConfig
    task: Task = field(repr=False)
    program: str
    search_return: float
    """on the search's own worlds"""
    unseen_return: float
    """over all initial states where the task lists them, else on UNSEEN fresh worlds"""
    found: str
    """the program as it was found, before it was simplified"""
    evaluations: int
    """everything that was run: candidates, checks, the final choice, simplification (see `Objective`)"""
    budget_spent: int
    """evaluations of the search with its checks, which the budget limits"""
    rollouts: int
    seconds: float
    """of all that; only the final judgement is not included"""
    evaluations_to_found: int
    """until the search came to the program that it found"""
    worlds: int
    """that programs were tried on in the end"""
    interrupted: bool
    history: list[dict[str, Any]] = field(repr=False)
    """whenever the best program changed: round, evaluations, rollouts, score, worlds, program"""
    elsewhere: dict[str, float] = field(default_factory=dict)
    """by size: likewise, or on UNSEEN_ELSEWHERE fresh worlds, of each other size that it was to hold at"""
    judged: tuple[ExpectedReturn, ...] = ()
    """what these returns are over: at the search's own size first, then at each other"""

    @property
    def solved(self) -> bool:
        """Whether the program is perfect in all worlds that it was judged in, be they all or draws."""
        # Where an episode may be worth more than the best return, that is a mean.
        counts = self.task.highest <= self.task.best
        lowest = [judged.lowest for judged in self.judged] if counts else []
        return min([self.unseen_return, *self.elsewhere.values(), *lowest]) >= perfect(self.task)

    @property
    def privileged(self) -> list[str]:
        """The perceptions of the program that need more than a policy observes."""
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
    """Compute a program's expected return at the search's own size, then at each other in `also`.

    Exactly where the task lists its initial states, else on fresh worlds that no search sees.
    """
    asked = [(config.size, UNSEEN), *((size, UNSEEN_ELSEWHERE) for size in config.also)]
    seed = UNSEEN_SEEDS + config.seed
    return tuple(
        evaluate(program, task, episodes=episodes, seed=seed, size=size, prefer_exact=True).expected()
        for size, episodes in asked
    )


def returns_by_size(config: SolveConfig, judged: tuple[ExpectedReturn, ...]) -> dict[str, float]:
    """The mean return at each other size."""
    return {size_text(size): one.mean for size, one in zip(config.also, judged[1:], strict=True)}
