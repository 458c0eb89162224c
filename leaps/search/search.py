"""What every search has in common: it asks about programs, and is told how good they are.

A search knows nothing of tasks, worlds or Karel. What it has learned so far, random numbers included, can
be taken out as plain numbers and arrays (`state`) and put back (`restore`): it then goes on as if nothing had
been.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leaps.embedding.space import Space

Programs = NDArray[np.uint8]
"""[n, length] token ids, filled up with `<pad>`"""
Points = NDArray[np.float32]
"""[n, dimensions] of a program space"""
Scores = NDArray[np.float64]
"""[n] higher is better"""
State = dict[str, Any]


class Search(Protocol):
    """A search among programs."""

    @property
    def rival(self) -> NDArray[np.uint8] | None:
        """A program that those asked about next have to hold their own against.

        Of one that falls behind it on the way, the exact score is not needed. None: all scores are needed.
        """

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to ask."""

    def ask(self) -> Programs: ...
    def tell(self, scores: Scores) -> None: ...

    def worlds_changed(self) -> None:
        """Learn that the same program may have another score from now on."""

    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...


class PointSearch(Protocol):
    """A search among the points of a space."""

    @property
    def finished(self) -> bool: ...
    def ask(self) -> Points: ...
    def tell(self, points: Points, scores: Scores) -> None: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...


VALID_BONUS = 0.1
"""what a valid program earns in the score of a search in the space, as in the paper; no reported number
contains it. Without it, elites that all earn nothing would have no weight"""


class InSpace:
    """A search among points, as a search among the programs that they stand for."""

    def __init__(self, search: PointSearch, space: Space, max_length: int | None = None) -> None:
        self.search, self.space, self.max_length = search, space, max_length
        self.points: Points = np.zeros((0, space.dimensions), np.float32)

    rival = None

    @property
    def finished(self) -> bool:
        return self.search.finished

    def ask(self) -> Programs:
        self.points = self.search.ask()
        return self.space.decode(self.points, self.max_length)

    def tell(self, scores: Scores) -> None:
        self.search.tell(self.points, scores + VALID_BONUS)

    def worlds_changed(self) -> None:
        """Each population is scored anew anyway."""

    def state(self) -> State:
        return self.search.state()

    def restore(self, state: State) -> None:
        self.search.restore(state)
