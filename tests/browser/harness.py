"""A browser, studios to open in it, and the actions of users."""

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
"""seconds before an expected element counts as missing; a busy machine needs several"""

ROOT = Path(__file__).parents[2]

T = TypeVar("T")


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)


def until(look: Callable[[], T], what: str) -> T:
    """Call `look` until it returns a true value."""
    end = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < end, f"waited for: {what}"
        time.sleep(0.02)
    return seen


# Studios.


class Served:
    """A studio in another process, with requests for the values that the page should show."""

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
            result = json.loads(answer.read())
        finally:
            connection.close()
        assert answer.status == 200, result
        return result

    def mean(self, program: str, task: str, seed: int = 0) -> float:
        result = self.ask("/api/evaluate", program=program, task=task, seed=seed)
        return float(result["mean"])

    def searches(self) -> list[int]:
        """The search processes of the studio."""
        children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        return [int(child) for child in children if is_search(int(child))]


def is_search(process: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # the process has ended
        return False


@contextmanager
def command(*words: str) -> Iterator[Served]:
    """Start the studio with the command `leaps studio`."""
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
    """A local server in its own thread, which can be stopped and started again."""

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
    """A visitor with a separate browser profile, which records errors and foreign requests."""

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
            lambda message: (
                self.complaints.append(f"{message.text} {message.location.get('url', '')}")
                if message.type in ("error", "warning")
                else None
            ),
        )
        page.goto(self.address + path)
        if ready:
            wait_for_run(page)
        return page

    def leave(self) -> None:
        """Close all pages, and assert that no errors were recorded."""
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
    """Whether an address is on the host, or has no host."""
    return urlsplit(url).netloc == host or url.startswith((f"blob:http://{host}/", "data:"))


def wait_for_run(page: Page) -> None:
    page.get_by_test_id("rollout-0").wait_for()
    expect(page.locator(".stale")).to_have_count(0)


# Actions and observations.


def text_of(page: Page) -> str:
    """Return the program in the editor."""
    return "\n".join(page.locator(".cm-line").all_text_contents())


def copied(page: Page) -> str:
    """Return the whole program through the clipboard, since the editor renders only a part of a long one."""
    page.get_by_test_id("editor").focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    return str(page.evaluate("navigator.clipboard.readText()"))


def in_a_line(text: str) -> str:
    return " ".join(text.split())


def paste(page: Page, text: str) -> None:
    """Replace the program in the editor from the clipboard."""
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
    """Return the shown return, unrounded."""
    value = figure.get_attribute("data-value")
    return None if value is None else float(value)


def expect_return(page: Page, name: str, value: float) -> None:
    """Wait until New, Orig or Best has a value, in its attribute and as text."""
    figure = page.get_by_test_id(f"score-{name}")
    expect(figure).to_have_text(f"{value:.3f}".replace("-", "−"))
    assert value_of(figure) == pytest.approx(value)


def choose(page: Page, choice: str) -> None:
    """Click a radio button, which covers its label."""
    page.get_by_test_id(choice).check(force=True)


def enter(page: Page, field: str, value: int) -> None:
    page.get_by_test_id(field).fill(str(value))
    page.get_by_test_id(field).press("Enter")


def picture(page: Page, testid: str) -> str:
    """Return the contents of a canvas."""
    element = page.get_by_test_id(testid)
    canvas = element if testid in ("board", "space-map", "search-map") else element.locator("canvas")
    return str(canvas.evaluate("canvas => canvas.toDataURL()"))


def kept(page: Page) -> Any:
    """Return the state that the browser stores for the next visit."""
    return json.loads(page.evaluate("localStorage['studio.last'] ?? '{}'"))


def link(program: str, task: str = "harvester", seed: int = 0, **more: Any) -> str:
    """Return the fragment of an address that shares a program."""
    shared = {"program": program, "task": task, "seed": seed, "size": None, **more}
    return "#s=" + base64.urlsafe_b64encode(json.dumps(shared).encode()).decode().rstrip("=")


def example(task: str) -> str:
    """Return the hand-written program that solves a task."""
    return (ROOT / "examples" / f"{task}.karel").read_text().strip()
