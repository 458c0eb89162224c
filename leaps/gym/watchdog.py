"""Detect an environment that does not return from a step or a reset, and stop it.

A thread checks all running environments of this process regularly. The cost for a step is two additions. The
reaction to an environment that hangs depends on where it runs:

- A worker process writes a report and ends; the process that waits for it raises the error.
- In the main thread, a signal interrupts the environment with the error, also while it sleeps.
- In another thread, the error is raised as soon as the environment runs Python code again.

Compiled code that never returns can be stopped in a worker process only.
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
"""checks within the time that a step may take"""
LONGEST_WAIT = 1.0
"""maximum time between two checks, in seconds"""
GRACE = 2.0
"""multiple of the allowed time after which a worker ends, if the environment blocks its interpreter"""
EXIT_CODE = 86
"""exit code of a worker process that ended itself"""
SIGNAL = getattr(signal, "SIGALRM", None)
"""the signal that interrupts the main thread; None if the platform has none"""


class HangError(BaseException):
    """Raised in an environment that hangs. Not an `Exception`, which the environment might catch."""


class Pulse:
    """The call that an environment is in: a scene adds 1 to `calls` before and after each step and reset."""

    __slots__ = ("__weakref__", "calls", "done", "name", "resetting", "seconds", "seed", "thread")

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self.seconds = name, seconds
        self.calls = self.seed = self.thread = 0
        self.resetting = False
        self.done: list[int] = []
        """actions of the episode so far"""

    def at_work(self) -> int | None:
        """Return the number of the call that the environment is in; None if it is in none."""
        return self.calls if self.calls % 2 else None

    def __str__(self) -> str:
        reset = f"reset(seed={self.seed})"
        what = reset if self.resetting else f"step {len(self.done) + 1} of the episode with seed {self.seed}"
        return (
            f"{self.name}: the environment did not return from {what} within {self.seconds:g} s; if it needs "
            "longer, give the task more `seconds`"
        )


_pulses: "WeakKeyDictionary[Pulse, tuple[int | None, float]]" = WeakKeyDictionary()
"""for each pulse, the call at the last check that found a new one, and the time of that check"""
_lock = threading.Lock()
_thread: threading.Thread | None = None
_interrupted: tuple[Pulse, int] | None = None
"""the call that the signal is meant to interrupt"""
_reports: Path | None = None
"""folder for reports, in a worker process"""


def watch(pulse: Pulse) -> None:
    """Check a pulse regularly until it is garbage-collected. Call this in the thread that runs episodes."""
    global _thread
    pulse.thread = threading.get_ident()
    main = threading.current_thread() is threading.main_thread()
    if SIGNAL is not None and main and signal.getsignal(SIGNAL) == signal.SIG_DFL:
        signal.signal(SIGNAL, _interrupt)
    with _lock:
        _pulses[pulse] = (None, time.monotonic())
        _arm([pulse])
        if _thread is None or not _thread.is_alive():  # a forked process has no threads
            _thread = threading.Thread(target=_look, name="leaps-watchdog", daemon=True)
            _thread.start()


def report_to(folder: Path) -> None:
    """When an environment hangs, write a report into this folder and end this process."""
    global _reports
    _reports = folder


def reported(folder: Path) -> str | None:
    """Read and delete the report of a worker that ended itself; None if there is none."""
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
    """Stop environments that hang, and return the seconds until the next check."""
    with _lock:
        known = list(_pulses.items())
    now = time.monotonic()
    for pulse, (before, since) in known:
        call = pulse.at_work()
        hangs = call is not None and call == before and now - since > pulse.seconds
        if hangs or call is None or call != before:
            with _lock:
                _pulses[pulse] = (call, now)  # after the interrupt it has the same time again
        if hangs and call is not None:
            _end(pulse, call)
    with _lock:
        _arm([pulse for pulse, _ in known])
    return min(LONGEST_WAIT, *(pulse.seconds / LOOKS for pulse, _ in known), LONGEST_WAIT)


def _arm(pulses: list[Pulse]) -> None:
    """Make a worker end even if its interpreter is blocked, so that no Python thread can check it."""
    if _reports is not None:
        faulthandler.cancel_dump_traceback_later()
        if pulses:
            longest = max(pulse.seconds for pulse in pulses)
            faulthandler.dump_traceback_later(GRACE * longest + LONGEST_WAIT, exit=True)


def _end(pulse: Pulse, call: int) -> None:
    """Interrupt the call of an environment that hangs."""
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
