"""Train a baseline in its own folder; an interrupted training resumes from its checkpoint.

config.json      the configuration
curve.jsonl      the learning curve: steps, mean return of the episodes that ended, seconds
checkpoint.pt    all that the rest of the training depends on
policy.safetensors or program.karel    the trained policy or program
result.json      its return on held-out worlds
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Protocol

from leaps import __version__
from leaps.base.checkpoint import damaged, describe, differences, read_checkpoint, write_checkpoint
from leaps.base.files import write_atomically
from leaps.base.memory import keep_what_is_freed
from leaps.evaluate import UNSEEN, UNSEEN_SEEDS, ExpectedReturn

CONFIG_FILE, CURVE_FILE, CHECKPOINT_FILE, POLICY_FILE, RESULT_FILE = (
    "config.json",
    "curve.jsonl",
    "checkpoint.pt",
    "policy.safetensors",
    "result.json",
)
SAVE_EVERY = 10.0
"""seconds between checkpoints"""
SAVING_SHARE = 0.05
"""maximum fraction of the time for writing checkpoints, which are large with a large replay buffer"""
POINTS = 200
"""maximum number of points on the learning curve"""
COMPACT_POINTS = 100
"""maximum number of points of the curve in a stored result"""
DIGITS = 4
"""decimals of a return in that curve"""


def named(about: dict[str, Any]) -> str:
    """Describe a training, given its result."""
    return f"{about['method']} on {about['task']}, seed {about['seed']}, {about['steps']:,} steps"


class Trainer(Protocol):
    """A training that runs one iteration per call."""

    @property
    def steps(self) -> int:
        """Environment steps so far."""

    @property
    def done(self) -> bool:
        """Whether the training is complete, even if steps are left."""

    def step(self) -> list[float]:
        """Train for one iteration. Return the returns of the episodes that ended."""

    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...

    def judge(self, episodes: int, seed: int, prefer_exact: bool = False) -> ExpectedReturn:
        """Estimate the expected return of the trained policy on draws, or compute it exactly.

        prefer_exact: compute it exactly if possible.
        """

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Write the trained policy with metadata `about`."""

    @property
    def settings(self) -> dict[str, Any]:
        """The hyperparameters."""

    @property
    def readable(self) -> dict[str, Any]:
        """The readable parts of the trained policy as JSON, such as a program or a tree; {} for networks."""


