import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from leaps.base import parallel


@pytest.fixture(autouse=True)
def restore() -> object:
    yield
    parallel.set_threads(None)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100, 101, 9999])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_item_is_processed_once(count: int, threads: int) -> None:
    parallel.set_threads(threads)
    done = [0] * count

    def kernel(start: int, stop: int) -> None:
        for i in range(start, stop):
            done[i] += 1

    parallel.run_sliced(kernel, count, grain=1)
    assert done == [1] * count


def test_small_batches_stay_in_the_callers_thread() -> None:
    parallel.set_threads(4)
    seen = []
    parallel.run_sliced(lambda _start, _stop: seen.append(threading.current_thread()), 99, grain=100)
    assert seen == [threading.current_thread()]


def test_large_batches_use_several_threads() -> None:
    parallel.set_threads(3)
    seen = set()

    def kernel(start: int, stop: int) -> None:  # noqa: ARG001
        seen.add(threading.get_ident())
        time.sleep(0.05)

    parallel.run_sliced(kernel, 1000, grain=1)
    assert len(seen) == 3


def test_an_error_in_a_slice_is_raised() -> None:
    parallel.set_threads(2)

    def kernel(start: int, stop: int) -> None:  # noqa: ARG001
        if start > 0:
            raise ValueError("slice")

    with pytest.raises(ValueError, match="slice"):
        parallel.run_sliced(kernel, 1000, grain=1)


def test_zero_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="threads must be at least 1"):
        parallel.set_threads(0)


def test_alone_affects_only_its_own_thread() -> None:
    parallel.set_threads(3)
    with parallel.alone():
        assert parallel.threads() == 1
        with parallel.alone():
            pass
        assert parallel.threads() == 1
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(parallel.threads).result() == 3
    assert parallel.threads() == 3
