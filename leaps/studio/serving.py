"""Listen on an address, run the server, and stop it."""

import errno
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from leaps.studio.guard import in_address, is_everywhere, new_token
from leaps.studio.server import Studio, make_app

SWITCH = 0.001
"""seconds after which a computing Python thread yields to the thread that answers"""
GRACE = 3
"""seconds that running requests have when the server stops"""
CONNECTIONS, BACKLOG = 1000, 256


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port (0: any free port); raise an error if it is not available."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        family, kind, protocol, _, address = found[0]
        # With an explicit protocol: else asyncio leaves Nagle's delay on, which costs 40 ms per answer.
        listener = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
        return listener
    except socket.gaierror:
        raise ValueError(f"--host: expected a name or address of this machine, found {host!r}") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ValueError(
                f"port {port} is taken, perhaps by another studio; choose another with --port, or any "
                "free port with --port 0"
            ) from None
        if error.errno == errno.EACCES:
            raise ValueError(f"port {port} needs special rights; choose one above 1023 with --port") from None
        if error.errno == errno.EADDRNOTAVAIL:
            raise ValueError(f"--host: {host!r} is not an address of this machine") from None
        raise


class Server(uvicorn.Server):
    """A server that reports its address when it is ready, and ends searches when it stops."""

    def __init__(
        self, studio: Studio, listener: socket.socket, host: str, started: Callable[[str, str | None], object]
    ) -> None:
        self.studio, self.listener, self.started_with = studio, listener, started
        self.token = new_token(host)
        name = socket.gethostname() if is_everywhere(host) else host
        port = listener.getsockname()[1]
        self.address = f"http://{in_address(name)}:{port}/" + (f"#token={self.token}" if self.token else "")
        super().__init__(
            uvicorn.Config(
                make_app(studio, host, self.token),
                log_level="warning",
                access_log=False,
                server_header=False,
                limit_concurrency=CONNECTIONS,
                timeout_graceful_shutdown=GRACE,
                timeout_keep_alive=30,
                ws="none",
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.started_with(self.address, self.token)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.studio.stop()
        await super().shutdown(sockets)


def serve(
    studio: Studio, listener: socket.socket, host: str, started: Callable[[str, str | None], object]
) -> None:
    """Serve until Ctrl-C; `started` is called with the address, and the token if there is one."""
    sys.setswitchinterval(SWITCH)
    with suppress(KeyboardInterrupt):  # the server has already stopped
        Server(studio, listener, host, started).run(sockets=[listener])
