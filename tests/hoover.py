"""A domain that is not Karel's, and a task in it, in plain Python: evaluation and search work for it, too.

A robot in a corridor cleans. It goes forward, turns around and sucks; it perceives dirt below it, and that it
would bump into a wall.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.domain import NO_ACTION, Domain, Outcome, Programs, Rollouts, Size, States
from leaps.dsl.compiler import HALT, LOOP, OPERATION, SET, SHIFT, STUCK, Compiled
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution

HOOVER = Domain(
    "hoover",
    Language(actions=("forward", "turn", "suck"), perceptions=("dirt", "bump"), max_repeat=3),
    ProgramDistribution(actions=(0.5, 0.25, 0.25), perceptions=(0.5, 0.5)),
)
FORWARD, TURN, SUCK = range(3)


class Corridors(NamedTuple):
    """Corridors of one length, and where the robot begins in each."""

    dirt: NDArray[np.bool_]
    """[corridors, cells]"""
    place: NDArray[np.int64]
    """[corridors]"""

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.place)

    @property
    def size(self) -> Size:
        return 1, self.dirt.shape[1]

    def take(self, indices: NDArray[np.integer] | slice) -> "Corridors":
        return Corridors(self.dirt[indices], self.place[indices])

    @staticmethod
    def join(parts: "list[Corridors]") -> "Corridors":
        return Corridors(np.concatenate([p.dirt for p in parts]), np.concatenate([p.place for p in parts]))


class CleanCorridor:
    """Clean the corridor: the return is ten times the share of dirt that is gone."""

    name, variant_of, domain, best, highest, checked = "clean-corridor", None, HOOVER, 10.0, 10.0, 100

    def horizon(self, size: Size | None = None) -> int:
        return 6 * int(self.check_size(size)[1])

    def check_size(self, size: Size | None) -> Size:
        return size or (1, 6)

    def worlds(self, count: int, seed: int, size: Size | None = None, *, first: int = 0) -> Corridors:
        width = self.check_size(size)[1]
        rngs = [np.random.default_rng([seed, number]) for number in range(first, first + count)]
        dirt = np.array([rng.random(width) < 0.5 for rng in rngs], np.bool_).reshape(count, width)
        dirt[:, 0] = True  # there is always some
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
            for episode in range(episodes.count):
                dirt = episodes.dirt[episode].copy()
                outcome[program, episode], done = self._clean(
                    compiled, program, dirt, int(episodes.place[episode]), horizon, used
                )
                steps[program, episode] = len(done)
                actions[program, episode, : len(done)] = done
                returns[program, episode] = 10 * (1 - dirt.sum() / episodes.dirt[episode].sum())
                tried[program] += 1
                if needed is not None and returns[program].sum() < needed[episode]:
                    break
        return Rollouts(
            outcome,
            steps,
            returns,
            actions if want_actions else None,
            used=used if want_used else None,
            tried=None if needed is None else tried,
        )

    def _clean(
        self,
        compiled: Compiled,
        program: int,
        dirt: NDArray[np.bool_],
        place: int,
        horizon: int,
        used: NDArray[np.bool_],
    ) -> tuple[Outcome, list[int]]:
        """Follow a program's table until it ends: how, and what it did."""
        table, first = compiled.rows(program), int(compiled.first[program])
        loops, counters = compiled.loops[compiled.start[program] :], dict[int, int]()
        row, ahead, done = int(compiled.entry[program]), 1, list[int]()
        while True:
            code = int(dirt[place]) + 2 * (not 0 <= place + ahead < len(dirt))
            while True:
                used[first + row * table.shape[1] + code] = True
                entry = int(table[row, code])
                operation, target = entry & OPERATION, entry >> SHIFT
                if operation not in (SET, LOOP):
                    break
                times, body, after = loops[target].tolist()
                counters[target] = times if operation == SET else counters[target] - 1
                row = body if counters[target] > 0 else after
            if operation in (HALT, STUCK):
                return (Outcome.HALTED if operation == HALT else Outcome.STUCK), done
            if len(done) == horizon:
                return Outcome.CUT_OFF, done
            if operation == SUCK:
                dirt[place] = False
            elif operation == TURN:
                ahead = -ahead
            elif 0 <= place + ahead < len(dirt):
                place += ahead
            done.append(operation)
            row = target

    def film(self, compiled: Compiled, episodes: Corridors, file: Path) -> None:  # noqa: ARG002
        file.write_bytes(b"a film")
