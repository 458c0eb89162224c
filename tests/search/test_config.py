"""Configurations of searches: invalid ones raise, valid ones survive a round trip through JSON."""

from typing import Any

import numpy as np
import pytest

from leaps.search.config import SolveConfig
from leaps.search.solve import solve


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "luck"}, "unknown task 'luck'; expected one of stair-climber"),
        ({"method": "luck"}, "unknown method 'luck'; expected one of ladder"),
        ({"budget": 0}, "budget must be at least 1, found 0"),
        ({"budget": -5}, "budget must be at least 1, found -5"),
        ({"worlds": 0}, "worlds must be at least 1, found 0"),
        ({"seed": -1}, "seed must be at least 0, found -1"),
        ({"max_length": 4}, "max_length must be at least 5, found 4"),
        ({"space": "nowhere"}, "no weights at 'nowhere'; expected leaps"),
        ({"edits": 0, "origin": "DEF run m( move m)"}, "edits must be at least 1, found 0"),
        (
            {"method": "hc", "origin": "DEF run m( move m)"},
            "hc can't stay close to a program; expected ladder",
        ),
        ({"origin": "DEF run m( m)"}, "token 3: found 'm\\)', expected an action"),
        ({"size": (3, 3)}, "maze needs at least 5x5 cells"),
        ({"task": "clean-house", "size": (8, 8)}, "clean-house has a fixed size"),
        ({"also": ((3, 3),)}, "maze needs at least 5x5 cells"),
        ({"also": ((9, 9), (8, 8))}, "also: expected sizes that differ, .* own 8x8; found 9x9, 8x8"),
        ({"size": (9, 9), "also": ((7, 8), (7, 8))}, "sizes that differ, .* own 9x9; found 7x8, 7x8"),
        ({"also": (9, 9)}, "also: expected height and width such as \\(8, 8\\), found 9"),
        ({"also": "9x9"}, "also: expected sizes such as \\[\\(16, 16\\)\\], found '9x9'"),
        ({"also": ["9x9"]}, "maze: expected height and width, such as 8x8 .* found '9x9'"),
        ({"also": [(9.0, 9.0)]}, "also: expected height and width"),
        ({"size": [8]}, "size: expected height and width such as \\(8, 8\\), found \\[8\\]"),
    ],
)
def test_an_invalid_configuration_raises(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve(**{"task": "maze", **settings})


def test_a_configuration_survives_json() -> None:
    config = SolveConfig("maze", size=(9, 9), also=((7, 8), (10, 10)))
    assert SolveConfig(**config.plain()) == config
    pair = tuple(np.array([9, 9]))
    of_numpy = SolveConfig("maze", seed=np.int64(3), size=pair)  # type: ignore[arg-type]
    assert SolveConfig(**of_numpy.plain()) == of_numpy
