"""Train a baseline in a folder of its own: it shows how far it is, can be interrupted, and goes on.

config.json      what was asked for
curve.jsonl      as it learns: steps, mean return of the episodes that ended, seconds
checkpoint.pt    all that the rest of the training depends on
policy.safetensors or program.karel    what was learned
result.json      its return on worlds that it was not trained on
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
"""of the time that may go into checkpoints, which are large where much is remembered"""
POINTS = 200
"""of the learning curve, at most"""
COMPACT_POINTS = 100
"""points of the curve that a stored result keeps, at most"""
DIGITS = 4
"""decimals of a return in that curve"""


def named(about: dict[str, Any]) -> str:
    """Which training it was, from its result."""
    return f"{about['method']} on {about['task']}, seed {about['seed']}, {about['steps']:,} steps"


class Trainer(Protocol):
    """A training that is asked for one iteration after another."""

    @property
    def steps(self) -> int:
        """Environment steps so far."""

    @property
    def done(self) -> bool:
        """Whether there is no more to learn, however many steps are left."""

    def step(self) -> list[float]:
        """Train on; the returns of the episodes that ended meanwhile."""

    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...

    def judge(self, episodes: int, seed: int, prefer_exact: bool = False) -> ExpectedReturn:
        """Compute the expected return of what was learned: exactly, if wanted and possible, or on draws."""

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Write what was learned."""

    @property
    def settings(self) -> dict[str, Any]:
        """The hyperparameters."""

    @property
    def readable(self) -> dict[str, Any]:
        """The parts of the trained policy that people can read, as JSON: a program, a tree. Networks: {}."""


@dataclass(frozen=True)
class BaselineConfig:
    """What a training depends on, besides the method's hyperparameters."""

    method: str
    task: str
    seed: int = 0
    steps: int = 2_000_000
    """environment steps"""
    size: tuple[int, int] | None = None
    judged: int | None = None
    """fresh worlds that what was learned is judged on; if not given, all initial states where the task lists
    them and no action is drawn at random, else as many fresh worlds as programs are judged on"""

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
    """of the episodes that ended since the last point; None if none did"""
    seconds: float
    """of training, since it began"""


class Training:
    """A baseline in training, in its folder."""

    def __init__(self, config: BaselineConfig, trainer: Trainer, folder: Path) -> None:
        self.config, self.trainer, self.folder = config, trainer, folder
        self.curve: list[Point] = []
        self.seconds = 0.0
        self._episodes: list[float] = []
        self._asked = json.loads(json.dumps(asdict(config) | {"settings": trainer.settings}))

    def resume(self) -> bool:
        """Go on where a training of the same was in this folder; say whether there was one."""
        file = self.folder / CHECKPOINT_FILE
        if not file.exists():
            return False
        saved = read_checkpoint(file, ("asked", "trainer", "curve", "seconds", "episodes"))
        theirs, mine = dict(saved["asked"]), dict(self._asked)
        before, now = theirs.pop("steps"), mine.pop("steps")
        different = differences(theirs, mine)
        if set(different) == {"steps"}:  # also among the settings, where a schedule depends on them
            raise ValueError(
                f"{self.folder} holds a training of {before:,} steps, and its schedule depends on them: it "
                f"can't become one of {now:,}; use another folder"
            )
        if different:
            raise ValueError(f"{self.folder} holds a training with {describe(different)}; use another folder")
        if before > now:  # it may be made longer
            raise ValueError(
                f"{self.folder} holds a training of {before:,} steps, which can go on but not become "
                f"shorter; found {now:,}"
            )
        try:
            self.trainer.restore(saved["trainer"])
        except (RuntimeError, KeyError) as error:
            raise damaged(file, str(error)) from None
        self.curve = [Point(*point) for point in saved["curve"]]
        self.seconds, self._episodes = saved["seconds"], saved["episodes"]
        return True

    def save(self) -> None:
        """Write a checkpoint, and the curve so far."""
        state = {
            "asked": self._asked,
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
        """Train to the end, judge what was learned, and write all down. Returns the result."""
        write_atomically(self.folder / CONFIG_FILE, (json.dumps(self._asked, indent=2) + "\n").encode())
        keep_what_is_freed()
        saved, pause = time.perf_counter(), SAVE_EVERY
        # An interruption may come in the middle of an iteration: the last checkpoint is what to go on from.
        while self.trainer.steps < self.config.steps and not self.trainer.done:
            begin = time.perf_counter()
            self._episodes += self.trainer.step()
            self.seconds += time.perf_counter() - begin
            last = self.curve[-1].steps if self.curve else 0
            if self.trainer.steps * POINTS // self.config.steps > last * POINTS // self.config.steps:
                self.curve.append(self._point())
                listener(self.curve[-1])
            if (asked := time.perf_counter()) - saved > pause:
                self.save()
                saved = time.perf_counter()
                pause = max(SAVE_EVERY, (saved - asked) / SAVING_SHARE)
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
            "config": self._asked,
        }
        self.trainer.save(self.folder, result)
        write_atomically(self.folder / RESULT_FILE, (json.dumps(result, indent=2) + "\n").encode())
        return result

    def compact_curve(self) -> list[list[float]]:
        """The learning curve in a few kilobytes: evenly spaced [steps, mean return], the last included.

        Points at which no episode had ended are left out.
        """
        points = [(point.steps, point.mean_return) for point in self.curve if point.mean_return is not None]
        stride = max(1, math.ceil(len(points) / COMPACT_POINTS))
        return [[steps, round(value, DIGITS)] for steps, value in points[::-1][::stride][::-1]]

    def _point(self) -> Point:
        episodes, self._episodes = self._episodes, []
        return Point(self.trainer.steps, mean(episodes) if episodes else None, self.seconds)
