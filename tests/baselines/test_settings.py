"""NaN and infinite hyperparameters raise errors."""

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
def test_settings_that_are_not_finite_raise(kind: type[Any], name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a finite number, found {value}"):
        kind(**{name: value})
