"""Score programs: mean return on the search's worlds, and count everything that is run."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Episodes, Rollouts, Task
from leaps.dsl.compiler import TOO_MUCH, Compiled
from leaps.dsl.same import do_the_same

DROPPED = -np.inf
"""the score of a program that was given up in a race, or asks about too much to be run: worse than any
return"""
NEARLY = 1e-9
"""less than the best return by which a mean counts as perfect: sums of floats are not exact"""
STEPS_WORTH_A_THREAD = 10_000
"""about 0.1 ms of work: handing less over costs more than it saves"""
FIRST_LAP = 16
"""worlds of a race's first lap; each later lap has three times as many"""


def perfect(task: Task) -> float:
    """The return from which on a program is perfect."""
    return task.best - NEARLY


class Incumbent(NamedTuple):
    """A program that others have to hold their own against: one of a batch, and what is known of it."""

    compiled: Compiled
    number: int
    used: NDArray[np.bool_]
    """[entries] which of the batch's table were looked up, see `Rollouts.used`"""
    returns: NDArray[np.float64]
    """[worlds] the program's"""


class Found(NamedTuple):
    """What programs did in worlds of all sizes."""

    returns: NDArray[np.float64]
    """[programs, worlds]; those of programs that were given up are of no use"""
    used: NDArray[np.bool_]
    """[entries] see `Rollouts.used`"""
    finished: NDArray[np.bool_]
    """[programs] which were not given up"""


