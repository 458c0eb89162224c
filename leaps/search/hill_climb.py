"""HC, hill climbing over programs: the strongest search among the peers (ICLR 2024).

Start from a random program. Draw neighbours, each with one node replaced, and step to the first strictly
better one. Restart after 250 neighbours without improvement.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Reworded
from leaps.dsl.neighbours import Neighbourhood
from leaps.search.objective import DROPPED
from leaps.search.search import Candidates, Scores, State, Turn


@dataclass(frozen=True)
class HillClimbConfig:
    neighbours: int = 250
    """neighbours scored without improvement before a restart"""
    batch: int = 25
    """neighbours scored at once; those after the first better one are wasted"""

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= self.neighbours:
            raise ValueError(f"expected 1 ≤ batch ≤ neighbours, found {self}")


class HillClimb:
    """Hill climbing on the ask/tell protocol."""

    finished = False
    answer = None

    def __init__(self, config: HillClimbConfig, neighbourhood: Neighbourhood) -> None:
        self.config, self.neighbourhood = config, neighbourhood
        self.program: NDArray[np.uint8] | None = None
        self.score = DROPPED
        self.tried = 0
        self.asked: Candidates = np.zeros((0, 0), np.uint8)
        self.turn = Turn()

    @property
    def incumbent(self) -> NDArray[np.uint8] | None:
        return None

    def ask(self) -> Candidates:
        self.turn.ask()
        if self.program is None:
            self.asked = self.neighbourhood.fresh(1)
        else:
            count = min(self.config.batch, self.config.neighbours - self.tried)
            self.asked, _ = self.neighbourhood.draw(self.program[None], count)
        return self.turn.asked(self.asked)

    def tell(self, scores: Scores) -> None:
        self.turn.tell(scores)
        if self.program is None:
            self.program, self.score, self.tried = self.asked[0], float(scores[0]), 0
            return
        better = np.nonzero(scores > self.score)[0]
        if len(better):
            self.program, self.score, self.tried = self.asked[better[0]], float(scores[better[0]]), 0
            return
        self.tried += len(scores)
        if self.tried >= self.config.neighbours:
            self.program = None

    def worlds_changed(self) -> None:
        """Restart: the score of the present program is out of date."""
        self.program = None

    @property
    def programs(self) -> Candidates | None:
        return None if self.program is None else self.program[None]

    def reword(self, change: Reworded) -> None:
        self.neighbourhood.reword(change.task.domain.language, change.tokens)
        if self.program is not None:
            self.program = change.tokens[self.program] if change.same[self.program].all() else None

    def state(self) -> State:
        return {
            "stream": self.neighbourhood.stream.copy(),
            "program": self.program,
            "score": self.score,
            "tried": self.tried,
        }

    def restore(self, state: State) -> None:
        self.neighbourhood.stream[:] = np.asarray(state["stream"], np.uint64)
        program = state["program"]
        self.program = None if program is None else np.asarray(program, np.uint8)
        self.score, self.tried = state["score"], state["tried"]
        self.turn = Turn()
