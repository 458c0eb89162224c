"""Load test of the studio: `python -m benchmarks.studio --users 50 --seconds 10`.

The server runs in a separate process; this process simulates the browsers, on the same cores. The speed of
the page itself is measured in Chromium, if it is installed.
"""

import argparse
import asyncio
import base64
import gzip
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from leaps.karel.tasks import PAPER_TASKS
from leaps.studio.pages import STATIC
from leaps.studio.programs import start_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import Page

USERS, RATE, SECONDS = 50, 5.0, 10.0
CIRCLES = "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft move putMarker pickMarker w) m)"
"""a program that runs until the horizon and keeps changing the world"""
GIVE_UP = 30.0
"""seconds after which a response counts as missing"""
SAMPLED = 10.0
"""seconds between two measurements of the server's memory"""


class Served(NamedTuple):
    """A server that runs in a separate process."""

    address: str
    process: int

    def memory(self) -> float | None:
        """Return the resident memory in megabytes, or None outside Linux."""
        try:
            status = Path(f"/proc/{self.process}/status").read_text()
        except OSError:
            return None
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def started() -> Iterator[Served]:
    """Start a server, and wait until it is warm."""
    process = subprocess.Popen(
        [sys.executable, "-m", "leaps.cli", "studio", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = json.loads(process.stdout.readline())["address"]
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and asyncio.run(_status(address, "/api/space/map")) == 503:
            time.sleep(0.5)  # the map is the last part to become ready
        yield Served(address, process.pid)
    finally:
        process.terminate()
        process.wait(30)


class Browser:
    """A client with one connection that stays open."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname, parts.port

    async def __aenter__(self) -> "Browser":
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(self, path: str, fields: dict[str, Any] | None = None) -> int:
        """Send a request, read the whole response and return its status."""
        body = b"" if fields is None else json.dumps(fields).encode()
        verb = "GET" if fields is None else "POST"
        head = (
            f"{verb} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        response = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(response.partition("content-length: ")[2].partition("\r\n")[0])
        await self.reader.readexactly(length)
        return int(response.split(" ", 2)[1])


async def _status(address: str, path: str) -> int:
    async with Browser(address) as browser:
        return await browser.ask(path)


def evaluation(task: str, seed: int) -> dict[str, Any]:
    return {"program": start_of(task, PAPER_TASKS[task]), "task": task, "seed": seed, "episodes": 100}


def latencies(address: str, times: int = 40) -> dict[str, float]:
    """Measure the median milliseconds of an evaluation on 100 worlds, for each task."""

    async def measure() -> dict[str, float]:
        taken: dict[str, list[float]] = {task: [] for task in PAPER_TASKS}
        async with Browser(address) as browser:
            for seed in range(times):
                for task in PAPER_TASKS:
                    begin = time.perf_counter()
                    assert await browser.ask("/api/evaluate", evaluation(task, seed)) == 200
                    taken[task].append(1000 * (time.perf_counter() - begin))
        return {task: median(values) for task, values in taken.items()}

    return asyncio.run(measure())


@dataclass(frozen=True)
class Load:
    """Results of a load test."""

    answers: int
    """number of responses"""
    errors: int
    median: float
    """median milliseconds from when a request was due to the end of its response"""
    slowest: float
    """99th percentile of these milliseconds"""
    worst: float
    """maximum of these milliseconds"""
    memory: list[float]
    """resident memory of the server in megabytes, every ten seconds"""


def load(server: Served, users: int = USERS, seconds: float = SECONDS, heavy: bool = False) -> Load:
    """Simulate users who send evaluations at a steady rate, even if responses fall behind.

    heavy: add a user who requests the largest evaluations that are allowed.
    """
    address = server.address
    taken: list[float] = []
    memory: list[float] = []
    errors = 0

    async def user(number: int, begin: float) -> None:
        nonlocal errors
        async with Browser(address) as browser:
            for request in count():
                due = begin + (request + number / users) / RATE
                if due >= begin + seconds:
                    return
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                task = list(PAPER_TASKS)[(number + request) % len(PAPER_TASKS)]
                try:
                    status = await asyncio.wait_for(
                        browser.ask("/api/evaluate", evaluation(task, request)), GIVE_UP
                    )
                except (OSError, TimeoutError, asyncio.IncompleteReadError):
                    errors += 1
                    return
                errors += status != 200
                taken.append(1000 * (time.perf_counter() - due))

    async def greedy(begin: float) -> None:
        async with Browser(address) as browser:
            while time.perf_counter() < begin + seconds:
                fields = {"program": CIRCLES, "task": "four-corner", "size": [100, 100], "episodes": 1000}
                await browser.ask("/api/evaluate", fields)

    async def weigh() -> None:
        while (held := server.memory()) is not None:
            memory.append(held)
            await asyncio.sleep(SAMPLED)

    async def play() -> None:
        begin = time.perf_counter() + 0.5
        everyone = [user(number, begin) for number in range(users)]
        weighing = asyncio.create_task(weigh())
        await asyncio.gather(*everyone, *([greedy(begin)] if heavy else []))
        weighing.cancel()

    asyncio.run(play())
    return Load(len(taken), errors, median(taken), quantiles(taken, n=100)[-1], max(taken), memory)


# The page in a browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
FIRST_ROLLOUT = """new MutationObserver((_, observer) => {
  if (!document.querySelector('[data-testid=rollout-0] canvas')) return;
  observer.disconnect();
  requestAnimationFrame(() => { document.documentElement.dataset.shown = String(performance.now()); });
}).observe(document, { childList: true, subtree: true });"""
FRAMES = """() => new Promise((done) => {
  let [frames, begin] = [-1, 0];
  const tick = (now) => {
    frames += 1;
    if (frames === 0) begin = now;
    if (now - begin < 3000) requestAnimationFrame(tick);
    else done((1000 * frames) / (now - begin));
  };
  requestAnimationFrame(tick);
})"""


@dataclass(frozen=True)
class OnScreen:
    """Measurements of the page in a browser."""

    edits: dict[str, float]
    """median milliseconds from an edit to its return on 100 worlds, for each task"""
    frames: dict[int, float]
    """frames per second, by the number of worlds of 100 × 100 cells on the page"""
    opening: float
    """median milliseconds from opening the address to the first rollouts, with an empty browser cache"""
    kilobytes: float
    """size of the page's files, compressed"""


def on_screen(server: Served) -> OnScreen | None:
    """Measure the page in Chromium, or return None if Chromium or playwright is missing."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return None
    if browser is None:
        return None
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
        figures = OnScreen(
            {task: _edit_time(chromium, server, task) for task in PAPER_TASKS},
            {worlds: _frame_rate(chromium, server, worlds) for worlds in (1, 4)},
            median(_opening_time(chromium, server) for _ in range(7)),
            sum(len(gzip.compress(file.read_bytes())) for file in STATIC.rglob("*") if file.is_file()) / 1000,
        )
        chromium.close()
    return figures


def _visit(chromium: "Chromium", server: Served, shared: dict[str, Any] | None = None) -> "Page":
    page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(FIRST_ROLLOUT)
    encoded = base64.urlsafe_b64encode(json.dumps(shared).encode()).decode().rstrip("=")
    page.goto(server.address + (f"#s={encoded}" if shared else ""))
    page.locator("html[data-shown]").wait_for()
    return page


def _edit_time(chromium: "Chromium", server: Served, task: str, times: int = 15) -> float:
    page = _visit(chromium, server, {"program": start_of(task, PAPER_TASKS[task]), "task": task, "seed": 0})
    page.get_by_test_id("editor").focus()
    page.keyboard.press("Control+End")
    score, taken = page.get_by_test_id("score"), []
    for number in range(times):
        score.evaluate("panel => delete panel.dataset.latencyMs")
        page.keyboard.press("Backspace" if number % 2 else "Space")
        page.locator("[data-testid=score][data-latency-ms]").wait_for()
        taken.append(float(score.get_attribute("data-latency-ms") or "nan"))
    page.context.close()
    return median(taken)


def _frame_rate(chromium: "Chromium", server: Served, worlds: int) -> float:
    page = _visit(
        chromium, server, {"program": CIRCLES, "task": "four-corner", "seed": 0, "size": [100, 100]}
    )
    page.get_by_test_id(f"count-{worlds}").check(force=True)
    page.get_by_test_id("speed").fill("6")
    page.locator(f"[data-testid=rollout-{worlds - 1}]").wait_for()
    page.locator("[data-testid=play][aria-label^=Pause]").wait_for()
    rate = float(page.evaluate(FRAMES))
    page.locator("[data-testid=play][aria-label^=Pause]").wait_for()  # still playing after the measurement
    page.context.close()
    return rate


def _opening_time(chromium: "Chromium", server: Served) -> float:
    page = _visit(chromium, server)
    shown = float(page.locator("html").get_attribute("data-shown") or "nan")
    page.context.close()
    return shown


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--users", type=int, default=USERS)
    arguments.add_argument("--seconds", type=float, default=SECONDS)
    arguments.add_argument(
        "--heavy", action="store_true", help="Add a user with the largest allowed requests."
    )
    given = arguments.parse_args()
    with started() as server:
        if seen := on_screen(server):
            for task, milliseconds in seen.edits.items():
                print(f"{task}, on screen: {milliseconds:.0f} ms")
            print("frames per second:", {worlds: round(rate, 1) for worlds, rate in seen.frames.items()})
            print(f"opened in {seen.opening:.0f} ms, {seen.kilobytes:.0f} kB", flush=True)
        for task, milliseconds in latencies(server.address).items():
            print(f"{task}: {milliseconds:.1f} ms", flush=True)
        found = load(server, given.users, given.seconds, given.heavy)
        print(
            f"{found.answers:,} responses, {found.errors} errors, median {found.median:.0f} ms, "
            f"99th percentile {found.slowest:.0f} ms, maximum {found.worst:.0f} ms"
        )
        print("memory, every ten seconds, in MB:", *(f"{held:.1f}" for held in found.memory))


if __name__ == "__main__":
    main()
