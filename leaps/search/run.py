"""The loop of a search: ask, score, tell, and verify the best program on fresh worlds."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.seeds import CHECK_SEEDS, SEARCH_SEEDS
from leaps.domain import Domain, Episodes, Reworded, Task, size_text, words_of
from leaps.search.config import SolveConfig
from leaps.search.methods import Method, Setting, get_method
from leaps.search.objective import Objective, perfect
from leaps.search.search import Candidates, Rewordable, Scores, Search
from leaps.search.trial import Trial, worst
from leaps.tasks import get

CHECK_EVERY = 10_000
"""evaluations after which the best program is checked even if it isn't perfect: it may overfit its worlds"""
MOST_WORLDS = 256
"""maximum worlds of a size, unless new ones break a program that is perfect on all present worlds"""
REFINE_EVERY = 500
"""evaluations between two refinements of the language's words, see `Task.refined`"""
SHORTLIST = 16
"""programs that the final one is chosen from"""


@dataclass(frozen=True)
class Round:
    """The results of one round of ask and tell, for listeners."""

    seed: int
    """seed of the search"""
    round: int
    evaluations: int
    seconds: float
    mean: float
    """mean score of the programs asked about; rejected ones count as 0"""
    best: float
    """highest score of the round"""
    best_so_far: float
    program: NDArray[np.uint8]
    """the best program so far"""
    worlds: int
    search: Search
    asked: Candidates
    scores: Scores
    domain: Domain
    """domain of the programs"""


Listener = Callable[[Round], object]


