"""Serve the files of the page, compressed, with cache headers."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
FOREVER = "public, max-age=31536000, immutable"
MISSING = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>LEAPS studio</title>
<body><h1>The page is not built</h1>
<p>The server runs, but the page's files are missing. Build them with <code>make studio-page</code>,
and start <code>leaps studio</code> again.</p></body></html>
"""


class Files(StaticFiles):
    """Files of a folder. Names of assets contain a hash of their contents, so they are cached for ever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        if scope["path"].endswith("/") and path != ".":
            raise HTTPException(404)
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = FOREVER if path.startswith("assets") else "no-cache"
        return response


def pages(folder: Path = STATIC) -> BaseRoute:
    """Serve the page, or explain how to build it."""
    if not (folder / "index.html").is_file():
        return Route("/", missing)
    return Mount("/", Files(directory=folder, html=True), middleware=[Middleware(GZipMiddleware)])


async def missing(_request: Request) -> Response:
    return HTMLResponse(MISSING, headers={"Cache-Control": "no-cache"})
