"""The web application over real connections, with valid and with hostile requests."""

import http.client
import io
import json
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from leaps import __version__
from leaps.evaluate import evaluate
from leaps.karel.tasks import TASKS
from leaps.karel.world import LANGUAGE
from leaps.studio.guard import SECURITY
from leaps.studio.lanes import CHEAP
from leaps.studio.mapping import LatentMap
from leaps.studio.offer import offered
from leaps.studio.requests import BODY, Fields
from leaps.studio.rollouts import rollout_of
from leaps.studio.searching import Searches
from leaps.studio.server import Start, about, cost_of, encode
from tests.studio.harness import OWN, RIGHT, WALK, Running, running, search_without_end

POSTS = ("check", "evaluate", "rollout", "rollouts", "gif", "pictures", "space/place", "space/between")


# Valid requests.


def test_about_lists_tasks_study_and_limits(server: Running) -> None:
    result = server.get("/api/about").json
    assert result["version"] == __version__
    assert [task["name"] for task in result["tasks"]] == list(offered())
    assert result["languages"][result["tasks"][0]["language"]]["perceptions"] == list(LANGUAGE.perceptions)
    assert result["study"][0]["reported"] == {"0": 0.86, "3": 0.95, "5": 1.0}
    assert result["limits"] == {
        "episodes": 1000,
        "steps": 20_000_000,
        "shown": 20_000,
        "characters": 4000,
        "tokens": 400,
        "side": 100,
        "pictures": 24,
    }
    assert result["start"] == {"task": "top-off", "program": None}


@pytest.mark.parametrize("task", ["seesaw", "farmer~100", "maze-from-corner", "maze~100"])
def test_first_task_is_always_listed(task: str) -> None:
    result = about(Start.of(task))
    assert result["start"]["task"] == task
    plain = task.partition("~")[0]
    assert [one["name"] for one in result["tasks"]] == [
        *offered(),
        *(() if plain in offered() else (plain,)),
    ]


def test_about_has_the_task_and_program_of_the_command_line() -> None:
    assert about(Start("snake", "DEF"))["start"] == {"task": "snake", "program": "DEF"}


def test_every_task_of_about_can_be_scored_with_its_program(server: Running) -> None:
    for task in server.get("/api/about").json["tasks"]:
        result = server.result("/api/evaluate", program=task["program"], task=task["name"], episodes=3)
        assert result["valid"]


def test_check_of_an_unfinished_program(server: Running) -> None:
    assert server.result("/api/check", program=WALK)["valid"]
    result = server.result("/api/check", program="DEF run m( mov", cursor=14)
    assert result["error"]["span"] == [11, 14]
    assert result["complete"]["from"] == 11
    assert {"label": "move", "kind": "action"} in result["complete"]["options"]
    assert "complete" not in server.result("/api/check", program=WALK)


def test_text_with_a_lone_surrogate_is_answered(server: Running) -> None:
    result = server.result("/api/check", program="\ud800 DEF", cursor=1)
    assert result["error"]["span"] == [0, 1]


def test_evaluate_endpoint_equals_evaluate(server: Running) -> None:
    result = server.result("/api/evaluate", program=WALK, task="top-off", seed=4)
    assert result["returns"] == evaluate(WALK, "top-off", seed=4).returns[0].tolist()
    assert result["ms"] > 0
    assert server.result("/api/evaluate", program="DEF", task="maze")["valid"] is False


def test_rollouts_endpoint_equals_single_rollouts(server: Running) -> None:
    one = server.result("/api/rollout", program=WALK, task="maze", index=2, seed=1)
    several = server.result("/api/rollouts", program=WALK, task="maze", indices=[1, 2], seed=1)
    assert several["rollouts"][1] == one
    assert one["world"] != several["rollouts"][0]["world"]


def test_drawn_world_is_run_with_and_without_a_task(server: Running) -> None:
    drawn = {"rows": ["#####", "#...#", "#..1#", "#...#", "#####"], "karel": [1, 1, 1]}
    assert server.result("/api/rollout", program=WALK, task="maze", world=drawn)["return"] == 0.0
    assert server.result("/api/rollout", program=WALK, task=None, world=drawn)["return"] is None


def test_gif_is_a_download(server: Running) -> None:
    answer = server.post("/api/gif", {"program": WALK, "task": "top-off"})
    assert answer.headers["content-type"] == "image/gif"
    assert answer.headers["content-disposition"] == 'attachment; filename="top-off.gif"'
    assert Image.open(io.BytesIO(answer.body)).format == "GIF"


