"""Training data: the protocol of a data set of programs and rollouts, and the data set of any task.

`Data` is the protocol. Karel's data set of random worlds (`leaps.karel.dataset`) implements it, and so does
`TaskData`: random programs of a task's domain, run in the task's own initial states. π then observes the
senses of the language, 0 or 1 each.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.base.seeds import DATA_SEEDS
from leaps.base.splits import bounds, split
from leaps.base.tensors import check_vocabulary, metadata, read_about
from leaps.domain import NO_ACTION, Episodes, Outcome, Rollouts, Task
from leaps.dsl.interpreter import Stage
from leaps.dsl.language import Language
from leaps.dsl.sample import different_programs, take_programs
from leaps.dsl.syntax import Condition
from leaps.tasks import get

DATA_FILE, MANIFEST_FILE = "dataset.safetensors", "manifest.json"
CHUNK = 256
"""programs run at once"""
IDLE_CHUNKS = 100
"""chunks in a row without a program that acts, after which drawing stops with an error"""


class Data(Protocol):
    """A data set of programs and their rollouts."""

    @property
    def language(self) -> Language: ...

    @property
    def observation(self) -> tuple[int, ...]:
        """Shape of π's observations: [senses], or [height, width, planes] of a grid."""

    @property
    def rollouts(self) -> int:
        """Rollouts of each program."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that determine the data set, as JSON."""

    @property
    def tokens(self) -> NDArray[np.uint8]:
        """[n, length] the programs."""

    def split(self, name: str) -> NDArray[np.int64]:
        """Return the indices of the programs in train, validation or test."""

    def traces(self, programs: NDArray[np.int64]) -> Rollouts:
        """Return the rollouts of some programs, with their actions."""

    def run(self, tokens: NDArray[np.uint8], programs: NDArray[np.int64]) -> Rollouts:
        """Run new programs [n, length], each in the initial states of one of the data set's programs [n]."""

    def observe(self, programs: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return observations [states, bytes] as bits (`numpy.packbits`), rollout after rollout.

        A rollout of k actions has k + 1 states: the one before each action, and the last.
        """


@dataclass(frozen=True)
class TaskDataConfig:
    """Settings of a task's data set."""

    task: str
    """name of the task, or FILE.py:NAME"""
    programs: int = 20_000
    """number of programs; 70 % for training, 15 % each for validation and test"""
    seed: int = 0
    rollouts: int = 4
    """initial states per program"""
    horizon: int = 50
    """maximum actions per rollout; the task may have a lower limit"""
    max_length: int = 44
    """maximum length of a program in tokens"""
    states: int = 64
    """initial states in total; each program is run in `rollouts` of them"""

    def __post_init__(self) -> None:
        if self.programs < 20:
            raise ValueError(f"programs must be at least 20, found {self.programs}")
        if not 1 <= self.rollouts <= self.states:
            raise ValueError(f"rollouts must be from 1 to the {self.states} states, found {self.rollouts}")
        if self.horizon < 1:
            raise ValueError(f"horizon must be at least 1, found {self.horizon}")


@dataclass(frozen=True)
class TaskData:
    """Random programs of a task's domain, and their rollouts from the task's initial states."""

    config: TaskDataConfig
    task: Task
    tokens: NDArray[np.uint8]
    """[n, max_length]"""
    group: NDArray[np.int32]
    """[n] index in `groups` of the initial states that a program is run in"""
    outcome: NDArray[np.uint8]
    """[n, rollouts]"""
    steps: NDArray[np.int32]
    """[n, rollouts] number of actions"""
    actions: NDArray[np.uint8]
    """[n, rollouts, horizon] padded with NO_ACTION"""
    groups: tuple[Episodes, ...] = field(repr=False)
    """initial states, `rollouts` each"""

    ARRAYS: ClassVar = ("tokens", "group", "outcome", "steps", "actions")

    @property
    def count(self) -> int:
        return len(self.tokens)

    @property
    def language(self) -> Language:
        return self.task.domain.language

    @property
    def observation(self) -> tuple[int, ...]:
        return (len(self.language.senses),)

    @property
    def rollouts(self) -> int:
        return self.config.rollouts

    @property
    def settings(self) -> dict[str, Any]:
        return asdict(self.config)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[n] tokens of each program."""
        return np.asarray((self.tokens != self.language.pad).sum(axis=1))

    def split(self, name: str) -> NDArray[np.int64]:
        return split(name, self.count)

    def traces(self, programs: NDArray[np.int64]) -> Rollouts:
        return Rollouts(self.outcome[programs], self.steps[programs], actions=self.actions[programs])

    def run(self, tokens: NDArray[np.uint8], programs: NDArray[np.int64]) -> Rollouts:
        return _run(self.task, tokens, self.group[programs], self.groups, self.actions.shape[2])

    def observe(self, programs: NDArray[np.int64]) -> NDArray[np.uint8]:
        seen: dict[tuple[int, int, bytes], NDArray[np.uint8]] = {}
        """observations by initial state (its group and its index there) and the actions since then"""
        rows = []
        for program in programs:
            for rollout in range(self.rollouts):
                start = int(self.group[program]), rollout
                done = self.actions[program, rollout, : self.steps[program, rollout]].tobytes()
                if (*start, done) not in seen:
                    self._look(program, start, done, seen)
                rows += [seen[*start, done[:count]] for count in range(len(done) + 1)]
        return np.stack(rows)

    def _look(
        self,
        program: int,
        start: tuple[int, int],
        actions: bytes,
        seen: dict[tuple[int, int, bytes], NDArray[np.uint8]],
    ) -> None:
        """Run these actions from an initial state, and store the senses' values after each."""
        group, number = start
        tree = self.task.domain.parse(self.language.text(self.tokens[program]))
        stage: Stage = self.task.course(tree, self.groups[group].take(np.array([number]))).stage
        conditions = [Condition(name) for name in self.language.senses]
        for count in range(len(actions) + 1):
            if count:
                stage.act(actions[count - 1])
            seen[group, number, actions[:count]] = np.packbits([stage.holds(each) for each in conditions])

    def summary(self) -> dict[str, Any]:
        """Summarize the data set: numbers of programs and rollouts, and mean lengths."""
        train, validation = bounds(self.count)
        return {
            "programs": self.count,
            "train": train,
            "validation": validation - train,
            "test": self.count - validation,
            "rollouts": int(self.steps.size),
            "mean_length": float(self.lengths.mean()),
            "max_length": int(self.lengths.max()),
            "mean_steps": float(self.steps.mean()),
        }

    def save(self, folder: Path) -> None:
        """Write the data set into a folder."""
        arrays = {name: np.ascontiguousarray(getattr(self, name)) for name in self.ARRAYS}
        language = {"vocabulary": self.language.tokens, "opposites": self.language.opposites}
        write_atomically(folder / DATA_FILE, save(arrays, metadata({**language, "config": self.settings})))
        manifest = {"version": __version__, "config": self.settings, **self.summary()}
        write_atomically(folder / MANIFEST_FILE, (json.dumps(manifest, indent=2) + "\n").encode())

    @staticmethod
    def load(folder: Path, task: Task | None = None) -> "TaskData":
        """Read a data set; ValueError if it is damaged.

        task: if not given, it is looked up by its name. It is fitted to the words of the data set.
        """
        file = folder / DATA_FILE
        about = read_about(file)
        try:
            arrays = load_file(file)
            config = TaskDataConfig(**about["config"])
            language = Language.of(about["vocabulary"], about["opposites"])
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{file} is damaged or not a task's data set ({error})") from None
        if missing := [name for name in TaskData.ARRAYS if name not in arrays]:
            raise ValueError(f"{file} lacks {', '.join(missing)}")
        task = (task or get(config.task)).fitting(language.perceptions)
        check_vocabulary(file, about, task.domain.language.tokens)
        return TaskData(
            config, task, **{name: arrays[name] for name in TaskData.ARRAYS}, groups=_groups(config, task)
        )


def _groups(config: TaskDataConfig, task: Task) -> tuple[Episodes, ...]:
    """Draw the initial states."""
    states = task.worlds(config.states, DATA_SEEDS + config.seed)
    count = config.states // config.rollouts
    return tuple(
        states.take(np.arange(number * config.rollouts, (number + 1) * config.rollouts))
        for number in range(count)
    )


def _run(
    task: Task,
    tokens: NDArray[np.uint8],
    group: NDArray[np.int32],
    groups: tuple[Episodes, ...],
    horizon: int,
) -> Rollouts:
    """Run programs [n, length], each in the initial states of its group [n]."""
    shape = len(tokens), groups[0].count
    # A program with too many perceptions can't run. Its trace of NO_ACTION matches no other.
    outcome, steps = np.full(shape, Outcome.CUT_OFF, np.uint8), np.full(shape, horizon, np.int32)
    actions = np.full((*shape, horizon), NO_ACTION, np.uint8)
    runs = task.compile(tokens).entry >= 0
    for number, states in enumerate(groups):
        rows = np.flatnonzero(runs & (group == number))
        if len(rows):
            found = task.run(task.compile(tokens[rows]), states, horizon=horizon, want_actions=True)
            assert found.actions is not None
            outcome[rows], steps[rows], actions[rows] = found.outcome, found.steps, found.actions
    return Rollouts(outcome, steps, actions=actions)


def make_task_data(
    config: TaskDataConfig, task: Task | None = None, progress: Callable[[int], object] = int
) -> TaskData:
    """Draw programs and run them. The result depends on the configuration and the task alone.

    A program is kept if it acts in at least one of its initial states. task: if not given, it is looked up by
    its name.
    """
    task = task or get(config.task)
    language = task.domain.language
    drawn = different_programs(
        language, task.domain.programs, config.programs, config.seed, config.max_length
    )
    groups, horizon = _groups(config, task), min(config.horizon, task.horizon())
    first = count = idle = 0
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in TaskData.ARRAYS}
    while count < config.programs:
        tokens = take_programs(drawn, min(CHUNK, config.programs - count))
        group = (np.arange(first, first + len(tokens)) % len(groups)).astype(np.int32)
        found = _run(task, tokens, group, groups, horizon)
        assert found.actions is not None
        kept = np.flatnonzero((found.actions != NO_ACTION).any(axis=(1, 2)))[: config.programs - count]
        for name, values in (
            ("tokens", tokens),
            ("group", group),
            ("outcome", found.outcome),
            ("steps", found.steps),
            ("actions", found.actions),
        ):
            parts[name].append(values[kept])
        first += len(tokens)
        count += len(kept)
        idle = 0 if len(kept) else idle + 1
        if idle == IDLE_CHUNKS:
            raise ValueError(f"{task.name}: expected random programs that act, found none in {first:,}")
        progress(count)
    return TaskData(
        config, task, **{name: np.concatenate(values) for name, values in parts.items()}, groups=groups
    )
