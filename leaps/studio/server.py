"""The web application: routes, answers and errors."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp

from leaps import __version__
from leaps.domain import LIMIT, SHARE, Task
from leaps.dsl.text import to_indented
from leaps.experiments.study import STUDY
from leaps.studio.completion import complete
from leaps.studio.guard import Guard
from leaps.studio.lanes import CHEAP, Lanes
from leaps.studio.offer import describe_tasks, offered, step_cost
from leaps.studio.pages import pages
from leaps.studio.programs import start_of
from leaps.studio.requests import (
    ACTIONS,
    BODY,
    CHARACTERS,
    EPISODES,
    PICTURES,
    PLACED,
    SHOWN_AT_ONCE,
    SIDE,
    TOKENS,
    WALK,
    Fields,
    RequestError,
    find_task,
    read_json,
    read_search,
)
from leaps.studio.rollouts import SHOWN, Rollout, rollout_of, rollouts_of
from leaps.studio.scoring import STEPS, Scoring
from leaps.studio.searching import Searches, encode_event
from leaps.studio.spans import check, read
from leaps.studio.tracing import Trace
from leaps.tasks import default_domain, named, plain_name

if TYPE_CHECKING:
    from leaps.studio.mapping import LatentMap

PATIENCE = 20.0
"""seconds within which a request's body must arrive"""
RETRY = 2
"""seconds after which the page asks again for a map that is not ready"""
RECORDED_STEP = 50
"""cost of recording a step, in compiled steps"""
COSTLY = CHEAP + 1
"""cost of slow work that is not counted in steps"""

Endpoint = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


@dataclass(frozen=True)
class Start:
    """What the page shows first, from the command line."""

    task: str = "top-off"
    """top-off: its worlds differ, and its first program can be improved a lot"""
    program: str | None = None
    own: Mapping[str, str] = field(default_factory=dict)
    """names of the user tasks, and their locations as `get` takes them"""

    @staticmethod
    def of(task: str, program: str | None = None) -> "Start":
        """Start with a task from the command line; raise an error if the studio can't show it."""
        name, own = plain_name(task)
        find_task(name, own)
        return Start(name, program, own)

    @property
    def offered(self) -> dict[str, Task]:
        """Tasks of the package that the page lists, always with the first one."""
        plain = re.split(f"[{SHARE}{LIMIT}]", self.task)[0]
        known = offered()
        return known if plain in known or plain in self.own else {**known, plain: named(plain)}


