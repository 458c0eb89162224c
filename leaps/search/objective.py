"""What a search asks: how good are these programs? Their returns on the search's own worlds."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leaps.karel.executor import compile_karel, run
from leaps.karel.world import Worlds
from leaps.tasks import Task

DROPPED = -np.inf
"""the score of a program that was given up in a race: worse than any return"""
PERFECT = 1.0 - 1e-9
STEPS_WORTH_A_THREAD = 10_000
"""about 0.1 ms of work: handing less over costs more than it saves"""
FIRST_LAP = 16
"""worlds of a race's first lap; each later lap has three times as many"""


@dataclass
class Objective:
    """A task, the worlds that programs are tried on, and how much was tried.

    An evaluation is one program, on however many worlds; rollouts are counted, too.
    """

    task: Task
    worlds: Worlds
    evaluations: int = 0
    rollouts: int = 0
    _steps: float = 50.0
    """of a rollout, about"""
    _rivals: dict[bytes, NDArray[np.float64]] = field(default_factory=dict)

    def returns(self, tokens: NDArray[np.uint8], worlds: Worlds | None = None) -> NDArray[np.float64]:
        """[programs, worlds] what programs [n, length] earn, on all worlds unless others are given."""
        tried = self.worlds if worlds is None else worlds
        self.rollouts += len(tokens) * tried.count
        rollouts = run(
            compile_karel(tokens),
            tried,
            self.task.horizon(tried.size),
            self.task.hooks,
            grain=max(1, int(STEPS_WORTH_A_THREAD / self._steps)),
        )
        assert rollouts.returns is not None
        self._steps = max(1.0, 0.9 * self._steps + 0.1 * float(rollouts.steps.mean()))
        self.task.check_values(rollouts.returns)
        return rollouts.returns

    def scores(
        self, tokens: NDArray[np.uint8], rival: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float64]:
        """[n] mean returns; with a rival, DROPPED for those that fall behind that program on the way.

        Most neighbours of a good program are bad, and a few worlds tell.
        """
        self.evaluations += len(tokens)
        if rival is None or self.worlds.count <= FIRST_LAP:
            return np.asarray(self.returns(tokens).mean(axis=1))
        expected = self._returns_of(rival)
        returns = np.zeros((len(tokens), self.worlds.count))
        scores = np.full(len(tokens), DROPPED)
        running = np.arange(len(tokens))
        done, lap = 0, FIRST_LAP
        while len(running):
            end = done + lap
            if self.worlds.count - end < lap:
                end = self.worlds.count  # no lap for the few that are left
            returns[running, done:end] = self.returns(tokens[running], self.worlds.take(slice(done, end)))
            done, lap = end, 3 * lap
            if done == self.worlds.count:
                scores[running] = returns[running].mean(axis=1)
                break
            running = running[returns[running, :done].sum(axis=1) >= expected[:done].sum() - 1e-9]
        return scores

    def _returns_of(self, rival: NDArray[np.uint8]) -> NDArray[np.float64]:
        key = rival.tobytes()
        if key not in self._rivals:
            if len(self._rivals) > 100:
                self._rivals.clear()
            self._rivals[key] = self.returns(rival[None])[0]
        return self._rivals[key]

    def add(self, worlds: Worlds) -> None:
        """Try programs on these worlds, too: first of all, since they are the hard ones."""
        self.worlds = Worlds.join([worlds, self.worlds])
        self._rivals.clear()
