"""Step a thousand worlds together, as a Gymnasium vector environment."""

import time

import gymnasium
import numpy as np

import leaps

WORLDS, STEPS = 1024, 500


def main() -> None:
    print(f"LEAPS {leaps.__version__}")
    env = gymnasium.make_vec(
        "Karel/Maze-v0", num_envs=WORLDS, vectorization_mode="vector_entry_point", observation="perceptions"
    )
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    env.step(rng.integers(0, 5, WORLDS))  # the first step compiles
    found = 0.0
    start = time.perf_counter()
    for _ in range(STEPS):
        _, rewards, _, _, _ = env.step(rng.integers(0, 5, WORLDS))
        found += rewards.sum()
    rate = WORLDS * STEPS / (time.perf_counter() - start) / 1e6
    print(f"random steps found {found:.0f} markers, at {rate:.1f} million steps per second")


if __name__ == "__main__":
    main()
