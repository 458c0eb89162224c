"""Run commands in the test's process."""

import json
import sys
from typing import Any, NamedTuple

import pytest

from leaps.cli import main


class Done(NamedTuple):
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Leaps:
    """Run a command with these arguments."""

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


def assert_refused(done: Done, *messages: str) -> None:
    """Assert exit code 2, the messages on standard error, no standard output and no traceback."""
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    flat = " ".join(done.err.replace("│", " ").split())
    for message in messages:
        assert message in flat
