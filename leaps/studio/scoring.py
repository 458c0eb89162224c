"""Score a program: its returns in many episodes, and its edit distance from another program."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaps.domain import Outcome, Size, Task
from leaps.dsl.edit import edit_distance
from leaps.evaluate import Evaluation, evaluate
from leaps.studio.offer import kinds_beyond, privileged_of, step_cost
from leaps.studio.requests import EPISODES, Fields
from leaps.studio.spans import Reading, read
from leaps.studio.tracing import OUTCOMES

STEPS = 20_000_000
"""maximum cost of an evaluation, in compiled steps, if every rollout were as long as allowed"""
SLOW_STEPS = 1_000_000
"""maximum number of steps for tasks that are not compiled; their evaluations also end after SECONDS"""
SECONDS = 30.0
PART = 1_000_000
"""cost of a part of an evaluation, in compiled steps"""
DEFAULT_EPISODES = 100


@dataclass(frozen=True)
class Scoring:
    """A checked request for an evaluation."""

    reading: Reading
    original: Reading | None
    task: Task
    words: dict[str, str]
    """words of the program that are not in the task's described language, each with its kind"""
    size: Size
    seed: int
    asked: int

    @staticmethod
    def of(fields: Fields) -> "Scoring":
        """Check a request."""
        text = fields.text("program")
        original = fields.text("original") if fields.has("original") else None
        task = fields.task_for(text, original or "")
        language = task.domain.language
        reading = read(text, language)
        return Scoring(
            reading,
            None if original is None else read(original, language),
            task,
            {} if reading.tree is None else kinds_beyond(language, reading.tree, fields.language()),
            fields.size(task),
            fields.seed(),
            fields.integer("episodes", 1, EPISODES, DEFAULT_EPISODES),
        )

    @property
    def episodes(self) -> int:
        """Number of episodes: as requested, within the bound on steps."""
        steps = STEPS if step_cost(self.task) == 1 else SLOW_STEPS
        return max(1, min(self.asked, steps // self.task.horizon(self.size)))

    @property
    def episode_cost(self) -> int:
        """Maximum cost of an episode, in compiled steps."""
        return self.task.horizon(self.size) * step_cost(self.task)

    @property
    def cost(self) -> int:
        """Maximum cost of all episodes; drawing from a fraction of the configurations takes more draws."""
        return int(self.episodes * self.episode_cost / getattr(self.task, "seen_share", 1.0))

    def parts(self, give_way: Callable[[], object]) -> Iterator[Evaluation]:
        """Evaluate in short parts; episodes do not depend on each other."""
        assert self.reading.tree is not None
        compiled = self.task.compile(self.reading.tree)
        most = max(1, PART // self.episode_cost)
        latest = time.monotonic() + SECONDS
        for first in range(0, self.episodes, most):
            if first:
                give_way()
                if time.monotonic() > latest:
                    return
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
            "words": self.words,
            "privileged": privileged_of(self.task, self.reading.tree),
        }
        if self.original is not None and self.original.tree is not None:
            answer["distance"] = edit_distance(
                self.original.tree, self.reading.tree, self.task.domain.language
            )
        if len(returns) < self.asked:
            answer["asked"] = self.asked
        return answer | {"ms": round(1000 * (time.perf_counter() - begin), 3)}
