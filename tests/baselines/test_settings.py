"""Hyperparameters that are no numbers are refused, whichever they are."""

from dataclasses import fields
from typing import Any

import pytest

from leaps.baselines.hrl import HRLConfig
from leaps.baselines.naive import NaiveConfig
from leaps.baselines.ppo import LastActionConfig, PPOConfig
from leaps.baselines.skills import SkillsConfig

FLOATS = [
    (kind, field.name)
    for kind in (HRLConfig, NaiveConfig, PPOConfig, LastActionConfig, SkillsConfig)
    for field in fields(kind)
    if isinstance(field.default, float)
]


@pytest.mark.parametrize(("kind", "name"), FLOATS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_finite_number_is_refused(kind: type[Any], name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a finite number, found {value}"):
        kind(**{name: value})
