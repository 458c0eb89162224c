"""Notice an environment that does not return from a step or a reset, so that nothing waits for it forever.

A thread looks at all that is played in this process once in a while. A step pays two additions for that.
What happens to an environment that hangs depends on where it is played:

- A worker process writes down what hangs and ends; the process that waits for it raises the error.
- In the main thread, a signal interrupts the environment with the error, also while it sleeps.
- In another thread, the error is raised as soon as the environment runs Python code again.

Compiled code that never returns can be ended in a worker process only.
"""

import ctypes
import faulthandler
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

LOOKS = 8
"""times that a step is looked at in the seconds that it may take"""
LONGEST_WAIT = 1.0
"""seconds between two looks at most"""
GRACE = 2.0
"""times the allowed seconds after which a worker ends whose interpreter the environment does not let go"""
EXIT_CODE = 86
"""of a worker process that ended itself"""
SIGNAL = getattr(signal, "SIGALRM", None)
"""interrupts the main thread; None where there is none"""


class HangError(BaseException):
    """The environment hangs. Not an `Exception`, which an environment might catch."""


class Pulse:
    """What an environment is at: a scene adds 1 to `calls` before each step and reset, and 1 after it."""

    __slots__ = ("__weakref__", "calls", "done", "name", "resetting", "seconds", "seed", "thread")

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self.seconds = name, seconds
        self.calls = self.seed = self.thread = 0
        self.resetting = False
        self.done: list[int] = []
        """the actions of the episode"""

    def at_work(self) -> int | None:
        """Number the call that the environment has not returned from; None if it has."""
        return self.calls if self.calls % 2 else None

    def __str__(self) -> str:
        reset = f"reset(seed={self.seed})"
        what = reset if self.resetting else f"step {len(self.done) + 1} of the episode with seed {self.seed}"
        return (
            f"{self.name}: the environment did not return from {what} within {self.seconds:g} s; if it needs "
            "longer, give the task more `seconds`"
        )


_pulses: "WeakKeyDictionary[Pulse, tuple[int | None, float]]" = WeakKeyDictionary()
"""each with the call that it was in when it was last in another one, and when that was"""
_lock = threading.Lock()
_thread: threading.Thread | None = None
_interrupted: tuple[Pulse, int] | None = None
"""the call that the signal is meant for"""
_reports: Path | None = None
"""in a worker process, the folder to write reports into"""


def watch(pulse: Pulse) -> None:
    """Look at a pulse from now on, until it is gone. To be called by the thread that plays."""
    global _thread
    pulse.thread = threading.get_ident()
    main = threading.current_thread() is threading.main_thread()
    if SIGNAL is not None and main and signal.getsignal(SIGNAL) == signal.SIG_DFL:
        signal.signal(SIGNAL, _interrupt)
    with _lock:
        _pulses[pulse] = (None, time.monotonic())
        _arm([pulse])
        if _thread is None or not _thread.is_alive():  # a fork has no threads
            _thread = threading.Thread(target=_look, name="leaps-watchdog", daemon=True)
            _thread.start()


def report_to(folder: Path) -> None:
    """End this process when an environment hangs, and write a report into this folder."""
    global _reports
    _reports = folder


def reported(folder: Path) -> str | None:
    """Take the report of a worker that ended itself from a folder; None if there is none."""
    found = None
    for file in sorted(folder.glob("hangs-*")):
        found = file.read_text()
        file.unlink()
    return found


def _interrupt(signum: int, frame: Any) -> None:  # noqa: ARG001
    if _interrupted is not None and _interrupted[0].at_work() == _interrupted[1]:
        raise HangError


def _look() -> None:
    while True:
        time.sleep(_look_once())


def _look_once() -> float:
    """End what hangs, and return the seconds until the next look."""
    with _lock:
        known = list(_pulses.items())
    now = time.monotonic()
    for pulse, (before, since) in known:
        call = pulse.at_work()
        hangs = call is not None and call == before and now - since > pulse.seconds
        if hangs or call is None or call != before:
            with _lock:
                _pulses[pulse] = (call, now)  # one that hangs has as long again to react
        if hangs and call is not None:
            _end(pulse, call)
    with _lock:
        _arm([pulse for pulse, _ in known])
    return min(LONGEST_WAIT, *(pulse.seconds / LOOKS for pulse, _ in known), LONGEST_WAIT)


def _arm(pulses: list[Pulse]) -> None:
    """Let a worker end if its interpreter stands still: no thread of Python's can look then."""
    if _reports is not None:
        faulthandler.cancel_dump_traceback_later()
        if pulses:
            longest = max(pulse.seconds for pulse in pulses)
            faulthandler.dump_traceback_later(GRACE * longest + LONGEST_WAIT, exit=True)


def _end(pulse: Pulse, call: int) -> None:
    """End what an environment is at."""
    global _interrupted
    if _reports is not None:
        (_reports / f"hangs-{os.getpid()}").write_text(str(pulse))
        os._exit(EXIT_CODE)
    main = threading.main_thread().ident
    if SIGNAL is not None and pulse.thread == main and signal.getsignal(SIGNAL) is _interrupt:
        _interrupted = pulse, call
        signal.pthread_kill(pulse.thread, SIGNAL)
    else:
        error = ctypes.py_object(HangError)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(pulse.thread), error)
