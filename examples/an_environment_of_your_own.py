"""Find a program for a Gymnasium environment: name its actions, define perceptions, and search.

The environment is CartPole: push a cart to the left or to the right so that the pole on it does not fall.
An observation is the cart's position and speed, and the pole's angle and angular speed. Programs compare
these numbers with constants, which the search optimizes together with the program.
"""

import leaps

CART_POLE = leaps.GymTask(
    "cart-pole",
    make="CartPole-v1",
    actions={"pushLeft": 0, "pushRight": 1},
    perceptions={
        "position": leaps.number(lambda seen: seen[0]),
        "speed": leaps.number(lambda seen: seen[1]),
        "angle": leaps.number(lambda seen: seen[2]),
        "angularSpeed": leaps.number(lambda seen: seen[3]),
    },
    best=500,
    highest=500,
    repeats=True,
)

if __name__ == "__main__":
    found = leaps.solve(CART_POLE, seed=0, budget=3000, worlds=16)
    print(f"{found.unseen_return:.1f} of 500 on average: {found.program}")

    policy = leaps.ProgramPolicy(found.program, CART_POLE)
    seen, _ = CART_POLE.environment().reset(seed=0)
    policy.act(seen)
    print(f"it looked at {policy.reasons}")
