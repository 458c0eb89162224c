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
"""the score of a rejected program, worse than any return: it fell behind the incumbent, or it has too many
perceptions to run"""
NEARLY = 1e-9
"""tolerance below the best return within which a mean counts as perfect: sums of floats are not exact"""
STEPS_WORTH_A_THREAD = 10_000
"""minimum work for a thread, in actions: about 0.1 ms. With less, the overhead exceeds the gain"""
FIRST_LAP = 16
"""worlds in a race's first lap; each later lap has three times as many"""


def perfect(task: Task) -> float:
    """Return the lowest mean return that counts as perfect."""
    return task.best - NEARLY


class Incumbent(NamedTuple):
    """The program that candidates are compared with: its position in a compiled batch, and its results."""

    compiled: Compiled
    number: int
    used: NDArray[np.bool_]
    """[entries] which entries of the batch's table were looked up, see `Rollouts.used`"""
    returns: NDArray[np.float64]
    """[worlds] returns of the program"""


class Found(NamedTuple):
    """The results of programs in worlds of all sizes."""

    returns: NDArray[np.float64]
    """[programs, worlds]; meaningless for rejected programs"""
    used: NDArray[np.bool_]
    """[entries] see `Rollouts.used`"""
    finished: NDArray[np.bool_]
    """[programs] whether each ran in all worlds, without being rejected"""


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
    """one batch of worlds for each other size at which a program has to succeed"""
    evaluations: int = 0
    rollouts: int = 0
    steps: int = 0
    """actions in all rollouts"""
    _steps: float = 50.0
    """running average of the actions per rollout"""
    _known: dict[bytes, Incumbent] = field(default_factory=dict)
    """the last incumbent, and the programs that are at least as good: the next incumbent is usually one of
    them"""

    def returns(self, tokens: NDArray[np.uint8], worlds: Episodes | None = None) -> NDArray[np.float64]:
        """Compute the returns [n, worlds] of programs [n, length]; on all worlds unless `worlds` is given."""
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
        """One batch of episodes for each size."""
        return self.worlds, *self.elsewhere

    @property
    def count(self) -> int:
        """The number of worlds of all sizes."""
        return sum(batch.count for batch in self.batches)

    def _run_at_all_sizes(self, compiled: Compiled, needed: NDArray[np.float64] | None = None) -> Found:
        """Run programs in all worlds. Those that fall behind in the first batch skip the others."""
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
        """Compute mean returns [n]; with an incumbent, DROPPED for programs that fall behind it.

        Most neighbours of a good program are bad, and a few worlds suffice to reject them. Many others
        provably behave like the incumbent, and are not run. With a limit of calls the proof doesn't hold, so
        every program runs in all worlds.
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
        """Score programs [n] in a race against the incumbent, with early rejection."""
        known = self._about(incumbent)
        self._known = {incumbent.tobytes(): known}
        expected = float(known.returns.mean())
        same, used = do_the_same(known.compiled, known.number, known.used, compiled)
        scores = np.full(len(tokens), expected)
        for number in np.flatnonzero(same).tolist():
            self._known[tokens[number].tobytes()] = Incumbent(compiled, number, used, known.returns)
        if len(others := np.flatnonzero(~same)):
            compiled = compiled.take(others)
            found = self._run_at_all_sizes(
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
        found = self._run_at_all_sizes(compiled)
        return Incumbent(compiled, 0, found.used, found.returns[0])

    @property
    def known(self) -> list[bytes]:
        """The programs whose results are kept, in case one of them is the next incumbent."""
        return list(self._known)

    def recall(self, programs: Iterable[bytes]) -> None:
        """Recompute the results of a saved search's known programs, without counting them again."""
        counted = self.evaluations, self.rollouts, self.steps
        for program in programs:
            self._known[program] = self._about(np.frombuffer(program, np.uint8))
        self.evaluations, self.rollouts, self.steps = counted

    def count_also(self, other: "Objective") -> None:
        """Add the counts of another objective that was used for this search."""
        self.evaluations += other.evaluations
        self.rollouts += other.rollouts
        self.steps += other.steps

    def replace(self, worlds: Episodes, elsewhere: tuple[Episodes, ...] = ()) -> None:
        """Replace the worlds that programs are scored on."""
        self.worlds, self.elsewhere = worlds, elsewhere
        self._known.clear()

    def reword(self, task: Task) -> None:
        """Use a task whose language has changed."""
        self.task = task
        self._known.clear()

    def add(self, worlds: Episodes) -> None:
        """Add worlds, ahead of the others of their size: hard worlds reject bad programs sooner."""

        def added(batch: Episodes) -> Episodes:
            return worlds.join([worlds, batch]) if batch.size == worlds.size else batch

        self.worlds, self.elsewhere = added(self.worlds), tuple(added(batch) for batch in self.elsewhere)
        self._known.clear()


def _needed(expected: NDArray[np.float64], highest: float) -> NDArray[np.float64]:
    """Compute the minimum cumulative return [worlds] below which a program is rejected after each world.

    At the end of a lap, it is the incumbent's cumulative return. Within a lap, it is lower by the most that
    the rest of the lap can add. In the last lap nothing is required: every program that reaches it gets an
    exact score.
    """
    needed = np.full(len(expected), -np.inf)
    earned = np.cumsum(expected)  # in the order of the race's sum, so that an equal program is never behind
    begin, lap = 0, FIRST_LAP
    while len(expected) - (end := begin + lap) >= lap:  # a short rest is no lap of its own
        left = np.arange(end - begin - 1, -1, -1)
        most = np.multiply(highest + 1e-9, left, where=left > 0, out=np.zeros(len(left)))  # 0 · ∞ is NaN
        needed[begin:end] = earned[end - 1] - 1e-9 - most
        begin, lap = end, 3 * lap
    return needed
