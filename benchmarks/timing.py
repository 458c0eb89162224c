"""How long something takes."""

import time
from collections.abc import Callable


def best(action: Callable[[], object], seconds: float = 1.5) -> float:
    """The shortest time that `action` takes, in seconds, of as many tries as fit."""
    action()
    shortest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest
