"""The application, and what all commands share: options, reading programs and sizes, reporting errors.

Exit codes: 0 success, 1 failure (the answer is no), 2 misuse (bad input, bad options). With `--json` a
command prints one JSON object to standard output and nothing else. Errors go to standard error.
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
from leaps.tasks import default_domain

if TYPE_CHECKING:
    from leaps.domain import RandomWorlds, Task

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


# Options of several commands.
FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="Program, on one line or indented. '-' reads standard input."),
]
ExpressionOption = Annotated[
    str | None,
    typer.Option("--expression", "-e", metavar="PROGRAM", help="Program as text, instead of a file."),
]
TaskArgument = Annotated[
    str,
    typer.Argument(metavar="TASK", help="Task: a name of `leaps tasks`, or FILE.py:NAME for your own."),
]
TaskOption = Annotated[
    str,
    typer.Option("--task", "-t", help="Task: a name of `leaps tasks`, or FILE.py:NAME for your own."),
]
SeedOption = Annotated[
    int, typer.Option("--seed", "-s", min=0, help="Seed of the worlds. The same seed gives the same worlds.")
]
RunSeedOption = Annotated[
    int, typer.Option("--seed", "-s", min=0, help="Seed. The same seed gives the same result.")
]
BudgetOption = Annotated[
    int | None,
    typer.Option("--budget", help="Maximum number of programs evaluated. Default: the method's own."),
]
SizeOption = Annotated[
    str | None,
    typer.Option(
        "--size",
        metavar="HxW",
        help="Height and width of the world, walls included, or the name of a variant. Default: the task's "
        "own.",
    ),
]
DeviceOption = Annotated[str, typer.Option("--device", help="Device for training: cpu or cuda.")]
AddressOption = Annotated[
    str | None, typer.Option("--address", help="Address of the Dask scheduler or the Ray cluster.")
]
DataOption = Annotated[Path, typer.Option("--data", metavar="DIR", help="Data set made by `leaps data`.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def progress_bar() -> Progress:
    """Make a progress bar on standard error that vanishes at the end."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
        console=err,
        transient=True,
        disable=not err.is_terminal,  # else it would leave an empty line
    )


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value))


def read_program(file: Path | None, expression: str | None) -> Program:
    """Read a program from a file or an option, in the language of the default domain."""
    return default_domain().parse(read_source(file, expression))


def read_for(task: "Task", file: Path | None, expression: str | None) -> "tuple[Task, Program]":
    """Read a program in a task's language; return the task with the program's constants, and the tree."""
    source = read_source(file, expression)
    fitted = task.fitting(words_of(source))
    return fitted, fitted.domain.parse(source)


def read_source(file: Path | None, expression: str | None) -> str:
    """Read the text of a program from a file or an option."""
    if (file is None) == (expression is None):
        raise ValueError("expected a program: either a FILE or -e 'DEF run m( … m)', and not both")
    if expression is not None:
        return expression
    assert file is not None
    return read_text(file)


def read_text(file: Path) -> str:
    """Read a text file, or standard input for '-'. Bytes that are not UTF-8 are replaced."""
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
    """Read HxW or the name of a variant, whichever the task takes; None without a text."""
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
    """Read sizes or variants that are separated by commas."""
    return tuple(size_for(task, each.strip(), option) for each in (text.split(",") if text else ()))


def random_worlds() -> "RandomWorlds":
    """Return what the default domain does in random worlds."""
    found = default_domain().extras.random_worlds
    assert found is not None
    return found


def load_data(folder: Path) -> Any:
    """Read a data set of the default domain's random worlds."""
    return random_worlds().read_data(folder)


def check_device(device: str) -> None:
    """Raise an error for a device that is unknown or not available."""
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
    """Run a command; report wrong input without a traceback."""
    try:
        app()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of the output has closed the pipe
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
