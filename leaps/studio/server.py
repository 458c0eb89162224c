"""The application: which address asks for what, and how answers look."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from leaps import __version__
from leaps.dsl.language import FIXED_TOKENS
from leaps.dsl.text import to_indented
from leaps.experiments.study import STUDY
from leaps.karel.world import LANGUAGE
from leaps.studio.completion import complete, kind_of
from leaps.studio.filming import check_film, film
from leaps.studio.guard import Guard
from leaps.studio.lanes import CHEAP, Lanes
from leaps.studio.pages import Page, load_pages
from leaps.studio.programs import start_of, title_of
from leaps.studio.requests import (
    BODY,
    CHARACTERS,
    EPISODES,
    PLACED,
    SHOWN_AT_ONCE,
    SIDE,
    TOKENS,
    WALK,
    Fields,
    RequestError,
    read_json,
    read_search,
)
from leaps.studio.scoring import STEPS, Scoring
from leaps.studio.searching import Searches, in_words
from leaps.studio.spans import check, read
from leaps.studio.tracing import SHOWN, Rollout
from leaps.tasks import HARD, TASKS

if TYPE_CHECKING:
    from leaps.studio.mapping import LatentMap

PATIENCE = 20.0
"""seconds in which a request's body must be here"""
RETRY = 2
"""seconds after which it is worth asking again for a map that is not ready"""
COSTLY = CHEAP + 1
"""of what is not counted in steps, but takes its time"""

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Start:
    """What the command line gave to begin with."""

    task: str = "top-off"
    """whose worlds differ, and whose first program leaves much to improve"""
    program: str | None = None


class Studio:
    """What the requests share: threads, searches, the page's files, the map."""

    def __init__(self, start: Start | None = None, *, warm: bool = True) -> None:
        """warm: get ready in the background, and draw the map."""
        self.start = start or Start()
        self.warm = warm
        self.lanes = Lanes()
        self.searches = Searches()
        self.pages = load_pages()
        self.map: LatentMap | None = None
        self.map_answer = b""
        self.map_problem: str | None = None
        self.stopping = False
        self._about = encode(about(self.start))

    # The life of a studio.

    def begin(self) -> None:
        """Get ready in the background, so that the first edit is answered as quickly as the next."""
        if self.warm:
            threading.Thread(target=self._get_ready, name="studio-warm-up", daemon=True).start()

    def _get_ready(self) -> None:
        program = "DEF run m( IF c( frontIsClear c) i( move i) m)"
        for name in TASKS:
            if self.stopping:
                return
            Scoring.of(Fields({"program": program, "task": name, "episodes": 1})).answer()
            Rollout.of(Fields({"program": program, "task": name})).answer()
        if not self.stopping:
            self.draw_map()

    def draw_map(self) -> None:
        """Lay out the map, or note why there is none."""
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
        """End what is under way."""
        self.stopping = True
        self.searches.stop()
        self.lanes.close()

    # What is asked for.

    async def about(self, _request: Request) -> Response:
        return answer(self._about)

    async def check(self, request: Request) -> Response:
        fields = await fields_of(request)
        text = fields.text("program")
        cursor = fields.integer("cursor", 0, BODY) if fields.has("cursor") else None

        def work() -> bytes:
            reading = read(text)
            result = check(reading)
            if cursor is not None:
                result["complete"] = complete(reading.source, cursor)
            return encode(result)

        return answer(await self.lanes.run(work))

    async def evaluate(self, request: Request) -> Response:
        scoring = await self.lanes.run(with_fields(Scoring.of, await fields_of(request)))
        return answer(await self.lanes.run(lambda: encode(scoring.answer(self.lanes.give_way)), scoring.cost))

    async def rollout(self, request: Request) -> Response:
        rollout = await self.lanes.run(with_fields(Rollout.of, await fields_of(request)))
        return answer(await self.lanes.run(lambda: encode(rollout.answer()), cost_of([rollout])))

    async def rollouts(self, request: Request) -> Response:
        fields = await fields_of(request)
        rollouts = await self.lanes.run(lambda: Rollout.several(fields, SHOWN_AT_ONCE))

        def work() -> bytes:
            answers: list[dict[str, Any]] = []
            for rollout in rollouts:
                if answers and costly:
                    self.lanes.give_way()
                answers.append(rollout.answer())
            return encode({"rollouts": answers})

        costly = cost_of(rollouts) > CHEAP
        return answer(await self.lanes.run(work, cost_of(rollouts)))

    async def gif(self, request: Request) -> Response:
        rollout = await self.lanes.run(with_fields(Rollout.of, await fields_of(request)))
        check_film(rollout)
        content = await self.lanes.run(lambda: film(rollout), COSTLY)
        name = rollout.task.name if rollout.task else "rollout"
        headers = {"Content-Disposition": f'attachment; filename="{re.sub("[@~]", "-", name)}.gif"'}
        return Response(content, media_type="image/gif", headers=headers)

    async def space_map(self, _request: Request) -> Response:
        self._need_map()
        return answer(self.map_answer)

    async def place(self, request: Request) -> Response:
        texts = (await fields_of(request)).texts("programs", PLACED)
        latent_map = self._need_map()
        return answer(
            await self.lanes.run(lambda: encode(latent_map.place([read(text).program for text in texts])))
        )

    async def between(self, request: Request) -> Response:
        fields = await fields_of(request)
        start, end = fields.text("from"), fields.text("to")
        steps = fields.integer("steps", 1, WALK)
        latent_map = self._need_map()
        return answer(
            await self.lanes.run(
                lambda: encode(latent_map.walk(read(start).program, read(end).program, steps))
            )
        )

    def _need_map(self) -> "LatentMap":
        if self.map is None:
            if self.map_problem:
                raise RequestError(self.map_problem, 404)
            raise NotReadyError
        return self.map

    async def solve(self, request: Request) -> Response:
        wanted = read_search(request.query_params)
        self.searches.check(wanted)

        async def stream() -> AsyncIterator[bytes]:
            yield in_words(None)  # so that the browser knows that it is connected
            while self.warm and not (self.map or self.map_problem or self.stopping):
                await asyncio.sleep(0.1)  # the population is to be seen on it
            events = self.searches.events(wanted, self.map.plane if self.map else None)
            try:
                async for event in events:
                    yield in_words(event)
            except RequestError as error:  # two asked at once, and the other was quicker
                yield in_words(("problem", {"error": str(error)}))
            finally:
                await events.aclose()

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def page(self, request: Request) -> Response:
        return page_answer(self.pages[request.url.path], request)


