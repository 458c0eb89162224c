"""Host, origin and token checks, and the security headers of every answer.

Another site's page in the same browser must not use a studio on this machine. It could send requests here,
which are refused by their origin. Or it could point its own host name at this machine (DNS rebinding), which
is refused by the host name.
"""

import ipaddress
import json
import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY = {
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOCAL = ("localhost", "127.0.0.1", "[::1]")
API = "/api/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_everywhere(host: str) -> bool:
    """Whether a host means all addresses of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def new_token(host: str) -> str | None:
    """Make a token for a host that other machines can reach."""
    return None if is_loopback(host) else secrets.token_urlsafe(24)


def in_address(host: str) -> str:
    """Write a host as in a URL."""
    return f"[{host}]" if ":" in host else host


def without_port(host: str) -> str:
    """Return the name in a Host header.

    >>> without_port("[::1]:8000"), without_port("localhost:80"), without_port("localhost")
    ('[::1]', 'localhost', 'localhost')
    """
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


class Guard:
    """Middleware that checks every request before the application."""

    def __init__(self, app: ASGIApp, host: str, token: str | None) -> None:
        self.app, self.token = app, token
        # With a token the host name need not be checked.
        self.hosts = None if token and is_everywhere(host) else {*LOCAL, in_address(host).lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if refusal := self.refusal(scope):
            status, problem = refusal
            await refuse(send_guarded, status, problem)
        else:
            await self.app(scope, receive, send_guarded)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason if a request is refused."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.hosts is not None and without_port(host) not in self.hosts:
            return 403, f"expected the host {' or '.join(sorted(self.hosts))}, found {host[:80]!r}"
        if not scope["path"].startswith(API):
            return None
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "requests from pages of other sites are not answered"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return 403, "requests from pages of other sites are not answered"
        if self.token is not None and not self.has_token(scope, headers):
            return 401, "expected the token in the address that the studio printed"
        return None

    def has_token(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request has the token, in its headers or (where a browser can't set them) its address."""
        assert self.token is not None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        offered = [given.strip().encode()] if scheme.lower() == "bearer" else []
        query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=None)
        offered += [text.encode(errors="replace") for text in query.get("token", [])]
        return any(secrets.compare_digest(one, self.token.encode()) for one in offered)


async def refuse(send: Send, status: int, problem: str) -> None:
    body = json.dumps({"error": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
