"""The command that computes the paper's tables and figures: experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from leaps.baselines.methods import BASELINES
from leaps.cli.app import AddressOption, JsonOption, app, check_device, err, out, print_json, progress_bar
from leaps.cli.baseline import need_baselines
from leaps.cli.check import check_stored, draw_stored

if TYPE_CHECKING:
    from leaps.experiments.backends import Backend
    from leaps.experiments.catalogue import Experiment
    from leaps.experiments.cell import Cell
    from leaps.experiments.run import Progress, RunResults
    from leaps.experiments.table import Rows


def _names(text: str | None) -> list[str] | None:
    """Read names that are separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


@app.command()
def experiment(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the experiment. Without it, all are listed.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", help="Number of seeds per entry. Default: 5, or 32 for other searches."),
    ] = None,
    tasks: Annotated[
        str | None, typer.Option("--tasks", metavar="A,B", help="Columns of the table to compute.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="A,B",
            help="Rows of the table to compute, or FILE.py:NAME for your own search.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run a miniature of the experiment.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of local processes. Default: one per core."),
    ] = None,
    backend: Annotated[str, typer.Option("--backend", help="Backend: local, dask or ray.")] = "local",
    address: AddressOption = None,
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder of stored results.")
    ] = Path("results"),
    work: Annotated[
        Path, typer.Option("--work", metavar="DIR", help="Folder for trainings, shared by all workers.")
    ] = Path("out/experiments"),
    device: Annotated[
        str, typer.Option("--device", help="Device for training on every worker: cpu or cuda.")
    ] = "cpu",
    check: Annotated[
        int | None,
        typer.Option(
            "--check",
            metavar="N",
            min=1,
            help="Number of stored cells to recompute and compare.",
        ),
    ] = None,
    check_seed: Annotated[
        int | None,
        typer.Option("--check-seed", min=0, help="Seed of the draw of --check. Default: random."),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Compute a table or a figure of the paper, or some of its rows and columns.

    An experiment is a list of cells; a cell is one method on one task with one seed. Stored cells are not
    recomputed, so the same command resumes an interrupted experiment. `leaps report` draws the figures.
    For instance:

      leaps experiment tasks --methods leaps,leaps-rand-8 --seeds 5
      leaps experiment tasks --quick
      leaps experiment latent-map
      leaps experiment karel-hard --backend dask --address tcp://10.0.0.1:8786
      leaps experiment tasks --methods ladder --check 3
      leaps experiment tasks --methods my_search.py:MySearch,hc --seeds 3
    """
    from leaps.experiments.catalogue import EXPERIMENTS, FIGURES, get_experiment, read_methods

    if check is None and check_seed is not None:
        raise ValueError("--check-seed: expected --check N as well")
    if name is None:
        if check is not None:
            raise ValueError("--check: expected the NAME of an experiment")
        if json_:
            print_json({key: one.summary for key, one in EXPERIMENTS.items()})
        else:
            list_experiments(list(EXPERIMENTS.values()))
        return
    from leaps.experiments.backends import connect
    from leaps.experiments.run import run
    from leaps.experiments.store import Store
    from leaps.experiments.table import tabulate
    from leaps.search.methods import get_method

    all_asked, columns_asked = _names(methods), _names(tasks)
    rows_asked, files = read_methods(all_asked)
    chosen = get_experiment(name).with_methods(files)

    def prepare(cells: "Sequence[Cell]") -> "Backend":
        """Connect to the backend for these cells, after a check that their libraries are installed."""
        if any(cell.method in BASELINES for cell in cells):
            need_baselines()
        # A cluster's workers report for each cell whether they have a GPU.
        check_device("cpu" if device == "cuda" and backend != "local" else device)
        return connect(backend, address, jobs)

    if check is not None:
        store = Store(results, only_read=True)
        drawn = draw_stored(store, name, all_asked, columns_asked, seeds, quick, check, check_seed)
        check_stored(drawn, store, prepare([result.cell for result in drawn.results]), work, device, json_)
        return
    for own in files.values():  # mistakes are reported before there is a folder of results
        get_method(own)
    cells = chosen.cells(rows_asked, columns_asked, seeds, quick)
    store = Store(results)
    workers = prepare(cells)
    try:
        with progress_bar() as bar:
            shown = bar.add_task(name, total=len(cells), detail="")

            def show(progress: "Progress") -> None:
                bar.update(shown, total=progress.cells, completed=progress.done, detail=progress.cell.name)
                if progress.failure is not None:
                    err.print(f"{progress.cell.name} failed: {progress.failure}", markup=False, style="red")

            outcome = run(cells, store, workers, work, device, show, files)
    finally:
        workers.close()
    for file in store.aside:
        err.print(f"damaged result recomputed; the damaged file is now {file}", markup=False)
    done = [cell for cell in cells if cell in outcome.results]
    rows = {} if name in FIGURES else tabulate(chosen, [outcome.results[cell] for cell in done])
    if json_:
        print_json(summary_of(chosen, outcome, rows) | {"files": [str(store.file(cell)) for cell in done]})
    else:
        if name in FIGURES:
            print_files(chosen, [store.file(cell) for cell in done])
        else:
            print_table(chosen, rows)
        if outcome.failures:
            out.print(f"{len(outcome.failures)} cells failed; the same command retries them", style="red")
    if outcome.failures:
        raise typer.Exit(1)


def list_experiments(experiments: "list[Experiment]") -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    for one in experiments:
        table.add_row(one.name, f"{one.summary}: {', '.join(one.methods)}")
    out.print(table)


def summary_of(chosen: "Experiment", outcome: "RunResults", rows: "Rows") -> dict[str, Any]:
    return {
        "experiment": chosen.name,
        "cells": len(outcome.results),
        "computed": outcome.computed,
        "failures": {cell.name: message for cell, message in outcome.failures.items()},
        "returns": {
            method: {task: entry.returns for task, entry in row.items()} for method, row in rows.items()
        },
    }


def print_files(chosen: "Experiment", files: list[Path]) -> None:
    """Print the files of a figure's values, and the command that draws it."""
    out.print(f"{chosen.name}: {chosen.summary}", style="bold")
    for file in files:
        out.print(f"  {file}", markup=False, soft_wrap=True)
    if files:
        out.print("`leaps report` draws them in docs/reproduction.md; add --quick --out DIR for quick runs")


def print_table(chosen: "Experiment", rows: "Rows") -> None:
    """Print mean and standard deviation of every entry, above the reported values."""
    from leaps.experiments.paper import REPORTED

    table = Table(title=chosen.summary, title_justify="left", box=None, header_style="bold")
    table.add_column("")
    for task in chosen.tasks:
        table.add_column(task, justify="right")
    for method, row in rows.items():
        table.add_row(method, *(str(row.get(task, "–")) for task in chosen.tasks))
        if reported := REPORTED.get(chosen.name, {}).get(method):
            table.add_row("  reported", *(str(reported.get(task, "–")) for task in chosen.tasks), style="dim")
    out.print(table)
