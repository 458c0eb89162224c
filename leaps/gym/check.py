"""Validate a task and its environment before programs are run.

A search can't distinguish a bad program from an environment that is not deterministic, so determinism is
checked first. Rules of Gymnasium that don't affect a program's return are not checked here. For all of them,
see `gymnasium.utils.env_checker.check_env`.
"""

import time
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from copy import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_reset_seed_determinism
from gymnasium.utils.passive_env_checker import (
    check_action_space,
    check_observation_space,
    env_reset_passive_checker,
    env_step_passive_checker,
)

from leaps.base.user_code import raised_at
from leaps.dsl.language import FIXED_TOKENS
from leaps.gym.record import Moment, difference, record
from leaps.gym.scene import GymScene, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leaps.gym.task import GymTask

STEPS = 100
"""maximum actions of a compared episode"""
EPISODES = 5
"""number of compared episodes: some end soon, and one may agree by chance"""
SECONDS = 2.0
"""time limit for the first run of the episodes; each is then played twice more"""
FIRST_SEED = 17


# The fields


def check_fields(task: "GymTask") -> None:
    """Raise a ValueError if fields of a task have wrong types, or names that are words of the language."""

    def refuse(name: str, expected: str, value: Any) -> None:
        raise ValueError(f"{task.name}: {name}: expected {expected}, found {shown(value)}")

    for name in ("actions", "perceptions", "opposites", "variants"):
        value = getattr(task, name)
        if not isinstance(value, Mapping):
            refuse(name, "a mapping from names, such as a dictionary", value)
        for key in value:
            if not isinstance(key, str):
                refuse(name, "strings as names", key)
    for name, maker in {
        "make": task.make,
        **{f"variant {key}": one for key, one in task.variants.items()},
    }.items():
        if not isinstance(maker, str) and not callable(maker):
            refuse(name, "the id of an environment, or a function that makes one", maker)
    for name in ("value", "key"):
        function = getattr(task, name)
        if function is not None and not callable(function):
            refuse(name, "a function", function)
    for name in ("steps", "checked"):
        value = getattr(task, name)
        if name == "steps" and value is None:
            continue
        if not isinstance(value, Integral) or isinstance(value, bool):
            refuse(name, "a whole number", value)
        if value < 1:
            raise ValueError(f"{task.name}: {name} must be at least 1, found {value}")
    if not isinstance(task.seconds, Real) or isinstance(task.seconds, bool) or not task.seconds > 0:
        refuse("seconds", "a positive number", task.seconds)
    if not isinstance(task.best, Real) or isinstance(task.best, bool) or np.isnan(float(task.best)):
        refuse("best", "a number, or infinity", task.best)
    words = set(FIXED_TOKENS.values())
    for kind, names in (("action", task.actions), ("perception", {**task.perceptions, **task.opposites})):
        for name in names:
            if name in words or name.startswith("R="):
                raise ValueError(
                    f"{task.name}: {name!r} is a word of the language; expected another name for the {kind}"
                )


# The environment


def check_environment(task: "GymTask", variant: str, environment: Any) -> None:
    """Raise a ValueError if an environment breaks a rule that the return of a program depends on.

    Episodes are played in this environment, and in a second one, which is closed afterwards.
    """
    where = f"{task.name}, variant {variant}" if variant else task.name
    _check_spaces(where, environment)
    _check_actions(task, where, environment)
    limit = task.horizon(variant)
    scene = GymScene(task, environment)
    rng = np.random.default_rng(0)
    draws = rng.integers(len(task.actions), size=min(limit, STEPS)).tolist()

    scene.begin(FIRST_SEED)
    for sense in range(len(task.domain.language.senses)):
        scene.look(sense)
    scene.worth()

    played: dict[int, list[Moment]] = {}
    begin = time.perf_counter()
    for seed in range(FIRST_SEED, FIRST_SEED + EPISODES):
        left = SECONDS - (time.perf_counter() - begin)
        if played and left < 0:
            break
        scene.begin(seed)
        played[seed] = record(scene, draws, left)
        scene.worth()

    _play_by_the_rules(where, environment, next(iter(task.actions.values())))

    def compare(scene: GymScene, how: str) -> None:
        for seed, moments in played.items():
            scene.begin(seed)
            again = record(scene, draws[: len(moments) - 1])
            _compare(where, environment, seed, moments, again, how)

    compare(scene, "when it was played again")
    other = task.environment(variant)
    try:
        compare(GymScene(task, other), "in another environment from the same `make`")
    finally:
        other.close()
    if task.key is not None:
        for seed, moments in played.items():
            _check_key(task, where, seed, moments, draws)


