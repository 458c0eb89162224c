"""The baselines by name."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.baselines.naive import PAPER as NAIVE_PAPER
from leaps.baselines.naive import Naive, NaiveConfig, task_score
from leaps.baselines.ppo import PAPER, PAPER_ABS, PPOConfig, PPOTrainer
from leaps.baselines.train import BaselineConfig, Trainer
from leaps.dsl.text import parse, to_indented
from leaps.evaluate import Evaluation, evaluate
from leaps.files import write_atomically
from leaps.karel.world import LANGUAGE
from leaps.tasks import Task, get

PROGRAM_FILE = "program.karel"
WORLDS = 10
"""that programs are tried on while they are learned, as in the paper"""


class NaiveTrainer:
    """The Naïve baseline as a training like the others."""

    def __init__(
        self, config: NaiveConfig, task: Task, seed: int, size: tuple[int, int] | None, device: str
    ) -> None:
        self.config, self.task, self.size = config, task, size
        self.naive = Naive(config, task_score(task, task.worlds(WORLDS, seed, size)), seed, device)

    @property
    def steps(self) -> int:
        return self.naive.environment_steps

    def step(self) -> list[float]:
        return [self.naive.step().mean_return]

    def state(self) -> dict[str, Any]:
        return self.naive.state()

    def restore(self, state: dict[str, Any]) -> None:
        self.naive.restore(state)

    @property
    def settings(self) -> dict[str, Any]:
        return asdict(self.config)

    @property
    def program(self) -> NDArray[np.uint8]:
        """The best of the programs that it writes in the end."""
        return self.naive.answer()[0]

    def judge(self, episodes: int, seed: int) -> Evaluation:
        return evaluate(self.program[None], self.task, episodes=episodes, seed=seed, size=self.size)

    def save(self, folder: Path, about: dict[str, Any]) -> None:  # noqa: ARG002  all is in the result
        text = to_indented(parse(" ".join(LANGUAGE.decode(self.program)), LANGUAGE))
        write_atomically(folder / PROGRAM_FILE, (text + "\n").encode())


@dataclass(frozen=True)
class Method:
    """A baseline."""

    summary: str
    build: Callable[[BaselineConfig, str], Trainer]
    """the configuration, and the device to train on"""


def _ppo(config: BaselineConfig, device: str, settings: dict[str, PPOConfig]) -> Trainer:
    chosen = settings.get(config.task, PPOConfig())
    return PPOTrainer(config.method, get(config.task), chosen, config.seed, config.size, device)


def _naive(config: BaselineConfig, device: str) -> Trainer:
    chosen = replace(NAIVE_PAPER.get(config.task, NaiveConfig()), steps=config.steps)
    return NaiveTrainer(chosen, get(config.task), config.seed, config.size, device)


METHODS = {
    "drl": Method("PPO on the grid, through two convolutions", lambda c, d: _ppo(c, d, PAPER)),
    "drl-fcn": Method(
        "PPO on the grid, through convolutions that take any size", lambda c, d: _ppo(c, d, PAPER)
    ),
    "drl-abs": Method("PPO with a memory on Karel's perceptions", lambda c, d: _ppo(c, d, PAPER_ABS)),
    "naive": Method("a network that writes a program token by token", _naive),
}


def get_method(name: str) -> Method:
    if name not in METHODS:
        raise ValueError(f"unknown baseline {name!r}; expected one of {', '.join(METHODS)}")
    return METHODS[name]
