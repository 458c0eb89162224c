"""What all hyperparameters have in common."""

import math
from dataclasses import fields
from typing import Any


def check_finite(config: Any) -> None:
    """Refuse hyperparameters that are no numbers: bounds let NaN pass, since no comparison with it holds."""
    for field in fields(config):
        value = getattr(config, field.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{field.name} must be a finite number, found {value}")
