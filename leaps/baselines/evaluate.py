"""Evaluate policies on the same worlds as programs, and save their episodes as films."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from leaps.compiled.engine import check_horizon
from leaps.domain import NO_ACTION, Outcome, Rollouts, Task
from leaps.evaluate import Evaluation, starts
from leaps.karel.draw import frames_of_actions, save_gif, to_text
from leaps.karel.simulation import Arrays, Observation, Simulation
from leaps.karel.tasks import KarelTask
from leaps.karel.world import KAREL, World
from leaps.tasks import get

if TYPE_CHECKING:
    from rich.text import Text


class Policy(Protocol):
    """A network or a tree that chooses actions from observations."""

    observation: Observation

    @property
    def deterministic(self) -> bool:
        """Whether the policy never draws an action at random."""

    def check(self, task: KarelTask, size: tuple[int, int]) -> None:
        """Raise ValueError if the policy can't act in worlds of this task and size."""

    def begin(self, count: int) -> None:
        """Start episodes in `count` worlds, without memory of earlier episodes."""

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        """Choose actions [worlds] for observations [worlds, …]."""


def check_domain(task: Task) -> None:
    """Raise ValueError for a task outside the Karel domain."""
    if task.domain is not KAREL:
        raise ValueError(
            f"{task.name}: baselines act in Karel's worlds only; expected a task of karel, found one of "
            f"{task.domain.name}"
        )


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
    """Compute a policy's returns on the same worlds on which `evaluate` runs programs.

    A policy that draws its actions is always evaluated on fresh worlds: its return in a state is random.
    """
    task = get(task) if isinstance(task, str) else task
    check_domain(task)
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


def states_of_policy(policy: Policy, task: KarelTask, seed: int, size: tuple[int, int] | None) -> list[World]:
    """Return all states of a policy's episode in the seed's first world."""
    result = evaluate_policy(policy, task, episodes=1, seed=seed, size=size, want_actions=True)
    assert result.rollouts.actions is not None
    return frames_of_actions(result.worlds.world(0), result.rollouts.actions[0, 0], task.hooks)


def film_policy(policy: Policy, task: KarelTask, seed: int, size: tuple[int, int] | None, file: Path) -> None:
    """Save a policy's episode in the seed's first world as a GIF."""
    save_gif(states_of_policy(policy, task, seed, size), file)


def frames_of_policy(
    policy: Policy, task: KarelTask, seed: int, size: tuple[int, int] | None
) -> "list[tuple[Text, float]]":
    """Return the states of a policy's episode as text, each with the return if the episode ended there."""
    worlds = states_of_policy(policy, task, seed, size)
    return [(to_text(world), task.return_after(world, worlds[0], step)) for step, world in enumerate(worlds)]