def test_too_large_world_for_a_gif_is_refused(server: Running) -> None:
    answer = server.post("/api/gif", {"program": WALK, "task": "maze", "size": [41, 8]})
    assert answer.status == 422
    assert "at most 40 cells a side" in answer.json["error"]


def test_answers_are_ascii_and_strict_json() -> None:
    assert encode({"a": "\ud800é"}) == b'{"a":"\\ud800\\u00e9"}'
    with pytest.raises(ValueError):
        encode(float("nan"))


def test_map_requests_before_the_map_is_ready_are_503(server: Running) -> None:
    assert server.studio.map is None
    for answer in (
        server.get("/api/space/map"),
        server.post("/api/space/place", {"programs": [WALK]}),
        server.post("/api/space/between", {"from": WALK, "to": WALK, "steps": 1}),
    ):
        assert answer.status == 503
        assert answer.json["retry"] > 0


def test_map_places_and_walks(latent_map: LatentMap) -> None:
    with running() as server:
        server.studio.map, server.studio.map_answer = latent_map, encode(latent_map.answer)
        assert len(server.get("/api/space/map").json["points"]) == 300
        (place,) = server.result("/api/space/place", programs=[WALK])["points"]
        result = server.result("/api/space/between", **{"from": WALK, "to": "DEF run m( move m)", "steps": 2})
        assert result["points"][0] == pytest.approx(place, abs=2e-3)
        assert len(result["programs"]) == 4
        answer = server.post("/api/space/place", {"programs": ["DEF run m( jump m)"]})
        assert answer.status == 422
        assert "'jump' is not a token" in answer.json["error"]


def test_map_that_cannot_be_drawn_is_404(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no weights")

    with running() as server:
        monkeypatch.setattr("leaps.embedding.space.Space.load", fail)
        server.studio.draw_map()
        answer = server.get("/api/space/map")
        assert answer.status == 404
        assert "no weights" in answer.json["error"]


def test_recorded_steps_cost_more_than_scored_steps() -> None:
    own = rollout_of(Fields({"program": WALK, "task": "maze"}))
    large = rollout_of(Fields({"program": WALK, "task": "maze", "size": [100, 100]}))
    assert cost_of([own] * 6) <= CHEAP
    assert cost_of([large] * 6) > CHEAP


# Searches.


def open_search(server: Running, query: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", f"/api/solve?{query}")
    return connection, connection.getresponse()


def test_search_ends_on_disconnect_and_at_most_two_run() -> None:
    with running() as server:
        server.studio.searches = Searches(work=search_without_end)
        query = "task=one-stroke&method=hc&size=40x40&budget=1000000"
        both = [open_search(server, query) for _ in range(2)]
        for _, response in both:
            assert response.status == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            while not response.readline().startswith(b"event: step"):
                pass
            assert json.loads(response.readline().removeprefix(b"data: "))["round"] >= 1
        processes = [process for process in server.studio.searches.running if process.is_alive()]
        assert len(processes) == 2
        connection, third = open_search(server, query)
        assert third.status == 503
        assert "the maximum is 2" in json.loads(third.read())["error"]
        connection.close()
        for opened, response in both:
            response.close()
            opened.close()
        deadline = time.monotonic() + 10
        while server.studio.searches.running and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not server.studio.searches.running


def test_search_streams_to_its_end_and_problems_are_events(server: Running) -> None:
    connection, response = open_search(server, "task=clean-house&size=9x9")
    events = response.read().decode()
    connection.close()
    assert "event: problem" in events
    assert "a fixed size" in events


@pytest.mark.parametrize(
    "query", ["", "task=nowhere", "task=maze&seed=x", "task=maze&size=0x0", "task=%00%ff"]
)
def test_invalid_search_is_refused(server: Running, query: str) -> None:
    answer = server.get(f"/api/solve?{query}")
    assert answer.status == 422
    assert answer.json["error"]


# Invalid requests.


@pytest.mark.parametrize("path", [f"/api/{name}" for name in POSTS])
@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"NaN", b'{"program": NaN}', b"\xff", b'{"a":' * 10_000, b"1" * 5000, b"{}"),
        *(b'{"program": 1}', b'{"program": [], "task": {}}', b'{"seed": ' + b"9" * 4000 + b"}"),
    ],
)
def test_invalid_bodies_are_refused_with_a_message(server: Running, path: str, body: bytes) -> None:
    answer = server.ask("POST", path, body)
    assert answer.status in (400, 422)
    assert isinstance(answer.json["error"], str)


