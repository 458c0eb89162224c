"""From a task to a program: run a search until it has found one that holds."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Domain, Episodes, Reworded, Size, Task, size_text, words_of
from leaps.dsl.mask import SHORTEST
from leaps.dsl.syntax import Program
from leaps.embedding.fast_decoder import LONGEST
from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, ExpectedReturn, evaluate
from leaps.search.methods import METHODS, Method, Setting, get_method
from leaps.search.objective import Objective, perfect
from leaps.search.search import Programs, Rewordable, Scores, Search, State
from leaps.search.trial import Trial, worst
from leaps.tasks import get

CHECK_EVERY = 10_000
"""evaluations after which the best program is checked even if it isn't perfect: it may fit its worlds only"""
MOST_WORLDS = 256
"""of a size, unless they break a program that is perfect on all others"""
UNSEEN_ELSEWHERE = 100
"""worlds of each other size on which a program is judged in the end"""
REFINE_EVERY = 500
"""evaluations after which a language that has finer words exchanges some for those, see `Task.refined`"""
SHORTLIST = 16
"""programs that the final one is chosen from"""

# Worlds come from a seed; those of the search, of its checks and of the final judgement never meet.
MOST_SEEDS = 2**40
_SEARCH, _CHECK = MOST_SEEDS, 2 * MOST_SEEDS


