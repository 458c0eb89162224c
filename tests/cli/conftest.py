import pytest

from tests.cli.harness import Leaps


@pytest.fixture
def leaps(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Leaps:
    monkeypatch.setenv("COLUMNS", "120")
    return Leaps(monkeypatch, capsys)
