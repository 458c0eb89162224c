"""CEBS, a beam search in the program space: children are drawn around each elite, not around their mean."""

from dataclasses import dataclass

import numpy as np

from leaps.search.search import Points, Scores, State


@dataclass(frozen=True)
class BeamConfig:
    population: int = 64
    elites: int = 16
    sigma: float = 0.25
    """standard deviation of the children around their parent"""

    def __post_init__(self) -> None:
        if not 1 <= self.elites <= self.population or self.sigma <= 0:
            raise ValueError(f"expected 1 ≤ elites ≤ population and sigma > 0, found {self}")


class Beam:
    """Beam search on the ask/tell protocol; restarts when the elites' mean score stops rising."""

    finished = False

    def __init__(self, config: BeamConfig, dimensions: int, seed: int) -> None:
        self.config, self.dimensions = config, dimensions
        self.rng = np.random.default_rng(seed)
        self.elites: Points | None = None
        self.mean = -np.inf

    def ask(self) -> Points:
        noise = self.rng.standard_normal((self.config.population, self.dimensions))
        if self.elites is None:
            return np.asarray(noise, np.float32)
        parents = np.resize(np.arange(len(self.elites)), self.config.population)
        return np.asarray(self.elites[parents] + self.config.sigma * noise, np.float32)

    def tell(self, points: Points, scores: Scores) -> None:
        best = np.argsort(-scores, kind="stable")[: self.config.elites]
        mean = float(scores[best].mean())
        if mean > self.mean:
            self.elites, self.mean = points[best], mean
        else:
            self.elites, self.mean = None, -np.inf

    def state(self) -> State:
        return {"rng": self.rng.bit_generator.state, "elites": self.elites, "mean": self.mean}

    def restore(self, state: State) -> None:
        self.rng.bit_generator.state = state["rng"]
        elites = state["elites"]
        self.elites = None if elites is None else np.asarray(elites, np.float32)
        self.mean = state["mean"]