class Studio:
    """State shared by all requests: threads, searches, the map."""

    def __init__(self, start: Start | None = None, *, warm: bool = True) -> None:
        """warm: compile and draw the map in the background."""
        self.start = start or Start()
        self.warm = warm
        self.lanes = Lanes()
        self.searches = Searches()
        self.map: LatentMap | None = None
        self.map_answer = b""
        self.map_problem: str | None = None
        self.stopping = False
        self.own_tasks = {name: find_task(name, self.start.own) for name in self.start.own}

    # Start and stop.

    def begin(self) -> None:
        """Compile in the background, so that the first request is as fast as the next."""
        if self.warm:
            threading.Thread(target=self._warm_up, name="studio-warm-up", daemon=True).start()

    def _warm_up(self) -> None:
        for name in (*self.start.own, *self.start.offered):
            if self.stopping:
                return
            fields = Fields({"task": name, "episodes": 1}, self.start.own)
            with suppress(ValueError), fields.task_errors():  # the first request will report it
                fields = replace(fields, values={**fields.values, "program": start_of(name, fields.task())})
                Scoring.of(fields).answer()
                rollout_of(fields).answer()
        if not self.stopping:
            self.draw_map()

    def draw_map(self) -> None:
        """Lay out the map, or store the reason why there is none."""
        try:
            import torch

            from leaps.embedding.space import Space
            from leaps.studio.mapping import LatentMap

            torch.set_num_threads(1)
            latent_map = LatentMap.of(Space.load())
            self.map_answer = encode(latent_map.answer)
            self.map = latent_map
        except (ValueError, OSError, ImportError) as error:
            self.map_problem = f"there is no map: {error}"

    def stop(self) -> None:
        """Stop all running work."""
        self.stopping = True
        self.searches.stop()
        self.lanes.close()

    # Requests.

    async def about(self, _request: Request) -> Response:
        # In no lane: the page checks with it whether the server runs, also when all lanes are busy.
        return answer(await asyncio.to_thread(lambda: encode(about(self.start, self._own_tasks_now()))))

    def _own_tasks_now(self) -> dict[str, Task]:
        """Read the user tasks from their files; keep the last version of one whose file has an error."""
        for name in self.start.own:
            with suppress(RequestError):
                self.own_tasks[name] = find_task(name, self.start.own)
        return self.own_tasks

    async def _fields(self, request: Request) -> Fields:
        return read_json(await body_of(request), self.start.own)

    async def _run(self, fields: Fields, work: Callable[[], T], cost: int = 0) -> T:
        """Run the work of a request in the lane for this cost; errors of user tasks become request errors."""

        def reporting() -> T:
            with fields.task_errors():
                return work()

        return await self.lanes.run(reporting, cost)

    async def check(self, request: Request) -> Response:
        fields = await self._fields(request)
        text = fields.text("program")
        cursor = fields.integer("cursor", 0, BODY) if fields.has("cursor") else None

        def work() -> bytes:
            language = fields.language(text)
            reading = read(text, language)
            result = check(reading)
            if cursor is not None:
                result["complete"] = complete(reading.source, cursor, language)
            return encode(result)

        return answer(await self._run(fields, work))

    async def evaluate(self, request: Request) -> Response:
        fields = await self._fields(request)
        scoring = await self._run(fields, lambda: Scoring.of(fields))
        gone = threading.Event()

        def check_wanted() -> None:
            if gone.is_set():
                raise RequestError("the request was cancelled")

        def between_parts() -> None:
            check_wanted()
            self.lanes.give_way()

        def work() -> bytes:
            check_wanted()
            return encode(scoring.answer(between_parts))

        async with watching(request, gone):
            return answer(await self._run(fields, work, scoring.cost))

    async def rollout(self, request: Request) -> Response:
        fields = await self._fields(request)
        rollout = await self._run(fields, lambda: rollout_of(fields))
        return answer(await self._run(fields, lambda: encode(rollout.answer()), cost_of([rollout])))

    async def rollouts(self, request: Request) -> Response:
        fields = await self._fields(request)
        rollouts = await self._run(fields, lambda: rollouts_of(fields, SHOWN_AT_ONCE))

        def work() -> bytes:
            answers: list[dict[str, Any]] = []
            for rollout in rollouts:
                if answers and costly:
                    self.lanes.give_way()
                answers.append(rollout.answer())
            return encode({"rollouts": answers})

        costly = cost_of(rollouts) > CHEAP
        return answer(await self._run(fields, work, cost_of(rollouts)))

    async def gif(self, request: Request) -> Response:
        fields = await self._fields(request)
        rollout = await self._run(fields, lambda: rollout_of(fields))
        rollout.check_film()
        content = await self._run(fields, rollout.film, COSTLY)
        name = re.sub(r"[^\w.-]", "-", rollout.task.name if rollout.task else "rollout", flags=re.ASCII)
        headers = {"Content-Disposition": f'attachment; filename="{name}.gif"'}
        return Response(content, media_type="image/gif", headers=headers)

    async def pictures(self, request: Request) -> Response:
        fields = await self._fields(request)
        first = fields.integer("first", 0, ACTIONS, 0)
        count = fields.integer("count", 1, PICTURES)
        rollout = await self._run(fields, lambda: rollout_of(fields))
        if not isinstance(rollout, Trace):
            raise RequestError("pictures: expected a task whose worlds the page does not draw itself")
        # In one thread: the drawing libraries of environments are not thread-safe.
        return answer(await self._run(fields, lambda: encode(rollout.pictures(first, count)), COSTLY))

    async def space_map(self, _request: Request) -> Response:
        self._need_map()
        return answer(self.map_answer)

    async def place(self, request: Request) -> Response:
        texts = (await self._fields(request)).texts("programs", PLACED)
        latent_map, language = self._need_map(), default_domain().language
        return answer(
            await self.lanes.run(
                lambda: encode(latent_map.place([read(text, language).program for text in texts]))
            )
        )

    async def between(self, request: Request) -> Response:
        fields = await self._fields(request)
        start, end = fields.text("from"), fields.text("to")
        steps = fields.integer("steps", 1, WALK)
        latent_map, language = self._need_map(), default_domain().language
        return answer(
            await self.lanes.run(
                lambda: encode(
                    latent_map.walk(read(start, language).program, read(end, language).program, steps)
                )
            )
        )

    def _need_map(self) -> "LatentMap":
        if self.map is None:
            if self.map_problem:
                raise RequestError(self.map_problem, 404)
            raise NotReadyError
        return self.map

    async def solve(self, request: Request) -> Response:
        # In a thread, since a file may have to be imported.
        wanted = await self.lanes.run(lambda: read_search(request.query_params, self.start.own))
        self.searches.check()

        async def stream() -> AsyncIterator[bytes]:
            yield encode_event(None)  # so that the browser knows that it is connected
            while self.warm and wanted.mapped and not (self.map or self.map_problem or self.stopping):
                await asyncio.sleep(0.1)  # the population of the search is shown on the map
            events = self.searches.events(wanted, self.map.plane if self.map else None)
            try:
                async for event in events:
                    yield encode_event(event)
            except RequestError as error:  # another request started a search first
                yield encode_event(("problem", {"error": str(error)}))
            finally:
                await events.aclose()

        return StreamingResponse(stream(), media_type="text/event-stream")


