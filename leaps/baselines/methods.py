"""The baselines by name. This module imports no learning library; `build_trainer` does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaps.baselines.train import BaselineConfig, Trainer


@dataclass(frozen=True)
class Baseline:
    """A method with which programs are compared."""

    summary: str
    steps: int = 2_000_000
    """environment steps of a training by default"""


@dataclass(frozen=True)
class Options:
    """Options of a training besides its configuration."""

    device: str = "cpu"
    origin: Path | None = None
    """folder of another training, whose policy is fine-tuned or imitated or whose skills are used"""
    changes: Mapping[str, str] = field(default_factory=dict)
    """overrides of the paper's hyperparameters"""


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
