"""The command that opens the studio: studio."""

import json
import os
import sys
import webbrowser
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from leaps.base.user_code import split_name
from leaps.cli.app import JsonOption, app, out, print_json, read_text
from leaps.tasks import shipped


@app.command()
def studio(
    begin: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROGRAM]", help="A file with a program to begin with, or a task of yours: FILE.py:NAME."
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            help="Task to begin with, or FILE.py:NAME; by default the one that PROGRAM was found for.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Where to listen. Others than this machine need the token that is printed."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="0: any port that is free.")
    ] = 8000,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the browser, where there is a terminal.")
    ] = True,
    json_: JsonOption = False,
) -> None:
    """Open the studio: read, run, edit and question programs in the browser.

    Everything happens on this machine. Ctrl-C ends it.

      leaps studio
      leaps studio examples/maze.karel --task maze
      leaps studio my_env.py:CART_POLE
    """
    from leaps.studio.server import Start, Studio
    from leaps.studio.serving import listen, serve

    if begin is not None and split_name(begin) is not None:
        if task is not None:
            raise ValueError(f"expected one task, found {begin} and --task {task}")
        task, begin = begin, None
    program = None if begin is None else Path(begin)
    text = None if program is None else read_draft(program)
    start = Start.of(task or (program and task_of(program)) or Start.task, text)
    listener = listen(host, port)

    def started(address: str, token: str | None) -> None:
        if json_:
            print_json({"address": address, "token": token})
            sys.stdout.flush()
            return
        out.print(f"The studio is at [link={address}]{address}[/link]", soft_wrap=True)
        out.print("[dim]Ctrl-C ends it[/dim]")
        if open_ and out.is_terminal:
            # A thread: some browsers return only when they are closed.
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(Studio(start), listener, host, started)
    # A thread may be compiling or evaluating, and can't be stopped; nobody needs what it would find.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def task_of(file: Path) -> str | None:
    """The task that a program is for: what its file is named after, or what it was found for."""
    from leaps.search.save import RESULT_FILE

    if file.stem in shipped():
        return file.stem
    try:
        found = json.loads(file.with_name(RESULT_FILE).read_bytes())["task"]
    except (OSError, ValueError, KeyError, TypeError):  # it is not in the folder of a search
        return None
    return found if isinstance(found, str) and found in shipped() else None


def read_draft(file: Path) -> str:
    """Read a program that may still have mistakes: the studio shows them."""
    from leaps.studio.requests import CHARACTERS

    text = read_text(file)
    if len(text) > CHARACTERS:
        raise ValueError(
            f"{file}: expected a program of at most {CHARACTERS:,} characters, found {len(text):,}"
        )
    return text
