"""Run a batch in several processes, which keep tasks and their environments between batches.

A task loaded from a file, `path.py:NAME`, is loaded from that file in each worker too. So the worker
registers the same environments and can import neighbouring modules. Any other task, of a script or a
notebook, is sent by value, together with the registered environments and the module search path.

A task is written to a file once, and each worker reads it when it first runs the task.
"""

import atexit
import hashlib
import pickle
import re
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from leaps.base import parallel
from leaps.base.user_code import import_content, imported_files, where_defined
from leaps.dsl.compiler import Compiled
from leaps.gym.play import Asked, Played
from leaps.gym.watchdog import GRACE, report_to, reported

if TYPE_CHECKING:
    from leaps.gym.task import GymTask

T = TypeVar("T")

CHUNKS = 4
"""parts of a batch per worker process, since programs differ in their running time"""
KEPT = 4
"""number of recent tasks that a worker keeps, with their environments"""
SHIPPED = ("gymnasium.", "leaps.")
"""modules that register their environments in every process"""


class NotSentError(Exception):
    """The task can't be sent to another process; the message has the reason."""


class Trouble(NamedTuple):
    """An error in a worker, returned and not raised: joblib would replace all workers after an exception."""

    message: str
    without_task: bool
    """whether the worker could not load the task"""


class Sent(NamedTuple):
    """A task written to a file for workers."""

    digest: str
    """hash of the task and its functions"""
    file: Path


def play_shared(task: "GymTask", compiled: Compiled, asked: Asked, workers: int) -> Played:
    """Run a batch in worker processes, divided by programs or by episodes.

    `NotSentError` if the task can't be sent.
    """

    def cut(count: int) -> list[NDArray[np.int64]]:
        return np.array_split(np.arange(count), min(CHUNKS * workers, count))

    # Early rejection needs a program's cumulative return, so one process runs all its episodes.
    by_program = compiled.count >= workers or asked.needed is not None
    if by_program:
        jobs = [(compiled.take(part), asked) for part in cut(compiled.count)]
    else:
        episodes = asked.episodes
        jobs = [(compiled, asked._replace(episodes=episodes.take(part))) for part in cut(episodes.count)]
    parts = _in_workers(task, workers, _play_part, jobs)
    if by_program:
        return Played(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    beside = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("outcome", "steps", "returns", "actions")
    }
    used, tried = [part.used for part in parts], [part.tried for part in parts]
    return Played(**beside, used=np.any(used, axis=0), tried=np.sum(tried, axis=0))


def check_in_worker(task: "GymTask", variant: str, workers: int) -> None:
    """Check the environment of a task in a worker process, so that a crash ends that process only.

    `NotSentError` if the task can't be sent.
    """
    _in_workers(task, workers, _check_part, [(variant,)])


# In the process that has the task


def _in_workers(
    task: "GymTask", workers: int, work: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """Call `work(sent, *job)` for all jobs in worker processes."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    sent = send(task)
    # loky replaces a worker that uses much memory, with this warning.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor")
    try:
        answers = Parallel(workers)(delayed(work)(sent, *job) for job in jobs)
    except TerminatedWorkerError as error:
        found = re.search(r"\{(.*)\}", str(error))
        if (hangs := reported(sent.file.parent)) is not None:
            raise ValueError(hangs) from None
        code = found[1] if found else "unknown"
        raise ValueError(
            f"{task.name}: a worker process ended during an episode (exit code {code}). The environment or a "
            "perception may have ended it, crashed in compiled code, or run out of memory. Or compiled code "
            f"did not return within {GRACE * task.seconds:g} s. To see where, "
            "use one process: `leaps trace`, or leaps.base.parallel.set_threads(1) in a script"
        ) from None
    for answer in answers:
        if isinstance(answer, Trouble):
            raise NotSentError(answer.message) if answer.without_task else ValueError(answer.message)
    return list(answers)


def send(task: "GymTask") -> Sent:
    """Write a task to a file for workers, unless the file exists."""
    import cloudpickle

    if (found := where_defined(task)) is not None:
        content = pickle.dumps(("file", sys.path, found))
    else:
        for module in imported_files():  # which other processes can't import by name
            cloudpickle.register_pickle_by_value(module)
        try:
            # Pickle each time: in a notebook, functions that the task calls may have been redefined.
            content = pickle.dumps(("value", sys.path, cloudpickle.dumps((_registered(), task))))
        except Exception as error:
            raise NotSentError(f"{type(error).__name__}: {error}") from None
    digest = hashlib.sha256(content).hexdigest()
    file = _folder() / digest
    if not file.exists():
        file.write_bytes(content)
    return Sent(digest, file)


@cache
def _folder() -> Path:
    """Return the temporary folder of tasks for workers; it is deleted when this process ends."""
    folder = TemporaryDirectory(prefix="leaps-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _registered() -> dict[str, Any]:
    """Return the environments registered in this process that can be sent."""
    import cloudpickle
    import gymnasium

    found = {}
    for name, spec in gymnasium.registry.items():
        if isinstance(spec.entry_point, str) and spec.entry_point.startswith(SHIPPED):
            continue
        try:
            cloudpickle.dumps(spec)
        except Exception:  # the task may not need it
            continue
        found[name] = spec
    return found


# In a worker

_tasks: OrderedDict[str, "GymTask"] = OrderedDict()
"""tasks by digest; the last used one is last"""


def _play_part(sent: Sent, compiled: Compiled, asked: Asked) -> Played | Trouble:
    """Run a part of a batch."""
    return _with_task(sent, lambda task: task.play_here(compiled, asked))


def _check_part(sent: Sent, variant: str) -> Trouble | None:
    """Check an environment."""
    return _with_task(sent, lambda task: task.check_here(variant))


def _with_task(sent: Sent, work: Callable[["GymTask"], T]) -> T | Trouble:
    """Call `work` with a task, which is read from its file if this process doesn't have it."""
    if sent.digest not in _tasks:
        try:
            task = _received(sent.file)
        except Exception as error:
            return Trouble(f"{type(error).__name__}: {error}", without_task=True)
        _tasks[sent.digest] = task
        while len(_tasks) > KEPT:
            _tasks.popitem(last=False)[1].close()
    _tasks.move_to_end(sent.digest)
    try:
        return work(_tasks[sent.digest])
    except ValueError as error:
        return Trouble(str(error), without_task=False)


def _received(file: Path) -> "GymTask":
    """Read a task from its file."""
    import gymnasium

    parallel.set_threads(1)  # there is a worker for each core
    report_to(file.parent)
    kind, path, content = pickle.loads(file.read_bytes())
    sys.path += [folder for folder in path if folder not in sys.path]
    if kind == "file":
        source, text, name = content
        found: GymTask = getattr(import_content(source, text), name)
        return found
    specs, task = pickle.loads(content)
    gymnasium.registry.update(specs)
    received: GymTask = task
    return received
