"""The command that improves a given program: repair."""

import sys
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.columns import Columns
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from leaps.base.files import write_atomically
from leaps.cli.app import (
    ExpressionOption,
    FileArgument,
    JsonOption,
    RunSeedOption,
    SizeOption,
    TaskOption,
    app,
    out,
    print_json,
    read_for,
    size_for,
    sizes_for,
)
from leaps.cli.programs import add_privileged
from leaps.cli.search import INTERRUPTED, AlsoOption, LiveView, add_returns
from leaps.dsl.syntax import Program
from leaps.dsl.text import to_indented, to_line

if TYPE_CHECKING:
    from leaps.analysis.repair import Repair

KEPT, ADDED, REMOVED = "  ", "+ ", "- "
COLOURS = {KEPT: "", ADDED: "green", REMOVED: "red"}


@app.command()
def repair(
    task: TaskOption,
    file: FileArgument = None,
    expression: ExpressionOption = None,
    edits: Annotated[int, typer.Option("--edits", "-n", help="Maximum number of edits.")] = 3,
    seed: RunSeedOption = 0,
    budget: Annotated[
        int | None, typer.Option("--budget", help="Maximum number of programs evaluated. Default: 500,000.")
    ] = None,
    size: SizeOption = None,
    also: AlsoOption = None,
    to: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write the program to.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Improve a program with a few edits, and show them.

    An edit adds, removes or changes an action, a loop or a conditional. The command searches for the best
    program within this number of edits, and undoes edits that make no difference. Ctrl-C ends the search
    with the best program so far.

      leaps repair my.karel --task top-off --edits 3
    """
    from leaps.analysis.repair import BUDGET, repaired
    from leaps.search.solve import Run, SolveConfig, work
    from leaps.tasks import get

    wanted, parsed = read_for(get(task), file, expression)
    program = to_line(parsed)
    config = SolveConfig(
        task,
        "ladder",
        seed,
        BUDGET if budget is None else budget,
        size_for(wanted, size),
        origin=program,
        edits=edits,
        also=sizes_for(wanted, also, "--also"),
    )
    if to is not None and not to.parent.is_dir():  # before a search of minutes
        raise ValueError(f"--out: there is no folder {str(to.parent)!r} to write {to.name} into")
    with LiveView([config]) as view:
        found = repaired(work(Run(config), view.show))
    if to is not None:
        write_atomically(to, (to_indented(found.solution.task.domain.parse(found.program)) + "\n").encode())
    if json_:
        print_json(found.summary())
    else:
        print_repair(found, to)
    if found.solution.interrupted:
        sys.exit(INTERRUPTED)


def print_repair(found: "Repair", to: Path | None) -> None:
    """Print a repaired program, with the lines that changed and its returns before and after."""
    solution = found.solution
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("task", f"{solution.config.task}, seed {solution.config.seed}")
    before = f"{found.original_return:.3f} ({solution.judged[0]})"
    add_returns(table, "before", before, found.original_elsewhere)
    after = f"[bold]{solution.unseen_return:.3f}[/bold] on the same worlds"
    word = ": [green]solved[/green]" if solution.solved else ""
    add_returns(table, "after", after, solution.elsewhere, word)
    many = "edit" if found.edits == 1 else "edits"
    table.add_row("changed", f"{found.edits} {many} of {solution.config.edits} allowed")
    table.add_row("search", f"{solution.evaluations:,} evaluations, {solution.seconds:.1f} s")
    if solution.interrupted:
        table.add_row("", "interrupted: best program so far")
    add_privileged(table, solution.privileged)
    if to is not None:
        table.add_row("written to", escape(str(to)))
    text = Text()
    domain = solution.task.domain
    for mark, line in changes(domain.parse(found.original), domain.parse(found.program)):
        text.append(f"{mark}{line}\n", COLOURS[mark])
    text.rstrip()
    out.print(Columns([Panel(text, border_style="dim", padding=(0, 2)), table], padding=(0, 3)))


def changes(before: Program, after: Program) -> list[tuple[str, str]]:
    """Return the lines of two programs, each marked as in both, added or removed.

    A line whose indentation alone differs, because of a new loop around it, is in both.
    """
    old, new = (to_indented(program).splitlines() for program in (before, after))
    matcher = SequenceMatcher(None, [line.strip() for line in old], [line.strip() for line in new], False)
    lines: list[tuple[str, str]] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            lines += [(KEPT, line) for line in new[c:d]]
        else:
            lines += [(REMOVED, line) for line in old[a:b]] + [(ADDED, line) for line in new[c:d]]
    return lines
