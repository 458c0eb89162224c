"""The paper's search: the cross entropy method in the program space (appendix "Cross-Entropy Method")."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leaps.search.search import State

Initial = Literal["constant", "narrow", "moderate", "normal"]
"""The initial mean: "constant" is 0.01 in every dimension (the paper's N(1, 0), as in its authors' code). The
others are drawn from a normal distribution with the standard deviation in INITIAL_STD."""
INITIAL_STD = {"narrow": 0.1, "moderate": 0.1**0.5, "normal": 1.0}
"""The paper writes N(0, 0.1 I). Its authors' code draws with a standard deviation of 0.1 ("narrow"); read as
a variance it is "moderate"."""


def draw_initial(rng: np.random.Generator, initial: Initial, dimensions: int) -> NDArray[np.float64]:
    """Draw the point [dimensions] that a search starts at."""
    if initial == "constant":
        return np.full(dimensions, 0.01)
    return np.asarray(INITIAL_STD[initial] * rng.standard_normal(dimensions))


@dataclass(frozen=True)
class CEMConfig:
    """Hyperparameters of one search; the paper's per task are in PAPER_CEM."""

    population: int = 64
    """points drawn per iteration"""
    sigma: float = 0.25
    """initial standard deviation of the sampling distribution"""
    elite_fraction: float = 0.05
    """fraction of the population that moves the mean"""
    decay: bool = False
    """let sigma fall exponentially to 0.1 over the first 500 iterations"""
    initial: Initial = "narrow"
    """the distribution that the first mean is drawn from"""

    restart_after: int = 0
    """iterations without a better point after which the search restarts from the initial distribution; 0:
    never, as in the paper"""
    unit: float = 1.0
    """multiplies all distances: those of sigma, and of the first mean from the origin"""
    negative_weights: bool = False
    """weigh elites by their scores even if these are negative, as the authors' code does"""

    FINAL_SIGMA = 0.1
    DECAY_ITERATIONS = 500

    def __post_init__(self) -> None:
        if self.population < 1 or self.sigma <= 0 or not 0 < self.elite_fraction <= 1:
            raise ValueError(
                "expected population ≥ 1, sigma > 0 and elite_fraction in (0, 1], found "
                f"{self.population}, {self.sigma} and {self.elite_fraction}"
            )
        if self.unit <= 0:
            raise ValueError(f"unit must be above 0, found {self.unit}")
        if self.elites < 1:
            raise ValueError(
                f"elite_fraction={self.elite_fraction} of population={self.population} keeps no elite; "
                f"use at least {1 / self.population:.3g}"
            )
        if self.restart_after < 0:
            raise ValueError(f"restart_after must be 0 or more, found {self.restart_after}")
        known = ("constant", *INITIAL_STD)
        if self.initial not in known:
            raise ValueError(f"initial must be one of {', '.join(known)}, found {self.initial!r}")

    @property
    def elites(self) -> int:
        return round(self.population * self.elite_fraction)


PAPER_CEM = {
    "clean-house": CEMConfig(32, 0.25, 0.05, True, "constant"),
    "four-corner": CEMConfig(64, 0.5, 0.2, False, "narrow"),
    "harvester": CEMConfig(32, 0.5, 0.1, True, "normal"),
    "maze": CEMConfig(16, 0.1, 0.1, False, "constant"),
    "stair-climber": CEMConfig(32, 0.25, 0.05, True, "narrow"),
    "top-off": CEMConfig(64, 0.25, 0.05, False, "narrow"),
}
"""the best hyperparameters per task according to the paper, in its own space"""

ONE_SETTING = CEMConfig(64, 0.25, 0.1, False, "moderate")
"""The setting from the paper's grid that did best over all tasks in the spaces trained here. Also the setting
of the published search on tasks for which the paper gives none."""
RESTART_AFTER = 50
"""iterations without a better point after which a search restarts, in leaps+"""


class CEM:
    """The cross entropy method on the ask/tell protocol. Higher scores are better; they are 0 or more.

    >>> cem = CEM(CEMConfig(population=32, elite_fraction=0.2), dimensions=2, seed=0)
    >>> for _ in range(200):
    ...     points = cem.ask()  # [32, 2]
    ...     cem.tell(points, np.exp(-((points - 1.0) ** 2).sum(axis=1)))
    >>> bool(np.allclose(cem.mean, 1.0, atol=0.2))
    True
    """

    ITERATIONS = 1000
    """maximum number of iterations, as in the paper"""
    _SAVED = ("mean", "centre", "iteration", "began", "improved", "best")

    def __init__(self, config: CEMConfig, dimensions: int, seed: int) -> None:
        self.config = config
        self.rng = np.random.default_rng(seed)
        self.iteration = 0
        self.mean = np.empty(dimensions)
        self._begin()
        self.centre = self.mean
        """the mean of the latest elites, even if the search has restarted since"""

    def _begin(self) -> None:
        """Start, or restart, at a mean from the initial distribution."""
        self.began = self.improved = self.iteration
        """the iteration of the latest start, and that of the best point since then"""
        self.best = -np.inf
        """the best score since the latest start"""
        self.mean = self.config.unit * draw_initial(self.rng, self.config.initial, len(self.mean))

    @property
    def finished(self) -> bool:
        return self.iteration >= self.ITERATIONS

    @property
    def sigma(self) -> float:
        """The standard deviation of the next population."""
        config = self.config
        if not config.decay:
            return config.unit * config.sigma
        fraction = min((self.iteration - self.began) / config.DECAY_ITERATIONS, 1.0)
        return float(config.unit * config.sigma * (config.FINAL_SIGMA / config.sigma) ** fraction)

    def ask(self) -> NDArray[np.float32]:
        """Return points [population, dimensions] to score."""
        noise = self.rng.standard_normal((self.config.population, len(self.mean)))
        return np.asarray(self.mean + self.sigma * noise, np.float32)

    def tell(self, points: NDArray[np.float32], scores: NDArray[np.float64]) -> None:
        """Move the mean to the elites' mean, weighted by their scores. Of equal scores the earlier one wins.

        Negative scores have weight 0, unless the configuration has `negative_weights`. Their sum may be near
        0, and the result is then far from a mean.
        """
        expected = (self.config.population, len(self.mean))
        if points.shape != expected or scores.shape != expected[:1]:
            raise ValueError(
                f"expected points {expected} and scores {expected[:1]}, "
                f"found {points.shape} and {scores.shape}"
            )
        elites = np.argsort(-scores, kind="stable")[: self.config.elites]
        self.centre = self.mean = self._weights(scores[elites]) @ points[elites]
        self.iteration += 1
        if scores[elites[0]] > self.best:
            self.best, self.improved = float(scores[elites[0]]), self.iteration
        elif self.iteration - self.improved == self.config.restart_after:
            self._begin()

    def _weights(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute the weight of each elite in the mean."""
        if self.config.negative_weights:
            return np.asarray(scores / (scores.sum() + 1e-5))
        weights = np.maximum(scores, 0.0)
        return np.asarray(weights / weights.sum() if weights.sum() else np.full(len(scores), 1 / len(scores)))

    def state(self) -> State:
        return {"rng": self.rng.bit_generator.state} | {name: getattr(self, name) for name in self._SAVED}

    def restore(self, state: State) -> None:
        self.rng.bit_generator.state = state["rng"]
        for name in self._SAVED:
            setattr(self, name, state[name])
        self.mean, self.centre = np.asarray(self.mean), np.asarray(self.centre)