@contextmanager
def _rules_of_gymnasium(where: str) -> "Iterator[None]":
    """Convert errors of Gymnasium's checker to a ValueError that names the task; suppress its warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (AssertionError, TypeError, AttributeError, gymnasium.error.Error) as error:
        raise ValueError(
            f"{where}: the environment breaks a rule of Gymnasium{raised_at(error)}: {error}"
        ) from None


def _check_spaces(where: str, environment: Any) -> None:
    if not isinstance(environment, gymnasium.Env):
        kind = type(environment)
        raise ValueError(
            f"{where}: expected a gymnasium.Env from `make`, found {kind.__module__}.{kind.__name__}"
        )
    with _rules_of_gymnasium(where):
        check_action_space(environment.action_space)
        check_observation_space(environment.observation_space)


def _check_actions(task: "GymTask", where: str, environment: Any) -> None:
    space = environment.action_space
    for name, value in task.actions.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about lists in place of arrays
            try:
                fits = space.contains(value)
            except Exception:  # from spaces that don't expect values of other types
                fits = False
        if not fits:
            raise ValueError(f"{where}: action {name}: {shown(value)} is not in the environment's {space}")


def _play_by_the_rules(where: str, environment: Any, action: Any) -> None:
    """Run Gymnasium's checker on one reset and one step."""
    with _rules_of_gymnasium(where):
        env_reset_passive_checker(environment, seed=FIRST_SEED)
        env_step_passive_checker(environment, copy(action))


def _compare(
    where: str, environment: Any, seed: int, first: list[Moment], again: list[Moment], how: str
) -> None:
    """Raise a ValueError if two records of the same episode differ."""
    found = difference(first, again)
    if found is None:
        return
    step, what = found
    when = f"after step {step}" if step else "after the reset"
    if what == "key":
        raise ValueError(
            f"{where}: key: expected the same name for the same state; it differed {when} of an episode with "
            f"seed {seed}, {how}"
        )
    hint = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_reset_seed_determinism(environment)
    except AssertionError as error:
        hint = f" Gymnasium's checker reports: {error}"
    except Exception:  # the hint is optional
        hint = ""
    raise ValueError(
        f"{where}: expected the same seed and actions to lead to the same episode; with seed {seed} the "
        f"{what} differed {when}, {how}. All randomness has to come from `self.np_random`, which "
        f"`super().reset(seed=seed)` seeds.{hint}"
    )


def _check_key(task: "GymTask", where: str, seed: int, moments: list[Moment], draws: list[int]) -> None:
    """Raise a ValueError if a key repeats in an episode and the same action leads to different states."""
    met: dict[Any, int] = {}
    for step, action in enumerate(draws[: len(moments) - 1]):
        before = met.setdefault((moments[step].key, action), step)
        one, other = moments[before + 1], moments[step + 1]
        if not (one.truncated or other.truncated) and difference([one], [other]) is not None:
            raise ValueError(
                f"{where}: key: expected the whole state; after steps {before} and {step} of the episode "
                f"with seed {seed} it was the same, and action {list(task.actions)[action]} then led to "
                "different states"
            )
