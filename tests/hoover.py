"""A domain other than Karel's with a task, in plain Python, to test evaluation and search on other domains.

A robot cleans a corridor. It can go forward, turn around and suck. It perceives dirt below it, and whether it
would bump into a wall.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.domain import NO_ACTION, Domain, Outcome, Programs, Rollouts, Size, States
from leaps.dsl.compiler import HALT, STUCK, Compiled
from leaps.dsl.interpreter import Course
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution
from leaps.dsl.stepper import Stepper
from leaps.dsl.syntax import Condition, Program

HOOVER = Domain(
    "hoover",
    Language(actions=("forward", "turn", "suck"), perceptions=("dirt", "bump"), max_repeat=3),
    ProgramDistribution(actions=(0.5, 0.25, 0.25), perceptions=(0.5, 0.5)),
)
FORWARD, TURN, SUCK = range(3)


class Corridors(NamedTuple):
    """Corridors of one length with the robot's initial cell in each."""

    dirt: NDArray[np.bool_]
    """[corridors, cells]"""
    cell: NDArray[np.int64]
    """[corridors]"""

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.cell)

    @property
    def size(self) -> Size:
        return 1, self.dirt.shape[1]

    def take(self, indices: NDArray[np.integer] | slice) -> "Corridors":
        return Corridors(self.dirt[indices], self.cell[indices])

    @staticmethod
    def join(parts: "list[Corridors]") -> "Corridors":
        return Corridors(np.concatenate([p.dirt for p in parts]), np.concatenate([p.cell for p in parts]))


class Robot:
    """The state of a rollout: a corridor and its robot."""

    def __init__(self, dirt: NDArray[np.bool_], cell: int) -> None:
        self.dirt, self.cell, self.direction, self.initial_dirt = dirt, cell, 1, int(dirt.sum())

    def look(self, sense: int) -> bool:
        ahead = self.cell + self.direction
        return not 0 <= ahead < len(self.dirt) if sense else bool(self.dirt[self.cell])

    def holds(self, condition: Condition) -> bool:
        return self.look(HOOVER.language.perceptions.index(condition.perception)) != condition.negated

    def act(self, action: int) -> Outcome | None:
        if action == SUCK:
            self.dirt[self.cell] = False
        elif action == TURN:
            self.direction = -self.direction
        elif not self.look(1):
            self.cell += self.direction
        return None

    def worth(self) -> float:
        return float(10 * (1 - self.dirt.sum() / self.initial_dirt))


class CleanCorridor:
    """Clean the corridor: the return is ten times the fraction of removed dirt."""

    name, variant_of, domain, best, highest, checked = "clean-corridor", None, HOOVER, 10.0, 10.0, 100

    def changed(self, changes: Sequence[tuple[str, str]]) -> "CleanCorridor":
        raise ValueError(f"{self.name} has no variants, found {changes}")

    def horizon(self, size: Size | None = None) -> int:
        return 6 * int(self.check_size(size)[1])

    def fitting(self, words: Iterable[str]) -> "CleanCorridor":  # noqa: ARG002
        return self

    def refined(self, programs: NDArray[np.uint8], generator: np.random.Generator) -> None:  # noqa: ARG002
        return None

    def check_size(self, size: Size | None) -> Size:
        return size or (1, 6)

    def worlds(self, count: int, seed: int, size: Size | None = None, *, first: int = 0) -> Corridors:
        width = self.check_size(size)[1]
        rngs = [np.random.default_rng([seed, number]) for number in range(first, first + count)]
        dirt = np.array([rng.random(width) < 0.5 for rng in rngs], np.bool_).reshape(count, width)
        dirt[:, 0] = True  # so that there is some dirt
        return Corridors(dirt, np.array([rng.integers(width) for rng in rngs], np.int64))

    def states(self, size: Size | None = None) -> States | None:
        width = self.check_size(size)[1]
        if width > 6:
            return None
        dirt = np.array([[bits >> i & 1 for i in range(width)] for bits in range(1, 2**width, 2)], np.bool_)
        every = Corridors(np.repeat(dirt, width, axis=0), np.tile(np.arange(width), len(dirt)))
        return States(every, np.full(every.count, 1 / every.count))

    def compile(self, programs: Programs) -> Compiled:
        return HOOVER.compile(programs)

    def run(
        self,
        compiled: Compiled,
        episodes: Corridors,
        *,
        horizon: int | None = None,
        needed: NDArray[np.float64] | None = None,
        want_actions: bool = False,
        want_used: bool = False,
        grain: int = 1,  # noqa: ARG002
    ) -> Rollouts:
        horizon = self.horizon(episodes.size) if horizon is None else horizon
        shape = compiled.count, episodes.count
        outcome, steps, returns = np.zeros(shape, np.uint8), np.zeros(shape, np.int32), np.zeros(shape)
        actions = np.full((*shape, horizon), NO_ACTION, np.uint8)
        used, tried = np.zeros(len(compiled.table), np.bool_), np.zeros(compiled.count, np.int64)
        for program in range(compiled.count):
            visits: set[tuple[int, int]] = set()
            for episode in range(episodes.count):
                robot = Robot(episodes.dirt[episode].copy(), int(episodes.cell[episode]))
                stepper, done = Stepper(compiled, program, visits), list[int]()
                while (action := stepper.next(robot.look)) < HALT and len(done) < horizon:
                    done.append(action)
                    robot.act(action)
                ends = {HALT: Outcome.HALTED, STUCK: Outcome.STUCK}
                outcome[program, episode] = ends.get(action, Outcome.CUT_OFF)
                steps[program, episode] = len(done)
                actions[program, episode, : len(done)] = done
                returns[program, episode] = robot.worth()
                tried[program] += 1
                if needed is not None and returns[program].sum() < needed[episode]:
                    break
            looked_up = Stepper(compiled, program).entries(visits)
            used[compiled.first[program] + np.array(looked_up, np.int64)] = True
        return Rollouts(
            outcome,
            steps,
            returns,
            actions if want_actions else None,
            used=used if want_used else None,
            tried=None if needed is None else tried,
        )

    def course(self, program: Program, episodes: Corridors, *, horizon: int | None = None) -> Course:
        limit = self.horizon(episodes.size) if horizon is None else horizon
        scene = Robot(episodes.dirt[0].copy(), int(episodes.cell[0]))
        return Course(program, scene, HOOVER.language.actions, limit)

    def film(self, compiled: Compiled, episodes: Corridors, file: Path) -> None:  # noqa: ARG002
        file.write_bytes(b"a film")
