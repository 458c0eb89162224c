"""A browser, studios for it to look at, and what people do there."""

import base64
import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
import uvicorn

from leaps.studio.server import Studio, make_app
from leaps.studio.serving import listen

try:
    from playwright.sync_api import Browser, Locator, Page, Playwright, ViewportSize, expect
except ModuleNotFoundError:  # one skip for each module that imports this one
    pytest.skip("drives a browser with playwright: pip install -e '.[dev]'", allow_module_level=True)

__all__ = ["Browser", "Locator", "Page", "Playwright", "ViewportSize", "expect"]

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
if BROWSER is None:
    pytest.skip("drives a browser: `make test-browser` installs chromium", allow_module_level=True)

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)
MODES = ("program", "study", "search", "space", "draw")
PATIENCE = 20.0
"""seconds until what should be seen counts as missing; a busy machine takes some of them"""

ROOT = Path(__file__).parents[2]

T = TypeVar("T")


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)


def until(look: Callable[[], T], what: str) -> T:
    """Look until there is something to see."""
    end = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < end, f"waited for: {what}"
        time.sleep(0.02)
    return seen


# Studios.


class Served:
    """A studio that runs elsewhere: ask it what the page should show."""

    def __init__(self, address: str, process: int | None = None) -> None:
        self.address, self.process = address, process
        self.host, self.port = str(urlsplit(address).hostname), urlsplit(address).port

    def ask(self, path: str, **fields: Any) -> Any:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            body = json.dumps(fields) if fields else None
            connection.request(
                "POST" if fields else "GET",
                path,
                body,
                {"Content-Type": "application/json"} if fields else {},
            )
            answer = connection.getresponse()
            told = json.loads(answer.read())
        finally:
            connection.close()
        assert answer.status == 200, told
        return told

    def mean(self, program: str, task: str, seed: int = 0) -> float:
        told = self.ask("/api/evaluate", program=program, task=task, seed=seed)
        return float(told["mean"])

    def searches(self) -> list[int]:
        """The processes that search for it."""
        children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        return [int(child) for child in children if is_search(int(child))]


def is_search(process: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it is gone
        return False


@contextmanager
def command(*words: str) -> Iterator[Served]:
    """Start the studio as people do."""
    process = subprocess.Popen(
        [sys.executable, "-m", "leaps.cli", "studio", "--port", "0", "--json", *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Served(json.loads(process.stdout.readline())["address"], process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


class Stoppable(uvicorn.Server):
    """A server of the loopback in a thread of its own, that may go away and come back."""

    def __init__(self, port: int = 0, token: str | None = None) -> None:
        app = make_app(Studio(warm=False), token=token)
        super().__init__(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
        self.listener: socket.socket = listen("127.0.0.1", port)
        self.port: int = self.listener.getsockname()[1]
        self.thread = Thread(target=self.run, args=([self.listener],), daemon=True)
        self.thread.start()
        until(lambda: self.started, "the server's start")

    def leave(self) -> None:
        self.should_exit = True
        self.thread.join(timeout=20)
        assert not self.thread.is_alive()


# Visitors.

BEING_DRAWN = r"503 .*/api/space/map"


class Visitor:
    """Somebody with a browser of their own, who notes what should not happen."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.excused = [BEING_DRAWN]

    def open(self, path: str = "", *, ready: bool = True, **options: Any) -> Page:
        """Open a page as a first visit. Nothing plays by itself, unless `reduced_motion` says otherwise.

        ready: wait until the program has run.
        """
        context = self.browser.new_context(
            **{
                "viewport": DESKTOP,
                "reduced_motion": "reduce",
                "permissions": ["clipboard-read", "clipboard-write"],
            }
            | options
        )
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda said: (
                self.complaints.append(f"{said.text} {said.location.get('url', '')}")
                if said.type in ("error", "warning")
                else None
            ),
        )
        page.goto(self.address + path)
        if ready:
            wait_for_run(page)
        return page

    def leave(self) -> None:
        """Close all pages, and tell of what should not have happened."""
        for context in self.browser.contexts:
            context.close()
        serious = [
            complaint
            for complaint in self.complaints
            if not any(re.search(excuse, complaint) for excuse in self.excused)
        ]
        assert not serious, serious
        own = urlsplit(self.address).netloc
        foreign = [url for url in self.requests if not is_of(url, own)]
        assert not foreign, foreign


def is_of(url: str, host: str) -> bool:
    """Whether an address is the host's, or needs none."""
    return urlsplit(url).netloc == host or url.startswith((f"blob:http://{host}/", "data:"))


def wait_for_run(page: Page) -> None:
    page.get_by_test_id("rollout-0").wait_for()
    expect(page.locator(".stale")).to_have_count(0)


# What they do, and see.


def text_of(page: Page) -> str:
    """The program in the editor."""
    return "\n".join(page.locator(".cm-line").all_text_contents())


def copied(page: Page) -> str:
    """The whole program, by way of the clipboard: of a long one the editor shows only a part."""
    page.get_by_test_id("editor").focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    return str(page.evaluate("navigator.clipboard.readText()"))


def in_a_line(text: str) -> str:
    return " ".join(text.split())


def paste(page: Page, text: str) -> None:
    """Put a program in the place of the one in the editor, from the clipboard."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.get_by_test_id("editor").focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")


def put_cursor(page: Page, line: int, column: int) -> None:
    """Put the cursor into a line, both counted from 0, with keys."""
    page.get_by_test_id("editor").focus()
    page.keyboard.press("Control+Home")
    for _ in range(line):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    page.keyboard.press("Home")  # the first may stop at the indentation
    if page.evaluate("getSelection().focusOffset"):
        page.keyboard.press("Home")
    for _ in range(column):
        page.keyboard.press("ArrowRight")


def value_of(figure: Locator) -> float | None:
    """The return that is shown, unrounded."""
    value = figure.get_attribute("data-value")
    return None if value is None else float(value)


def expect_return(page: Page, name: str, value: float) -> None:
    """Wait until New, Orig or Best is a value, also as it is written."""
    figure = page.get_by_test_id(f"score-{name}")
    expect(figure).to_have_text(f"{value:.3f}".replace("-", "−"))
    assert value_of(figure) == pytest.approx(value)


def choose(page: Page, choice: str) -> None:
    """Choose one of a few; the input lies over its label."""
    page.get_by_test_id(choice).check(force=True)


def enter(page: Page, field: str, value: int) -> None:
    page.get_by_test_id(field).fill(str(value))
    page.get_by_test_id(field).press("Enter")


def picture(page: Page, testid: str) -> str:
    """What a canvas shows."""
    place = page.get_by_test_id(testid)
    canvas = place if testid in ("board", "space-map", "search-map") else place.locator("canvas")
    return str(canvas.evaluate("canvas => canvas.toDataURL()"))


def kept(page: Page) -> Any:
    """What the browser keeps for the next visit."""
    return json.loads(page.evaluate("localStorage['studio.last'] ?? '{}'"))


def link(program: str, task: str = "harvester", seed: int = 0, **more: Any) -> str:
    """The part of an address that shares a program."""
    shared = {"program": program, "task": task, "seed": seed, "size": None, **more}
    return "#s=" + base64.urlsafe_b64encode(json.dumps(shared).encode()).decode().rstrip("=")


def example(task: str) -> str:
    """The hand-written program that solves a task."""
    return (ROOT / "examples" / f"{task}.karel").read_text().strip()
