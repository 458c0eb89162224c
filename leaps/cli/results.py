"""The command that exports stored results as a table: results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from leaps.cli.app import JsonOption, app, err, out, print_json

if TYPE_CHECKING:
    from leaps.experiments.cell import Result


@app.command()
def results(
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="OUT.csv", help="File to write the table to.")
    ] = None,
    experiment: Annotated[
        str | None, typer.Option("--experiment", metavar="NAME", help="Name of one experiment. Default: all.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--results",
            metavar="DIR",
            help="Folder of stored results. Default: `results`.",
        ),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Export stored results as a table with one row per cell and seed.

    Without --csv and --json the command prints the number of results. In Python, leaps.results() returns the
    same columns for pandas or polars.
    For instance:

      leaps results --csv results.csv
      leaps results --experiment tasks --json
    """
    from leaps.base.files import write_atomically
    from leaps.experiments.export import as_csv, columns_of, find_results, read_results, rows_of
    from leaps.experiments.store import Store

    store = Store(find_results(folder), only_read=True)
    try:
        found = read_results(store, experiment)
    finally:
        for file in store.aside:
            err.print(f"left out, as it can't be read: {file}", markup=False, soft_wrap=True)
    columns = columns_of(found)
    if csv is not None:
        write_atomically(csv, as_csv(columns).encode())
    if json_:
        print_json({"columns": list(columns), "rows": rows_of(columns)})
    elif csv is not None:
        out.print(f"{csv}: {len(found):,} rows, {len(columns)} columns", markup=False, soft_wrap=True)
    else:
        print_counts(found)


def print_counts(found: "list[Result]") -> None:
    """Print the number of results of every experiment."""
    from leaps.experiments.export import is_quick

    table = Table(box=None, header_style="bold")
    table.add_column("experiment")
    for title in ("cells", "quick", "methods", "tasks"):
        table.add_column(title, justify="right")
    for name in dict.fromkeys(result.cell.experiment for result in found):
        cells = [result.cell for result in found if result.cell.experiment == name]
        quick = sum(map(is_quick, cells))
        methods, tasks = {cell.method for cell in cells}, {cell.task for cell in cells}
        table.add_row(name, *(f"{count:,}" for count in (len(cells), quick, len(methods), len(tasks))))
    out.print(table)
