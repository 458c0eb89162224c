"""Hand independent pieces of work to local processes, a Dask cluster or a Ray cluster.

Work that raises and work that kills its worker (out of memory, a crash in compiled code) is reported as a
`Failure`, and the rest goes on. Losing the cluster itself is an error: nothing can go on then.
"""

import asyncio
import logging
import os
import re
import signal
import socket
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from leaps.base import parallel

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Work = Callable[[Item], Answer]

MOST_DEATHS = 3
"""of workers, before an item is given up"""
PER_WORKER = 2
"""items handed to a cluster at once: one in work, one that is there when it ends"""
PATIENCE = 14.0
"""seconds that a cluster has to answer, once its door is found open"""

ONE_THREAD = {
    "BLIS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",  # torch asks for this one
    "OPENBLAS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""environment of a local worker, since there may be one for each core"""


@dataclass(frozen=True)
class Failure:
    """Why an item has no answer."""

    message: str


class Backend(Protocol):
    """A place where work is done."""

    name: str

    def run(
        self, work: Callable[[Item], Answer], items: Sequence[Item]
    ) -> Iterator[tuple[int, Answer | Failure]]:
        """Do the work on every item, in whatever order and place.

        Yields the item's number and the answer, as they come, each exactly once. Work and items are pickled.
        """
        ...

    def close(self) -> None:
        """End what this started, and leave the cluster."""
        ...


def connect(name: str, address: str | None = None, jobs: int | None = None) -> Backend:
    """Find the place to work: `local` processes, or the `dask` or `ray` cluster at an address."""
    if name == "local":
        if address is not None:
            raise ValueError(f"local processes have no address, found {address!r}; did you mean dask or ray?")
        return Local(jobs)
    if name not in ("dask", "ray"):
        raise ValueError(f"unknown backend {name!r}; expected local, dask or ray")
    if jobs is not None:
        raise ValueError(f"the {name} cluster decides how many jobs run at once; jobs={jobs} is for local")
    if address is None:
        expected = DASK_FORM if name == "dask" else RAY_FORM
        raise ValueError(f"{name} needs the address of a cluster; expected {expected}")
    return Dask(address) if name == "dask" else Ray(address)


def _attempt(work: Callable[[Item], Answer], item: Item) -> Answer | Failure:
    """Do the work where it is done; errors are told in words, since not every exception can be pickled."""
    try:
        # Workers are as many as there are cores already.
        with parallel.alone():
            return work(item)
    except (Exception, SystemExit) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Failure(f"{_told(error)} ({Path(place.filename).name}:{place.lineno} in {place.name})")


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


class Local:
    """Processes on this machine, one for each job.

    joblib's `Parallel` shares one pool: when a worker dies it gives up everything, answers that nobody has
    fetched yet included, and doesn't tell whose worker it was. Here every worker is a pool of one of joblib's
    loky processes: only the item at hand is lost with it, and is known.
    """

    name = "local"

    def __init__(self, jobs: int | None = None) -> None:
        if jobs is not None and jobs < 1:
            raise ValueError(f"jobs must be at least 1, found {jobs}")
        self.jobs = jobs or parallel.available_cores()
        self._workers: list[_Worker] = []

    def run(
        self, work: Callable[[Item], Answer], items: Sequence[Item]
    ) -> Iterator[tuple[int, Answer | Failure]]:
        """Do the work on every item, each in a process that uses one thread."""
        if not items:
            return
        # loky replaces a worker that has grown much, and says so in the middle of a progress bar.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor")
        workers = [_Worker() for _ in range(min(self.jobs, len(items)))]
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in workers:
            idle.put(worker)

        def attempt(item: Item) -> Answer | Failure:
            worker = idle.get()
            try:
                return worker.attempt(work, item)
            finally:
                idle.put(worker)

        self._workers += workers
        threads = ThreadPoolExecutor(len(workers), thread_name_prefix="leaps-local")
        try:
            numbers = {threads.submit(attempt, item): number for number, item in enumerate(items)}
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        finally:
            # After Ctrl-C, an error of the caller's, or when it wants no more: don't wait for what runs.
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.end()
            threads.shutdown(wait=True)
            self._workers = [worker for worker in self._workers if worker not in workers]

    def close(self) -> None:
        for worker in self._workers:
            worker.end()


class _Worker:
    """A process that works on one item at a time, and is replaced when it dies."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Any = None
        self._future: Any = None
        self._ended = False

    def attempt(self, work: Callable[[Item], Answer], item: Item) -> Answer | Failure:
        from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

        exits: list[str] = []
        while len(exits) < MOST_DEATHS and not self._ended:
            try:
                answer: Answer | Failure = self._submit(work, item).result()
                return answer
            except TerminatedWorkerError as error:
                self._replace()
                codes = re.search(r"\{(.*)\}", str(error))
                exits.append(codes[1] if codes else "unknown")
            except BrokenProcessPool as error:  # the item or its answer couldn't be unpickled
                self._replace()
                return Failure(_told(error.__cause__ or error))
            except Exception as error:  # it couldn't be pickled
                return Failure(_told(error))
        return Failure(f"its worker process died {len(exits)} times, with exit codes {', '.join(exits)}")

    def _submit(self, work: Callable[[Item], Answer], item: Item) -> Any:
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        with self._lock:
            if self._ended:
                raise RuntimeError("the worker was told to end")
            if self._process is None:
                self._process = ProcessPoolExecutor(
                    1, env=ONE_THREAD, initializer=_begin_worker, initargs=(os.getpid(),)
                )
            self._future = self._process.submit(_attempt, work, item)
            return self._future

    def _replace(self) -> None:
        with self._lock:
            if self._process is not None:
                # loky stumbles over an item that it was given but hasn't sent yet.
                while not (self._future.running() or self._future.done()):
                    time.sleep(0.001)
                self._process.shutdown(kill_workers=True)
            self._process = None

    def end(self) -> None:
        self._ended = True
        self._replace()


def _begin_worker(parent: int) -> None:
    """Prepare a local worker's process."""
    parallel.set_threads(1)
    # Ctrl-C reaches all processes of a terminal: the caller decides what becomes of it, and ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        # A caller that is killed can't end its workers, and an item may take hours.
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


DASK_FORM = "tcp://host:port, such as tcp://10.0.0.1:8786"
RAY_FORM = "auto, host:port, or ray://host:port, such as ray://10.0.0.1:10001"


class Dask:
    """The workers of a running Dask cluster, which need this package installed.

    Dask moves the items of a lost worker to others, as often as the scheduler's `allowed-failures` says.
    """

    name = "dask"

    def __init__(self, address: str) -> None:
        try:
            import distributed
            from distributed.comm.core import connect as call
        except ModuleNotFoundError as error:
            raise _not_installed("dask", error) from None
        _probe("dask", address, DASK_FORM, ("tcp", "tls"))

        async def greet() -> None:
            security = distributed.Security().get_connection_args("client")
            line = await call(address, timeout=PATIENCE / 2, **security)
            await line.close()

        def begin() -> Any:
            # A client that could not begin tries to end, for long, when Python does, and complains that it
            # can't. So there is none until someone is found to speak its language.
            try:
                asyncio.run(asyncio.wait_for(greet(), PATIENCE / 2))
            except TimeoutError:
                raise
            except Exception:  # of whatever it took the bytes of an HTTP server for
                raise ConnectionError("something else answers there") from None
            return distributed.Client(address, timeout=PATIENCE / 2, set_as_default=False)

        self._client = _patiently("dask", address, DASK_FORM, begin)

    def run(
        self, work: Callable[[Item], Answer], items: Sequence[Item]
    ) -> Iterator[tuple[int, Answer | Failure]]:
        """Do the work on every item, a few per worker at once."""
        from distributed import KilledWorker

        suspects = []
        for number, answer in self._try(work, items, range(len(items))):
            if isinstance(answer, KilledWorker):
                suspects.append(number)
            else:
                yield number, answer
        # Dask suspects all items that a dead worker had, those that only waited there included. So those that
        # it gave up are tried once more, one at a time: a worker that dies now is that item's fault.
        for suspect in suspects:
            for number, answer in self._try(work, items, [suspect]):
                if isinstance(answer, KilledWorker):
                    answer = Failure(
                        f"its worker died {answer.allowed_failures + 1} times, and as often again"
                    )
                yield number, answer

    def _try(
        self, work: Callable[[Item], Answer], items: Sequence[Item], numbers: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Yield an answer, a Failure, or KilledWorker for the items of these numbers."""
        from distributed import KilledWorker, as_completed

        handed_over: dict[Any, tuple[int, Any]] = {}  # a future's key: the item's number, the future
        coming = as_completed(loop=self._client.loop, with_results=True, raise_errors=False)
        waiting = iter(numbers)
        try:
            while True:
                # Workers come and go, so they are counted each time.
                most = max(1, PER_WORKER * sum(self._client.nthreads().values()))
                for number in islice(waiting, max(0, most - len(handed_over))):
                    # `retries` are for work that raises, and `_attempt` doesn't.
                    future = self._client.submit(_attempt, work, items[number], pure=False, retries=0)
                    handed_over[future.key] = number, future
                    coming.add(future)
                if not handed_over:
                    return
                future, answer = next(coming)
                if future.status == "cancelled":
                    raise OSError("the scheduler is gone")
                # It may be "lost": then its worker has died since, but the answer is here.
                number, _ = handed_over.pop(future.key)
                if future.status == "error":
                    answer = future.exception()
                    if not isinstance(answer, KilledWorker):
                        answer = Failure(_told(answer))
                yield number, answer
        except OSError as error:
            raise ConnectionError(f"lost the dask cluster: {error}") from error
        finally:
            with suppress(OSError):
                self._client.cancel([future for _, future in handed_over.values()], force=True)

    def close(self) -> None:
        self._client.close()


class Ray:
    """The workers of a running Ray cluster, which need this package installed.

    Ray tries an item again when it loses the worker or the node.
    """

    name = "ray"

    def __init__(self, address: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ModuleNotFoundError as error:
            raise _not_installed("ray", error) from None
        if address != "auto":  # which is found in a file, or isn't
            _probe("ray", address, RAY_FORM, ("", "ray"))
        self._ray = ray

        def begin() -> None:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)

        _patiently("ray", address, RAY_FORM, begin)

    def run(
        self, work: Callable[[Item], Answer], items: Sequence[Item]
    ) -> Iterator[tuple[int, Answer | Failure]]:
        """Do the work on every item, a few per core at once."""
        ray = self._ray
        attempt = ray.remote(num_cpus=1, max_retries=MOST_DEATHS - 1)(_attempt)
        numbers: dict[Any, int] = {}  # of the items that are handed over
        waiting = iter(range(len(items)))
        try:
            while True:
                most = max(1, PER_WORKER * int(ray.cluster_resources().get("CPU", 0)))
                for number in islice(waiting, max(0, most - len(numbers))):
                    numbers[attempt.remote(work, items[number])] = number
                if not numbers:
                    return
                for done in ray.wait(list(numbers), num_returns=1)[0]:
                    try:
                        answer = ray.get(done)
                    except ray.exceptions.WorkerCrashedError:
                        answer = Failure(f"its worker died {MOST_DEATHS} times")
                    except ray.exceptions.RayTaskError as error:
                        answer = Failure(_told(error.cause))
                    except ray.exceptions.RayError as error:
                        answer = Failure(_told(error))
                    yield numbers.pop(done), answer
        finally:
            for reference in numbers:
                ray.cancel(reference, force=True)

    def close(self) -> None:
        self._ray.shutdown()


def _not_installed(name: str, error: ModuleNotFoundError) -> ValueError:
    return ValueError(f"{name} needs {error.name}; install it with: pip install 'leaps[{name}]'")


def _malformed(name: str, address: str, form: str) -> ValueError:
    return ValueError(f"{address!r} is no address of a {name} cluster; expected {form}")


def _silent(name: str, address: str, form: str, error: BaseException | None) -> ValueError:
    why = f" ({_told(error)})" if error is not None else ""
    return ValueError(f"no {name} cluster answers at {address!r}; expected {form}{why}")


def _probe(name: str, address: str, form: str, schemes: tuple[str, ...]) -> None:
    """Knock at the door: both libraries would knock at a closed one again and again, for long."""
    try:
        place = urlsplit(address if "://" in address else f"//{address}")
        host, port = place.hostname, place.port
    except ValueError:
        raise _malformed(name, address, form) from None
    if place.scheme not in schemes or not host or port is None:
        raise _malformed(name, address, form)
    try:
        socket.create_connection((host, port), timeout=PATIENCE / 3).close()
    except OSError as error:
        raise _silent(name, address, form, error) from None


def _patiently(name: str, address: str, form: str, begin: Callable[[], Answer]) -> Answer:
    """Begin within bounded time, whatever listens at the address.

    Dask's own timeout doesn't count the time that a handshake takes, and Ray tries for minutes, in compiled
    code that no signal interrupts. Neither can be stopped, so they are left to themselves.
    """
    begun: list[Answer] = []
    trouble: list[BaseException] = []

    def attempt() -> None:
        try:
            begun.append(begin())
        except BaseException as error:
            trouble.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not begun:
        raise _silent(name, address, form, trouble[0] if trouble else None)
    return begun[0]
