"""Call the command line as its users do, within the test's process."""

import json
import sys
from typing import Any, NamedTuple

import pytest

from leaps.cli import main


class Done(NamedTuple):
    """What a command did: its exit code, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Leaps:
    """Call it with a command's words."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *words: object) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["leaps", *map(str, words)])
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        captured = self.capsys.readouterr()
        return Done(code or 0, captured.out, captured.err)


def assert_refused(done: Done, *said: str) -> None:
    """Misuse: exit code 2, a message on standard error, nothing on standard output, no traceback."""
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    flat = " ".join(done.err.replace("│", " ").split())
    for words in said:
        assert words in flat
