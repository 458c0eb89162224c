"""Timing of functions."""

import time
from collections.abc import Callable


def best(action: Callable[[], object], seconds: float = 1.5) -> float:
    """Return the shortest time of `action` in seconds, over as many runs as fit into `seconds`."""
    action()
    shortest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest
