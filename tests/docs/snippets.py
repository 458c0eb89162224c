"""Collect, check and run the code blocks of the documents.

A page is run from top to bottom in one temporary folder, which its commands share. Its Python blocks
share one namespace. HTML comments directly before a block change what happens to it:

    <!-- not run: REASON -->    the commands are only parsed
    <!-- run: COMMAND -->       a shorter command runs in place of the block; its output is not compared
    <!-- file: NAME -->         the block is the content of a file, which later blocks use
    <!-- use: PAGE -->          make the files of another page, for this block and those below it
    <!-- edit: NAME -->         the block is a diff of lines in a file, in force up to the next edit or file
    <!-- prints: WORDS -->      a Python block prints a text that contains these words

Shown output is compared with the printed one. A line `...` stands for any number of lines, and `...` within a
line for any text. Durations such as `0.3 s` are not compared.
"""

import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer

from leaps.cli import main
from leaps.cli.app import app

ROOT = Path(__file__).parents[2]
COMMANDS = ("leaps", "make", "python")
"""A block is a block of commands if a line of it starts with one of these words."""
SHELL = ("cat", "cp", "ls", "mkdir", "sed")
"""Other programs that a block of commands may use."""
SHELLS = ("console", "bash", "sh", "")
COLUMNS = "80"
"""Width of the terminal that shown output is printed for."""
ANY = "..."

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w-]*)\s*$")
_COMMENT = re.compile(r"^ *<!-- (not run|run|file|use|edit|prints): (.*?) -->\s*$", re.DOTALL)
_DURATION = re.compile(r"\d[\d.,]* (?=(?:ms|s|min)\b)")
_SHOWN_BY_PRINT = re.compile(r"^print\(.*\)  # (.+)$", re.MULTILINE)


class SnippetError(Exception):
    """A block does not do what the page shows."""


@dataclass(frozen=True)
class Command:
    """A command and the output that the page shows for it."""

    text: str
    shown: str = ""

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text, comments=True)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the comments before it."""

    page: str
    line: int
    language: str
    text: str
    notes: dict[str, list[str]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        return self.notes.get("file", [None])[0]

    @property
    def commands(self) -> list[Command]:
        """The commands of the block; none if it is not a block of commands."""
        if self.language not in SHELLS or self.file is not None:
            return []
        found = list(read_console(self.text) if "$ " in self.text[:2] else read_script(self.text))
        words = COMMANDS + (SHELL if self.language == "console" else ())
        return found if any(command.text.split(" ")[0] in words for command in found) else []

    @property
    def reduced(self) -> list[Command]:
        """The shorter commands that run in place of the block."""
        return [Command(text) for text in self.notes.get("run", [])]

    @property
    def checked(self) -> bool:
        """Whether the block is code that must be run or opted out."""
        return bool(self.commands) or (self.language == "python" and self.file is None)

    @property
    def matters(self) -> bool:
        """Whether anything is done with the block."""
        return self.checked or not self.notes.keys().isdisjoint({"file", "use", "edit"})


def read_blocks(text: str, page: str) -> Iterator[Block]:
    """Find the fenced blocks of a page."""
    notes: dict[str, list[str]] = {}
    opened: re.Match[str] | None = None
    start, content, comment = 0, list[str](), ""
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is not None:
            if fence and fence["fence"] == opened["fence"] and not fence["language"]:
                yield Block(page, start, opened["language"], "\n".join(content), notes)
                opened, notes = None, {}
            else:
                content.append(line.removeprefix(opened["indent"]))
        elif fence and not comment:
            opened, start, content = fence, number, []
        elif comment or line.lstrip().startswith("<!--"):
            comment += f"\n{line}" if comment else line
            if line.rstrip().endswith("-->"):
                if found := _COMMENT.match(comment):
                    notes.setdefault(found[1], []).append(found[2])
                comment = ""
        elif line.strip():
            notes = {}
    if opened is not None:
        raise SnippetError(f"{page}:{start}: this block has no end")


def read_page(page: str) -> list[Block]:
    """Read the blocks of a page of the repository that matter here: code, commands and files."""
    return [block for block in read_blocks((ROOT / page).read_text(), page) if block.matters]


def edited(text: str, block: Block) -> str:
    """Apply a block in the form of a diff."""
    lines = block.text.splitlines()
    old = "\n".join(line[1:] for line in lines if line[:1] in "- ")
    new = "\n".join(line[1:] for line in lines if line[:1] in "+ ")
    if text.count(old) != 1:
        raise SnippetError(
            f"{block.place}: expected the old lines once in the file, found {text.count(old)} times"
        )
    return text.replace(old, new)


def _complete(text: str) -> bool:
    """Whether a command needs no further line."""
    if text.endswith("\\"):
        return False
    try:
        shlex.split(text, comments=True)
    except ValueError:  # a quotation is open
        return False
    return True


def _join(text: str, line: str) -> str:
    return text.removesuffix("\\") + line.lstrip() if text.endswith("\\") else f"{text}\n{line}"


def read_console(text: str) -> Iterator[Command]:
    """Read `$ command` lines, each with the output below it."""
    command, shown = "", list[str]()
    for line in text.splitlines():
        if command and not _complete(command):
            command = _join(command, line)
        elif line.startswith("$ "):
            if command:
                yield Command(command, "\n".join(shown))
            command, shown = line.removeprefix("$ "), []
        else:
            shown.append(line)
    yield Command(command, "\n".join(shown))


def read_script(text: str) -> Iterator[Command]:
    """Read commands, one a line, without output."""
    command = ""
    for line in text.splitlines():
        command = _join(command, line) if command else line
        if _complete(command):
            if command.strip() and not command.startswith("#"):
                yield Command(command)
            command = ""
    if command.strip():
        yield Command(command)


def pattern_of(shown: str) -> str:
    """Turn shown output into a regular expression for the printed output."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == ANY:
            lines.append(r"(?:.*\n)*?")
        else:
            parts = map(re.escape, _DURATION.sub("\0", line.rstrip()).split(ANY))
            lines.append(".*?".join(parts).replace("\0", r"\d[\d.,]* ") + r"\n")
    return "".join(lines)


def agrees(shown: str, printed: str) -> bool:
    """Whether the printed output is what the page shows."""

    def plain(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"

    return re.fullmatch(pattern_of(plain(shown)), plain(printed)) is not None


def check_syntax(command: Command, place: str) -> None:
    """Check that a command exists and has the options of the page, without running it."""
    words = command.words
    if words[0] == "leaps":
        parse_leaps(words[1 : words.index("|") if "|" in words else None], place)
    elif words[0] == "make":
        done = subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise SnippetError(f"{place}: {command.text}\n{done.stderr}")


def parse_leaps(words: Sequence[str], place: str) -> None:
    """Parse the words of a `leaps` command."""
    group: Any = typer.main.get_command(app)
    if not words or words[0].startswith("-"):
        return
    try:
        with group.make_context("leaps", list(words), resilient_parsing=True) as context:
            name, command, rest = group.resolve_command(context, list(words))
            command.make_context(name, rest, parent=context).close()
    except SystemExit:  # --help
        return
    except Exception as error:
        why = getattr(error, "message", None) or str(error)
        raise SnippetError(f"{place}: leaps {shlex.join(words)}\n{why}") from error


class Runner:
    """Run the blocks of a page in a folder of their own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        self.files: dict[str, str] = {}
        """The files of the page, without edits."""
        self.names: dict[str, Any] = {"__name__": "__main__"}
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", COLUMNS)
        monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run_block(self, block: Block, skipped: Sequence[str] = ()) -> None:
        """Run a block, and compare its output; commands that start with `skipped` are only parsed."""
        for page in block.notes.get("use", []):
            self.files |= {other.file: other.text for other in read_page(page) if other.file}
            self.write_files()
        if block.file is not None:
            self.files[block.file] = block.text
            self.write_files()
        for name in block.notes.get("edit", []):
            self.write_files()
            (self.folder / name).write_text(edited(self.files[name], block) + "\n")
        for command in block.commands:
            check_syntax(command, block.place)
        if "not run" in block.notes or not block.checked:
            return
        if block.language == "python":
            if not any(block.text.startswith(start) for start in skipped):
                self.run_python(block)
            return
        for command in block.reduced or block.commands:
            if not any(command.text.startswith(start) for start in skipped):
                self.run_command(command, block.place)

    def write_files(self) -> None:
        for name, text in self.files.items():
            (self.folder / name).write_text(text + "\n")

    def run_python(self, block: Block) -> None:
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, str(ROOT / block.page), "exec")
        with redirect_stdout(printed):
            exec(code, self.names)
        rest = printed.getvalue()
        for shown in [*_SHOWN_BY_PRINT.findall(block.text), *block.notes.get("prints", [])]:
            _, found, after = rest.partition(shown)
            if not found:
                raise SnippetError(f"{block.place}: expected to print {shown!r}, printed {rest!r}")
            rest = after

    def run_command(self, command: Command, place: str) -> None:
        """Run a command; it must fail if the page shows an error, and succeed if not."""
        words = command.words
        if words[0] == "leaps":
            code, printed = self.leaps(words[1:])
        elif words[0] == "python" or words[0] in SHELL:
            program = [sys.executable] if words[0] == "python" else words[:1]
            done = subprocess.run(
                [*program, *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            code, printed = done.returncode, done.stdout
        elif words[0] == "make":  # it would install packages
            return
        else:
            raise SnippetError(
                f"{place}: can't run {words[0]!r} here; put a comment 'not run' before the block"
            )
        problem = ""
        if (code != 0) != bool(re.search(r"^error: |^╭─ Error", command.shown, re.MULTILINE)):
            problem = f"exit code {code}"
        elif command.shown.strip() and not agrees(command.shown, printed):
            problem = f"the page shows:\n{command.shown}"
        if problem:
            raise SnippetError(f"{place}: $ {command.text}\n{printed}\n{problem}")

    def leaps(self, words: Sequence[str]) -> tuple[int, str]:
        """Run a `leaps` command in this process: its exit code and all that it prints."""
        self.monkeypatch.setattr(sys, "argv", ["leaps", *words])
        printed, code = io.StringIO(), 0
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return code, printed.getvalue()
