"""Run independent work items in local processes, on a Dask cluster or on a Ray cluster.

An item that raises or kills its worker (out of memory, a crash in compiled code) is reported as a `Failure`,
and the other items continue. Losing the cluster itself raises an error.
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
"""worker deaths after which an item is abandoned"""
PER_WORKER = 2
"""items submitted to a cluster per thread or core: one running, and one queued so that no worker waits"""
PATIENCE = 14.0
"""seconds that a cluster has to respond after its port accepts a connection"""

ONE_THREAD = {
    "BLIS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",  # for torch
    "OPENBLAS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""environment variables of a local worker, since there may be one worker per core"""


@dataclass(frozen=True)
class Failure:
    """The reason why an item has no answer."""

    message: str


class Backend(Protocol):
    """Workers that process items."""

    name: str

    def run(
        self, work: Callable[[Item], Answer], items: Sequence[Item]
    ) -> Iterator[tuple[int, Answer | Failure]]:
        """Apply the work to every item, in any order.

        Yields the item's number and answer on completion, each exactly once. Work and items are pickled.
        """
        ...

    def close(self) -> None:
        """Stop the processes that this backend started, and disconnect from the cluster."""
        ...


def connect(name: str, address: str | None = None, jobs: int | None = None) -> Backend:
    """Connect to a backend: `local` processes, or the `dask` or `ray` cluster at an address."""
    if name == "local":
        if address is not None:
            raise ValueError(
                f"the local backend takes no address, found {address!r}; did you mean dask or ray?"
            )
        return Local(jobs)
    if name not in ("dask", "ray"):
        raise ValueError(f"unknown backend {name!r}; expected local, dask or ray")
    if jobs is not None:
        raise ValueError(f"the {name} cluster sets how many jobs run at once; jobs={jobs} is only for local")
    if address is None:
        expected = DASK_FORM if name == "dask" else RAY_FORM
        raise ValueError(f"{name} needs the address of a cluster; expected {expected}")
    return Dask(address) if name == "dask" else Ray(address)


def _attempt(work: Callable[[Item], Answer], item: Item) -> Answer | Failure:
    """Process one item in the worker. Exceptions become text, since not all of them can be pickled."""
    try:
        # There is one worker per core already, so the work must not start more processes.
        with parallel.alone():
            return work(item)
    except (Exception, SystemExit) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return Failure(f"{_error_text(error)} ({Path(frame.filename).name}:{frame.lineno} in {frame.name})")


