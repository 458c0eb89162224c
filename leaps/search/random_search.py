"""The paper's random searches, LEAPS-rand-8 and LEAPS-rand-64: the best of a few points of the space."""

import numpy as np

from leaps.search.search import Points, Scores, State


class RandomSearch:
    """Ask once for `count` points from N(0, I)."""

    def __init__(self, count: int, dimensions: int, seed: int) -> None:
        if count < 1:
            raise ValueError(f"expected at least 1 sample, found {count}")
        self.count, self.dimensions = count, dimensions
        self.rng = np.random.default_rng(seed)
        self.finished = False

    def ask(self) -> Points:
        return np.asarray(self.rng.standard_normal((self.count, self.dimensions)), np.float32)

    def tell(self, points: Points, scores: Scores) -> None:  # noqa: ARG002
        self.finished = True

    def state(self) -> State:
        return {"rng": self.rng.bit_generator.state, "finished": self.finished}

    def restore(self, state: State) -> None:
        self.rng.bit_generator.state = state["rng"]
        self.finished = state["finished"]
