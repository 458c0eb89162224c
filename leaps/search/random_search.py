"""The paper's random searches, LEAPS-rand-8 and LEAPS-rand-64: the best of a few points of the space.

Appendix "Random Search LEAPS Ablation": the first population of CEM, without any iterations.
"""

from dataclasses import dataclass, replace

import numpy as np

from leaps.search.cem import Initial, draw_initial
from leaps.search.search import Points, Scores, State


@dataclass(frozen=True)
class RandomConfig:
    """Hyperparameters of one search; the paper's per task are in PAPER_RANDOM."""

    samples: int = 64
    """points drawn"""
    sigma: float = 0.5
    """their standard deviation, around a point from the initial distribution"""
    initial: Initial = "narrow"
    """the initial distribution, as in CEM"""

    def __post_init__(self) -> None:
        if self.samples < 1 or self.sigma <= 0:
            raise ValueError(
                f"expected at least 1 sample and sigma > 0, found {self.samples} and {self.sigma}"
            )


_TASKS = ("clean-house", "four-corner", "harvester", "maze", "stair-climber", "top-off")
_TESTS = ("WHILE", "IFELSE+WHILE", "2IF+IFELSE", "WHILE+2IF+IFELSE")

PAPER_RANDOM = {
    8: {
        **{name: RandomConfig(8, 0.5) for name in (*_TASKS, *_TESTS)},
        "maze": RandomConfig(8, 0.25),
        "stair-climber": RandomConfig(8, 0.5, "normal"),
        "top-off": RandomConfig(8, 0.25),
        "WHILE": RandomConfig(8, 0.1),
    },
    64: {
        **{name: RandomConfig(64, 0.5) for name in (*_TASKS, *_TESTS)},
        "four-corner": RandomConfig(64, 0.25),
        "maze": RandomConfig(64, 0.1),
        "stair-climber": RandomConfig(64, 0.25),
    },
}
"""the best hyperparameters according to the paper, by number of samples and task or reconstruction test"""


def config_for(name: str, samples: int, whitened: bool = False) -> RandomConfig:
    """Return the setting for a task or a reconstruction test: the paper's if it gives one.

    In whitened coordinates the 0.1 of N(0, 0.1 I) is read as a variance, as for leaps+.
    """
    config = PAPER_RANDOM[samples].get(name, RandomConfig(samples))
    return replace(config, initial="moderate") if whitened and config.initial == "narrow" else config


class RandomSearch:
    """Random search on the ask/tell protocol: a single `ask`."""

    def __init__(self, config: RandomConfig, dimensions: int, seed: int) -> None:
        self.config, self.dimensions = config, dimensions
        self.rng = np.random.default_rng(seed)
        self.finished = False

    def ask(self) -> Points:
        centre = draw_initial(self.rng, self.config.initial, self.dimensions)
        noise = self.rng.standard_normal((self.config.samples, self.dimensions))
        return np.asarray(centre + self.config.sigma * noise, np.float32)

    def tell(self, points: Points, scores: Scores) -> None:  # noqa: ARG002
        self.finished = True

    def state(self) -> State:
        return {"rng": self.rng.bit_generator.state, "finished": self.finished}

    def restore(self, state: State) -> None:
        self.rng.bit_generator.state = state["rng"]
        self.finished = state["finished"]
