"""How good a program is: its returns on many worlds, and how far it is from another."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaps.domain import Outcome
from leaps.dsl.edit import edit_distance
from leaps.evaluate import Evaluation, evaluate
from leaps.karel.tasks import KarelTask
from leaps.karel.world import KAREL, LANGUAGE
from leaps.studio.requests import EPISODES, Fields
from leaps.studio.spans import Reading, read

STEPS = 20_000_000
"""actions that one evaluation may take, were every rollout as long as it may be"""
PART = 1_000_000
"""steps of a part of an evaluation"""
DEFAULT_EPISODES = 100
OUTCOMES = {outcome: outcome.name.lower().replace("_", "-") for outcome in Outcome}


@dataclass(frozen=True)
class Scoring:
    """A program that is to be tried."""

    reading: Reading
    original: Reading | None
    task: KarelTask
    size: tuple[int, int]
    seed: int
    asked: int

    @staticmethod
    def of(fields: Fields) -> "Scoring":
        """Check a request."""
        task = fields.task()
        return Scoring(
            read(fields.text("program")),
            read(fields.text("original")) if fields.has("original") else None,
            task,
            fields.size(task),
            fields.seed(),
            fields.integer("episodes", 1, EPISODES, DEFAULT_EPISODES),
        )

    @property
    def episodes(self) -> int:
        """As many as were asked for, but no more than the bound on steps allows."""
        return max(1, min(self.asked, STEPS // self.task.horizon(self.size)))

    @property
    def cost(self) -> int:
        """Steps that it may take; drawing from a share of the configurations means drawing more often."""
        return int(self.episodes * self.task.horizon(self.size) / self.task.seen_share)

    def parts(self, give_way: Callable[[], object]) -> Iterator[Evaluation]:
        """Evaluate in parts that don't take long: a world is the same whoever is drawn beside it."""
        assert self.reading.tree is not None
        compiled = KAREL.compile(self.reading.tree, calls=self.task.calls)
        most = max(1, PART // self.task.horizon(self.size))
        for first in range(0, self.episodes, most):
            if first:
                give_way()
            count = min(most, self.episodes - first)
            yield evaluate(compiled, self.task, episodes=count, seed=self.seed, size=self.size, first=first)

    def answer(self, give_way: Callable[[], object] = int) -> dict[str, Any]:
        """Evaluate. `give_way` is called between two parts."""
        if self.reading.tree is None:
            return self.reading.refusal()
        begin = time.perf_counter()
        parts = list(self.parts(give_way))
        returns = np.concatenate([part.returns[0] for part in parts])
        outcomes = np.concatenate([part.rollouts.outcome[0] for part in parts])
        answer: dict[str, Any] = {
            "valid": True,
            "returns": returns.tolist(),
            "mean": float(returns.mean()),
            "steps": np.concatenate([part.rollouts.steps[0] for part in parts]).tolist(),
            "outcomes": [OUTCOMES[Outcome(code)] for code in outcomes.tolist()],
            "worst": int(returns.argmin()),
            "tokens": self.reading.tokens,
        }
        if self.original is not None and self.original.tree is not None:
            answer["distance"] = edit_distance(self.original.tree, self.reading.tree, LANGUAGE)
        if self.episodes < self.asked:
            answer["asked"] = self.asked
        return answer | {"ms": round(1000 * (time.perf_counter() - begin), 3)}
