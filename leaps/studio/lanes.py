"""Threads for what takes time, in two lanes: what is costly waits in a queue of its own, the rest goes past.

Compiled code lets other threads run, so a few threads keep all cores busy. A request uses one of them: many
requests share the cores better than threads of one request do.
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
"""seconds that something costly waits at most, between two of its parts, for what is cheap"""
WAITING = 200
"""requests that may wait in a lane"""

STOPPING = "the server is stopping"
T = TypeVar("T")


class Lane:
    """Some threads, and a queue that is not too long."""

    def __init__(self, name: str, threads: int, waiting: int = WAITING) -> None:
        self.most = threads + waiting
        self.inside = 0
        self.closed = False
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=f"studio-{name}")

    async def run(self, work: Callable[[], T]) -> T:
        """Do it in a thread of the lane, or say that there is too much to do."""
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
        # What was begun can't be stopped, so it counts until it is done, whoever still waits for it.
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
        """Begin nothing more; those who wait are told."""
        self.closed = True
        self.pool.shutdown(wait=False, cancel_futures=True)


def _alone(work: Callable[[], T]) -> T:
    with parallel.alone():
        return work()


class Lanes:
    """One lane for each of the two kinds."""

    def __init__(self, threads: int | None = None) -> None:
        self.cheap = Lane("cheap", threads or max(2, parallel.available_cores()))
        self.costly = Lane("costly", 1, waiting=20)

    async def run(self, work: Callable[[], T], cost: int = 0) -> T:
        """Do it in the lane for what may cost so many steps."""
        return await (self.cheap if cost <= CHEAP else self.costly).run(work)

    def give_way(self) -> None:
        """Between two parts of something costly: let those go first who won't take long, but not for ever."""
        latest = time.monotonic() + PAUSE
        while self.cheap.inside and time.monotonic() < latest:
            time.sleep(PAUSE / 20)

    def close(self) -> None:
        self.cheap.close()
        self.costly.close()
