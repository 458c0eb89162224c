"""Perceptions: functions of the observation, or privileged functions of the environment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaps.domain import Domain
from leaps.dsl.language import Language
from leaps.dsl.sample import DECISIVE, ProgramDistribution
from leaps.gym.constants import Above, Number, word

Perception = Callable[[Any], Any]


@dataclass(frozen=True)
class Privileged:
    """A perception computed from the environment instead of the observation."""

    privileged_function: Perception

    def __call__(self, environment: Any) -> Any:
        return self.privileged_function(environment)


def privileged(function: Perception) -> Privileged:
    """Mark a perception that takes the environment (`env.unwrapped`) instead of the observation.

    A program that uses it needs the environment, not only its observations. Reports list such perceptions.
    """
    return Privileged(function)


def sensors_of(
    perceptions: Mapping[str, Perception | Number], compared: Mapping[str, tuple[float, ...]]
) -> dict[str, Perception]:
    """Return the functions to True or False by sense; a number has one for each of its constants."""
    found: dict[str, Perception] = {}
    for name, one in perceptions.items():
        if not isinstance(one, Number):
            found[name] = one
            continue
        for constant in compared[name]:
            function, text = one.function, word(name, constant)
            if isinstance(function, Privileged):
                found[text] = Privileged(Above(function.privileged_function, constant))
            else:
                found[text] = Above(function, constant)
    return found


def domain_of(
    name: str,
    actions: Mapping[str, Any],
    perceptions: Mapping[str, Perception | Number],
    opposites: Mapping[str, str],
    compared: Mapping[str, tuple[float, ...]],
) -> Domain:
    """Make the domain of an environment, with equal probabilities of actions and of perceptions.

    The probability of a number is divided among its constants.
    """
    sensors = sensors_of(perceptions, compared)
    language = Language(tuple(actions), (*sensors, *opposites), opposites=tuple(opposites.items()))
    fractions = [
        1 / len(compared[name]) if isinstance(one, Number) else 1.0
        for name, one in perceptions.items()
        for _ in compared.get(name, (0.0,))
    ]
    weights = np.array(fractions + [1.0] * len(opposites))
    programs = ProgramDistribution(
        actions=tuple(np.full(len(actions), 1 / len(actions))),
        perceptions=tuple(weights / weights.sum()),
        **DECISIVE,
    )
    hidden = tuple(name for name, function in sensors.items() if isinstance(function, Privileged))
    return Domain(name, language, programs, privileged=hidden)
