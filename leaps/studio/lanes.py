"""Threads for requests, in two lanes: costly requests wait in their own queue, and cheap ones pass them.

Compiled code lets other threads run, so a few threads keep all cores busy. Each request uses one thread: many
requests use the cores better than many threads of one request.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from leaps.base import parallel
from leaps.studio.requests import RequestError

CHEAP = 1_000_000
"""steps that take a few milliseconds: 100 worlds of any task at its own size are fewer"""
PAUSE = 0.04
"""maximum number of seconds that a costly request waits for cheap ones between two of its parts"""
WAITING = 200
"""maximum number of requests that wait in a lane"""

STOPPING = "the server is stopping"
T = TypeVar("T")


class Lane:
    """Threads with a bounded queue."""

    def __init__(self, name: str, threads: int, waiting: int = WAITING) -> None:
        self.most = threads + waiting
        self.inside = 0
        self.closed = False
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=f"studio-{name}")

    async def run(self, work: Callable[[], T]) -> T:
        """Run the work in a thread of the lane; raise an error if its queue is full."""
        if self.closed:
            raise RequestError(STOPPING, 503)
        if self.inside >= self.most:
            raise RequestError("the server is busy; try again in a moment", 503)
        self.inside += 1
        loop = asyncio.get_running_loop()

        def leave(_: object) -> None:
            with suppress(RuntimeError):  # the loop may be closed by then
                loop.call_soon_threadsafe(self._leave)

        future = self.pool.submit(_alone, work)
        # Running work can't be stopped, so it counts until it is done, even if no client waits for it.
        future.add_done_callback(leave)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if self.closed:
                raise RequestError(STOPPING, 503) from None
            raise

    def _leave(self) -> None:
        self.inside -= 1

    def close(self) -> None:
        """Start no more work, and refuse what waits."""
        self.closed = True
        self.pool.shutdown(wait=False, cancel_futures=True)


def _alone(work: Callable[[], T]) -> T:
    with parallel.alone():
        return work()


class Lanes:
    """A lane for cheap and one for costly work."""

    def __init__(self, threads: int | None = None) -> None:
        self.cheap = Lane("cheap", threads or max(2, parallel.available_cores()))
        self.costly = Lane("costly", 1, waiting=20)

    async def run(self, work: Callable[[], T], cost: int = 0) -> T:
        """Run the work in the lane for this cost, in compiled steps."""
        return await (self.cheap if cost <= CHEAP else self.costly).run(work)

    def give_way(self) -> None:
        """Between two parts of costly work, wait for cheap requests, up to PAUSE."""
        latest = time.monotonic() + PAUSE
        while self.cheap.inside and time.monotonic() < latest:
            time.sleep(PAUSE / 20)

    def close(self) -> None:
        self.cheap.close()
        self.costly.close()