class Run:
    """A running search, advanced one round at a time by `step`."""

    def __init__(self, config: SolveConfig, task: Task | None = None) -> None:
        self.task: Task = task or get(config.task)
        if config.origin is not None:
            self.task = self.task.fitting(words_of(config.origin))
        self.in_space = config.space is not None and config.origin is None
        """whether the language is that of a space: the task's words are fitted to it and not refined"""
        if self.in_space:
            self.task = self._fitted(config.space)
        self.domain = self.task.domain
        self.config = config if config.space else replace(config, space=self.domain.space)
        self.method: Method = get_method(config.method)
        self.sizes = tuple(self.task.check_size(size) for size in (config.size, *config.also))
        """the search's own size first, then all others"""
        if len(set(self.sizes)) < len(self.sizes):
            also = ", ".join(map(size_text, self.sizes[1:]))
            raise ValueError(
                "also: expected sizes that differ, and from the search's own "
                f"{size_text(self.sizes[0])}; found {also}"
            )
        count = config.worlds or self.method.worlds
        first, *others = (self.task.worlds(count, SEARCH_SEEDS + config.seed, size) for size in self.sizes)
        self.objective = Objective(self.task, first, tuple(others))
        self.origin = None if config.origin is None else self.domain.read(self.domain.parse(config.origin))
        if config.origin is not None:
            self.task.compile(config.origin)  # raises if it has too many perceptions
        self.search = self.method.build(
            Setting(
                self.domain,
                self.task.variant_of or self.task.name,
                self.config.space,
                config.seed,
                config.max_length,
                perfect(self.task),
                self.origin,
                config.edits,
            )
        )
        self.budget = config.budget or self.method.budget
        self.round = 0
        self.best: tuple[float, NDArray[np.uint8]] | None = None
        self.shortlist: dict[bytes, float] = {}
        self.first_scored: dict[bytes, int] = {}
        """evaluations after which each program of the shortlist was first scored"""
        self.history: list[dict[str, Any]] = []
        self.solved = False
        self.trial = Trial(self.task, CHECK_SEEDS + config.seed, self.sizes)
        self.asked = 0
        """evaluations of candidates, without checks; they determine when the next check is due"""
        self.next_check = CHECK_EVERY
        self.next_refinement = REFINE_EVERY
        self._begin: float | None = None
        self.seconds_before = 0.0
        """seconds of the interrupted search that this one resumes"""

    def _fitted(self, space: str | None) -> Task:
        """Return the task in the language of a space."""
        from leaps.embedding.space import find_weights  # imports torch
        from leaps.embedding.weights import check_language, language_of

        assert space is not None
        file = find_weights(space)
        task = self.task.fitting(language_of(file).perceptions)
        check_language(file, task.domain.language)
        return task

    @property
    def finished(self) -> bool:
        return self.solved or self.search.finished or self.objective.evaluations >= self.budget

    @property
    def converged(self) -> bool:
        """Whether the search ended by its own rule of success, not by its budget."""
        return self.solved or bool(getattr(self.search, "converged", False))

    @property
    def seconds(self) -> float:
        now = 0.0 if self._begin is None else time.perf_counter() - self._begin
        return self.seconds_before + now

    def step(self) -> Round:
        """Run one round: ask, evaluate, tell."""
        self._begin = self._begin or time.perf_counter()  # not in __init__: the search may wait for a core
        if self.method.redraw_every and self.round and self.round % self.method.redraw_every == 0:
            self._redraw()
        if self.asked >= self.next_refinement and not self.in_space:
            self._refine()
        asked = self.search.ask()
        left = self.budget - self.objective.evaluations
        tried = asked[:left]
        scores = self.objective.scores(tried, self.search.incumbent)
        self.asked += len(tried)
        if len(tried) == len(asked):  # else the budget is used up and the search ends
            self.search.tell(scores)
        self.round += 1
        top = int(scores.argmax())
        self._note(tried[top], float(scores[top]))
        if self.method.counterexamples:
            assert self.best is not None
            if self.best[0] >= perfect(self.task) or self.asked >= self.next_check:
                self._check()
        elif self.method.until_perfect:
            self.solved = bool(scores[top] >= perfect(self.task))
        assert self.best is not None
        return Round(
            self.config.seed,
            self.round,
            self.objective.evaluations,
            self.seconds,
            float(np.where(np.isfinite(scores), scores, 0.0).mean()),
            float(scores[top]),
            self.best[0],
            self.best[1],
            self.objective.count,
            self.search,
            tried,
            scores,
            self.domain,
        )

    def _note(self, program: NDArray[np.uint8], score: float) -> None:
        """Store the search's answer; if it has none, add the program to the shortlist."""
        if self.search.answer is not None:
            program, score = self.search.answer
            if self.best is None or not np.array_equal(program, self.best[1]):
                self._set_best(program, score)
            return
        key = program.tobytes()
        self.shortlist[key] = score
        self.first_scored.setdefault(key, self.objective.evaluations)
        if len(self.shortlist) > 4 * SHORTLIST:
            ranked = sorted(self.shortlist.items(), key=lambda item: -item[1])
            self.shortlist = dict(ranked[:SHORTLIST])
            self.first_scored = {key: self.first_scored[key] for key in self.shortlist}
        if self.best is None or score > self.best[0]:
            self._set_best(program, score)

    def _set_best(self, program: NDArray[np.uint8], score: float) -> None:
        self.best = score, program.copy()
        self.history.append(
            {
                "round": self.round,
                "evaluations": self.objective.evaluations,
                "rollouts": self.objective.rollouts,
                "score": score,
                "worlds": self.objective.count,
                "program": self.domain.text(program),
            }
        )

    def _redraw(self) -> None:
        """Replace all worlds by as many new ones."""
        first, *others = (self.trial.fresh(batch.count, batch.size) for batch in self.objective.batches)
        self.objective.replace(first, tuple(others))
        self.search.worlds_changed()
        self._rescore()

    def _refine(self) -> None:
        """Replace words of the language by finer ones, if the task has any."""
        self.next_refinement = self.asked + REFINE_EVERY
        if not isinstance(self.search, Rewordable) or self.best is None:
            return
        kept = [self.best[1], *(self.search.programs if self.search.programs is not None else ())]
        if self.origin is not None:
            kept.insert(1, self.origin)
        language = self.domain.language
        generator = np.random.default_rng((self.config.seed, self.asked))
        change = self.task.refined(language.batch(kept), generator)
        if change is None:
            return
        self.task, self.domain = change.task, change.task.domain
        self.trial.task = self.task
        self.objective.reword(self.task)
        self.search.reword(change)
        self.best = self.best[0], change.tokens[self.best[1]]
        if self.origin is not None:
            self.origin = change.tokens[self.origin]
        # Keep the shortlisted programs whose meaning is unchanged.
        programs = {key: np.frombuffer(key, np.uint8) for key in self.shortlist}
        kept_keys = {
            key: change.tokens[row].tobytes() for key, row in programs.items() if change.same[row].all()
        }
        self.shortlist = {now: self.shortlist[key] for key, now in kept_keys.items()}
        self.first_scored = {now: self.first_scored[key] for key, now in kept_keys.items()}

    def speak(self, perceptions: Sequence[str]) -> None:
        """Switch to the language of a saved search, which may have refined it."""
        before, self.task = self.domain.language, self.task.fitting(perceptions)
        self.domain = self.task.domain
        self.trial.task = self.task
        if isinstance(self.search, Rewordable) and self.domain.language != before:
            known = self.domain.language.ids
            tokens = np.array([known.get(text, 0) for text in before.tokens], np.uint8)
            if self.origin is not None:  # both languages have its words
                self.origin = tokens[self.origin]
            self.search.reword(Reworded(self.task, tokens, np.ones(len(tokens), np.bool_)))

    def _check(self) -> None:
        """Verify the best program on fresh worlds, and add those on which it fails."""
        assert self.best is not None
        self.next_check = self.asked + CHECK_EVERY
        score, program = self.best
        flawless, breaking = True, list[Episodes]()
        for batch in self.objective.batches:
            fresh, returns = self.trial.check(program, batch.size, self.objective)
            if returns.mean() >= perfect(self.task):
                continue
            flawless = False
            if self.config.also:  # the score is a mean over all sizes; compare at this size
                score = float(self.objective.returns(program[None], batch).mean())
            enough = score < perfect(self.task) and batch.count >= MOST_WORLDS
            if returns.mean() < score and not enough:
                breaking.append(worst(fresh, returns))
        self.solved = flawless
        if not breaking:
            return
        for worlds in breaking:
            self.objective.add(worlds)
        self.search.worlds_changed()
        self._rescore()

    def _rescore(self) -> None:
        """Score the shortlist again, on the present worlds."""
        if self.search.answer is not None or not self.shortlist:
            return  # the search's answer is rescored when the search asks about it next
        known = np.stack([np.frombuffer(key, np.uint8) for key in self.shortlist])
        scores = self.objective.returns(known).mean(axis=1)
        self.shortlist = {row.tobytes(): float(score) for row, score in zip(known, scores, strict=True)}
        top = int(scores.argmax())
        self._set_best(known[top], float(scores[top]))

    def evaluations_to(self, program: NDArray[np.uint8]) -> int:
        """Return the evaluations after which a program was first scored, or became the search's answer."""
        text = self.domain.text(program)
        known = [entry["evaluations"] for entry in self.history if entry["program"] == text]
        first = self.first_scored.get(program.tobytes())
        return min([*known, *([] if first is None else [first])], default=self.objective.evaluations)
