"""Run a search in its own process, which ends when the client disconnects."""

import asyncio
import json
import math
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

import numpy as np

from leaps.base import parallel
from leaps.base.user_code import what_is_wrong
from leaps.domain import Domain
from leaps.dsl.language import Language
from leaps.dsl.text import to_indented
from leaps.studio.offer import kinds_beyond
from leaps.studio.requests import RequestError, SearchRequest, fitting
from leaps.tasks import get

if TYPE_CHECKING:
    from leaps.experiments.explore import Plane
    from leaps.search.solve import Round

AT_ONCE = 2
"""maximum number of searches that run at the same time"""
NICENESS = 10
BETWEEN_EVENTS, BETWEEN_PLACINGS = 0.1, 0.5
"""minimum number of seconds between two events, and between two updates of the population"""
HEARTBEAT = 5.0
"""seconds of silence after which a comment is sent, to detect a client that has disconnected"""
LONGEST = 3600.0
"""maximum number of seconds of a search"""
POPULATION = 64
"""maximum number of candidates shown on the map"""

Event = tuple[str, dict[str, Any]]
LAST = ("end", "problem")
"""the events that end a search"""


def search(connection: Connection, request: SearchRequest, plane: "Plane | None") -> None:
    """Search, and send events. Runs in its own process."""
    with suppress(BrokenPipeError, ConnectionResetError):  # the client has disconnected
        with suppress(AttributeError, OSError):  # not on every system
            os.nice(NICENESS)
        try:
            connection.send(("end", _search(connection, request, plane)))
        except Exception as error:
            message = what_is_wrong(error, request.task)
            if message is None and not isinstance(error, ValueError):
                raise
            connection.send(("problem", {"error": message or str(error)}))


def _search(connection: Connection, request: SearchRequest, plane: "Plane | None") -> dict[str, Any]:
    import torch

    from leaps.search.solve import Run, SolveConfig, conclude

    parallel.set_threads(1)
    torch.set_num_threads(1)
    run = Run(
        SolveConfig(
            request.task,
            request.method,
            request.seed,
            request.budget,
            request.size,
            worlds=request.worlds,
            also=request.also,
        )
    )
    events = StepEvents(plane if request.mapped else None, get(request.task).domain.language)
    begin = sent = time.monotonic()
    while not run.finished and time.monotonic() - begin < LONGEST:
        step = run.step()
        if time.monotonic() - sent >= BETWEEN_EVENTS or run.finished or step.round == 1:
            sent = time.monotonic()
            connection.send(("step", events.of(step, run.domain)))
    connection.send(("judging", {}))  # on unseen worlds, which takes a while where rollouts are slow
    solution = conclude(run, interrupted=not run.finished)
    return {
        **events.program_of(solution.task.domain, solution.program),
        "return": solution.unseen_return,
        "elsewhere": solution.elsewhere,
        "search_return": solution.search_return,
        "evaluations": solution.evaluations,
        "seconds": round(solution.seconds, 3),
        "solved": solution.solved,
    }


class StepEvents:
    """Turn the rounds of a search into JSON."""

    def __init__(self, plane: "Plane | None", known: Language) -> None:
        """known: the language as the page knows it."""
        self.plane, self.known = plane, known
        self.program: str | None = None
        self.population: list[list[float]] = []
        self.placed = -math.inf

    def of(self, step: "Round", domain: Domain) -> dict[str, Any]:
        """Describe a round. domain: of its programs, since a search may change words of the language."""
        program = domain.text(step.program)
        event = {
            "round": step.round,
            "evaluations": step.evaluations,
            "seconds": round(step.seconds, 3),
            "mean": step.mean,
            # If all were rejected early, they count as 0, as in the mean.
            "best": step.best if math.isfinite(step.best) else 0.0,
            "best_so_far": step.best_so_far if math.isfinite(step.best_so_far) else 0.0,
            "worlds": step.worlds,
            "population": self.population_of(step),
        }
        if program != self.program:
            self.program = program
            event |= self.program_of(domain, program)
        return event

    def program_of(self, domain: Domain, line: str) -> dict[str, Any]:
        """Return an indented program, and the kinds of its words that the page doesn't know."""
        program = domain.parse(line)
        return {
            "program": to_indented(program),
            "words": kinds_beyond(domain.language, program, self.known),
        }

    def population_of(self, step: "Round") -> list[list[float]]:
        """Return the candidates' coordinates on the map, at most BETWEEN_PLACINGS seconds old."""
        from leaps.embedding.space import Space
        from leaps.search.search import InSpace
        from leaps.studio.mapping import plain

        if self.plane is None or time.monotonic() - self.placed < BETWEEN_PLACINGS:
            return self.population
        self.placed = time.monotonic()
        if isinstance(step.search, InSpace):
            latents = step.search.space.latent(step.search.points[:POPULATION])
        else:
            space = Space.load()
            latents = space.latent(space.encode(np.unique(step.asked[:POPULATION], axis=0)))
        self.population = plain(self.plane.place(latents))
        return self.population


