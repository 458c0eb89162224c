"""Listen on an address, start a server, stop it."""

import http.client
import socket

import pytest

from leaps.studio import serving
from leaps.studio.searching import Searches
from leaps.studio.server import Studio
from leaps.studio.serving import Server, listen
from tests.studio.harness import running, search_without_end


def test_port_in_use_raises() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port} is taken.*--port 0"):
            listen("127.0.0.1", port)


def test_host_of_another_machine_raises() -> None:
    with pytest.raises(ValueError, match="--host"):
        listen("host.invalid", 0)
    with pytest.raises(ValueError, match="not an address of this machine"):
        listen("203.0.113.1", 0)


def test_reported_address_is_reachable() -> None:
    started: list[tuple[str, str | None]] = []
    with listen("127.0.0.1", 0) as listener:
        studio = Studio(warm=False)
        server = Server(studio, listener, "127.0.0.1", lambda *arguments: started.append(arguments))
        assert server.address == f"http://127.0.0.1:{listener.getsockname()[1]}/"
        studio.stop()


def test_address_has_a_token_if_other_machines_can_reach_it() -> None:
    with running("0.0.0.0") as server:
        token = server.server.token
        assert token is not None
        assert server.server.address == f"http://{socket.gethostname()}:{server.port}/#token={token}"
        assert server.get("/").status == 200
        refused = server.get("/api/about")
        assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "token" in refused.json["error"]
        assert server.get("/api/about", Authorization=f"Bearer {token}").status == 200
        assert server.get(f"/api/solve?token={token}").status == 422


def test_nagle_delay_is_off() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # asyncio checks this to disable the delay


def test_running_search_does_not_delay_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "GRACE", 60)  # the stop must not wait this long
    with running() as server:
        server.studio.searches = Searches(work=search_without_end)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", "/api/solve?task=maze")
        response = connection.getresponse()
        while not response.readline().startswith(b"event: step"):
            pass
        server.server.should_exit = True
        server.thread.join(timeout=30)
        assert not server.thread.is_alive()
        assert b"problem" not in response.read()
        connection.close()


def test_stopped_server_does_not_answer() -> None:
    with running() as server:
        assert server.get("/api/about").status == 200
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=2)
