"""Programs × worlds → returns, and policies × worlds: the one place where a reported number is made.

The worlds are drawn from the seed, one stream each, so the same seed gives the same numbers whatever the
number of cores, and world `i` is the same however many are drawn.

Where a task lists its initial states (`Task.states`), the expected return can be computed exactly: with
`prefer_exact` the worlds are all those states, weighted by their probabilities, instead of draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.compiler import Compiled
from leaps.dsl.language import Language
from leaps.dsl.syntax import Program, tokens_of
from leaps.dsl.text import parse
from leaps.karel.executor import NO_ACTION, Rollouts, check_horizon, compile_karel, run
from leaps.karel.interpreter import Outcome
from leaps.karel.world import LANGUAGE, Worlds
from leaps.simulation import Arrays, Observation, Simulation
from leaps.tasks import Task, get

Programs = str | Program | Sequence[str | Program] | NDArray[np.uint8]
"""a text, a tree, several of them, or token ids [programs, length]"""


UNSEEN = 1000
"""fresh worlds that a reported return is the mean over, where it can't be exact"""
UNSEEN_SEEDS = 3 * 2**40
"""their seed is this plus that of the search or the training, which draws its own worlds from others"""


class Policy(Protocol):
    """What chooses actions by what it sees of the worlds: a network, a tree."""

    observation: Observation

    @property
    def deterministic(self) -> bool:
        """Whether the same observations always lead to the same actions: no action is drawn at random."""

    def check(self, task: Task, size: tuple[int, int]) -> None:
        """Say what is wrong, if it can't act in worlds of this task and size."""

    def begin(self, count: int) -> None:
        """Forget what was: so many worlds begin."""

    def act(self, observations: Arrays) -> NDArray[np.int64]:
        """[worlds] the actions for observations [worlds, …]."""


@dataclass(frozen=True)
class ExpectedReturn:
    """The expected return of one program or policy, and what it was computed over."""

    mean: float
    lowest: float
    """the lowest return in any of the worlds"""
    states: int | None
    """the task's initial states, if all were tried and the mean is exact; None if worlds were drawn"""
    episodes: int

    def __str__(self) -> str:
        if self.states is None:
            return f"{self.episodes:,} fresh {'draw' if self.episodes == 1 else 'draws'}"
        return "exact, the only state" if self.states == 1 else f"exact, all {self.states:,} states"


@dataclass(frozen=True)
class Evaluation:
    """How programs fared on a task: rollouts[program, world]. A policy counts as one program."""

    task: Task
    size: tuple[int, int]
    seed: int
    worlds: Worlds
    rollouts: Rollouts
    weights: NDArray[np.float64] | None = None
    """[worlds] the probability of each, if they are all the initial states; None if they are draws"""

    @property
    def returns(self) -> NDArray[np.float64]:
        """[programs, episodes]"""
        assert self.rollouts.returns is not None
        return self.rollouts.returns

    @property
    def mean_return(self) -> NDArray[np.float64]:
        """[programs]"""
        return self.average(self.returns)

    def average(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """[programs] the mean of values [programs, worlds], exact if the worlds are all initial states."""
        if self.weights is None:
            return np.asarray(values.mean(axis=1))
        return np.asarray(np.average(values, axis=1, weights=self.weights))

    def expected(self, program: int = 0) -> ExpectedReturn:
        """Summarise the returns of one program."""
        returns = self.returns[program]
        states = None if self.weights is None else len(returns)
        return ExpectedReturn(float(self.mean_return[program]), float(returns.min()), states, len(returns))

    def count(self, outcome: Outcome) -> NDArray[np.int64]:
        """[programs] how many episodes came to their end in this way."""
        return np.asarray((self.rollouts.outcome == outcome).sum(axis=1))


def encode(text: str, language: Language = LANGUAGE) -> NDArray[np.uint8]:
    """Read words into token ids, quickly. Whether they are a program is for the compiler to say."""
    ids = language.ids
    try:
        tokens = np.array([ids[word] for word in text.split()], np.uint8)
    except KeyError:  # a comment, or a mistake: the parser knows
        tokens = None
    if tokens is None or language.pad in tokens:
        return language.encode(tokens_of(parse(text, language)))
    return tokens


def compile_programs(programs: Programs, *, calls: int | None = None) -> Compiled:
    """Compile programs in whatever form they come. calls: the limit of calls in a run, if any."""
    if isinstance(programs, np.ndarray):
        return compile_karel(programs, calls=calls)
    listed = [programs] if isinstance(programs, str | Program) else list(programs)
    if not listed:
        raise ValueError("expected at least one program, found none")
    compiled = compile_karel(
        LANGUAGE.batch(
            [encode(item) if isinstance(item, str) else LANGUAGE.encode(tokens_of(item)) for item in listed]
        ),
        calls=calls,
    )
    if (compiled.entry < 0).any():
        wrong = listed[int((compiled.entry < 0).argmax())]
        parse(wrong if isinstance(wrong, str) else " ".join(tokens_of(wrong)), LANGUAGE)  # says what is wrong
        raise AssertionError("the parser takes what the compiler doesn't")
    return compiled


def evaluate(
    programs: Programs | Compiled,
    task: Task | str,
    *,
    episodes: int = 100,
    seed: int = 0,
    size: tuple[int, int] | None = None,
    horizon: int | None = None,
    first: int = 0,
    prefer_exact: bool = False,
) -> Evaluation:
    """Run programs on fresh worlds of a task.

    prefer_exact: run them in all initial states instead, if the task lists them (`seed` and `episodes` then
    don't matter).

    >>> program = "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"
    >>> float(evaluate(program, "top-off", episodes=1000).mean_return[0])
    1.0
    >>> str(evaluate(program, "top-off", prefer_exact=True).expected())
    'exact, all 512 states'
    """
    task = get(task) if isinstance(task, str) else task
    size = task.check_size(size)
    worlds, weights = _starts(task, episodes, seed, size, first, prefer_exact)
    if isinstance(programs, Compiled):
        compiled = programs
        if compiled.limit != (task.calls or 0):
            raise ValueError(
                f"{task.name}: expected programs compiled with calls={task.calls}, "
                f"found {compiled.limit or None}"
            )
    else:
        compiled = compile_programs(programs, calls=task.calls)
    rollouts = run(compiled, worlds, task.horizon(size) if horizon is None else horizon, task.hooks)
    assert rollouts.returns is not None
    task.check_values(rollouts.returns)
    return Evaluation(task, size, seed, worlds, rollouts, weights)


def _starts(
    task: Task, episodes: int, seed: int, size: tuple[int, int], first: int, prefer_exact: bool
) -> tuple[Worlds, NDArray[np.float64] | None]:
    """List all initial states with their probabilities, if wanted and possible; else draw fresh worlds."""
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, found {episodes}")
    if prefer_exact and (states := task.states(size)) is not None:
        return states
    return task.worlds(episodes, seed, size, first=first), None


def evaluate_policy(
    policy: Policy,
    task: Task | str,
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
    worlds, weights = _starts(task, episodes, seed, size, 0, prefer_exact and policy.deterministic)
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
