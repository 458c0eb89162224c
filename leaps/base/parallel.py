"""Split a batch among the cores.

Kernels release the interpreter lock, so ordinary threads run them at the same time. numba's `prange` is no
alternative. Its portable threading layer aborts the process when two Python threads use it at once, as in a
web server, and OpenMP's aborts when a process forks.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import local

SLICES = 6
"""slices of a batch per thread"""

_threads: int | None = None
_of_this_thread = local()


def available_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_threads(count: int | None) -> None:
    """Use `count` threads from now on; None means one per core. No result depends on it."""
    global _threads
    if count is not None and count < 1:
        raise ValueError(f"threads must be at least 1, found {count}")
    _threads = count


def threads() -> int:
    """Return the number of threads that a batch is split among."""
    if getattr(_of_this_thread, "alone", False):
        return 1
    return _threads or available_cores()


@contextmanager
def alone() -> Iterator[None]:
    """Run this thread's batches in this thread only: for code that already has one thread per core."""
    before = getattr(_of_this_thread, "alone", False)
    _of_this_thread.alone = True
    try:
        yield
    finally:
        _of_this_thread.alone = before


@cache
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """Keep one pool per process: threads don't survive a fork."""
    return ThreadPoolExecutor(size, thread_name_prefix=f"leaps-{process}")


def run_sliced(kernel: Callable[[int, int], object], count: int, *, grain: int) -> None:
    """Call `kernel(start, stop)` on all threads, on slices that cover range(count) once.

    `grain`: smallest number of items worth handing to a thread, which costs tens of microseconds.
    """
    most = count // max(grain, 1)
    workers = min(threads(), most)
    if workers <= 1:
        kernel(0, count)
        return
    # Costs of programs differ by a factor of 1,000. With several slices each, no thread idles for long.
    slices = min(workers * SLICES, most)
    edges = [count * i // slices for i in range(slices + 1)]
    waiting = list(pairwise(edges))

    def work() -> None:
        while True:
            try:
                start, stop = waiting.pop()
            except IndexError:
                return
            kernel(start, stop)

    helpers: list[Future[None]] = []
    try:
        pool = _pool(os.getpid(), workers - 1)
        helpers.extend(
            pool.submit(work) for _ in range(workers - 1)
        )  # one by one, since an interruption may come in between
        work()
    finally:
        waiting.clear()  # after an error, no thread starts another slice
        for helper in helpers:
            helper.result()
