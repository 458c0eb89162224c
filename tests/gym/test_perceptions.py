"""Perceptions become the senses of a language; numbers become one sense for each constant."""

from typing import Any

import pytest

from leaps.gym import number, privileged
from leaps.gym.constants import Number
from leaps.gym.perceptions import Perception, Privileged, domain_of, sensors_of


def low(seen: Any) -> bool:
    return bool(seen < 0)


def hidden(environment: Any) -> bool:
    return bool(environment.open)


PERCEPTIONS: dict[str, Perception | Number] = {
    "low": low,
    "open": privileged(hidden),
    "speed": number(lambda seen: seen),
    "depth": number(privileged(lambda environment: environment.depth)),
}
COMPARED = {"speed": (0.5, 2.0), "depth": (3.0,)}


def test_a_number_is_a_sense_for_each_constant() -> None:
    sensors = sensors_of(PERCEPTIONS, COMPARED)
    assert list(sensors) == ["low", "open", "speed>0.5", "speed>2", "depth>3"]
    assert [sensors[name](1.0) for name in ("low", "speed>0.5", "speed>2")] == [False, True, False]
    assert [name for name, one in sensors.items() if isinstance(one, Privileged)] == ["open", "depth>3"]


def test_a_number_shares_its_probability_among_its_constants() -> None:
    domain = domain_of("mine", {"go": 0}, PERCEPTIONS, {"high": "low"}, COMPARED)
    assert domain.language.perceptions == ("low", "open", "speed>0.5", "speed>2", "depth>3", "high")
    assert domain.programs.perceptions == pytest.approx((0.2, 0.2, 0.1, 0.1, 0.2, 0.2))
    assert domain.privileged == ("open", "depth>3")