@dataclass
class Objective:
    """A task, the search's worlds, and a count of all evaluations and rollouts.

    An evaluation is one program on one set of worlds, however many: a candidate, the incumbent on added
    worlds, a check on 1,000 fresh worlds, a candidate of the final choice or of simplification. Candidates
    that are rejected early, or proven to behave as the incumbent, count as well.
    """

    task: Task
    worlds: Episodes
    elsewhere: tuple[Episodes, ...] = ()
    """batches of worlds of other sizes, in which a program has to hold as well"""
    evaluations: int = 0
    rollouts: int = 0
    steps: int = 0
    """actions in all rollouts"""
    _steps: float = 50.0
    """of a rollout, about"""
    _known: dict[bytes, Incumbent] = field(default_factory=dict)
    """the last incumbent, and those that held their own against it: most often one of them is the next"""

    def returns(self, tokens: NDArray[np.uint8], worlds: Episodes | None = None) -> NDArray[np.float64]:
        """[programs, worlds] the returns of programs [n, length], on all worlds unless others are given."""
        self.evaluations += len(tokens)
        return self._returns(self.task.compile(tokens), worlds)

    def _returns(self, compiled: Compiled, worlds: Episodes | None = None) -> NDArray[np.float64]:
        batches = self.batches if worlds is None else (worlds,)
        runnable = compiled.entry != TOO_MUCH
        if not runnable.all():
            earned = np.full((compiled.count, sum(batch.count for batch in batches)), DROPPED)
            if runnable.any():
                earned[runnable] = self._returns(compiled.take(np.flatnonzero(runnable)), worlds)
            return earned
        returns = [self._run(compiled, batch).returns for batch in batches]
        return np.concatenate(returns, axis=1)  # type: ignore[arg-type]

    @property
    def batches(self) -> tuple[Episodes, ...]:
        """Episodes of all sizes."""
        return self.worlds, *self.elsewhere

    @property
    def count(self) -> int:
        """How many they are."""
        return sum(batch.count for batch in self.batches)

    def _run_everywhere(self, compiled: Compiled, needed: NDArray[np.float64] | None = None) -> Found:
        """Run programs in all worlds. Those that fall behind in the first batch see no other."""
        first = self._run(compiled, self.worlds, needed, want_used=True)
        assert first.returns is not None
        assert first.used is not None
        finished = np.ones(len(first.returns), np.bool_)
        if first.tried is not None:
            finished = first.tried == self.worlds.count
        returns, used, left = [first.returns], first.used, np.flatnonzero(finished)
        for batch in self.elsewhere if len(left) else ():
            found = self._run(compiled.take(left), batch, want_used=True)
            assert found.used is not None
            returns.append(np.zeros((len(finished), batch.count)))
            returns[-1][left] = found.returns
            entries = [np.arange(compiled.first[number], compiled.first[number + 1]) for number in left]
            used[np.concatenate(entries)] |= found.used
        return Found(np.concatenate(returns, axis=1), used, finished)

    def _run(
        self,
        compiled: Compiled,
        worlds: Episodes,
        needed: NDArray[np.float64] | None = None,
        want_used: bool = False,
    ) -> Rollouts:
        rollouts = self.task.run(
            compiled,
            worlds,
            needed=needed,
            want_used=want_used,
            grain=max(1, int(STEPS_WORTH_A_THREAD / self._steps)),
        )
        assert rollouts.returns is not None
        count = rollouts.returns.size if rollouts.tried is None else int(rollouts.tried.sum())
        self.rollouts += count
        self.steps += int(rollouts.steps.sum())
        if count:
            self._steps = max(1.0, 0.9 * self._steps + 0.1 * float(rollouts.steps.sum() / count))
        return rollouts

    def scores(
        self, tokens: NDArray[np.uint8], incumbent: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float64]:
        """[n] mean returns; with an incumbent, DROPPED for those that fall behind that program on the way.

        Most neighbours of a good program are bad, and a few worlds tell; and many do just what it does, which
        can be proven. With a limit of calls the proof doesn't hold, and all run in all worlds.
        """
        self.evaluations += len(tokens)
        compiled = self.task.compile(tokens)
        if incumbent is None or compiled.limit:
            return np.asarray(self._returns(compiled).mean(axis=1))
        runnable = np.flatnonzero(compiled.entry != TOO_MUCH)
        if len(runnable) == len(tokens):
            return self._raced(tokens, compiled, incumbent)
        scores = np.full(len(tokens), DROPPED)
        if len(runnable):
            scores[runnable] = self._raced(tokens[runnable], compiled.take(runnable), incumbent)
        return scores

    def _raced(
        self, tokens: NDArray[np.uint8], compiled: Compiled, incumbent: NDArray[np.uint8]
    ) -> NDArray[np.float64]:
        """[n] scores of programs that have to hold their own against the incumbent."""
        known = self._about(incumbent)
        self._known = {incumbent.tobytes(): known}
        expected = float(known.returns.mean())
        same, used = do_the_same(known.compiled, known.number, known.used, compiled)
        scores = np.full(len(tokens), expected)
        for number in np.flatnonzero(same).tolist():
            self._known[tokens[number].tobytes()] = Incumbent(compiled, number, used, known.returns)
        if len(others := np.flatnonzero(~same)):
            compiled = compiled.take(others)
            found = self._run_everywhere(
                compiled, _needed(known.returns[: self.worlds.count], self.task.highest)
            )
            means = np.where(found.finished, found.returns.mean(axis=1), DROPPED)
            for number in np.flatnonzero(means >= expected).tolist():
                key = tokens[others[number]].tobytes()
                self._known[key] = Incumbent(compiled, number, found.used, found.returns[number])
            scores[others] = means
        return scores

    def _about(self, program: NDArray[np.uint8]) -> Incumbent:
        if known := self._known.get(program.tobytes()):
            return known
        self.evaluations += 1
        compiled = self.task.compile(program[None])
        found = self._run_everywhere(compiled)
        return Incumbent(compiled, 0, found.used, found.returns[0])

    @property
    def known(self) -> list[bytes]:
        """The programs that need not be run if one of them is the next incumbent."""
        return list(self._known)

    def recall(self, programs: Iterable[bytes]) -> None:
        """Run these programs, which a saved search knew. They are counted already."""
        counted = self.evaluations, self.rollouts, self.steps
        for program in programs:
            self._known[program] = self._about(np.frombuffer(program, np.uint8))
        self.evaluations, self.rollouts, self.steps = counted

    def count_also(self, other: "Objective") -> None:
        """Add what was run for another objective in the service of this search."""
        self.evaluations += other.evaluations
        self.rollouts += other.rollouts
        self.steps += other.steps

    def replace(self, worlds: Episodes, elsewhere: tuple[Episodes, ...] = ()) -> None:
        """Try programs on these worlds instead."""
        self.worlds, self.elsewhere = worlds, elsewhere
        self._known.clear()

    def reword(self, task: Task) -> None:
        """Run programs in the language that the task has now."""
        self.task = task
        self._known.clear()

    def add(self, worlds: Episodes) -> None:
        """Try programs on these worlds, too: before others of their size, since they are the hard ones."""

        def added(batch: Episodes) -> Episodes:
            return worlds.join([worlds, batch]) if batch.size == worlds.size else batch

        self.worlds, self.elsewhere = added(self.worlds), tuple(added(batch) for batch in self.elsewhere)
        self._known.clear()


def _needed(expected: NDArray[np.float64], highest: float) -> NDArray[np.float64]:
    """[worlds] what a program must have earned after each world, not to be dropped.

    At the end of a lap, what its incumbent had earned; before, what it can still make up for in the rest of
    the lap. In the last lap nothing: who comes that far gets an exact score.
    """
    needed = np.full(len(expected), -np.inf)
    earned = np.cumsum(expected)  # one by one, as they are added up in a race: an equal is never behind
    begin, lap = 0, FIRST_LAP
    while len(expected) - (end := begin + lap) >= lap:  # no lap for the few that are left
        left = np.arange(end - begin - 1, -1, -1)
        most = np.multiply(
            highest + 1e-9, left, where=left > 0, out=np.zeros(len(left))
        )  # 0 · ∞ is no number
        needed[begin:end] = earned[end - 1] - 1e-9 - most
        begin, lap = end, 3 * lap
    return needed