@pytest.mark.parametrize("path", [f"/api/{name}" for name in POSTS])
def test_other_content_types_are_refused(server: Running, path: str) -> None:
    for kind in ("text/plain", "", "application/x-www-form-urlencoded", "application/jsonp"):
        answer = server.ask("POST", path, b"{}", {"Content-Type": kind})
        assert answer.status == 415
    answer = server.ask(
        "POST", "/api/check", b'{"program": ""}', {"Content-Type": "application/JSON; charset=x"}
    )
    assert answer.status == 200


def test_wrong_methods_and_paths_are_refused(server: Running) -> None:
    for name in POSTS:
        answer = server.get(f"/api/{name}")
        assert (answer.status, answer.headers["allow"]) == (405, "POST")
        assert "GET is not allowed at" in answer.json["error"]
    assert server.ask("DELETE", "/api/about").status == 405
    assert server.ask("POST", "/", b"{}").status == 405
    for path in ("/api", "/api/", "/api/nothing", "/assets/none.js", "/index.html/", "/%00", "/api/check/"):
        answer = server.get(path)
        assert answer.status == 404
        assert "nothing is served at" in answer.json["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/assets/../../server.py",
        "/assets/..%2f..%2fserver.py",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/assets//etc/passwd",
        "/..\\server.py",
        "/server.py",
    ],
)
def test_no_path_reaches_the_disk(server: Running, path: str) -> None:
    received = server.raw(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode("latin-1")
    )
    assert received.startswith(b"HTTP/1.1 404")
    assert b'"error"' in received


def test_every_answer_has_the_security_headers(server: Running) -> None:
    answers = [
        server.get("/"),
        server.get("/api/about"),
        server.get("/nothing"),
        server.post("/api/check", []),
        server.get("/api/about", Host="evil.example"),
    ]
    assert [answer.status for answer in answers] == [200, 200, 404, 400, 403]
    for answer in answers:
        for name, value in SECURITY.items():
            assert answer.headers[name.lower()] == value
        assert not any(name.startswith("access-control") for name in answer.headers)
        assert "server" not in answer.headers


def test_body_with_a_too_large_content_length_is_not_read(server: Running) -> None:
    head = (
        b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100000000\r\n\r\n"
    )
    begin = time.monotonic()
    received = server.raw(head)
    assert received.startswith(b"HTTP/1.1 413")
    assert b'"error"' in received
    assert time.monotonic() - begin < 4


@pytest.mark.parametrize("chunked", [True, False])
def test_body_of_100_megabytes_is_not_read(server: Running, chunked: bool) -> None:
    kind = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 104857600"
    head = (
        b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%b\r\n\r\n" % kind
    )
    block = b" " * 65536
    part = b"10000\r\n" + block + b"\r\n" if chunked else block
    sent, received = 0, b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        with suppress(OSError):
            connection.sendall(head)
            for _ in range(1600):
                connection.sendall(part)
                sent += len(part)
        with suppress(OSError):
            received = connection.recv(65536)
    assert sent < 20_000_000
    assert received == b"" or received.startswith(b"HTTP/1.1 413")
    assert server.result("/api/check", program=WALK)["valid"]


def test_the_longest_body_is_read(server: Running) -> None:
    body = json.dumps({"program": WALK}).encode()
    assert server.ask("POST", "/api/check", body.ljust(BODY)).status == 200
    assert server.ask("POST", "/api/check", body.ljust(BODY + 1)).status == 413


def test_chunked_body_is_read_up_to_its_bound(server: Running) -> None:
    def send(size: int) -> bytes:
        body = json.dumps({"program": WALK}).encode().ljust(size)
        return server.raw(
            b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (size, body)
        )

    assert send(BODY).startswith(b"HTTP/1.1 200")
    assert send(BODY + 1).startswith(b"HTTP/1.1 413")


