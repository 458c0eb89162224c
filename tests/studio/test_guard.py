"""Host, origin and token checks."""

import pytest

from leaps.studio.guard import Guard, in_address, is_everywhere, is_loopback, new_token


def refusal(guard: Guard, path: str = "/api/about", query: str = "", **headers: str) -> int | None:
    given = {"host": "127.0.0.1:8000"} | {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http",
        "path": path,
        "query_string": query.encode("latin-1", "replace"),
        "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in given.items()],
    }
    refused = guard.refusal(scope)
    return None if refused is None else refused[0]


async def nothing(*_: object) -> None: ...


LOCAL = Guard(nothing, "127.0.0.1", None)
OPEN = Guard(nothing, "0.0.0.0", "sesame")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000", "[::1]"]
)
def test_names_of_this_machine_are_accepted(host: str) -> None:
    assert refusal(LOCAL, host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "",
        "127.0.0.1@evil",
        "::1",
        "localhost:x",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/about"])
def test_other_host_names_are_refused(host: str, path: str) -> None:
    assert refusal(LOCAL, path, host=host) == 403


def test_host_of_the_command_line_is_accepted() -> None:
    guard = Guard(nothing, "studio.lan", "sesame")
    assert refusal(guard, "/", host="studio.lan:8000") is None
    assert refusal(guard, "/", host="evil.example") == 403
    assert refusal(Guard(nothing, "fd00::1", "sesame"), "/", host="[fd00::1]:80") is None


def test_with_a_token_any_host_name_is_accepted() -> None:
    assert refusal(OPEN, host="whatever.lan", authorization="Bearer sesame") is None


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_pages_of_other_sites_are_refused(site: str) -> None:
    assert refusal(LOCAL, sec_fetch_site=site) == 403
    assert refusal(LOCAL, "/", sec_fetch_site=site) is None  # a link to the studio is fine


def test_requests_of_the_studio_page_are_accepted() -> None:
    assert refusal(LOCAL, sec_fetch_site="same-origin", origin="http://127.0.0.1:8000") is None
    assert refusal(LOCAL, sec_fetch_site="none") is None


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9999", "null", ""])
def test_other_origins_are_refused(origin: str) -> None:
    assert refusal(LOCAL, origin=origin) == 403


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic sesame", "sesame", "Bearer é"]
)
def test_missing_or_wrong_token_is_refused(authorization: str) -> None:
    assert refusal(OPEN, authorization=authorization) == 401
    assert refusal(OPEN, query="token=wrong") == 401
    assert refusal(OPEN, query="token=é&token=") == 401
    assert refusal(OPEN) == 401


def test_token_in_header_or_address_is_accepted() -> None:
    assert refusal(OPEN, authorization="Bearer sesame") is None
    assert refusal(OPEN, authorization="bearer sesame") is None
    assert refusal(OPEN, query="task=maze&token=sesame") is None


def test_the_page_itself_needs_no_token() -> None:
    assert refusal(OPEN, "/") is None
    assert refusal(OPEN, "/assets/app.js") is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
def test_loopback_has_no_token(host: str) -> None:
    assert is_loopback(host)
    assert new_token(host) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "studio.lan", "localhost.evil.example"])
def test_other_addresses_have_a_new_token_each_time(host: str) -> None:
    token = new_token(host)
    assert token is not None
    assert len(token) >= 32
    assert token != new_token(host)


def test_hosts_in_addresses() -> None:
    assert is_everywhere("::")
    assert is_everywhere("0.0.0.0")
    assert not is_everywhere("127.0.0.1")
    assert not is_everywhere("studio.lan")
    assert in_address("::1") == "[::1]"
    assert in_address("localhost") == "localhost"
