"""The protocol of a search: `ask` for programs to score, `tell` their scores, repeat.

A search knows nothing of tasks, worlds or Karel. Its state, random numbers included, can be saved as plain
numbers and arrays (`state`) and restored (`restore`): the restored search is the same search.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Reworded

if TYPE_CHECKING:
    from leaps.embedding.space import Space

Candidates = NDArray[np.uint8]
"""[n, length] token ids, padded with `<pad>`"""
Points = NDArray[np.float32]
"""[n, dimensions] of a program space"""
Scores = NDArray[np.float64]
"""[n] higher is better"""
State = dict[str, Any]


class Answer(NamedTuple):
    """The program that a search would return now."""

    program: NDArray[np.uint8]
    """[length]"""
    score: float


class Search(Protocol):
    """A search among programs."""

    @property
    def incumbent(self) -> NDArray[np.uint8] | None:
        """The program that candidates are compared with.

        A candidate that falls behind it is rejected early, and its exact score is not needed. None: all
        scores are needed.
        """

    @property
    def answer(self) -> Answer | None:
        """The program to return; None: the best program asked about, chosen on fresh worlds."""

    @property
    def finished(self) -> bool:
        """Whether the search has nothing more to ask."""

    def ask(self) -> Candidates:
        """Return programs to score; ValueError while the scores of the previous ones are due."""

    def tell(self, scores: Scores) -> None:
        """Receive the scores of the programs asked about; ValueError if there are none."""

    def worlds_changed(self) -> None:
        """React to changed worlds: the same program may have another score from now on."""

    def state(self) -> State | None:
        """Return all that the rest of the search depends on; None if it cannot be saved."""

    def restore(self, state: State) -> None: ...


@dataclass
class Turn:
    """Check that `ask` and `tell` alternate, and that each program asked about gets a score."""

    where: str = ""
    """prefix of error messages, such as the user's file"""
    waiting: int | None = None
    """programs whose scores are still due"""

    def ask(self) -> None:
        """Start an `ask`."""
        if self.waiting is not None:
            raise ValueError(
                f"{self.where}ask was called twice in a row; expected tell with the scores of the "
                f"{self.waiting} programs asked about before the next ask"
            )

    def asked(self, programs: Candidates) -> Candidates:
        """End an `ask`."""
        self.waiting = len(programs)
        return programs

    def tell(self, scores: Scores) -> None:
        """Start a `tell`."""
        if self.waiting is None:
            raise ValueError(
                f"{self.where}tell was called before ask; expected ask, then tell with one score for each "
                "program asked about"
            )
        if np.shape(scores) != (self.waiting,):
            raise ValueError(
                f"{self.where}expected {self.waiting} scores, one for each program asked about, found an "
                f"array of shape {list(np.shape(scores))}"
            )
        self.waiting = None


@runtime_checkable
class Rewordable(Protocol):
    """A search whose programs can be translated when the task's language changes."""

    @property
    def programs(self) -> Candidates | None:
        """The programs that it continues from, best first; None if there is none."""

    def reword(self, change: Reworded) -> None:
        """Translate the programs into the task's present language."""


class PointSearch(Protocol):
    """A search among the points of a space."""

    @property
    def finished(self) -> bool: ...
    def ask(self) -> Points: ...
    def tell(self, points: Points, scores: Scores) -> None: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...


VALID_BONUS = 0.1
"""Added to the score of a valid program by the searches in the space, as in the paper; no reported number
contains it. Without it, elites that all earn 0 would have no weight."""


class InSpace:
    """Adapter that turns a search among points into a search among the decoded programs."""

    incumbent = None
    answer: Answer | None = None

    def __init__(self, search: PointSearch, space: "Space", max_length: int | None = None) -> None:
        self.search, self.space, self.max_length = search, space, max_length
        self.points: Points = np.zeros((0, space.dimensions), np.float32)
        self.turn = Turn()

    @property
    def finished(self) -> bool:
        return self.search.finished

    def ask(self) -> Candidates:
        self.turn.ask()
        self.points = self.search.ask()
        return self.turn.asked(self.space.decode(self.points, self.max_length))

    def tell(self, scores: Scores) -> None:
        self.turn.tell(scores)
        self._learn(scores)

    def _learn(self, scores: Scores) -> None:
        self.search.tell(self.points, scores + VALID_BONUS)

    def worlds_changed(self) -> None:
        """Do nothing: each population is scored on the present worlds anyway."""

    def state(self) -> State:
        return self.search.state()

    def restore(self, state: State) -> None:
        self.search.restore(state)
        self.turn = Turn()
