"""Run compiled programs in an environment, one episode after the other."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.domain import NO_ACTION, Outcome
from leaps.dsl.compiler import HALT, STUCK, Compiled
from leaps.dsl.stepper import Stepper
from leaps.gym.scene import GymScene

if TYPE_CHECKING:
    from leaps.gym.seeds import Seeds


class Asked(NamedTuple):
    """The arguments for running a batch; see `leaps.domain.Task.run`."""

    episodes: "Seeds"
    horizon: int
    needed: NDArray[np.float64] | None
    want_actions: bool
    want_used: bool


class Played(NamedTuple):
    """The results of some programs; see `leaps.domain.Rollouts`."""

    outcome: NDArray[np.uint8]
    steps: NDArray[np.int32]
    returns: NDArray[np.float64]
    actions: NDArray[np.uint8]
    used: NDArray[np.bool_]
    tried: NDArray[np.int64]


def play_all(scene: GymScene, compiled: Compiled, asked: Asked) -> Played:
    """Run all episodes of some programs."""
    episodes, limit = asked.episodes, asked.horizon
    shape = compiled.count, episodes.count
    outcome, steps, returns = np.zeros(shape, np.uint8), np.zeros(shape, np.int32), np.zeros(shape)
    actions = np.full((*shape, limit if asked.want_actions else 0), NO_ACTION, np.uint8)
    used, tried = np.zeros(len(compiled.table), np.bool_), np.zeros(compiled.count, np.int64)
    for program in range(compiled.count):
        visits: set[tuple[int, int]] | None = set() if asked.want_used else None
        stepper = Stepper(compiled, program, visits, scene.task.repeats)
        for number in range(episodes.count):
            stepper.reset()
            scene.begin(int(episodes.seeds[number]))
            outcome[program, number] = walk(stepper, scene, limit)
            steps[program, number] = len(scene.done)
            returns[program, number] = scene.worth()
            if asked.want_actions:
                actions[program, number, : len(scene.done)] = scene.done
            tried[program] += 1
            if asked.needed is not None and returns[program].sum() < asked.needed[number]:
                break
        if visits is not None:
            used[compiled.first[program] + np.array(stepper.entries(visits), np.int64)] = True
    return Played(outcome, steps, returns, actions, used, tried)


def walk(stepper: Stepper, scene: GymScene, limit: int, *, whole: bool = False) -> Outcome:
    """Run a program until the episode is over, and return its outcome.

    If the task has a `key`, a run that returns to an earlier state of environment and program repeats itself.
    Whole repetitions are then counted without running the environment. whole: run them nevertheless.
    """
    met: dict[object, int] | None = None if whole or scene.task.key is None else {}
    while True:
        if met is not None:
            period = len(scene.done) - met.setdefault((scene.key(), stepper.state), len(scene.done))
            if period:
                scene.skip(period, limit)
                met = None
        operation = stepper.next(scene.look)
        if operation >= HALT:
            return Outcome.STUCK if operation == STUCK else Outcome.HALTED
        if len(scene.done) == limit:
            return Outcome.CUT_OFF
        if (end := scene.act(operation)) is not None:
            return end
