"""Find a program for a Gymnasium environment: name its actions, say what can be perceived, and search.

Here it is CartPole: push a cart to the left or to the right so that the pole on it does not fall.
An observation is the cart's position and speed, and the pole's angle and angular speed.
"""

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

if __name__ == "__main__":
    found = leaps.solve(CART_POLE, seed=3, budget=1000, worlds=4)
    print(f"{found.unseen_return:.1f} of 500 on average: {found.program}")

    policy = leaps.ProgramPolicy(found.program, CART_POLE)
    seen, _ = CART_POLE.environment().reset(seed=0)
    policy.act(seen)
    print(f"it looked at {policy.reasons}")
