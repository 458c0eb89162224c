"""The baselines by name. Reading them imports no library of learning; making a trainer does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaps.baselines.train import BaselineConfig, Trainer


@dataclass(frozen=True)
class Baseline:
    """A method that programs are compared with."""

    summary: str
    steps: int = 2_000_000
    """of a training, by default"""


@dataclass(frozen=True)
class Options:
    """Options of a training besides its configuration."""

    device: str = "cpu"
    origin: Path | None = None
    """the folder of another training, to begin from, to imitate, or to choose skills from"""
    changes: Mapping[str, str] = field(default_factory=dict)
    """hyperparameters other than the paper's"""


BASELINES = {
    "drl": Baseline("PPO on the grid, through two convolutions"),
    "drl-fcn": Baseline("PPO on the grid, through convolutions that take any size"),
    "drl-abs": Baseline("PPO with a memory on Karel's perceptions"),
    "drl-abs-t": Baseline("drl-abs that was trained on another task before", steps=1_000_000),
    "ppo-last-action": Baseline("PPO without a memory, on Karel's perceptions and its own last action"),
    "hrl": Baseline("SAC on the grid, which chooses among skills"),
    "hrl-abs": Baseline("SAC on perceptions, which chooses among skills"),
    "naive": Baseline("a network that writes a program token by token"),
    "viper": Baseline("a decision tree that imitates a policy", steps=10_000_000),
}


def get_baseline(name: str) -> Baseline:
    """Find a baseline by name."""
    if name not in BASELINES:
        raise ValueError(f"unknown baseline {name!r}; expected one of {', '.join(BASELINES)}")
    return BASELINES[name]


def build_trainer(config: "BaselineConfig", options: Options) -> "Trainer":
    """Make the trainer of a configuration."""
    from leaps.baselines.builders import BUILDERS

    get_baseline(config.method)
    return BUILDERS[config.method](config, options)
