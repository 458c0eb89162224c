"""Runs that are cut short where states repeat have the same results."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from leaps.dsl.sample import sample_programs
from leaps.dsl.stepper import Stepper
from leaps.gym import GymTask
from leaps.gym.play import Asked, walk
from leaps.gym.scene import GymScene
from leaps.search.solve import Run, SolveConfig


class Ring(gymnasium.Env[Any, Any]):
    """Walk in a circle of cells, some of which pay; a pit ends the episode, and a lamp can be switched."""

    steps = 0

    def __init__(self, cells: int = 5) -> None:
        self.cells = cells
        self.observation_space = spaces.Box(0, 9, (3,), np.float64)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.place, self.lamp = int(self.np_random.integers(self.cells)), False
        self.pay = self.np_random.random(self.cells).round(3)
        self.pit = int(self.np_random.integers(2 * self.cells))
        return self._seen(), {}

    def _seen(self) -> Any:
        return np.array([self.place, self.lamp, self.pay[self.place]])

    def step(self, action: int) -> Any:
        Ring.steps += 1
        if action == 2:
            self.lamp = not self.lamp
        else:
            self.place = (self.place + (1 if action else -1)) % self.cells
        reward = self.pay[self.place] * (1.5 if self.lamp else 1.0)
        return self._seen(), reward, self.place == self.pit and self.lamp, False, {"place": self.place}


def limited() -> Any:
    return gymnasium.wrappers.TimeLimit(Ring(), 77)


def state_of(ring: Any) -> Any:
    return ring.place, ring.lamp


def last_seen(episode: Any) -> float:
    """All arguments of a task's value."""
    seen = episode.observation[0] + 100 * episode.terminated + 1000 * episode.truncated
    return float(seen + sum(episode.rewards) / 7 + len(episode.rewards) / 1e6 + episode.info.get("place", 0))


def ring(**given: Any) -> GymTask:
    fields: dict[str, Any] = {
        "name": "ring",
        "make": Ring,
        "actions": {"back": 0, "on": 1, "switch": 2},
        "perceptions": {
            "lit": lambda seen: bool(seen[1]),
            "pays": lambda seen: bool(seen[2] > 0.5),
            "first": lambda seen: bool(seen[0] == 0),
        },
        "steps": 120,
    }
    return GymTask(**(fields | given))


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    steps=st.integers(1, 150),
    make=st.sampled_from([Ring, limited]),
    value=st.sampled_from([None, last_seen]),
)
def test_with_a_key_all_rollouts_are_the_same(seed: int, steps: int, make: Any, value: Any) -> None:
    plain, keyed = (ring(make=make, steps=steps, value=value, key=key) for key in (None, state_of))
    domain = plain.domain
    drawn = sample_programs(domain.language, domain.programs, 40, seed=seed, max_length=60)
    found = []
    for task in (plain, keyed):
        starts = task.worlds(1, seed)._replace(
            seeds=np.arange(seed, seed + 3, dtype=np.int64), variant=np.full(3, "")
        )
        found.append(task.play_here(task.compile(drawn), asked(starts, steps)))
    for name in found[0]._fields:
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name), err_msg=name)


def asked(starts: Any, steps: int) -> Any:

    return Asked(starts, steps, None, True, True)


def test_a_run_that_repeats_itself_takes_few_steps_of_the_environment() -> None:
    task = ring(steps=100_000, key=state_of)
    forever = "DEF run m( WHILE c( not c( lit c) c) w( on w) m)"
    starts = task.worlds(1, 0)
    Ring.steps = 0
    found = task.run(task.compile(forever), starts)
    assert found.steps[0, 0] == 100_000
    assert Ring.steps < 20
    whole = ring(steps=100_000)
    assert found.returns is not None
    assert found.returns[0, 0] == whole.run(whole.compile(forever), starts).returns[0, 0]  # type: ignore[index]


def test_a_film_shows_the_whole_run() -> None:
    task = ring(steps=50, key=state_of)
    scene = GymScene(task, Ring())
    scene.begin(3)
    Ring.steps = 0

    walk(Stepper(task.compile("DEF run m( WHILE c( not c( lit c) c) w( on w) m)")), scene, 50, whole=True)
    assert Ring.steps == len(scene.done) == 50


def test_a_key_does_not_change_the_search() -> None:
    found = []
    for key in (None, state_of):
        run = Run(SolveConfig("ring", seed=1, worlds=4, max_length=20), ring(key=key, steps=40))
        found.append([run.step().scores for _ in range(8)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
