"""A task in a Gymnasium environment: every request of the page, over a real connection."""

import http.client
import io
import json
import time
from base64 import b64decode
from pathlib import Path

import pytest
from PIL import Image

from leaps.evaluate import evaluate
from leaps.studio.server import Start
from tests.gym.corridor import CORRIDOR
from tests.studio.harness import OWN, RIGHT, Running, running

ASKED = {"program": RIGHT, "task": "corridor"}


def test_task_is_listed_with_its_language(own_server: Running) -> None:
    result = own_server.get("/api/about").json
    assert result["start"]["task"] == "corridor"
    offered = result["tasks"][-1]
    assert (offered["name"], offered["group"], offered["variants"]) == ("corridor", "Your own", ["long"])
    assert "left" in result["languages"][offered["language"]]["words"]
    assert str(Path(__file__).parents[1]) not in json.dumps(result)


def test_text_is_checked_and_completed_in_the_language_of_the_task(own_server: Running) -> None:
    assert own_server.result("/api/check", **ASKED)["valid"]
    result = own_server.result("/api/check", program="DEF run m( ri", cursor=13, task="corridor")
    assert result["complete"]["from"] == 11
    assert {"label": "right", "kind": "action"} in result["complete"]["options"]
    assert result["error"]["span"] == [11, 13]
    assert not own_server.result("/api/check", program=RIGHT)["valid"]  # Karel's language has other words


def test_score_equals_evaluate(own_server: Running) -> None:
    result = own_server.result("/api/evaluate", **ASKED, seed=4, episodes=20, size="long")
    expected = evaluate(RIGHT, CORRIDOR, seed=4, episodes=20, size="long")
    assert result["returns"] == expected.returns[0].tolist()
    assert result["privileged"] == ["atTheEnd"]


def test_rollouts_are_recorded(own_server: Running) -> None:
    one = own_server.result("/api/rollout", **ASKED, index=3)
    assert (one["return"], one["outcome"]) == (1.0, "ended")
    both = own_server.result("/api/rollouts", **ASKED, indices=[3, 5])["rollouts"]
    assert both[0] == one
    assert both[1]["states"] != one["states"]


def test_number_of_pictures_in_a_request_is_bounded(own_server: Running) -> None:
    total = own_server.result("/api/rollout", **ASKED)["total"]
    result = own_server.result("/api/pictures", **ASKED, first=1, count=24)
    assert len(result["pictures"]) == total
    assert Image.open(io.BytesIO(b64decode(result["pictures"][0]))).size == (48, 8)
    for wrong in ({"count": 25}, {"count": 0}, {"first": -1, "count": 1}, {}):
        answer = own_server.post("/api/pictures", ASKED | wrong)
        assert answer.status == 422


def test_karel_has_no_pictures(own_server: Running) -> None:
    answer = own_server.post("/api/pictures", {"program": "DEF run m( move m)", "task": "maze", "count": 1})
    assert answer.status == 422
    assert "whose worlds the page does not draw" in answer.json["error"]


def test_environment_without_pictures_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    source = Path(OWN["corridor"].rpartition(":")[0]).read_text()
    file.write_text(source.replace("return picture", "return None"))
    with running(start=Start.of(f"{file}:CORRIDOR")) as server:
        answer = server.post("/api/pictures", ASKED | {"count": 1})
        assert answer.status == 422
        assert "expected a picture from the environment, found None" in answer.json["error"]
        assert server.post("/api/gif", ASKED).status == 422
        assert server.result("/api/rollout", **ASKED)["return"] == 1.0


def test_gif_of_a_rollout(own_server: Running) -> None:
    answer = own_server.post("/api/gif", ASKED)
    assert answer.headers["content-disposition"] == 'attachment; filename="corridor.gif"'
    assert Image.open(io.BytesIO(answer.body)).format == "GIF"


def test_search_finds_a_program(own_server: Running) -> None:
    events = own_server.get("/api/solve?task=corridor&budget=1000&worlds=4").body.decode()
    end = json.loads(events.rpartition("event: end\ndata: ")[2])
    assert end["solved"]
    assert evaluate(end["program"], CORRIDOR).returns.min() == 1.0


def test_error_in_a_perception_is_reported_until_the_file_is_fixed(tmp_path: Path) -> None:
    file = tmp_path / "mistaken.py"
    source = Path(OWN["corridor"].rpartition(":")[0]).read_text()
    file.write_text(source.replace("return bool(seen[1] > 0.5)", "return bool(seen[7])"))
    program = "DEF run m( IF c( lightIsOn c) i( right i) m)"
    with running(start=Start.of(f"{file}:CORRIDOR")) as server:
        for path, more in (("evaluate", {}), ("rollout", {}), ("pictures", {"count": 2})):
            answer = server.post(f"/api/{path}", {"program": program, "task": "corridor", **more})
            assert answer.status == 422
            assert answer.json["error"].startswith("task: corridor: perception lightIsOn")
            assert "IndexError" in answer.json["error"]
        file.write_text(source)
        assert server.post("/api/evaluate", {"program": program, "task": "corridor"}).status == 200


@pytest.mark.parametrize("make", ['make="Nowhere-v0"', "make=lambda render_mode=None: 1 / 0"])
def test_environment_that_cannot_be_made_raises_at_the_start(tmp_path: Path, make: str) -> None:
    file = tmp_path / "nowhere.py"
    file.write_text(
        f"import leaps\nTASK = leaps.GymTask('t', {make}, actions={{'a': 0}}, "
        "perceptions={'p': lambda seen: True})\n"
    )
    with pytest.raises(ValueError, match=r"NameNotFound|ZeroDivisionError"):
        Start.of(f"{file}:TASK")


def test_work_stops_when_the_client_disconnects(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    source = Path(OWN["corridor"].rpartition(":")[0]).read_text()
    file.write_text(
        source.replace("        arrived = ", "        __import__('time').sleep(0.002)\n        arrived = ")
    )
    left = "DEF run m( WHILE c( not c( atTheEnd c) c) w( left w) m)"
    with running(start=Start.of(f"{file}:CORRIDOR")) as server:
        body = json.dumps({"program": left, "task": "corridor", "episodes": 1000, "size": "long"})
        for _ in range(3):  # half a minute each
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("POST", "/api/evaluate", body, {"Content-Type": "application/json"})
            time.sleep(0.2)
            connection.close()
        asked = {"program": left, "task": "corridor", "episodes": 1}
        assert server.result("/api/evaluate", **asked)["mean"] == 0.0
        latest = time.monotonic() + 20
        while server.studio.lanes.costly.inside and time.monotonic() < latest:
            time.sleep(0.05)
        assert server.studio.lanes.costly.inside == 0
