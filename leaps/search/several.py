"""Run several searches in parallel, one per core."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from leaps.base import parallel
from leaps.search.solve import Listener, Round, Run, Solution, work


def work_all(
    runs: Sequence[Run], listener: Listener = id, done: Callable[[Solution], object] = id
) -> list[Solution]:
    """Run several searches in parallel, each on its own core; return their solutions in the same order.

    Each search finds what it would find alone. `done` is called with each solution as soon as it is ready;
    the listener is called from several threads. On KeyboardInterrupt, running searches return their best
    program so far, and no other search starts.
    """
    if len(runs) == 1:  # a single search uses all cores
        solution = work(runs[0], listener)
        done(solution)
        return [solution]
    begin, changed, stop = Event(), Event(), Event()
    failure: Exception | None = None

    def watch(step: Round) -> None:
        try:
            listener(step)
        except KeyboardInterrupt:
            stop.set()
        if stop.is_set():
            raise KeyboardInterrupt

    def work_alone(run: Run) -> Solution | None:
        begin.wait()
        with parallel.alone():
            return None if stop.is_set() else work(run, watch)

    with ThreadPoolExecutor(min(parallel.threads(), len(runs))) as pool:
        try:
            futures = [pool.submit(work_alone, run) for run in runs]
        except BaseException:  # otherwise the searches submitted so far would run with nothing to stop them
            stop.set()
            begin.set()
            raise
        for future in futures:
            future.add_done_callback(lambda _: changed.set())
        waiting = set(futures)
        while waiting:
            try:
                begin.set()
                while waiting:
                    # With a timeout: a signal delivered to another thread doesn't wake this one.
                    changed.wait(0.2)
                    changed.clear()
                    for future in [one for one in waiting if one.done()]:
                        if found := future.result():
                            done(found)
                        waiting.discard(future)
            except KeyboardInterrupt:
                stop.set()
            except Exception as error:  # keep the solutions of the other searches
                waiting.discard(future)
                failure = failure or error
                stop.set()
    if failure:
        raise failure
    return [found for future in futures if (found := future.result())]
