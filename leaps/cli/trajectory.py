"""The command that records and draws a search of the space: trajectory."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from leaps.cli.app import (
    BudgetOption,
    JsonOption,
    RunSeedOption,
    TaskArgument,
    app,
    err,
    out,
    print_json,
    progress_bar,
    read_program,
)
from leaps.cli.space import SpaceOption
from leaps.dsl.text import to_line

if TYPE_CHECKING:
    from leaps.search.solve import Round

PICTURE_FILE, FILM_FILE, TABLE_FILE, REPORT_FILE = (
    "trajectory.png",
    "trajectory.gif",
    "evolution.md",
    "trajectory.json",
)


@app.command()
def trajectory(
    task: TaskArgument,
    seed: RunSeedOption = 0,
    method: Annotated[
        str, typer.Option("--method", "-m", help="Search method: leaps (as published) or leaps+.")
    ] = "leaps",
    budget: BudgetOption = None,
    space: SpaceOption = "leaps",
    truth: Annotated[
        Path | None,
        typer.Option("--truth", metavar="FILE", help="Program that solves the task, drawn as a star."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Folder for the result. Default: out/TASK-METHOD-SEED-trajectory."
        ),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Record a search by the cross-entropy method, and draw it.

    These are the paper's figures and table of a search: its populations on a map of the space, its returns,
    and its best program after each iteration. Writes a picture, a film, a table and all numbers.

      leaps trajectory stair-climber --truth examples/stair-climber.karel
    """
    from leaps.base.files import write_atomically
    from leaps.experiments.report.figures import animate_trajectory, draw_trajectory
    from leaps.experiments.trajectory import evolution, evolution_table, record, search_space
    from leaps.search.leaps import parse_changes
    from leaps.search.methods import get_method
    from leaps.search.save import make_folder
    from leaps.search.solve import SolveConfig
    from leaps.tasks import get

    task_name = get(task).name
    known = get_method(method)
    if parse_changes(method) is None:
        raise ValueError(f"--method: expected leaps or leaps+, found {method!r}")
    config = SolveConfig(task, method, seed, budget, space=space)
    program = None if truth is None else to_line(read_program(truth, None))
    loaded = search_space(config)
    folder = Path("out") / f"{task_name}-{method}-{seed}-trajectory" if to is None else to
    make_folder(folder)
    bar = progress_bar()
    bar.disable = not err.is_terminal  # else it would leave an empty line
    with bar:
        at = bar.add_task(f"{task}: evaluations", total=budget or known.budget, detail="")

        def show(step: "Round") -> None:
            bar.update(at, completed=step.evaluations, detail=f"best return {step.best_so_far:.3f}")

        recorded = record(config, loaded, program, listener=show)
        bar.update(at, description="drawing", total=None)
        write_atomically(folder / REPORT_FILE, (json.dumps(recorded.report()) + "\n").encode())
        write_atomically(folder / TABLE_FILE, evolution_table(recorded).encode())
        draw_trajectory(recorded, folder / PICTURE_FILE)
        animate_trajectory(recorded, folder / FILM_FILE)
    rows = evolution(recorded)
    if json_:
        print_json(
            {
                "out": str(folder),
                "task": task,
                "method": method,
                "seed": seed,
                "space": space,
                "iterations": len(recorded.iterations),
                "converged": recorded.converged,
                "evolution": [
                    {"iteration": row.number, "return": row.best, "program": row.program} for row in rows
                ],
            }
        )
        return
    table = Table("iteration", "return", "best program")
    for row in rows:
        table.add_row(str(row.number), f"{row.best:.2f}", row.program)
    out.print(table)
    word = "converged" if recorded.converged else "not converged"
    out.print(f"{word} after {len(recorded.iterations):,} iterations; see {folder / PICTURE_FILE}")
