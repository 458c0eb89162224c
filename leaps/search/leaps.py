"""LEAPS: the cross entropy method in the program space, as published, and the changes that lead to leaps+.

The paper's appendix "Cross-Entropy Method (CEM)", and its authors' code where the text leaves something open
(but for DETAILS, which are options): each iteration ends with scoring the program at the centre of the next
population. Ten perfect centres in a row end the search, and the program at the centre is its answer.
"""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.search.cem import CEM, ONE_SETTING, PAPER_CEM, RESTART_AFTER, CEMConfig
from leaps.search.objective import NEARLY
from leaps.search.search import Answer, Candidates, InSpace, Scores, State

if TYPE_CHECKING:
    from leaps.embedding.space import Space

CHANGES = {
    "setting": "one CEM setting for all tasks, instead of the paper's setting for each",
    "restart": f"restart after {RESTART_AFTER} iterations without a better program",
    "whitened": "search in coordinates in which the training programs vary equally in every direction",
    "stop": "stop when the best program of ten populations in a row is perfect, instead of the centre's",
    "best": "the answer is the best program sampled, chosen among 16 on 1,000 fresh worlds, not the centre's",
}
"""the changes of leaps+, by the name that follows `leaps+`; the sixth change, longer rollouts, is a property
of the task (`top-off~220calls` has the authors' limit)"""
DETAILS = {
    "ties": "order equal scores by the programs' text, the last in the alphabet first",
    "negative": "weigh elites by their scores even if these are negative",
    "redraw": "draw new worlds every 100 iterations",
}
"""details of the authors' code that the paper doesn't mention, by the name that follows `leaps+`; not part of
`leaps+` itself"""
REDRAW_EVERY = 100
"""iterations on the same worlds, with `redraw`"""
_LONGER = re.compile(r"x([2-9])")
"""`leaps+x3`: all distances of the search are three times as long"""
IN_A_ROW = 10
"""iterations in a row with a perfect program, after which a search ends"""


def parse_changes(name: str) -> frozenset[str] | None:
    """Return the changes in a method's name: none for `leaps`, CHANGES for `leaps+`, two for
    `leaps+restart+best`; also DETAILS, and a factor of distances as in `leaps+x3`.

    Return None if the name does not start with `leaps`.
    """
    base, *changes = name.split("+")
    if base != "leaps":
        return None
    if changes == [""]:
        return frozenset(CHANGES)
    for change in changes:
        if change not in CHANGES and change not in DETAILS and not _LONGER.fullmatch(change):
            known = ", ".join((*CHANGES, *DETAILS))
            raise ValueError(f"unknown change {change!r} in {name!r}; expected {known} or x2 to x9")
    if sum(_LONGER.fullmatch(change) is not None for change in changes) > 1:
        raise ValueError(f"expected one factor of distances in {name!r}, such as x3")
    return frozenset(changes)


def config_for(task: str, changes: frozenset[str]) -> CEMConfig:
    """Return the CEM setting for a task: the paper's if it gives one, unless `setting` is changed."""
    config = ONE_SETTING if "setting" in changes else PAPER_CEM.get(task, ONE_SETTING)
    factors = [int(found[1]) for change in changes if (found := _LONGER.fullmatch(change))]
    return replace(
        config,
        restart_after=RESTART_AFTER if "restart" in changes else 0,
        unit=float(factors[0]) if factors else 1.0,
        negative_weights="negative" in changes,
    )


class _Centre(NamedTuple):
    """The role of the program at the centre of the population."""

    stops: bool
    """whether it decides when the search ends"""
    answers: bool
    """whether it is the search's answer"""


class Leaps(InSpace):
    """CEM in the space. With no changes, the published search."""

    def __init__(
        self,
        space: "Space",
        task: str,
        seed: int,
        max_length: int,
        changes: frozenset[str] = frozenset(),
        perfect: float = 1.0 - NEARLY,
    ) -> None:
        """perfect: the lowest score that counts as perfect."""
        self.cem = CEM(config_for(task, changes), space.dimensions, seed)
        super().__init__(self.cem, space, max_length)
        self.centre = _Centre(stops="stop" not in changes, answers="best" not in changes)
        self.centre_is_next = False
        """whether the next `ask` returns the centre instead of a population"""
        self.ties_by_text = "ties" in changes
        self.perfect, self.in_a_row = perfect, 0
        self.asked: Candidates = np.zeros((0, 0), np.uint8)

    @property
    def converged(self) -> bool:
        return self.in_a_row >= IN_A_ROW

    @property
    def finished(self) -> bool:
        return self.converged or (self.cem.finished and not self.centre_is_next)

    def ask(self) -> Candidates:
        self.turn.ask()
        self.points = np.asarray(self.cem.centre[None], np.float32) if self.centre_is_next else self.cem.ask()
        self.asked = self.space.decode(self.points, self.max_length)
        return self.turn.asked(self.asked)

    def tell(self, scores: Scores) -> None:
        self.turn.tell(scores)
        if self.centre_is_next:
            self.centre_is_next = False
            if self.centre.answers:
                self.answer = Answer(self.asked[0].copy(), float(scores[0]))
            if self.centre.stops:
                self._count(scores)
            return
        if self.ties_by_text:
            texts = [self.space.text(program) for program in self.asked]
            order = sorted(range(len(scores)), key=lambda i: (scores[i], texts[i], i), reverse=True)
            self.points, scores = self.points[order], scores[order]
        self._learn(scores)
        self.centre_is_next = any(self.centre)
        if not self.centre.stops:
            self._count(scores)

    def _count(self, scores: Scores) -> None:
        self.in_a_row = self.in_a_row + 1 if scores.max() >= self.perfect else 0

    def worlds_changed(self) -> None:
        """Forget the best score: a restart waits for a better one on these worlds."""
        self.cem.best = -np.inf

    def state(self) -> State:
        return {
            "cem": super().state(),
            "centre_is_next": self.centre_is_next,
            "in_a_row": self.in_a_row,
            "answer": None if self.answer is None else list(self.answer),
        }

    def restore(self, state: State) -> None:
        super().restore(state["cem"])
        self.centre_is_next, self.in_a_row = state["centre_is_next"], state["in_a_row"]
        if state["answer"] is not None:
            program, score = state["answer"]
            self.answer = Answer(_tokens(program), score)


def _tokens(program: object) -> NDArray[np.uint8]:
    return np.asarray(program, np.uint8)
