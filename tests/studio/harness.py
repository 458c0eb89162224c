"""A studio that runs in a thread, and a client that sends requests over a real connection."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from leaps.studio.server import Start, Studio
from leaps.studio.serving import Server, listen

SILENCE = 20.0
"""seconds after which a connection is not used again: the server may be about to close it"""
WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
OWN = {"corridor": f"{Path(__file__).parents[1] / 'gym' / 'corridor.py'}:CORRIDOR"}
"""a task in an environment, in the form of the command line"""
RIGHT = "DEF run m( WHILE c( not c( atTheEnd c) c) w( right w) m)"
"""solves the task with a privileged perception"""


def search_without_end(connection: Connection, *_: object) -> None:
    """Send the events of a search without searching."""
    number = 0
    while True:
        number += 1
        connection.send(("step", {"round": number}))
        time.sleep(0.05)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Running:
    """A running server and a client for it."""

    def __init__(self, studio: Studio, host: str = "127.0.0.1") -> None:
        self.studio = studio
        self.listener = listen(host, 0)
        self.port: int = self.listener.getsockname()[1]
        self.server = Server(studio, self.listener, host, lambda *_: None)
        self.thread = Thread(target=self.server.run, args=([self.listener],), daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.used = time.monotonic()

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if time.monotonic() - self.used > SILENCE:
            self.connection.close()  # the next request opens it again
        try:
            self.connection.request(method, path, body, sent | (headers or {}))
            response = self.connection.getresponse()
            answer = Answer(
                response.status,
                {name.lower(): value for name, value in response.getheaders()},
                response.read(),
            )
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise
        self.used = time.monotonic()
        if answer.headers.get("connection") == "close":
            self.connection.close()
        return answer

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask(
            "GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    def post(self, path: str, fields: Any) -> Answer:
        return self.ask("POST", path, json.dumps(fields).encode())

    def result(self, path: str, **fields: Any) -> Any:
        """Return the answer to a request that must succeed."""
        answer = self.post(path, fields)
        assert answer.status == 200, answer.body
        return answer.json

    def raw(self, data: bytes, wait: float = 5.0) -> bytes:
        """Send raw bytes; return what arrives until the server closes or the time is over."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            received = b""
            try:
                connection.sendall(data)
                while part := connection.recv(65536):
                    received += part
            except OSError:
                pass
            return received


@contextmanager
def running(host: str = "127.0.0.1", start: Start | None = None) -> Iterator[Running]:
    """Run a server, and stop it at the end."""
    server = Running(Studio(start, warm=False), host)
    server.thread.start()
    while not server.server.started:
        time.sleep(0.01)
    try:
        yield server
    finally:
        server.connection.close()
        server.server.should_exit = True
        server.thread.join(timeout=20)
        assert not server.thread.is_alive()