def test_body_that_never_arrives_times_out(monkeypatch: pytest.MonkeyPatch, server: Running) -> None:
    monkeypatch.setattr("leaps.studio.server.PATIENCE", 0.2)
    received = server.raw(
        b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 10\r\n\r\n{"
    )
    assert received.startswith(b"HTTP/1.1 408")


def test_server_survives_broken_connections(server: Running) -> None:
    for data in (
        b"",
        b"\x00\xff\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/evaluate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 50\r\n\r\n{",
        b"POST /api/evaluate HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"GET /api/solve?task=maze HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(data)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.close()  # by a reset
    assert server.result("/api/check", program=WALK)["valid"]
    deadline = time.monotonic() + 20
    while server.studio.searches.running and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not server.studio.searches.running


def test_many_cheap_requests_are_answered_during_costly_ones(server: Running) -> None:
    heavy = {"program": "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft move w) m)", "episodes": 1000}
    statuses: list[int] = []

    def ask(fields: dict[str, Any], times: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(times):
            body = json.dumps(fields).encode()
            connection.request("POST", "/api/evaluate", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        connection.close()

    threads = [
        threading.Thread(target=ask, args=(heavy | {"task": "harvester", "size": [100, 100]}, 2))
        for _ in range(2)
    ]
    threads += [threading.Thread(target=ask, args=({"program": WALK, "task": "maze"}, 10)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 84


# Random requests.

texts = (
    st.text(max_size=80)
    | st.lists(st.sampled_from(LANGUAGE.tokens), max_size=40).map(" ".join)
    | st.sampled_from([WALK, RIGHT, "\ud800", "DEF run m( move m)"])
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
rows = st.lists(st.text("#.1A?", min_size=1, max_size=6), max_size=6)
drawn = st.fixed_dictionaries(
    {"rows": rows | st.just(["#####", "#..1#", "#...#", "#####"])},
    optional={"karel": st.lists(st.integers(-1, 4), min_size=2, max_size=4) | values},
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "program": texts | values,
        "original": texts | values,
        "task": st.sampled_from([*TASKS, *OWN, "top-off@0.5", "nowhere"]) | values,
        "size": st.lists(st.integers(-1, 30), min_size=2, max_size=2) | st.just("long") | values,
        "seed": st.integers(0, 9) | values,
        "index": st.integers(0, 9) | values,
        "indices": st.lists(st.integers(0, 9), max_size=3) | values,
        "episodes": st.integers(0, 20) | values,
        "cursor": st.integers(-1, 100) | values,
        "world": drawn | values,
        "programs": st.lists(texts, max_size=3) | values,
        "from": texts | values,
        "to": texts | values,
        "steps": st.integers(0, 3) | values,
        "first": st.integers(-1, 40) | values,
        "count": st.integers(-1, 30) | values,
    },
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(POSTS), fields=bodies)
def test_any_fields_are_answered(own_server: Running, name: str, fields: dict[str, Any]) -> None:
    answer = own_server.post(f"/api/{name}", fields)
    assert answer.status < 500 or answer.status == 503, answer.body
    if answer.headers["content-type"] == "application/json":
        result = answer.json
        assert answer.status == 200 or isinstance(result["error"], str)


@settings(max_examples=60)
@given(body=st.binary(max_size=200), name=st.sampled_from(POSTS))
def test_any_bytes_are_answered(server: Running, body: bytes, name: str) -> None:
    answer = server.ask("POST", f"/api/{name}", body)
    assert answer.status in (400, 422)
    assert isinstance(answer.json["error"], str)


url = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#?"), max_size=30)


@settings(max_examples=60)
@given(path=url, method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]))
def test_any_path_is_answered(server: Running, path: str, method: str) -> None:
    answer = server.ask(method, f"/{path}")
    assert answer.status in (200, 404, 405)
    if answer.status != 200 and method != "HEAD":
        assert isinstance(answer.json["error"], str)


@settings(max_examples=40)
@given(query=url.filter(lambda text: "task=" not in text))
def test_any_search_query_is_answered(server: Running, query: str) -> None:
    answer = server.get(f"/api/solve?{query}")
    assert answer.status == 422
    assert isinstance(answer.json["error"], str)


# The page.


def test_page_is_served_compressed_with_an_etag(server: Running) -> None:
    plain = server.get("/")
    packed = server.get("/", Accept_Encoding="gzip")
    assert plain.headers["content-type"].startswith("text/html")
    assert plain.headers["cache-control"] == "no-cache"
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < len(plain.body)
    again = server.get("/", If_None_Match=plain.headers["etag"])
    assert (again.status, again.body) == (304, b"")