@dataclass(frozen=True)
class SolveConfig:
    """All that a search depends on: the same, twice, gives the same program."""

    task: str
    method: str = "ladder"
    seed: int = 0
    budget: int | None = None
    """evaluations; the method's own if not given"""
    size: Size | None = None
    space: str | None = None
    """a program space for searches that need one; the domain's own if not given"""
    max_length: int = 45
    """tokens of the longest program"""
    worlds: int | None = None
    """that programs are tried on; the method's own number if not given"""
    origin: str | None = None
    """a program to make better, instead of looking for one anywhere"""
    edits: int = 3
    """statements that it may be changed by"""
    also: tuple[Size, ...] = ()
    """other sizes of worlds at which a program has to hold"""

    def __post_init__(self) -> None:
        # JSON, which a configuration may come from, has lists.
        if self.size is not None:
            object.__setattr__(self, "size", _pair(self.size, "size"))
        also: Any = self.also
        if not isinstance(also, list | tuple):
            raise ValueError(f"also: expected sizes such as [(16, 16)], found {also!r}")
        object.__setattr__(self, "also", tuple(_pair(size, "also") for size in also))
        method = get_method(self.method)
        if self.origin is not None and not method.repairs:
            known = ", ".join(name for name, other in METHODS.items() if other.repairs)
            raise ValueError(f"{self.method} can't stay close to a program; expected {known}")
        for name, least in (
            ("budget", 1),
            ("worlds", 1),
            ("seed", 0),
            ("max_length", SHORTEST),
            ("edits", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, found {value}")
        for name, most in (("seed", MOST_SEEDS - 1), ("max_length", LONGEST)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} must be at most {most}, found {getattr(self, name)}")

    def plain(self) -> dict[str, Any]:
        """As JSON gives it back."""
        said: dict[str, Any] = json.loads(json.dumps(asdict(self), default=int))  # numpy has its own
        return said


def _pair(size: Any, name: str) -> Size:
    """Height and width, whatever they came in; or the name of a variant."""
    if isinstance(size, str):
        return size
    if not isinstance(size, list | tuple) or len(size) != 2 or not all(isinstance(n, Integral) for n in size):
        raise ValueError(f"{name}: expected height and width such as (8, 8), found {size!r}")
    return int(size[0]), int(size[1])


@dataclass(frozen=True)
class Step:
    """One round of asking and telling, for those who watch."""

    seed: int
    """of the search"""
    round: int
    evaluations: int
    seconds: float
    mean: float
    """score of those asked about; what was given up on the way counts as 0"""
    best: float
    """score of the best of them"""
    best_so_far: float
    program: NDArray[np.uint8]
    """the best so far"""
    worlds: int
    search: Search
    asked: Programs
    scores: Scores
    domain: Domain
    """that the programs are of"""


@dataclass(frozen=True)
class Solution:
    """What a search found."""

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
        }


Listener = Callable[[Step], object]


class Run:
    """A search at work."""

    def __init__(self, config: SolveConfig, task: Task | None = None) -> None:
        self.task: Task = task or get(config.task)
        if config.origin is not None:
            self.task = self.task.fitting(words_of(config.origin))
        self.domain = self.task.domain
        self.config = config if config.space else replace(config, space=self.domain.space)
        self.method: Method = get_method(config.method)
        self.sizes = tuple(self.task.check_size(size) for size in (config.size, *config.also))
        """that of the search first, and all others"""
        if len(set(self.sizes)) < len(self.sizes):
            also = ", ".join(map(size_text, self.sizes[1:]))
            raise ValueError(
                "also: expected sizes that differ, and from the search's own "
                f"{size_text(self.sizes[0])}; found {also}"
            )
        count = config.worlds or self.method.worlds
        first, *others = (self.task.worlds(count, _SEARCH + config.seed, size) for size in self.sizes)
        self.objective = Objective(self.task, first, tuple(others))
        self.origin = None if config.origin is None else self.domain.read(self.domain.parse(config.origin))
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
        self.trial = Trial(self.task, _CHECK + config.seed, self.sizes)
        self._asked = 0
        """evaluations that the search asked for; checks depend on them"""
        self._next_check = CHECK_EVERY
        self._next_refinement = REFINE_EVERY
        self._begin: float | None = None
        self._seconds_before = 0.0
        """of a search that was interrupted, and goes on as this one"""

    @property
    def finished(self) -> bool:
        return self.solved or self.search.finished or self.objective.evaluations >= self.budget

    @property
    def converged(self) -> bool:
        """Whether the search ended by its own rule of success, not by its budget."""
        return self.solved or bool(getattr(self.search, "converged", False))

    @property
    def _seconds(self) -> float:
        now = 0.0 if self._begin is None else time.perf_counter() - self._begin
        return self._seconds_before + now

    def step(self) -> Step:
        """Ask, evaluate, tell."""
        self._begin = self._begin or time.perf_counter()  # not when it was made: it may have had to wait
        if self.method.redraw_every and self.round and self.round % self.method.redraw_every == 0:
            self._redraw()
        if self._asked >= self._next_refinement:
            self._refine()
        asked = self.search.ask()
        left = self.budget - self.objective.evaluations
        tried = asked[:left]
        scores = self.objective.scores(tried, self.search.incumbent)
        self._asked += len(tried)
        if len(tried) == len(asked):  # else the search is over, and need not know
            self.search.tell(scores)
        self.round += 1
        top = int(scores.argmax())
        self._note(tried[top], float(scores[top]))
        if self.method.counterexamples:
            assert self.best is not None
            if self.best[0] >= perfect(self.task) or self._asked >= self._next_check:
                self._check()
        elif self.method.until_perfect:
            self.solved = bool(scores[top] >= perfect(self.task))
        assert self.best is not None
        return Step(
            self.config.seed,
            self.round,
            self.objective.evaluations,
            self._seconds,
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
        """Remember the search's answer; or, if it has none, the program if it is among the best."""
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
        """Score programs on as many new worlds from now on."""
        first, *others = (self.trial.fresh(batch.count, batch.size) for batch in self.objective.batches)
        self.objective.replace(first, tuple(others))
        self.search.worlds_changed()
        self._rescore()

    def _refine(self) -> None:
        """Exchange words of the language for finer ones, where the task has any."""
        self._next_refinement = self._asked + REFINE_EVERY
        if not isinstance(self.search, Rewordable) or self.best is None:
            return
        kept = [self.best[1], *(self.search.programs if self.search.programs is not None else ())]
        if self.origin is not None:
            kept.insert(1, self.origin)
        language = self.domain.language
        change = self.task.refined(
            language.batch(kept), np.random.default_rng((self.config.seed, self._asked))
        )
        if change is None:
            return
        self.task, self.domain = change.task, change.task.domain
        self.trial.task = self.task
        self.objective.reword(self.task)
        self.search.reword(change)
        self.best = self.best[0], change.tokens[self.best[1]]
        if self.origin is not None:
            self.origin = change.tokens[self.origin]
        # Of the programs to choose from in the end, those go on that are what they were.
        programs = {key: np.frombuffer(key, np.uint8) for key in self.shortlist}
        kept_keys = {
            key: change.tokens[row].tobytes() for key, row in programs.items() if change.same[row].all()
        }
        self.shortlist = {now: self.shortlist[key] for key, now in kept_keys.items()}
        self.first_scored = {now: self.first_scored[key] for key, now in kept_keys.items()}

    def _check(self) -> None:
        """Verify the best program on fresh worlds, and add those on which it fails."""
        assert self.best is not None
        self._next_check = self._asked + CHECK_EVERY
        score, program = self.best
        flawless, breaking = True, list[Episodes]()
        for batch in self.objective.batches:
            fresh, returns = self.trial.check(program, batch.size, self.objective)
            if returns.mean() >= perfect(self.task):
                continue
            flawless = False
            if self.config.also:  # what it is believed to earn at this size
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
        """Compare the best programs again, on the present worlds."""
        if (
            self.search.answer is not None or not self.shortlist
        ):  # an answer is rescored when it is asked next
            return
        known = np.stack([np.frombuffer(key, np.uint8) for key in self.shortlist])
        scores = self.objective.returns(known).mean(axis=1)
        self.shortlist = {row.tobytes(): float(score) for row, score in zip(known, scores, strict=True)}
        top = int(scores.argmax())
        self._set_best(known[top], float(scores[top]))

    def _evaluations_to(self, program: NDArray[np.uint8]) -> int:
        """Evaluations after which a program was first scored, or became the search's answer."""
        text = self.domain.text(program)
        known = [entry["evaluations"] for entry in self.history if entry["program"] == text]
        first = self.first_scored.get(program.tobytes())
        return min([*known, *([] if first is None else [first])], default=self.objective.evaluations)

    @property
    def can_be_saved(self) -> bool:
        return self.search.state() is not None

    def state(self) -> State:
        """All that the rest of the search depends on, between two steps."""
        return {
            **{name: getattr(self, name) for name in self._COUNTERS},
            "perceptions": self.domain.language.perceptions,
            "drawn": self.trial.drawn,
            "evaluations": self.objective.evaluations,
            "rollouts": self.objective.rollouts,
            "steps": self.objective.steps,
            "seconds": self._seconds,
            "worlds": [batch._asdict() for batch in self.objective.batches],
            "known": [list(program) for program in self.objective.known],
            "best": None if self.best is None else list(self.best),
            "shortlist": [
                [list(program), score, self.first_scored[program]]
                for program, score in self.shortlist.items()
            ],
            "history": self.history,
            "search": self.search.state(),
        }

    _COUNTERS = ("round", "solved", "_asked", "_next_check", "_next_refinement")

    def restore(self, state: State) -> None:
        """Go on as the search that this is the state of: it has the same configuration."""
        self._speak(state["perceptions"])
        self.search.restore(state["search"])
        for name in self._COUNTERS:
            setattr(self, name, state[name])
        self.trial.drawn = state["drawn"]
        like = self.objective.worlds
        first, *others = (
            type(like)(*(_array(batch[name], getattr(like, name)) for name in like._fields))
            for batch in state["worlds"]
        )
        counted = state["evaluations"], state["rollouts"], state["steps"]
        self.objective = Objective(self.task, first, tuple(others), *counted)
        self.objective.recall(bytes(program) for program in state["known"])
        self._seconds_before = state["seconds"]
        self.best = state["best"] and (state["best"][0], np.array(state["best"][1], np.uint8))
        self.shortlist = {bytes(program): score for program, score, _ in state["shortlist"]}
        self.first_scored = {bytes(program): first for program, _, first in state["shortlist"]}
        self.history = list(state["history"])

    def _speak(self, perceptions: Sequence[str]) -> None:
        """Use the language that a saved search had come to."""
        before, self.task = self.domain.language, self.task.fitting(perceptions)
        self.domain = self.task.domain
        self.trial.task = self.task
        if isinstance(self.search, Rewordable) and self.domain.language != before:
            known = self.domain.language.ids
            tokens = np.array([known.get(text, 0) for text in before.tokens], np.uint8)
            if self.origin is not None:  # whose words are in both
                self.origin = tokens[self.origin]
            self.search.reword(Reworded(self.task, tokens, np.ones(len(tokens), np.bool_)))

    def result(self, interrupted: bool = False) -> Solution:
        """Choose the final program, simplify it, and judge it on worlds that nothing else has used."""
        assert self.best is not None
        program, budget_spent = self.best[1], self.objective.evaluations
        if self.search.answer is None and not (self.solved and self.method.counterexamples):
            ranked = sorted(self.shortlist.items(), key=lambda item: -item[1])[:SHORTLIST]
            candidates = np.stack([np.frombuffer(key, np.uint8) for key, _ in ranked])
            program = self.trial.best_of(candidates, self.objective)
            if self.origin is not None and not self.trial.is_better(program, self.origin, self.objective):
                program = self.origin
        found = program
        if self.method.simplifies and not interrupted:
            program = self.trial.simplified(program, self.objective, self.origin, self.config.seed)
        seconds, evaluations, rollouts = self._seconds, self.objective.evaluations, self.objective.rollouts
        search_return = float(self.objective.scores(program[None])[0])
        judged = judge(program[None], self.task, self.config)
        return Solution(
            self.config,
            self.task,
            self.domain.text(program),
            search_return,
            judged[0].mean,
            self.domain.text(found),
            evaluations,
            budget_spent,
            rollouts,
            seconds,
            min(self._evaluations_to(found), evaluations),
            self.objective.count,
            interrupted,
            self.history,
            returns_by_size(self.config, judged),
            judged,
        )


def _array(values: Any, like: NDArray[Any]) -> NDArray[Any]:
    """An array of the same kind, which a checkpoint has as a list; texts are as long as they are."""
    return np.array(values, None if like.dtype.kind == "U" else like.dtype)


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


def work(run: Run, listener: Listener = id) -> Solution:
    """Run a search to its end. Interrupted (KeyboardInterrupt), it returns the best so far."""
    interrupted = False
    try:
        try:
            while not run.finished:
                listener(run.step())
            return run.result()
        except KeyboardInterrupt:
            if run.best is None:
                raise
            interrupted = True
        return run.result(interrupted)
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
