"""What all commands share: the application, its options, reading what users give, and saying what is wrong.

Exit codes: 0 fine, 1 failed (the answer is no), 2 misused (bad input, bad options). Every command takes
`--json` and then prints one JSON object to standard output and nothing else; what went wrong goes to standard
error.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from leaps import __version__
from leaps.domain import read_size, words_of
from leaps.dsl.syntax import Program
from leaps.karel.world import KAREL

if TYPE_CHECKING:
    from leaps.domain import Domain, Task
    from leaps.karel.dataset import Dataset

app = typer.Typer(
    help="Programs as policies: short, readable programs that solve tasks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


# What several commands take.
FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="A program, as one line or indented. '-' reads standard input."),
]
ExpressionOption = Annotated[
    str | None,
    typer.Option("--expression", "-e", metavar="PROGRAM", help="The program itself, instead of a file."),
]
TaskOption = Annotated[
    str,
    typer.Option("--task", "-t", help="Which task; `leaps tasks` lists them. FILE.py:NAME is one of yours."),
]
SeedOption = Annotated[
    int, typer.Option("--seed", "-s", min=0, help="Worlds are drawn from it: same seed, same worlds.")
]
SizeOption = Annotated[
    str | None,
    typer.Option(
        "--size",
        metavar="HxW",
        help="Height and width of the world, walls included, or the name of a variant; the task's own by "
        "default.",
    ),
]
DataOption = Annotated[Path, typer.Option("--data", metavar="DIR", help="A data set of `leaps data`.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]


def progress_bar() -> Progress:
    """A bar on standard error, which vanishes when it is done."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
        console=err,
        transient=True,
        disable=not err.is_terminal,  # else it would leave an empty line
    )


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value))


def read_program(file: Path | None, expression: str | None, domain: "Domain" = KAREL) -> Program:
    """Read the program that a command was given, from wherever it was given, in the words of a domain."""
    return domain.parse(read_source(file, expression))


def read_for(task: "Task", file: Path | None, expression: str | None) -> "tuple[Task, Program]":
    """Read a program in the words of a task; return the task with the constants of the program, too."""
    source = read_source(file, expression)
    fitted = task.fitting(words_of(source))
    return fitted, fitted.domain.parse(source)


def read_source(file: Path | None, expression: str | None) -> str:
    """Read the text of the program that a command was given."""
    if (file is None) == (expression is None):
        raise ValueError("expected a program: either a FILE or -e 'DEF run m( … m)', and not both")
    if expression is not None:
        return expression
    assert file is not None
    return read_text(file)


def read_text(file: Path) -> str:
    """Read a text file, or standard input for '-'; bytes that are no UTF-8 are left to the parser."""
    data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    return data.decode("utf-8-sig", errors="replace")


def parse_size(text: str | None, option: str = "--size") -> tuple[int, int] | None:
    """Read HxW."""
    if text is None:
        return None
    try:
        return read_size(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def size_for(task: "Task", text: str | None, option: str = "--size") -> Any:
    """Read HxW or the name of a variant, whichever the task takes; None if there is nothing to read."""
    if text is None:
        return None
    try:
        wanted: Any = read_size(text)
    except ValueError:
        wanted = text.strip()[:40]
    try:
        return task.check_size(wanted)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def sizes_for(task: "Task", text: str | None, option: str) -> tuple[Any, ...]:
    """Read several sizes or variants, with commas between them."""
    return tuple(size_for(task, each.strip(), option) for each in (text.split(",") if text else ()))


def parse_sizes(text: str | None, option: str) -> tuple[tuple[int, int], ...]:
    """Read HxW,HxW."""
    parsed = (parse_size(each, option) for each in (text.split(",") if text else ()))
    return tuple(size for size in parsed if size is not None)


def load_data(folder: Path) -> "Dataset":
    from leaps.karel.dataset import Dataset

    return Dataset.load(folder)


def check_device(device: str) -> None:
    """Say what is wrong with a device, if anything."""
    import torch

    if device not in ("cpu", "cuda"):
        raise ValueError(f"--device: expected cpu or cuda, found {device!r}")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("--device cuda: no CUDA device is available here; use --device cpu")


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leaps {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Programs as policies: short, readable programs that solve tasks."""


def main() -> None:
    """Run a command; tell users what is wrong with their input without a traceback."""
    try:
        app()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of our output has gone
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        message = (
            f"{error.filename}: {error.strerror}"
            if isinstance(error, OSError) and error.filename
            else str(error)
        )
        err.print("[red]error[/red]: ", end="")
        err.print(message, markup=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("interrupted")
        sys.exit(130)
