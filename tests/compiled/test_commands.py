"""The commands and the studio load a compiled task from its file."""

import io
import json
import re
from base64 import b64decode
from pathlib import Path

import pytest
from PIL import Image

from leaps.evaluate import evaluate
from leaps.studio.server import Start
from tests.cli.harness import Leaps
from tests.studio.harness import running

FILE = Path(__file__).parents[2] / "examples" / "a_domain_of_your_own.py"
TASK = f"{FILE}:EVERYBODY_DOWN"
SERVE = (
    "DEF run m( REPEAT R=19 r( WHILE c( waitingAbove c) w( up w) open open "
    "WHILE c( not c( ground c) c) w( down w) open r) m)"
)


@pytest.fixture
def leaps(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Leaps:
    monkeypatch.setenv("COLUMNS", "140")
    return Leaps(monkeypatch, capsys)


def test_a_task_is_solved_and_filmed(leaps: Leaps, tmp_path: Path) -> None:
    done = leaps("solve", TASK, "--also", "12x1", "--out", tmp_path / "found", "--json")
    assert done.code == 0
    assert done.json["solved"]
    assert done.json["elsewhere"] == {"12x1": 1.0}
    with Image.open(tmp_path / "found" / "rollout.gif") as film:
        assert getattr(film, "n_frames", 1) > 1


def test_a_program_is_run(leaps: Leaps) -> None:
    done = leaps("run", "-e", SERVE, "--task", TASK, "--size", "8x1", "--json")
    assert done.code == 0
    expected = evaluate(SERVE, TASK, size=(8, 1))
    assert done.json["returns"] == expected.returns[0].tolist()
    assert (done.json["size"], done.json["mean_return"]) == ([8, 1], 1.0)
    limited = leaps("run", "-e", SERVE, "--task", f"{TASK}~9", "--json")
    assert limited.json["cut_off"] == 100


def test_a_rollout_is_traced(leaps: Leaps) -> None:
    done = leaps("trace", "-e", SERVE, "--task", TASK, "--seed", 3)
    assert done.code == 0
    assert "[  ]" in done.out
    assert re.search(r"step 1: open.*\n  WHILE waitingAbove\? no", done.out)
    assert "the program ends, return 1.000" in done.out
    answer = leaps("trace", "-e", SERVE, "--task", TASK, "--seed", 3, "--json").json
    assert (answer["return"], answer["outcome"], len(answer["start"]["numbers"])) == (1.0, "halted", 2)


def test_a_text_is_checked(leaps: Leaps) -> None:
    assert leaps("check", "-e", SERVE, "--task", TASK).code == 0
    assert "'move' is not a token" in leaps("check", "-e", "DEF run m( move m)", "--task", TASK).err


def test_a_program_is_repaired(leaps: Leaps) -> None:
    broken = SERVE.replace("w( down w)", "w( up w)")
    done = leaps("repair", "-e", broken, "--task", TASK, "--edits", 1, "--budget", 3000, "--json")
    assert done.code == 0
    assert done.json["return"] == 1.0


def test_a_mistake_in_the_users_file_is_reported_with_its_line(leaps: Leaps, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    source = FILE.read_text()
    assert source.count("world.cells[0, floor, 0] -= 1") == 1
    wrong.write_text(source.replace("world.cells[0, floor, 0] -= 1", "world.cells[0, floor + 90, 0] -= 1"))
    line = 1 + wrong.read_text().split("floor + 90")[0].count("\n")
    for command in ("run", "trace"):
        done = leaps(command, "-e", SERVE, "--task", f"{wrong}:EVERYBODY_DOWN")
        assert done.code == 2
        assert f"act ({wrong}, line {line}): IndexError: index 9" in done.err


def test_the_studio_plays_scores_and_searches() -> None:
    with running(start=Start.of(TASK)) as server:
        offered = server.get("/api/about").json["tasks"][-1]
        assert (offered["name"], offered["group"]) == ("everybody-down", "Your own")
        assert (offered["size"], offered["smallest"], offered["unit"]) == ([5, 1], [2, 1], "world")
        asked = {"program": SERVE, "task": "everybody-down"}
        one = server.result("/api/rollout", **asked, index=3)
        assert (one["return"], one["outcome"]) == (1.0, "halted")
        scored = server.result("/api/evaluate", **asked, seed=4, size=[8, 1])
        assert scored["returns"] == evaluate(SERVE, TASK, seed=4, size=(8, 1)).returns[0].tolist()
        answer = server.result("/api/pictures", **asked, first=0, count=2)
        first, second = (Image.open(io.BytesIO(b64decode(picture))) for picture in answer["pictures"])
        assert first.tobytes() != second.tobytes()
        stream = server.get("/api/solve?task=everybody-down&method=ladder&budget=20000").body.decode()
        assert json.loads(stream.rpartition("event: end\ndata: ")[2])["solved"]
