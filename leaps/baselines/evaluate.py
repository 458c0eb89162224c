"""Policies × worlds → returns, in the worlds that `evaluate` runs programs in."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leaps.compiled.engine import check_horizon
from leaps.domain import NO_ACTION, Outcome, Rollouts
from leaps.evaluate import Evaluation, starts
from leaps.karel.simulation import Arrays, Observation, Simulation
from leaps.karel.tasks import KarelTask
from leaps.tasks import get


class Policy(Protocol):
    """What chooses actions by what it sees of the worlds: a network, a tree."""

    observation: Observation

    @property
    def deterministic(self) -> bool:
        """Whether the same observations always lead to the same actions: no action is drawn at random."""

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        """Say what is wrong, if it can't act in worlds of this task and size."""

    def begin(self, count: int) -> None:
        """Forget what was: so many worlds begin."""

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        """[worlds] the actions for observations [worlds, …]."""


def evaluate_policy(
    policy: Policy,
    task: KarelTask | str,
    *,
    episodes: int = 100,
    seed: int = 0,
    size: tuple[int, int] | None = None,
    horizon: int | None = None,
    want_actions: bool = False,
    prefer_exact: bool = False,
) -> Evaluation:
    """Let a policy act in the worlds that `evaluate` would run a program in.

    A policy that draws its actions is always judged on fresh worlds: its return in a state is itself random.
    """
    task = get(task) if isinstance(task, str) else task
    size = task.check_size(size)
    policy.check(task, size)
    worlds, weights = starts(task, episodes, seed, size, 0, prefer_exact and policy.deterministic)
    episodes = worlds.count
    simulation = Simulation(task, episodes, size, horizon)
    check_horizon(simulation.horizon)
    simulation.place(worlds)
    policy.begin(episodes)
    active = np.ones(episodes, np.bool_)
    outcome = np.full(episodes, Outcome.CUT_OFF, np.uint8)
    length = simulation.horizon if want_actions else 0
    taken = np.full((episodes, length), NO_ACTION, np.uint8)
    for step in range(simulation.horizon):
        actions = policy.act(simulation.observe(policy.observation))
        _, terminated, truncated = simulation.advance(actions, active)
        if want_actions:
            taken[active, step] = actions[active]
        outcome[terminated] = Outcome.ENDED
        active &= ~(terminated | truncated)
        if not active.any():
            break
    task.check_values(simulation.values)
    rollouts = Rollouts(
        outcome[None],
        simulation.steps[None].astype(np.int32),
        simulation.values[None].copy(),
        taken[None] if want_actions else None,
    )
    return Evaluation(task, size, seed, worlds, rollouts, weights)
