"""Costly work does not delay cheap work, and queues are bounded."""

import asyncio
import threading
import time

import pytest

from leaps.base import parallel
from leaps.studio.lanes import CHEAP, PAUSE, Lane, Lanes
from leaps.studio.requests import RequestError


class Gate(threading.Event):
    """Work that ends when the gate is set, or after a timeout if a test fails."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()

    def wait(self, timeout: float | None = 5) -> bool:
        self.reached.set()
        return super().wait(timeout)

    async def is_reached(self) -> None:
        """Wait until a thread waits at the gate and all other tasks have run."""
        assert await asyncio.to_thread(self.reached.wait, 30)
        await asyncio.sleep(0.01)


def test_cheap_work_passes_costly_work() -> None:
    async def scene() -> str:
        lanes, gate = Lanes(threads=1), Gate()
        costly = [asyncio.create_task(lanes.run(gate.wait, CHEAP + 1)) for _ in range(5)]
        await gate.is_reached()
        result = await asyncio.wait_for(lanes.run(lambda: "cheap", CHEAP), 5)
        assert not any(task.done() for task in costly)
        gate.set()
        await asyncio.gather(*costly)
        lanes.close()
        return result

    assert asyncio.run(scene()) == "cheap"


def test_costly_work_gives_way_for_a_bounded_time() -> None:
    async def scene() -> tuple[float, float]:
        lanes, gate = Lanes(threads=1), Gate()
        begin = time.monotonic()
        lanes.give_way()
        alone = time.monotonic() - begin
        cheap = asyncio.create_task(lanes.run(gate.wait))
        await gate.is_reached()
        begin = time.monotonic()
        await lanes.run(lanes.give_way, CHEAP + 1)
        beside = time.monotonic() - begin
        gate.set()
        await cheap
        lanes.close()
        return alone, beside

    alone, beside = asyncio.run(scene())
    assert alone < PAUSE <= beside < 5


def test_full_lane_raises_busy_and_recovers() -> None:
    async def scene() -> None:
        lane, gate = Lane("test", threads=1, waiting=2), Gate()
        tasks = [asyncio.create_task(lane.run(gate.wait)) for _ in range(3)]
        await gate.is_reached()
        with pytest.raises(RequestError, match="busy") as caught:
            await lane.run(gate.wait)
        assert caught.value.status == 503
        gate.set()
        await asyncio.gather(*tasks)
        await asyncio.sleep(0)
        assert await lane.run(lambda: 3) == 3
        lane.close()

    asyncio.run(scene())


def test_running_work_counts_after_its_request_is_cancelled() -> None:
    async def scene() -> None:
        lane, gate = Lane("test", threads=1, waiting=0), Gate()
        task = asyncio.create_task(lane.run(gate.wait))
        await gate.is_reached()
        task.cancel()
        await asyncio.sleep(0.01)
        with pytest.raises(RequestError):
            await lane.run(gate.wait)
        gate.set()
        while lane.inside:
            await asyncio.sleep(0.01)
        lane.close()

    asyncio.run(asyncio.wait_for(scene(), 10))


def test_error_is_raised_to_the_caller_and_frees_the_thread() -> None:
    async def scene() -> None:
        lane = Lane("test", threads=1, waiting=0)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await lane.run(lambda: 1 // 0)
            await asyncio.sleep(0.01)
        lane.close()

    asyncio.run(scene())


def test_request_uses_one_thread() -> None:
    async def scene() -> int:
        lanes = Lanes()
        count = await lanes.run(parallel.threads)
        lanes.close()
        return count

    assert asyncio.run(scene()) == 1


def test_waiting_requests_are_refused_when_the_lane_closes() -> None:
    async def scene() -> None:
        lane, gate = Lane("test", threads=1), Gate()
        running = asyncio.create_task(lane.run(gate.wait))
        waiting = asyncio.create_task(lane.run(gate.wait))
        await gate.is_reached()
        lane.close()
        for refused in (waiting, lane.run(gate.wait)):
            with pytest.raises(RequestError, match="stopping") as caught:
                await refused
            assert caught.value.status == 503
        gate.set()
        assert await running

    asyncio.run(scene())
