"""An invalid task or environment raises before a search, with the reason."""

import itertools
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import leaps
from leaps.gym import GymTask, privileged
from leaps.search.solve import Run, SolveConfig
from tests.gym.corridor import LENGTH, Corridor, corridor, light_is_on, long

COUNT = itertools.count()


class Environment:
    """Not of Gymnasium."""

    action_space = spaces.Discrete(2)


class OldStep(Corridor):
    def step(self, action: int) -> Any:
        seen, reward, terminated, _, info = super().step(action)
        return seen, reward, terminated, info


class NoSeed(Corridor):
    def reset(self) -> Any:  # type: ignore[override]
        return super().reset()


class OldReset(Corridor):
    def reset(self, **settings: Any) -> Any:
        return super().reset(**settings)[0]


class BrokenReset(Corridor):
    def reset(self, **_: Any) -> Any:
        raise RuntimeError("no level to load")


class BrokenStep(Corridor):
    def step(self, _: int) -> Any:
        raise RuntimeError("jammed")


class Unseeded(Corridor):
    """Draws the light from numpy's global generator."""

    def _seen(self) -> Any:
        self.light = bool(np.random.random() < 0.5)
        return np.array([self.place / (self.length - 1), self.light], np.float32)


class NeverSeeded(Corridor):
    """Has another length in each episode, independent of the seed."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002
        self.length = LENGTH + next(COUNT)
        return super().reset(seed=None)

    def _seen(self) -> Any:
        return np.array([1 / self.length, 0], np.float32)


class Ageing(Corridor):
    """Has a state that depends on earlier episodes."""

    age = 0

    def reset(self, **settings: Any) -> Any:
        self.age += 1
        return super().reset(**settings)

    def step(self, action: int) -> Any:
        seen, reward, terminated, truncated, info = super().step(action)
        return seen, reward + self.age, terminated, truncated, info


class Different(Corridor):
    """Each environment has its own level."""

    def __init__(self) -> None:
        super().__init__()
        self.gift = float(next(COUNT))

    def step(self, action: int) -> Any:
        seen, reward, terminated, truncated, info = super().step(action)
        return seen, reward + self.gift, terminated, truncated, info


class Rewarding(Corridor):
    def __init__(self, reward: Any) -> None:
        super().__init__()
        self.reward = reward

    def step(self, action: int) -> Any:
        seen, _, terminated, truncated, info = super().step(action)
        return seen, self.reward, terminated, truncated, info


class Shapeless(Corridor):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(2)
        self.observation_space = None  # type: ignore[assignment]


class BadInfo(Corridor):
    def step(self, action: int) -> Any:
        return (*super().step(action)[:4], None)


class ManyEnds(Corridor):
    def step(self, action: int) -> Any:
        seen, reward, _, truncated, info = super().step(action)
        return seen, reward, np.array([True, False]), truncated, info


def unmade() -> Corridor:
    raise RuntimeError("no licence")


def mixed(seen: Any) -> Any:
    return seen > 0.5


def dim(seen: Any) -> float:
    return float(seen[1])


def blind(_: Any) -> bool:
    raise RuntimeError("too bright")


def bankrupt(_: Any) -> float:
    raise RuntimeError("bankrupt")


def nothing(_: Any) -> Any:
    return None


HERE = r"\(.*test_check.py, line \d+\)"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"make": "Nowhere-v0"}, "wrong: make: the environment could not be made: NameNotFound: .*`?Nowhere"),
        (
            {"make": unmade},
            f"wrong: make: the environment could not be made {HERE}: RuntimeError: no licence",
        ),
        ({"make": Environment}, "wrong: expected a gymnasium.Env from `make`, found .*Environment"),
        (
            {"make": lambda: gymnasium.make_vec("CartPole-v1")},
            "expected a gymnasium.Env from `make`, found .*Vec",
        ),
        ({"make": Shapeless}, "wrong: the environment breaks a rule of Gymnasium: .*observation space"),
        ({"make": NoSeed}, r"wrong: reset\(seed=\d+\) of the environment failed.*: TypeError: .*'seed'"),
        (
            {"make": OldReset},
            r"wrong: expected \(observation, info\) from reset\(seed=\d+\).*, found array\(",
        ),
        (
            {"make": BrokenReset},
            rf"wrong: reset\(seed=\d+\) .* failed {HERE}: RuntimeError: no level to load",
        ),
        (
            {"make": OldStep},
            "terminated, truncated, info.* step 1 of .* seed .* a tuple of 4: .* the old Gym",
        ),
        ({"make": BrokenStep}, rf"refused action .* in step 1 of .* seed \d+ {HERE}: RuntimeError: jammed"),
        ({"make": ManyEnds}, r"wrong: expected \(obs.* from step 1 of .* seed \d+, found a tuple of 5"),
        ({"make": BadInfo}, "wrong: the environment breaks a rule of Gymnasium.*[iI]nfo"),
        ({"make": Unseeded}, "same seed and actions .* the observation differed after .* played again"),
        (
            {"make": NeverSeeded},
            r"differed after the reset.* Gymnasium's checker reports: .*super\(\).reset\(seed=seed\)",
        ),
        ({"make": Ageing}, "the reward differed after step [0-9]+, when it was played"),
        (
            {"make": Different},
            "the reward differed after step 1, in another environment from the same `make`",
        ),
        (
            {"make": lambda: Rewarding(np.nan)},
            r"wrong: expected a finite reward, found nan in step 1 of .* seed 17",
        ),
        (
            {"make": lambda: Rewarding(np.ones(2))},
            r"expected a finite reward, found array\(\[1., 1.\]\) in step 1",
        ),
        ({"make": lambda: Rewarding(None)}, "expected a finite reward, found None in step 1 of"),
        ({"make": lambda: Rewarding("1")}, "expected a finite reward, found '1' in step 1 of"),
        ({"steps": None}, "wrong: the environment has no limit of steps per episode; expected `steps`"),
        ({"actions": {"left": 0, "far": 2}}, "wrong: action far: 2 is not in the environment's Discrete"),
        (
            {"actions": {"left": 0, "half": 0.5}},
            "wrong: action half: 0.5 is not in the environment's Discrete",
        ),
        ({"actions": {"left": "0"}}, "wrong: action left: '0' is not in"),
        ({"perceptions": {"lit": mixed}}, rf"perception lit {HERE}: expected True or False, found array\("),
        (
            {"perceptions": {"lit": dim}},
            rf"perception lit {HERE}: expected True or False, found \d.\d, after step 0",
        ),
        (
            {"perceptions": {"lit": blind}},
            rf"perception lit {HERE}: RuntimeError: too bright, after step 0 .* 17",
        ),
        ({"perceptions": {"lit": privileged(lambda env: env.no)}}, rf"lit {HERE}: AttributeError: .*'no'"),
        ({"value": bankrupt}, rf"wrong: value {HERE}: RuntimeError: bankrupt, after step 0 of"),
        ({"value": nothing}, rf"wrong: value {HERE}: expected a finite number, found None"),
        ({"value": lambda _: np.inf}, "wrong: value .*: expected a finite number, found inf"),
        (
            {"key": lambda env: [env.place]},
            rf"wrong: key {HERE}: TypeError: .*list.*; expected what can be hashed",
        ),
        (
            {"key": lambda _: object()},
            "wrong: key: expected the same name for the same state; it differed after",
        ),
        ({"key": lambda env: env.nowhere}, rf"wrong: key {HERE}: AttributeError"),
        (
            {"make": long, "key": lambda env: env.place},
            "wrong: key: expected the whole state; after steps .* different states",
        ),
    ],
)
def test_an_invalid_environment_raises_before_a_search(settings: dict[str, Any], message: str) -> None:
    task = corridor(**({"name": "wrong", "perceptions": {"lit": light_is_on}, "opposites": {}} | settings))
    with pytest.raises(ValueError, match=message):
        task.check(here=True)
    if "make" in settings:
        with pytest.raises(ValueError, match=message):
            Run(SolveConfig("wrong", budget=100), task)


def test_an_invalid_variant_raises_when_it_is_used() -> None:
    task = corridor(variants={"old": OldStep})
    task.check()
    with pytest.raises(ValueError, match="the old Gym"):
        leaps.solve(task, budget=100, also=("old",))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": 3}, "a task's name must not be empty .*, found 3"),
        ({"make": None}, "corridor: make: expected the id of an environment, or a function .* found None"),
        (
            {"variants": {"long": 12}},
            "corridor: variant long: expected the id of an environment, or a function",
        ),
        (
            {"actions": ["left", "right"]},
            r"corridor: actions: expected a mapping from names, .* \['left', 'right'\]",
        ),
        ({"actions": {0: "left"}}, "corridor: actions: expected strings as names, found 0"),
        ({"perceptions": [light_is_on]}, "corridor: perceptions: expected a mapping from names"),
        ({"opposites": ("lightIsOff",)}, "corridor: opposites: expected a mapping from names"),
        ({"best": "500"}, "corridor: best: expected a number, or infinity, found '500'"),
        ({"best": np.nan}, "corridor: best: expected a number, or infinity, found nan"),
        ({"checked": 1.5}, "corridor: checked: expected a whole number, found 1.5"),
        ({"checked": 0}, "corridor: checked must be at least 1, found 0"),
        ({"steps": "30"}, "corridor: steps: expected a whole number, found '30'"),
        ({"steps": True}, "corridor: steps: expected a whole number, found True"),
        ({"value": 1.0}, "corridor: value: expected a function, found 1.0"),
        ({"key": "place"}, "corridor: key: expected a function, found 'place'"),
        (
            {"actions": {"m(": 0}},
            r"corridor: 'm\(' is a word of the language; expected another name for the action",
        ),
        (
            {"perceptions": {"R=7": light_is_on}, "opposites": {}},
            "'R=7' is a word .* name for the perception",
        ),
        ({"actions": {"lightIsOn": 0}}, "corridor: each name must be one token only; .*: lightIsOn"),
    ],
)
def test_fields_of_a_wrong_type_raise(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corridor(**settings)


@pytest.mark.parametrize("reward", [True, np.True_, np.float32(1), np.int64(1), np.array(1.0), np.array([1])])
def test_rewards_of_any_numeric_type_are_accepted(reward: Any) -> None:
    task = corridor(make=lambda: Rewarding(reward))
    task.check(here=True)
    found = task.run(task.compile("DEF run m( left left m)"), task.worlds(1, seed=0)).returns
    assert found is not None
    assert found.tolist() == [[2.0]]


def test_environments_that_warn_are_accepted() -> None:
    class Warns(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)

        def _seen(self) -> Any:
            gymnasium.logger.warn("a warning of its own")
            return super()._seen()

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        corridor(make=Warns).check(here=True)
    assert found


def test_an_environment_is_checked_once() -> None:
    made = []

    def make() -> Corridor:
        made.append(1)
        return Corridor()

    task = corridor(make=make)
    for _ in range(3):
        task.check(here=True)
        task.worlds(5, 0)
    assert len(made) == 2


def test_environments_of_gymnasium_pass() -> None:
    for name, actions in (
        ("CartPole-v1", {"a": 0, "b": 1}),
        ("Acrobot-v1", {"a": 0, "b": 1, "c": 2}),
        ("MountainCarContinuous-v0", {"a": [-1.0], "b": np.array([0.5], np.float32)}),
        ("Pendulum-v1", {"a": [-2.0], "b": [2.0]}),
        ("FrozenLake-v1", {"a": 0, "b": 3}),
        ("Taxi-v4", {"a": 0, "b": 5}),
        ("Blackjack-v1", {"a": 0, "b": 1}),
    ):
        steps = 20 if name == "Blackjack-v1" else None
        task = GymTask("it", make=name, actions=actions, perceptions={"p": lambda _: True}, steps=steps)
        task.check(here=True)