class NotReadyError(Exception):
    """The map is still being drawn."""


def about(start: Start) -> dict[str, Any]:
    """What there is to choose from, and within which bounds."""
    return {
        "version": __version__,
        "tasks": [
            {
                "name": name,
                "title": title_of(name),
                "summary": task.summary,
                "size": list(task.size),
                "smallest": list(task.smallest),
                "resizable": task.resizable,
                "horizon": task.horizon(),
                "hard": name in HARD,
                "program": start_of(name),
            }
            for name, task in TASKS.items()
        ],
        "actions": list(LANGUAGE.actions),
        "perceptions": list(LANGUAGE.perceptions),
        "keywords": [
            token for token in FIXED_TOKENS.values() if token.isalpha() and kind_of(token) == "keyword"
        ],
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
        },
        "start": {"task": start.task, "program": start.program},
    }


def cost_of(rollouts: list[Rollout]) -> int:
    """Steps that rollouts may cost. Those that are told cost far more than those that are only counted."""
    return sum(50 * min(rollout.horizon, SHOWN) for rollout in rollouts)


def with_fields(check: Callable[[Fields], Any], fields: Fields) -> Callable[[], Any]:
    return lambda: check(fields)


async def fields_of(request: Request) -> Fields:
    """Read the body of a request, and no more of it than is allowed."""
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
    return read_json(bytes(body))


def encode(value: Any) -> bytes:
    # Escaped, since a text may hold half a pair of UTF-16, which no encoding can write.
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def answer(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, media_type="application/json", headers=headers)


def page_answer(found: Page, request: Request) -> Response:
    headers = {"Cache-Control": found.cache, "ETag": found.tag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    content = found.content
    if found.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["Content-Encoding"] = found.packed, "gzip"
    return Response(content, headers=headers | {"Content-Type": found.kind})


# What goes wrong.


async def on_request_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    headers = {"Retry-After": "1"} if error.status == 503 else {}
    if error.status in (408, 413):  # what is left of the body is not read
        headers["Connection"] = "close"
    return answer(encode({"error": str(error)}), error.status, headers)


async def on_not_ready(_request: Request, _error: Exception) -> Response:
    said = {"error": "the map is being drawn; ask again in a moment", "retry": RETRY}
    return answer(encode(said), 503, {"Retry-After": str(RETRY)})


async def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problems = {
        404: f"there is nothing at {request.url.path[:80]!r}",
        405: f"{request.method} is not for {request.url.path[:80]!r}",
    }
    problem = problems.get(error.status_code, error.detail)
    return answer(encode({"error": problem}), error.status_code, dict(error.headers or {}))


async def on_departure(_request: Request, _error: Exception) -> Response:
    return answer(encode({"error": "the request was not sent to its end"}), 400)


async def on_bug(_request: Request, _error: Exception) -> Response:
    return answer(encode({"error": "the server has made a mistake; its terminal says which"}), 500)


def make_app(studio: Studio, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """Put a studio behind its addresses."""

    @asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        studio.begin()
        yield
        studio.stop()

    def get(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["GET"])

    def post(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["POST"])

    app = Starlette(
        routes=[
            get("/api/about", studio.about),
            post("/api/check", studio.check),
            post("/api/evaluate", studio.evaluate),
            post("/api/rollout", studio.rollout),
            post("/api/rollouts", studio.rollouts),
            post("/api/gif", studio.gif),
            get("/api/space/map", studio.space_map),
            post("/api/space/place", studio.place),
            post("/api/space/between", studio.between),
            get("/api/solve", studio.solve),
            *(get(path, studio.page) for path in studio.pages),
        ],
        exception_handlers={
            RequestError: on_request_error,
            NotReadyError: on_not_ready,
            HTTPException: on_http_error,
            ClientDisconnect: on_departure,
            Exception: on_bug,
        },
        lifespan=life,
    )
    app.router.redirect_slashes = False
    return Guard(app, host, token)
