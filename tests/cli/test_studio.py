"""`leaps studio`, from its first line to Ctrl-C."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from leaps.cli.studio import task_of
from leaps.studio.serving import listen
from tests.cli.harness import Leaps, assert_refused
from tests.karel.tasks.corridor import SOLUTION, corridor_in, edit

ROOT = Path(__file__).parents[2]


def start(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "leaps.cli", "studio", "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


def interrupt(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def about(address: str) -> Any:
    return ask(address, "GET", "/api/about")


def ask(address: str, method: str, path: str, **fields: object) -> Any:
    parts = urlsplit(address)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request(method, path, json.dumps(fields), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def test_studio_prints_its_address_and_ends_with_ctrl_c() -> None:
    process = start(str(ROOT / "examples" / "snake.karel"), "--json")
    assert process.stdout is not None
    printed = json.loads(process.stdout.readline())
    assert printed["token"] is None
    begin = about(printed["address"])["start"]
    assert begin["task"] == "snake"
    assert begin["program"] == (ROOT / "examples" / "snake.karel").read_text()
    code, out, err = interrupt(process)
    assert (code, out, err) == (0, "", "")


def test_user_task_is_the_first_task_under_its_plain_name(tmp_path: Path) -> None:
    corridor = corridor_in(tmp_path)
    process = start("--json", "--task", f"{corridor}:CORRIDOR~100")
    assert process.stdout is not None
    address = json.loads(process.stdout.readline())["address"]
    answer = about(address)
    assert answer["start"]["task"] == "corridor~100"
    assert answer["tasks"][-1]["name"] == "corridor"
    scored = ask(address, "POST", "/api/evaluate", program=SOLUTION, task="corridor~100")
    assert scored["mean"] == 1.0
    code, _, err = interrupt(process)
    assert (code, err) == (0, "")


def test_file_with_a_task_opens_with_that_task() -> None:
    example = ROOT / "tests" / "browser" / "cart_pole.py"
    process = start("--json", f"{example}:CART_POLE")
    assert process.stdout is not None
    address = json.loads(process.stdout.readline())["address"]
    assert about(address)["start"] == {"task": "cart-pole", "program": None}
    program = "DEF run m( IF c( willLeanRight c) i( pushRight i) m)"
    assert ask(address, "POST", "/api/evaluate", program=program, task="cart-pole", episodes=2)["valid"]
    code, _, err = interrupt(process)
    assert (code, err) == (0, "")


def test_task_given_twice_is_refused(leaps: Leaps) -> None:
    refused = leaps("studio", "my_env.py:CART_POLE", "--task", "maze", "--port", "0")
    assert_refused(refused, "expected one task, found my_env.py:CART_POLE and --task maze")


def test_ctrl_c_during_requests_has_no_traceback() -> None:
    process = start("--json")
    assert process.stdout is not None
    parts = urlsplit(json.loads(process.stdout.readline())["address"])
    assert parts.hostname is not None
    program = "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft move putMarker pickMarker w) m)"
    fields = {"program": program, "task": "four-corner", "size": [100, 100], "episodes": 1000}
    waiting = []
    for _ in range(8):
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        connection.request("POST", "/api/evaluate", json.dumps(fields), {"Content-Type": "application/json"})
        waiting.append(connection)
    time.sleep(0.3)
    code, _, err = interrupt(process)
    for connection in waiting:
        connection.close()
    assert code == 0
    assert "Traceback" not in err


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes where Linux lists them")
def test_ctrl_c_ends_a_running_search() -> None:
    process = start("--task", "maze")
    assert process.stdout is not None
    line = process.stdout.readline()
    address = line.split()[-1]
    assert address.startswith("http://127.0.0.1:")
    assert about(address)["start"] == {"task": "maze", "program": None}
    parts = urlsplit(address)
    assert parts.hostname is not None
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request("GET", "/api/solve?task=one-stroke&method=hc&size=40x40")
    connection.getresponse()
    searching: list[Path] = []
    while not searching:
        searching = [entry for entry in children_of(process.pid) if b"spawn_main" in arguments_of(entry)]
        time.sleep(0.1)
    code, _, err = interrupt(process)
    connection.close()
    assert (code, err) == (0, "")
    time.sleep(0.2)
    assert not any(b"spawn_main" in arguments_of(entry) for entry in searching)


def children_of(process: int) -> list[Path]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [Path("/proc") / child for child in listed]


def arguments_of(entry: Path) -> bytes:
    """The command line of a process; empty if the process has ended."""
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


def test_port_in_use_is_an_error(leaps: Leaps) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert_refused(leaps("studio", "--port", port, "--no-open"), f"port {port} is taken")


def test_unknown_task_or_file_is_refused(leaps: Leaps, tmp_path: Path) -> None:
    assert_refused(leaps("studio", "--task", "topoff", "--port", "0"), "did you mean 'top-off'?")
    assert_refused(leaps("studio", tmp_path / "none.karel", "--port", "0"), "No such file")
    long = tmp_path / "long.karel"
    long.write_text("x" * 4001)
    assert_refused(leaps("studio", long, "--port", "0"), "at most 4,000 characters, found 4,001")
    assert_refused(leaps("studio", "--port", "70000"), "--port")


def test_user_task_that_cannot_be_shown_is_refused(leaps: Leaps, tmp_path: Path) -> None:
    corridor = corridor_in(tmp_path)

    def begin(name: str) -> Any:
        # The port is in use, so a start that got this far would report it.
        with listen("127.0.0.1", 0) as taken:
            return leaps("studio", "--task", name, "--port", taken.getsockname()[1], "--no-open")

    assert_refused(begin(f"{corridor}:HALL"), "has no task 'HALL'; it has CORRIDOR")
    assert_refused(begin(f"{corridor}:CORRIDOR@0.5"), "corridor has no configurations to split")
    assert_refused(begin(f"{tmp_path}/none.py:HALL"), "there is no file")
    edit(corridor, "size=(4, 12)", "size=(4, 101)")
    assert_refused(begin(f"{corridor}:CORRIDOR"), "at most 100 cells a side, found 4x101")
    edit(corridor, 'name="corridor"', 'name="maze"')
    assert_refused(begin(f"{corridor}:CORRIDOR"), "CORRIDOR has the name of a built-in task, 'maze'")
    edit(corridor, "def value(", "def value(:")
    assert_refused(begin(f"{corridor}:CORRIDOR"), "line 15: SyntaxError: invalid syntax")


@pytest.mark.parametrize("module", ["starlette", "uvicorn", "leaps.studio.server"])
def test_other_commands_do_not_import_the_server(module: str) -> None:
    code = f"import leaps.cli, sys; print({module!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_program_is_opened_with_the_task_of_its_search(tmp_path: Path) -> None:
    named, found, lost, odd = (
        tmp_path / name for name in ("maze.karel", "a/x.karel", "b/x.karel", "c/x.karel")
    )
    for folder, content in ((found.parent, '{"task": "snake"}'), (odd.parent, '{"task": "../etc"}')):
        folder.mkdir()
        (folder / "result.json").write_text(content)
    assert [task_of(file) for file in (named, found, lost, odd)] == ["maze", "snake", None, None]