class NotReadyError(Exception):
    """The map is still being drawn."""


def about(start: Start, own: Mapping[str, Task] | None = None) -> dict[str, Any]:
    """Describe tasks, bounds and the first task to the page."""
    return {
        "version": __version__,
        **describe_tasks(start.offered, own or {}),
        "study": [
            {
                "task": studied.task,
                "program": to_indented(studied.program),
                "reported": {str(edits): value for edits, value in studied.reported.items()},
                "note": studied.note,
            }
            for studied in STUDY.values()
        ],
        "limits": {
            "episodes": EPISODES,
            "steps": STEPS,
            "shown": SHOWN,
            "characters": CHARACTERS,
            "tokens": TOKENS,
            "side": SIDE,
            "pictures": PICTURES,
        },
        "start": {"task": start.task, "program": start.program},
    }


def cost_of(rollouts: list[Rollout]) -> int:
    """Return the cost of recording rollouts, in compiled steps."""
    costs = (step_cost(rollout.task) if rollout.task else 1 for rollout in rollouts)
    return sum(
        rollout.length * max(RECORDED_STEP, cost) for rollout, cost in zip(rollouts, costs, strict=True)
    )


@asynccontextmanager
async def watching(request: Request, gone: threading.Event) -> AsyncIterator[None]:
    """Set an event when the client disconnects, so that its work can stop."""

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone.set()

    watcher = asyncio.create_task(watch())
    try:
        yield
    finally:
        watcher.cancel()


async def body_of(request: Request) -> bytes:
    """Read the body of a request, up to the maximum size."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(f"expected the content type application/json, found {kind[:80]!r}", 415)
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and int(announced[:18]) > BODY:
        raise RequestError(f"expected at most {BODY:,} bytes, found more", 413)
    body = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY:
                    raise RequestError(f"expected at most {BODY:,} bytes, found more", 413)
    except TimeoutError:
        raise RequestError(f"expected the whole request within {PATIENCE:g} seconds", 408) from None
    return bytes(body)


def encode(value: Any) -> bytes:
    # ASCII, since a text may contain half of a UTF-16 pair, which UTF-8 can't encode.
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def answer(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, media_type="application/json", headers=headers)


# Errors.


async def on_request_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    headers = {"Retry-After": "1"} if error.status == 503 else {}
    if error.status in (408, 413):  # the rest of the body is not read
        headers["Connection"] = "close"
    return answer(encode({"error": str(error)}), error.status, headers)


async def on_not_ready(_request: Request, _error: Exception) -> Response:
    message = {"error": "the map is being drawn; ask again in a moment", "retry": RETRY}
    return answer(encode(message), 503, {"Retry-After": str(RETRY)})


async def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problems = {
        404: f"nothing is served at {request.url.path[:80]!r}",
        405: f"{request.method} is not allowed at {request.url.path[:80]!r}",
    }
    problem = problems.get(error.status_code, error.detail)
    return answer(encode({"error": problem}), error.status_code, dict(error.headers or {}))


async def on_disconnect(_request: Request, _error: Exception) -> Response:
    return answer(encode({"error": "the connection was closed before the whole request arrived"}), 400)


async def on_bug(_request: Request, _error: Exception) -> Response:
    return answer(encode({"error": "internal error; the server's terminal shows it"}), 500)


def make_app(studio: Studio, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """Build the web application of a studio."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        studio.begin()
        yield
        studio.stop()

    def get(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["GET"])

    def post(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["POST"])

    api = Router(
        [
            get("/about", studio.about),
            post("/check", studio.check),
            post("/evaluate", studio.evaluate),
            post("/rollout", studio.rollout),
            post("/rollouts", studio.rollouts),
            post("/pictures", studio.pictures),
            post("/gif", studio.gif),
            get("/space/map", studio.space_map),
            post("/space/place", studio.place),
            post("/space/between", studio.between),
            get("/solve", studio.solve),
        ],
        redirect_slashes=False,
    )
    app = Starlette(
        routes=[Mount("/api", api), pages()],
        exception_handlers={
            RequestError: on_request_error,
            NotReadyError: on_not_ready,
            HTTPException: on_http_error,
            ClientDisconnect: on_disconnect,
            Exception: on_bug,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Guard(app, host, token)