class Searches:
    """The running searches."""

    def __init__(self, at_once: int = AT_ONCE, work: Callable[..., None] = search) -> None:
        self.at_once, self.work = at_once, work
        self.running: set[BaseProcess] = set()
        self.stopped = False
        self._context = get_context("spawn")
        # One thread receives from each search, one more waits for ended processes.
        self._pool = ThreadPoolExecutor(2 * at_once + 1, thread_name_prefix="studio-search")

    def check(self) -> None:
        """Raise an error if the maximum number of searches is running."""
        if self.stopped or len(self.running) >= self.at_once:
            raise RequestError(
                f"{len(self.running)} searches are running, the maximum is {self.at_once}; stop one of them",
                503,
            )

    async def events(self, request: SearchRequest, plane: "Plane | None") -> AsyncGenerator[Event | None]:
        """Search, and yield events; None after a silence. Closing the generator ends the search."""
        if sizes := [size for size in (request.size, *request.also) if size is not None]:
            try:
                for size in sizes:
                    fitting(get(request.task), size)
            except (ValueError, OSError) as error:  # the task's file may have just been edited
                yield "problem", {"error": str(error)}
                return
        self.check()
        receiver, process = self._start(request, plane)
        pending: Future[Event | None] | None = None
        try:
            while True:
                pending = self._pool.submit(_receive, receiver)
                while True:
                    done, _ = await asyncio.wait([asyncio.wrap_future(pending)], timeout=HEARTBEAT)
                    if done:
                        break
                    yield None
                event = pending.result()
                if event is None:
                    if not self.stopped:
                        yield "problem", {"error": "the process of the search ended unexpectedly"}
                    return
                yield event
                if event[0] in LAST:
                    return
        finally:
            self.running.discard(process)
            process.kill()
            if not self.stopped:
                self._pool.submit(_clean_up, process, receiver, pending)

    def _start(self, request: SearchRequest, plane: "Plane | None") -> tuple[Connection, BaseProcess]:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=self.work, args=(sender, request, plane), daemon=True)
        resource_tracker.ensure_running()  # its start would undo the signal mask that is set below
        # Only the server handles Ctrl-C; it then ends the search.
        masks = hasattr(signal, "pthread_sigmask")
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if masks else set()
        try:
            process.start()
        finally:
            if masks:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        sender.close()
        self.running.add(process)
        return receiver, process

    def stop(self) -> None:
        """Stop all searches, and start no more."""
        self.stopped = True
        for process in list(self.running):
            process.kill()
            process.join(1)
        self._pool.shutdown(wait=False)


def _receive(receiver: Connection) -> Event | None:
    try:
        event: Event = receiver.recv()
    except (EOFError, OSError):
        return None
    return event


def _clean_up(process: BaseProcess, receiver: Connection, pending: "Future[Event | None] | None") -> None:
    """Wait until a killed process has ended, and free its resources."""
    process.join()
    if pending is not None:
        wait([pending])
    receiver.close()
    process.close()


def encode_event(event: Event | None) -> bytes:
    """Encode an event for the browser."""
    if event is None:
        return b": still searching\n\n"
    name, data = event
    return f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n".encode()
