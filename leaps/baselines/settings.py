"""A check that all baselines make of their hyperparameters."""

import math
from dataclasses import fields
from typing import Any


def check_finite(config: Any) -> None:
    """Raise ValueError for NaN or infinite hyperparameters, since NaN passes the range checks."""
    for field in fields(config):
        value = getattr(config, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{field.name} must be a finite number, found {value}")
