"""Write a search method: ask for programs, learn their scores, repeat.

A (1+λ) local search: draw λ neighbours of the best program so far, keep the best of them if it is no worse,
and restart from a fresh program after a number of rounds without improvement.
"""

import numpy as np

import leaps
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.search.methods import Setting
from leaps.search.search import Candidates, Scores

CHILDREN, PATIENCE = 32, 60
MOVES = {Move.REPLACE: 4.0, Move.INSERT: 2.0, Move.DELETE: 1.0, Move.WRAP: 1.0, Move.ADJUST: 2.0}
"""kinds of changes, and how often each is made relative to the others"""


class MySearch:
    """A (1+λ) local search with restarts."""

    def __init__(self, setting: Setting) -> None:
        domain, limits = setting.domain, Limits(length=setting.max_length)
        self.neighbourhood = Neighbourhood(domain.language, domain.programs, limits, MOVES, setting.seed)
        self.restart()

    def restart(self) -> None:
        self.parent, self.score, self.waited = self.neighbourhood.fresh(1), -np.inf, 0

    def ask(self) -> Candidates:
        """Return [n, length] token ids; a list of texts is fine, too."""
        self.children, _ = self.neighbourhood.draw(self.parent, CHILDREN)
        return self.children

    def tell(self, scores: Scores) -> None:
        """Learn the mean return of each program."""
        best = int(scores.argmax())
        self.waited = 0 if scores[best] > self.score else self.waited + 1
        if scores[best] >= self.score:  # equals too: programs have large plateaus
            self.parent, self.score = self.children[best : best + 1], float(scores[best])
        if self.waited == PATIENCE:
            self.restart()


if __name__ == "__main__":
    solution = leaps.solve("maze", f"{__file__}:MySearch", seed=1)
    print(f"{solution.unseen_return:.3f} after {solution.evaluations:,} evaluations: {solution.program}")
