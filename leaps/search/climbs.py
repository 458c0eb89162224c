"""Our search: many climbs from programs of the learned space, the promising ones longer.

A climb goes from a program to a neighbour that is no worse. Most end on a plateau, and some go straight to
the top; nobody knows beforehand which. So climbs take part in a tournament: each goes on until it has waited
long enough for something better, then the better half goes on and is given twice the patience; and when one
is left, another tournament begins.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.neighbours import Move, Neighbourhood
from leaps.search.objective import DROPPED
from leaps.search.search import Programs, Scores, State

MOVES = {
    Move.REPLACE: 3.0,
    Move.INSERT: 2.0,
    Move.DELETE: 1.0,
    Move.WRAP: 1.0,
    Move.UNWRAP: 0.5,
    Move.COPY: 0.5,
    Move.EXCHANGE: 0.5,
    Move.ADJUST: 2.0,
    Move.CROSS: 0.5,
    Move.REHEAD: 0.5,
}
"""shares of the moves to a neighbour"""


@dataclass(frozen=True)
class ClimbsConfig:
    """How the evaluations are shared out."""

    climbs: int = 16
    """that a tournament begins with"""
    patience: int = 1000
    """evaluations without a better program that end a climb's turn in the first round; twice as many in each
    later round"""
    starts: int = 32
    """programs that a climb's first is the best of"""
    batch: int = 16
    """neighbours that are scored at once"""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value < 1:
                raise ValueError(f"{name} must be at least 1, found {value}")


@dataclass
class Climb:
    """One way up."""

    program: NDArray[np.uint8] | None = None
    score: float = DROPPED
    waited: int = 0
    """evaluations since it last came to a better program, of this round"""


class Climbs:
    """Ask for programs, tell their scores, repeat.

    fresh: draws programs [n, length] to begin with.
    """

    finished = False

    def __init__(
        self, config: ClimbsConfig, neighbourhood: Neighbourhood, fresh: Callable[[int], Programs]
    ) -> None:
        self.config, self.neighbourhood, self.fresh = config, neighbourhood, fresh
        self.asked: Programs = np.zeros((0, 0), np.uint8)
        self.outdated = False
        """whether the scores of the climbs have to be asked for again"""
        self._begin()

    def _begin(self) -> None:
        """Begin a tournament."""
        self.climbs = [Climb() for _ in range(self.config.climbs)]
        self.active = 0
        """which of the climbs has its turn"""
        self.patience = self.config.patience

    @property
    def rival(self) -> NDArray[np.uint8] | None:
        return None if self.outdated else self.climbs[self.active].program

    @property
    def _programs(self) -> Programs:
        """Where the climbs have got to."""
        return np.stack([climb.program for climb in self.climbs if climb.program is not None])

    def ask(self) -> Programs:
        program = self.climbs[self.active].program
        if self.outdated:
            self.asked = self._programs
        elif program is None:
            self.asked = self.fresh(self.config.starts)
        else:
            # Pieces of the other climbs' programs may be of use, too.
            self.asked, _ = self.neighbourhood.draw(program[None], self.config.batch, self._programs)
        return self.asked

    def tell(self, scores: Scores) -> None:
        if self.outdated:
            self.outdated = False
            known = [climb for climb in self.climbs if climb.program is not None]
            for climb, score in zip(known, scores, strict=True):
                climb.score = float(score)
            return
        climb = self.climbs[self.active]
        climb.waited += len(scores)
        best = int(scores.argmax())
        if climb.program is None or scores[best] > climb.score:
            climb.program, climb.score, climb.waited = self.asked[best].copy(), float(scores[best]), 0
        else:
            # A step along the plateau: from another place, other places can be reached.
            others = (self.asked != climb.program).any(axis=1)
            if len(equal := np.nonzero((scores == climb.score) & others)[0]):
                climb.program = self.asked[equal[0]].copy()
        if climb.waited >= self.patience:
            self._next_turn()

    def _next_turn(self) -> None:
        self.active += 1
        if self.active < len(self.climbs):
            return
        self.climbs = sorted(self.climbs, key=lambda climb: -climb.score)[: len(self.climbs) // 2]
        if not self.climbs:
            self._begin()
            return
        for climb in self.climbs:
            climb.waited = 0
        self.active = 0
        self.patience *= 2

    def worlds_changed(self) -> None:
        self.outdated = any(climb.program is not None for climb in self.climbs)

    def state(self) -> State:
        return {
            "stream": self.neighbourhood.stream.copy(),
            "climbs": [asdict(climb) for climb in self.climbs],
            "active": self.active,
            "patience": self.patience,
            "outdated": self.outdated,
        }

    def restore(self, state: State) -> None:
        self.neighbourhood.stream[:] = np.asarray(state["stream"], np.uint64)
        self.climbs = [
            Climb(
                None if saved["program"] is None else np.asarray(saved["program"], np.uint8),
                saved["score"],
                saved["waited"],
            )
            for saved in state["climbs"]
        ]
        self.active, self.patience = state["active"], state["patience"]
        self.outdated = state["outdated"]
