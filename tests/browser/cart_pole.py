"""CartPole with two perceptions, for tests that open the studio with it."""

from typing import Any

import leaps


def will_lean_right(seen: Any) -> bool:
    """Whether the pole will lean to the right in a second, at its present speed."""
    return bool(seen[2] + seen[3] > 0)


def will_be_right(seen: Any) -> bool:
    """Whether the cart will be right of the middle in a second, at its present speed."""
    return bool(seen[0] + seen[1] > 0)


CART_POLE = leaps.GymTask(
    "cart-pole",
    make="CartPole-v1",
    actions={"pushLeft": 0, "pushRight": 1},
    perceptions={"willLeanRight": will_lean_right, "willBeRight": will_be_right},
    best=500,
)
