"""Several searches at once, one on each core."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from leaps.base import parallel
from leaps.search.solve import Listener, Round, Run, Solution, work


def work_all(
    runs: Sequence[Run], listener: Listener = id, done: Callable[[Solution], object] = id
) -> list[Solution]:
    """Run several searches at once, each on a core of its own; return what they found, in their order.

    Each finds what it would find alone. `done` is told each solution as soon as it is there; the listener is
    called from several threads. Interrupted, those under way return their best so far, and no other begins.
    """
    if len(runs) == 1:  # it has all cores to itself
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
        except BaseException:  # a search that began before the others were there would have nobody to stop it
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
                    # Not for ever: a signal that reaches another thread doesn't wake this one.
                    changed.wait(0.2)
                    changed.clear()
                    for future in [one for one in waiting if one.done()]:
                        if found := future.result():
                            done(found)
                        waiting.discard(future)
            except KeyboardInterrupt:
                stop.set()
            except Exception as error:  # the others' solutions are not to be lost with it
                waiting.discard(future)
                failure = failure or error
                stop.set()
    if failure:
        raise failure
    return [found for future in futures if (found := future.result())]