def _error_text(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


class Local:
    """Processes on this machine, one for each job.

    joblib's `Parallel` uses one pool. When a worker dies, the whole pool fails: unfetched answers are lost,
    and the item that killed the worker is unknown. Here every worker is a pool with a single loky process,
    so that only its current item is lost, and that item is known.
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
        """Apply the work to every item, each in a process that uses one thread."""
        if not items:
            return
        # loky replaces a worker that uses much memory. Its warning would interrupt the progress bar.
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
            # After Ctrl-C, an exception in the caller or an early exit: don't wait for running items.
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.end()
            threads.shutdown(wait=True)
            self._workers = [worker for worker in self._workers if worker not in workers]

    def close(self) -> None:
        for worker in self._workers:
            worker.end()


class _Worker:
    """A process that works on one item at a time and is replaced when it dies."""

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
                return Failure(_error_text(error.__cause__ or error))
            except Exception as error:  # it couldn't be pickled
                return Failure(_error_text(error))
        return Failure(f"the worker process died {len(exits)} times, with exit codes {', '.join(exits)}")

    def _submit(self, work: Callable[[Item], Answer], item: Item) -> Any:
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        with self._lock:
            if self._ended:
                raise RuntimeError("the worker has been stopped")
            if self._process is None:
                self._process = ProcessPoolExecutor(
                    1, env=ONE_THREAD, initializer=_begin_worker, initargs=(os.getpid(),)
                )
            self._future = self._process.submit(_attempt, work, item)
            return self._future

    def _replace(self) -> None:
        with self._lock:
            if self._process is not None:
                # loky fails if it is shut down with an item that is submitted but not sent yet.
                while not (self._future.running() or self._future.done()):
                    time.sleep(0.001)
                self._process.shutdown(kill_workers=True)
            self._process = None

    def end(self) -> None:
        self._ended = True
        self._replace()


def _begin_worker(parent: int) -> None:
    """Initialize a local worker process."""
    parallel.set_threads(1)
    # Ctrl-C reaches all processes of a terminal. Only the caller handles it, and stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        # A killed caller can't stop its workers, and an item may take hours.
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


DASK_FORM = "tcp://host:port, such as tcp://10.0.0.1:8786"
RAY_FORM = "auto, host:port, or ray://host:port, such as ray://10.0.0.1:10001"


class Dask:
    """The workers of a running Dask cluster, on which this package must be installed.

    Dask moves the items of a lost worker to other workers, up to the scheduler's `allowed-failures` times.
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
            # A client that failed to connect blocks Python's exit for a long time and logs errors. So the
            # client is created only after a Dask scheduler has responded.
            try:
                asyncio.run(asyncio.wait_for(greet(), PATIENCE / 2))
            except TimeoutError:
                raise
            except Exception:  # any type: Dask may misread the bytes of an HTTP server
                raise ConnectionError("the server there is not a Dask scheduler") from None
            return distributed.Client(address, timeout=PATIENCE / 2, set_as_default=False)

        self._client = _with_timeout("dask", address, DASK_FORM, begin)

    def run(
        self, work: Callable[[Item], Answer], items: Sequence[Item]
    ) -> Iterator[tuple[int, Answer | Failure]]:
        """Apply the work to every item, submitting a few per worker at once."""
        from distributed import KilledWorker

        suspects = []
        for number, answer in self._try(work, items, range(len(items))):
            if isinstance(answer, KilledWorker):
                suspects.append(number)
            else:
                yield number, answer
        # Dask blames all items of a dead worker, including queued ones. So abandoned items are retried one at
        # a time: if a worker dies now, its item is the cause.
        for suspect in suspects:
            for number, answer in self._try(work, items, [suspect]):
                if isinstance(answer, KilledWorker):
                    answer = Failure(
                        f"the worker died {answer.allowed_failures + 1} times, and as often in a second "
                        "attempt"
                    )
                yield number, answer

    def _try(
        self, work: Callable[[Item], Answer], items: Sequence[Item], numbers: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Yield number and answer, Failure or KilledWorker for each of the numbered items."""
        from distributed import KilledWorker, as_completed

        handed_over: dict[Any, tuple[int, Any]] = {}  # a future's key: the item's number, the future
        coming = as_completed(loop=self._client.loop, with_results=True, raise_errors=False)
        waiting = iter(numbers)
        try:
            while True:
                # Workers come and go, so they are counted each time.
                most = max(1, PER_WORKER * sum(self._client.nthreads().values()))
                for number in islice(waiting, max(0, most - len(handed_over))):
                    # `retries` apply to work that raises, which `_attempt` never does.
                    future = self._client.submit(_attempt, work, items[number], pure=False, retries=0)
                    handed_over[future.key] = number, future
                    coming.add(future)
                if not handed_over:
                    return
                future, answer = next(coming)
                if future.status == "cancelled":
                    raise OSError("the scheduler has stopped")
                # The status may be "lost": the worker has died since, but its answer has arrived.
                number, _ = handed_over.pop(future.key)
                if future.status == "error":
                    answer = future.exception()
                    if not isinstance(answer, KilledWorker):
                        answer = Failure(_error_text(answer))
                yield number, answer
        except OSError as error:
            raise ConnectionError(f"lost the dask cluster: {error}") from error
        finally:
            with suppress(OSError):
                self._client.cancel([future for _, future in handed_over.values()], force=True)

    def close(self) -> None:
        self._client.close()


class Ray:
    """The workers of a running Ray cluster, on which this package must be installed.

    Ray retries an item when it loses the worker or the node.
    """

    name = "ray"

    def __init__(self, address: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ModuleNotFoundError as error:
            raise _not_installed("ray", error) from None
        if address != "auto":  # Ray reads the address of `auto` from a file
            _probe("ray", address, RAY_FORM, ("", "ray"))
        self._ray = ray

        def begin() -> None:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)

        _with_timeout("ray", address, RAY_FORM, begin)

    def run(
        self, work: Callable[[Item], Answer], items: Sequence[Item]
    ) -> Iterator[tuple[int, Answer | Failure]]:
        """Apply the work to every item, submitting a few per core at once."""
        ray = self._ray
        attempt = ray.remote(num_cpus=1, max_retries=MOST_DEATHS - 1)(_attempt)
        numbers: dict[Any, int] = {}  # numbers of submitted items
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
                        answer = Failure(f"the worker died {MOST_DEATHS} times")
                    except ray.exceptions.RayTaskError as error:
                        answer = Failure(_error_text(error.cause))
                    except ray.exceptions.RayError as error:
                        answer = Failure(_error_text(error))
                    yield numbers.pop(done), answer
        finally:
            for reference in numbers:
                ray.cancel(reference, force=True)

    def close(self) -> None:
        self._ray.shutdown()


def _not_installed(name: str, error: ModuleNotFoundError) -> ValueError:
    return ValueError(f"{name} needs {error.name}; install it with: pip install 'leaps[{name}]'")


def _malformed(name: str, address: str, form: str) -> ValueError:
    return ValueError(f"{address!r} is not the address of a {name} cluster; expected {form}")


def _unreachable(name: str, address: str, form: str, error: BaseException | None) -> ValueError:
    why = f" ({_error_text(error)})" if error is not None else ""
    return ValueError(f"no {name} cluster answers at {address!r}; expected {form}{why}")


def _probe(name: str, address: str, form: str, schemes: tuple[str, ...]) -> None:
    """Check address and port first: at a closed port, both libraries would retry for a long time."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _malformed(name, address, form) from None
    if parts.scheme not in schemes or not host or port is None:
        raise _malformed(name, address, form)
    try:
        socket.create_connection((host, port), timeout=PATIENCE / 3).close()
    except OSError as error:
        raise _unreachable(name, address, form, error) from None


def _with_timeout(name: str, address: str, form: str, begin: Callable[[], Answer]) -> Answer:
    """Call `begin` with a time limit, whatever server listens at the address.

    Dask's timeout excludes the handshake, and Ray retries for minutes in compiled code that ignores signals.
    Neither can be interrupted, so an attempt that is too slow continues in a daemon thread.
    """
    connections: list[Answer] = []
    errors: list[BaseException] = []

    def attempt() -> None:
        try:
            connections.append(begin())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not connections:
        raise _unreachable(name, address, form, errors[0] if errors else None)
    return connections[0]
