"""The page's files are served with the right headers, and nothing else is served."""

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.types import Message

from leaps.studio.pages import FOREVER, pages


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html>" + " " * 1000)
    (static / "assets" / "app-1a2b.js").write_text("let x = 1;" * 200)
    (static / "assets" / "tiny.css").write_text("a{}")
    (tmp_path / "outside.txt").write_text("no")
    return static


class Answer:
    """Status, headers and body of a response."""

    def __init__(self) -> None:
        self.status, self.body = 0, b""
        self.headers: dict[str, str] = {}

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")


def get(folder: Path, path: str, **headers: str) -> Answer:
    async def receive() -> Message:
        await asyncio.sleep(60)  # the browser stays
        return {"type": "http.disconnect"}

    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "headers": sent,
    }
    scope |= {"query_string": b"", "root_path": "", "scheme": "http", "server": ("127.0.0.1", 80)}
    answer = Answer()
    asyncio.run(Starlette(routes=[pages(folder)])(scope, receive, answer.take))
    return answer


def test_the_page_and_its_files_are_served(folder: Path) -> None:
    page = get(folder, "/")
    assert (page.status, page.body[:15]) == (200, b"<!doctype html>")
    assert page.headers["content-type"].startswith("text/html")
    script = get(folder, "/assets/app-1a2b.js")
    assert script.headers["content-type"].startswith("text/javascript")


def test_files_with_a_hash_in_their_name_are_cached_forever(folder: Path) -> None:
    assert get(folder, "/assets/app-1a2b.js").headers["cache-control"] == FOREVER
    assert get(folder, "/").headers["cache-control"] == "no-cache"


def test_large_files_are_compressed(folder: Path) -> None:
    packed = get(folder, "/assets/app-1a2b.js", accept_encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == get(folder, "/assets/app-1a2b.js").body
    assert "accept-encoding" in packed.headers["vary"].lower()


def test_unchanged_file_is_not_sent_again(folder: Path) -> None:
    tag = get(folder, "/").headers["etag"]
    again = get(folder, "/", if_none_match=tag)
    assert (again.status, again.body) == (304, b"")
    (folder / "index.html").write_text("<!doctype html>another one")
    assert get(folder, "/", if_none_match=tag).status == 200


@pytest.mark.parametrize(
    "path", ["/assets", "/assets/", "/index.html/", "/../outside.txt", "/none.js", "/\0"]
)
def test_other_paths_are_not_found(folder: Path, path: str) -> None:
    assert get(folder, path).status == 404


def test_link_out_of_the_folder_is_not_followed(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "outside.txt")
    assert get(folder, "/link.txt").status == 404


def test_missing_build_is_explained(tmp_path: Path) -> None:
    answer = get(tmp_path / "nothing", "/")
    assert answer.status == 200
    assert b"make studio-page" in answer.body
    assert get(tmp_path / "nothing", "/app.js").status == 404
