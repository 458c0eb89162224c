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
            metavar="[PROGRAM]", help="File of the first program, or a user-defined task as FILE.py:NAME."
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            help="First task, or FILE.py:NAME. Default: the task that PROGRAM was found for.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on. Other machines need the printed token."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="Port to listen on. 0: any free port.")
    ] = 8000,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the browser if the output is a terminal.")
    ] = True,
    json_: JsonOption = False,
) -> None:
    """Open the studio, to read, run, edit and search programs in the browser.

    All computation happens on this machine. Ctrl-C stops the server.

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
        out.print("[dim]Ctrl-C stops it[/dim]")
        if open_ and out.is_terminal:
            # A thread: some browsers return only when they are closed.
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(Studio(start), listener, host, started)
    # A thread that compiles or evaluates can't be stopped, and its result is not needed.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def task_of(file: Path) -> str | None:
    """Find the task of a program: by the name of its file, or by the search result beside it."""
    from leaps.search.save import RESULT_FILE

    if file.stem in shipped():
        return file.stem
    try:
        found = json.loads(file.with_name(RESULT_FILE).read_bytes())["task"]
    except (OSError, ValueError, KeyError, TypeError):  # not in the folder of a search
        return None
    return found if isinstance(found, str) and found in shipped() else None


def read_draft(file: Path) -> str:
    """Read a program, which may have errors: the studio shows them."""
    from leaps.studio.requests import CHARACTERS

    text = read_text(file)
    if len(text) > CHARACTERS:
        raise ValueError(
            f"{file}: expected a program of at most {CHARACTERS:,} characters, found {len(text):,}"
        )
    return text