@dataclass(frozen=True)
class BaselineConfig:
    """Configuration of a training, besides the method's hyperparameters."""

    method: str
    task: str
    seed: int = 0
    steps: int = 2_000_000
    """environment steps"""
    size: tuple[int, int] | None = None
    judged: int | None = None
    """number of fresh worlds for the final evaluation. By default it uses all initial states, if the task
    lists them and the policy draws no action; otherwise as many fresh worlds as programs are judged on"""

    def __post_init__(self) -> None:
        for name in ("steps", "judged"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, found {value}")
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed must be from 0 to 2^31 - 1, found {self.seed}")


@dataclass(frozen=True)
class Point:
    """A point of the learning curve."""

    steps: int
    mean_return: float | None
    """mean return of the episodes that ended since the last point; None if none did"""
    seconds: float
    """seconds of training so far"""


class Training:
    """A training of a baseline in its folder."""

    def __init__(self, config: BaselineConfig, trainer: Trainer, folder: Path) -> None:
        self.config, self.trainer, self.folder = config, trainer, folder
        self.curve: list[Point] = []
        self.seconds = 0.0
        self._episodes: list[float] = []
        self._config = json.loads(json.dumps(asdict(config) | {"settings": trainer.settings}))

    def resume(self) -> bool:
        """Resume the training in this folder. Return whether there was one.

        Raise ValueError if it is a training with another configuration.
        """
        file = self.folder / CHECKPOINT_FILE
        if not file.exists():
            return False
        saved = read_checkpoint(file, ("asked", "trainer", "curve", "seconds", "episodes"))
        before, wanted = dict(saved["asked"]), dict(self._config)
        steps, wanted_steps = before.pop("steps"), wanted.pop("steps")
        different = differences(before, wanted)
        if set(different) == {"steps"}:  # a setting, too, where a schedule depends on the steps
            raise ValueError(
                f"{self.folder} holds a training of {steps:,} steps, and its schedule depends on that "
                f"number; found {wanted_steps:,}; use another folder"
            )
        if different:
            raise ValueError(f"{self.folder} holds a training with {describe(different)}; use another folder")
        if steps > wanted_steps:  # more steps extend the training
            raise ValueError(
                f"{self.folder} holds a training of {steps:,} steps, which can be extended but not "
                f"shortened; found {wanted_steps:,}"
            )
        try:
            self.trainer.restore(saved["trainer"])
        except (RuntimeError, KeyError) as error:
            raise damaged(file, str(error)) from None
        self.curve = [Point(*point) for point in saved["curve"]]
        self.seconds, self._episodes = saved["seconds"], saved["episodes"]
        return True

    def save(self) -> None:
        """Write a checkpoint and the curve so far."""
        state = {
            "asked": self._config,
            "trainer": self.trainer.state(),
            "curve": [(point.steps, point.mean_return, point.seconds) for point in self.curve],
            "seconds": self.seconds,
            "episodes": self._episodes,
        }
        write_atomically(
            self.folder / CURVE_FILE, "".join(json.dumps(asdict(p)) + "\n" for p in self.curve).encode()
        )
        write_checkpoint(self.folder / CHECKPOINT_FILE, state)

    def run(self, listener: Callable[[Point], object] = id) -> dict[str, Any]:
        """Train to the end, evaluate the trained policy, and write all files. Return the result."""
        write_atomically(self.folder / CONFIG_FILE, (json.dumps(self._config, indent=2) + "\n").encode())
        keep_what_is_freed()
        saved, pause = time.perf_counter(), SAVE_EVERY
        # An interrupted iteration leaves an inconsistent state, so a training resumes from a checkpoint.
        while self.trainer.steps < self.config.steps and not self.trainer.done:
            begin = time.perf_counter()
            self._episodes += self.trainer.step()
            self.seconds += time.perf_counter() - begin
            last = self.curve[-1].steps if self.curve else 0
            if self.trainer.steps * POINTS // self.config.steps > last * POINTS // self.config.steps:
                self.curve.append(self._point())
                listener(self.curve[-1])
            if (begin := time.perf_counter()) - saved > pause:
                self.save()
                saved = time.perf_counter()
                pause = max(SAVE_EVERY, (saved - begin) / SAVING_SHARE)
        self.save()
        judged = self.trainer.judge(
            self.config.judged or UNSEEN,
            UNSEEN_SEEDS + self.config.seed,
            prefer_exact=self.config.judged is None,
        )
        result = {
            "task": self.config.task,
            "method": self.config.method,
            "seed": self.config.seed,
            "return": judged.mean,
            "judged": str(judged),
            "steps": self.trainer.steps,
            "seconds": self.seconds,
            "version": __version__,
            "config": self._config,
        }
        self.trainer.save(self.folder, result)
        write_atomically(self.folder / RESULT_FILE, (json.dumps(result, indent=2) + "\n").encode())
        return result

    def compact_curve(self) -> list[list[float]]:
        """Return the learning curve in a few kilobytes: evenly spaced [steps, mean return], with the last.

        Points without an ended episode are left out.
        """
        points = [(point.steps, point.mean_return) for point in self.curve if point.mean_return is not None]
        stride = max(1, math.ceil(len(points) / COMPACT_POINTS))
        return [[steps, round(value, DIGITS)] for steps, value in points[::-1][::stride][::-1]]

    def _point(self) -> Point:
        episodes, self._episodes = self._episodes, []
        return Point(self.trainer.steps, mean(episodes) if episodes else None, self.seconds)
