"""A neighbourhood that counts the distance of its neighbours."""

import numpy as np
from numpy.typing import NDArray

from leaps.search.search import Candidates


class CountsMoves:
    """A neighbourhood whose programs have their number of moves as first token."""

    def draw(
        self,
        programs: Candidates,
        count: int,
        others: Candidates | None = None,  # noqa: ARG002
    ) -> tuple[Candidates, NDArray[np.uint8]]:
        drawn = np.resize(programs, (count, programs.shape[1]))
        drawn[:, 0] += 1
        return drawn, np.zeros(count, np.uint8)
