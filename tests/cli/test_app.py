"""What all commands share: help, versions, sizes, and where a program comes from."""

import subprocess
import sys
from pathlib import Path

import pytest

from leaps import __version__
from leaps.cli.app import parse_size, read_program

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"


def leaps(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "leaps.cli", *words], capture_output=True, text=True, check=False
    )


def test_the_module_is_the_command() -> None:
    done = leaps("--version")
    assert (done.returncode, done.stdout) == (0, f"leaps {__version__}\n")


def test_without_a_command_it_teaches() -> None:
    assert "latent-map" in leaps().stdout + leaps().stderr


@pytest.mark.parametrize(
    ("text", "size"), [("8x8", (8, 8)), (" 12X22 ", (12, 22)), ("100×100", (100, 100)), (None, None)]
)
def test_a_size_is_height_and_width(text: str | None, size: tuple[int, int] | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "8", "8x", "x8", "8x8x8", "-8x8", "8.5x8", "9" * 50 + "x8"])
def test_anything_else_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="expected HEIGHTxWIDTH such as 8x8"):
        parse_size(text)


def test_a_program_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "walk.karel"
    file.write_text(WALK, encoding="utf-8-sig")
    assert read_program(file, None) == read_program(None, WALK)
