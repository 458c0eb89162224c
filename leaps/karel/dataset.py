"""Data sets of random programs and their rollouts: the training data of a program space.

Section "Programs" and appendix "Program Dataset Generation Details": unique random programs, each with ten
rollouts in random worlds. Together, the rollouts take every reachable branch of the program.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from leaps import __version__
from leaps.base.files import write_atomically
from leaps.base.jit import address_of, jit
from leaps.base.splits import bounds, split
from leaps.base.tensors import check_vocabulary, metadata, read_about
from leaps.compiled.kernels import Hooks
from leaps.domain import NO_ACTION, Outcome, Rollouts
from leaps.dsl.language import Kind, Language
from leaps.dsl.sample import different_programs, take_programs
from leaps.karel.executor import no_task, replay, run
from leaps.karel.observe import PLANES, planes
from leaps.karel.physics import FAILED, REACT_TYPE
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS, WALL, World, Worlds, random_worlds

DATA_FILE, MANIFEST_FILE = "dataset.safetensors", "manifest.json"
SIZE = (8, 8)
CHUNK = 64  # programs that share a pool of worlds to choose from
KEPT = ("clean", "complete", "every")


@dataclass(frozen=True)
class DataConfig:
    """Settings of a data set."""

    programs: int = 50_000
    """number of programs; 70 % for training, 15 % each for validation and test"""
    seed: int = 0
    rollouts: int = 10
    """number of worlds per program"""
    horizon: int = 100
    """maximum number of actions per rollout"""
    max_length: int = 44
    """maximum number of tokens per program"""
    pool: int = 100
    """number of worlds drawn per program, from which `rollouts` are chosen"""
    more: int = 0
    """number of additional worlds for programs that need them"""
    keep: str = "clean"
    """which programs and rollouts to keep. clean: programs that take every branch in `rollouts` worlds of the
    pool and halt there without a failed action, as in the authors' generator. (A move into a wall fails, and
    so does picking up or putting down a marker where that is impossible.) complete: actions may fail. every:
    all programs, also with rollouts cut off at the horizon"""

    def __post_init__(self) -> None:
        if self.programs < 20:
            raise ValueError(f"programs must be at least 20, found {self.programs}")
        if not 1 <= self.rollouts <= self.pool:
            raise ValueError(f"rollouts must be from 1 to the pool's {self.pool}, found {self.rollouts}")
        if self.keep not in KEPT:
            raise ValueError(f"keep must be one of {', '.join(KEPT)}, found {self.keep!r}")
        if self.more < 0:
            raise ValueError(f"more must be 0 or more, found {self.more}")
        if not 1 <= self.horizon <= 255:
            raise ValueError(f"horizon must be from 1 to 255, found {self.horizon}")

    @property
    def bounds(self) -> tuple[int, int]:
        """Ends of the training and the validation split."""
        return bounds(self.programs)


@dataclass(frozen=True)
class Dataset:
    """Programs [n, length], and `rollouts` worlds and traces of each."""

    config: DataConfig
    tokens: NDArray[np.uint8]
    """[n, max_length]"""
    walls: NDArray[np.uint8]
    """[n, rollouts, 8] a bit per cell"""
    markers: NDArray[np.uint8]
    """[n, rollouts, 8] a bit per cell"""
    pose: NDArray[np.uint8]
    """[n, rollouts, 3]"""
    steps: NDArray[np.uint8]
    """[n, rollouts] number of actions"""
    outcome: NDArray[np.uint8]
    """[n, rollouts]"""
    actions: NDArray[np.uint8]
    """[all steps] concatenated over rollouts"""
    uncovered: NDArray[np.uint8]
    """[n] number of branches of conditions (holds, doesn't) that were taken in no world"""

    ARRAYS = ("tokens", "walls", "markers", "pose", "steps", "outcome", "actions", "uncovered")

    @property
    def count(self) -> int:
        return len(self.tokens)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[n] number of tokens of each program."""
        return np.asarray((self.tokens != LANGUAGE.pad).sum(axis=1))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """[n · rollouts + 1] index where each rollout's actions begin."""
        return np.concatenate([[0], np.cumsum(self.steps.reshape(-1), dtype=np.int64)])

    def worlds(self, programs: NDArray[np.integer] | slice) -> Worlds:
        """Return the worlds of some programs, `rollouts` each, in order."""
        cells = SIZE[0] * SIZE[1]
        walls = np.unpackbits(self.walls[programs].reshape(-1, cells // 8), axis=1)
        markers = np.unpackbits(self.markers[programs].reshape(-1, cells // 8), axis=1)
        pose = self.pose[programs].reshape(-1, 3).astype(np.int64)
        count = len(pose)
        return Worlds(
            (walls.reshape(count, *SIZE) * np.uint8(WALL)),
            markers.reshape(count, *SIZE),
            pose,
            np.zeros((count, 0), np.int64),
        )

    def traces(self, programs: NDArray[np.integer]) -> Rollouts:
        """Return the recorded rollouts of some programs."""
        steps = self.steps[programs].astype(np.int32)
        actions = np.full((*steps.shape, self.config.horizon), NO_ACTION, np.uint8)
        per_program = self.config.rollouts
        first, last = self.starts[programs * per_program], self.starts[(programs + 1) * per_program]
        spans = [self.actions[a:b] for a, b in zip(first, last, strict=True)]
        actions[np.arange(self.config.horizon) < steps[..., None]] = np.concatenate(spans)
        return Rollouts(self.outcome[programs], steps, actions=actions)

    def split(self, name: str) -> NDArray[np.int64]:
        """Return the numbers of the programs of a split."""
        return split(name, self.config.programs)

    # The protocol for trainings, see `leaps.embedding.dataset.Data`.

    @property
    def language(self) -> Language:
        return LANGUAGE

    @property
    def observation(self) -> tuple[int, ...]:
        """Height, width and number of planes of the grid that π observes."""
        return *SIZE, PLANES

    @property
    def rollouts(self) -> int:
        return self.config.rollouts

    @property
    def settings(self) -> dict[str, Any]:
        return asdict(self.config)

    def run(self, tokens: NDArray[np.uint8], programs: NDArray[np.integer]) -> Rollouts:
        """Run other programs [n, length], each in the worlds of one of these [n]."""
        worlds, horizon = self.worlds(programs), self.config.horizon
        return run(KAREL.compile(tokens), worlds, horizon, own_worlds=True, want_actions=True)

    def observe(self, programs: NDArray[np.integer]) -> NDArray[np.uint8]:
        """[states, bytes] the grids of all states in the rollouts of some programs, as bits."""
        traces = self.traces(programs)
        assert traces.actions is not None
        steps = traces.steps.reshape(-1, 1)
        states = replay(self.worlds(programs), traces.actions.reshape(len(steps), -1))
        passed = np.arange(self.config.horizon + 1) <= steps
        grids = planes(states.take(np.flatnonzero(passed)))
        return np.packbits(grids.reshape(len(grids), -1), axis=1)

    def summary(self) -> dict[str, Any]:
        """Summarise the data set: sizes of splits, and mean lengths of programs and rollouts."""
        return {
            "programs": self.count,
            "train": len(self.split("train")),
            "validation": len(self.split("validation")),
            "test": len(self.split("test")),
            "rollouts": int(self.steps.size),
            "mean_length": float(self.lengths.mean()),
            "max_length": int(self.lengths.max()),
            "mean_steps": float(self.steps.mean()),
            "programs_with_an_untaken_branch": int((self.uncovered > 0).sum()),
        }

    def save(self, folder: Path) -> None:
        """Write the data set into a folder."""
        arrays = {name: np.ascontiguousarray(getattr(self, name)) for name in self.ARRAYS}
        about = {"vocabulary": LANGUAGE.tokens, "config": asdict(self.config)}
        write_atomically(folder / DATA_FILE, save(arrays, metadata(about)))
        manifest = {"version": __version__, "config": asdict(self.config), **self.summary()}
        write_atomically(folder / MANIFEST_FILE, (json.dumps(manifest, indent=2) + "\n").encode())

    @staticmethod
    def load(folder: Path) -> "Dataset":
        """Read a data set; ValueError if it is damaged."""
        file = folder / DATA_FILE
        if not file.exists():
            raise ValueError(
                f"{folder} holds no data set: {DATA_FILE} is missing; make one with `leaps data`"
            )
        about = read_about(file)
        if isinstance(about.get("config"), dict) and "task" in about["config"]:
            raise ValueError(
                f"{folder} holds a data set of the task {about['config']['task']}; expected one of "
                "Karel's random worlds, made by `leaps data` without --task"
            )
        check_vocabulary(file, about, LANGUAGE.tokens)
        try:
            arrays = load_file(file)
            config = DataConfig(**about["config"])
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{file} is damaged or no data set ({error})") from None
        if missing := [name for name in Dataset.ARRAYS if name not in arrays]:
            raise ValueError(f"{file} lacks {', '.join(missing)}")
        return Dataset(config, **{name: arrays[name] for name in Dataset.ARRAYS})


def _different_programs(config: DataConfig) -> Iterator[bytes]:
    return different_programs(LANGUAGE, PROGRAMS, config.programs, config.seed, config.max_length)


def unique_programs(config: DataConfig) -> NDArray[np.uint8]:
    """Return the programs of a data set, in the order drawn."""
    if config.keep != "every":  # programs must run before it is known which are kept
        return make_dataset(config).tokens
    return take_programs(_different_programs(config), config.programs)


WALL_DENSITY = 0.25
"""density in the worlds of a reconstruction test, as in the authors' code; the data set has 0.1"""
WORLDS = 10
POOL = 10
"""number of worlds drawn for each chosen world"""
HORIZON = 100
"""maximum number of actions when comparing programs, as in the paper's data"""


def worlds_for(program: str, seed: int, count: int = WORLDS) -> Worlds:
    """Draw random worlds in which the program halts, and which together take all its branches.

    If it halts in too few of them, other worlds follow. Worlds where it is cut off are of little use for a
    comparison, since hardly any other program behaves the same there.
    """
    pool = random_worlds(count * POOL, seed, wall_density=WALL_DENSITY)
    compiled = KAREL.compile(LANGUAGE.batch([KAREL.read(program)]), branches=True)
    rollouts = run(compiled, pool, HORIZON)
    assert rollouts.covered is not None
    halted = rollouts.outcome[0] == Outcome.HALTED
    order = np.argsort(~halted, kind="stable")
    chosen = np.empty(count, np.int64)
    choose_worlds(np.where(halted, rollouts.covered[0], np.uint64(0))[order], chosen)
    return pool.take(order[chosen])


def in_worlds(worlds: Worlds) -> Callable[[NDArray[np.uint8]], Rollouts]:
    """Return a function that runs programs [n, length] in these worlds and keeps their actions."""
    return lambda tokens: run(KAREL.compile(tokens), worlds, HORIZON, want_actions=True)


@jit
def choose_worlds(covered: NDArray[np.uint64], chosen: NDArray[np.int64]) -> np.uint64:
    """Choose worlds that together take as many branches as possible, then fill up with the first worlds.

    covered: [worlds] a bit per branch taken. chosen: output, the numbers of the chosen worlds, ascending.
    Returns the branches that they take together.
    """
    taken = np.zeros(len(covered), np.bool_)
    together = np.uint64(0)
    count = 0
    while count < len(chosen):  # greedily add the world with the most new branches
        best, most = -1, 0
        for world in range(len(covered)):
            new, bits = covered[world] & ~together, 0
            while new:
                new &= new - np.uint64(1)
                bits += 1
            if bits > most:
                best, most = world, bits
        if best < 0:
            break
        taken[best] = True
        together |= covered[best]
        count += 1
    for world in range(len(covered)):
        if count == len(chosen):
            break
        if not taken[world]:
            taken[world] = True
            count += 1
    at = 0
    for world in range(len(covered)):
        if taken[world]:
            chosen[at] = world
            at += 1
    return together


@jit
def _choose_all(covered: NDArray[np.uint64], chosen: NDArray[np.int64], together: NDArray[np.uint64]) -> None:
    for program in range(len(covered)):
        together[program] = choose_worlds(covered[program], chosen[program])


CONDITIONS = (int(Kind.WHILE), int(Kind.IF), int(Kind.IFELSE))
"""kinds of tokens that branch; REPEAT does not"""


def _traces(tokens: NDArray[np.uint8], worlds: Worlds, config: DataConfig) -> Rollouts:
    hooks = _ends_on_failure() if config.keep == "clean" else no_task()
    return run(KAREL.compile(tokens, branches=True), worlds, config.horizon, hooks, want_actions=True)


@cache
def _ends_on_failure() -> Hooks:
    """End a rollout with its first failed action, so that it doesn't count as halted."""
    return no_task()._replace(events=FAILED, react=address_of(_end, REACT_TYPE))


def _end(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    return True


def _cover(
    tokens: NDArray[np.uint8], worlds: Worlds, config: DataConfig
) -> tuple[dict[str, NDArray[Any]], NDArray[np.uint64]]:
    """Run programs in a pool of worlds; return the rollouts in the chosen worlds, and the branches taken."""
    rollouts = _traces(tokens, worlds, config)
    assert rollouts.covered is not None
    assert rollouts.actions is not None
    chosen = np.empty((len(tokens), config.rollouts), np.int64)
    together = np.empty(len(tokens), np.uint64)
    covered = rollouts.covered
    rows = np.arange(len(tokens))[:, None]
    if config.keep != "every":
        # A world where the program does not halt covers no branches and comes last.
        halted = rollouts.outcome == Outcome.HALTED
        order = np.argsort(~halted, axis=1, kind="stable")
        covered = np.where(halted, covered, np.uint64(0))[rows, order]
    _choose_all(covered, chosen, together)
    if config.keep != "every":
        chosen = order[rows, chosen]
    cells = SIZE[0] * SIZE[1]
    kept = {
        "walls": np.packbits((worlds.ground[chosen] == WALL).reshape(*chosen.shape, cells), axis=2),
        "markers": np.packbits(worlds.markers[chosen].reshape(*chosen.shape, cells), axis=2),
        "pose": worlds.pose[chosen].astype(np.uint8),
        "steps": rollouts.steps[rows, chosen].astype(np.uint8),
        "outcome": rollouts.outcome[rows, chosen],
        "actions": rollouts.actions[rows, chosen],
    }
    return kept, together


def make_dataset(config: DataConfig, progress: Callable[[int], object] = int) -> Dataset:
    """Draw programs and worlds, run the programs, and choose worlds. Depends on the configuration only."""
    programs = _different_programs(config)
    first = count = 0
    parts: dict[str, list[NDArray[Any]]] = {}
    further = random_worlds(config.more, config.seed, SIZE, first=config.programs * config.pool)
    while count < config.programs:
        some = take_programs(programs, min(CHUNK, config.programs - count))
        conditions = np.isin(LANGUAGE.kinds[some], CONDITIONS).sum(axis=1)
        wanted = (np.uint64(1) << (2 * conditions).astype(np.uint64)) - np.uint64(1)
        pool = random_worlds(config.pool, config.seed, SIZE, first=first * config.pool)
        kept, together = _cover(some, pool, config)
        lacking = together != wanted
        if config.keep != "every":
            lacking |= (kept["outcome"] != Outcome.HALTED).any(axis=1)
        if len(missing := np.flatnonzero(lacking)) and config.more:
            both = Worlds.join([pool, further])
            again, more_together = _cover(some[missing], both, config)
            together[missing] = more_together
            for name, values in again.items():
                kept[name][missing] = values
        untaken = wanted & ~together
        kept["uncovered"] = np.array([int(bits).bit_count() for bits in untaken], np.uint8)
        kept["tokens"] = some
        if config.keep != "every":
            whole = (untaken == 0) & (kept["outcome"] == Outcome.HALTED).all(axis=1)
            kept = {name: values[whole] for name, values in kept.items()}
        trace, steps = kept["actions"], kept["steps"]
        kept["actions"] = trace[np.arange(config.horizon) < steps[..., None]]
        for name, values in kept.items():
            parts.setdefault(name, []).append(values)
        first += len(some)
        count += len(kept["tokens"])
        progress(count)
    return Dataset(config, **{name: np.concatenate(values) for name, values in parts.items()})
