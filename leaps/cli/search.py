"""Commands that find programs: solve, imitate."""

import math
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.columns import Columns
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table

from leaps.cli.app import (
    AddressOption,
    BudgetOption,
    ExpressionOption,
    FileArgument,
    JsonOption,
    RunSeedOption,
    SizeOption,
    TaskArgument,
    app,
    err,
    out,
    print_json,
    random_worlds,
    read_program,
    size_for,
    sizes_for,
)
from leaps.cli.programs import add_privileged, coloured
from leaps.cli.space import SpaceOption
from leaps.dsl.text import to_line
from leaps.search.methods import METHODS
from leaps.tasks import default_domain

if TYPE_CHECKING:
    from leaps.search.solve import Round, Solution, SolveConfig

AlsoOption = Annotated[
    str | None,
    typer.Option("--also", metavar="HxW,HxW", help="Other sizes of worlds at which the program must work."),
]
INTERRUPTED = 130


@app.command()
def solve(
    task: TaskArgument,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help=f"Search method: {', '.join(METHODS)}, or FILE.py:NAME for your own.",
        ),
    ] = "ladder",
    seed: RunSeedOption = 0,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds, starting at --seed.")] = 1,
    budget: BudgetOption = None,
    size: SizeOption = None,
    also: AlsoOption = None,
    max_length: Annotated[
        int, typer.Option("--max-length", help="Maximum number of tokens of a program.")
    ] = 45,
    space: Annotated[
        str | None,
        typer.Option(
            "--space",
            help="Program space: leaps (Karel's default), p, pr or pl, a file of weights, or a folder of "
            "`leaps train`. A task with numeric perceptions keeps the constants of the space.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder for the result. Default: out/TASK-METHOD-SEED."),
    ] = None,
    backend: Annotated[
        str, typer.Option("--backend", help="Backend for --seeds: local, dask or ray.")
    ] = "local",
    address: AddressOption = None,
    json_: JsonOption = False,
) -> None:
    """Find a program that solves a task, from its reward alone.

    Prints the program and its expected return. The return is exact, over all initial states, if the task can
    list them, else the mean over 1,000 worlds that the search never saw. Writes a folder with the program, a
    rollout as a GIF, the history of the search and its configuration. Ctrl-C ends a search and saves the best
    program so far; the same command resumes it. On a cluster, unfinished searches are lost.

      leaps solve maze
      leaps solve door-key --method hc --seeds 5
      leaps solve door-key --seeds 32 --backend dask --address tcp://10.0.0.1:8786
      leaps solve harvester --also 16x16,40x40
      leaps solve maze --method my_search.py:MySearch
    """
    from leaps.experiments.backends import connect
    from leaps.experiments.solving import solve_all
    from leaps.search.checkpoint import Checkpoints
    from leaps.search.methods import short_name
    from leaps.search.save import make_folder, save_solution
    from leaps.search.several import work_all
    from leaps.search.solve import Run, SolveConfig
    from leaps.tasks import get

    wanted = get(task)
    configs = [
        SolveConfig(
            task,
            method,
            number,
            budget,
            size_for(wanted, size),
            space,
            max_length,
            also=sizes_for(wanted, also, "--also"),
        )
        for number in range(seed, seed + seeds)
    ]

    def folder_of(config: SolveConfig) -> Path:
        name = f"{wanted.name}-{short_name(method)}-{config.seed}"
        return Path("out") / name if to is None else to if seeds == 1 else to / name

    def keep(solution: "Solution") -> None:
        if missing := save_solution(solution, folder_of(solution.config)):
            err.print(escape(missing), style="dim")
        if not solution.interrupted:
            checkpoints[solution.config.seed].remove()
        view.count(solution)

    def watch(step: "Round") -> None:
        checkpoints[step.seed](step)
        view.show(step)

    failed: list[int] = []

    def complain(config: SolveConfig, why: str) -> None:
        err.print(f"seed {config.seed} failed: {why}", markup=False, style="red")
        failed.append(config.seed)

    with LiveView(configs) as view, ExitStack() as afterwards:
        runs = [Run(config) for config in configs]  # raises errors before there is a folder
        checkpoints = {run.config.seed: Checkpoints(run, folder_of(run.config)) for run in runs}
        if (backend, address) == ("local", None):
            make_folder(folder_of(configs[0]))
            for run in runs:
                if checkpoints[run.config.seed].resume():
                    done = f"{run.objective.evaluations:,} evaluations"
                    err.print(f"seed {run.config.seed} resumes after {done}")
            solutions = work_all(runs, watch, keep)
        else:
            workers = connect(backend, address)
            afterwards.callback(workers.close)
            make_folder(folder_of(configs[0]))
            solutions = solve_all(configs, workers, keep, complain)
    if not solutions:
        sys.exit(1 if failed else INTERRUPTED)
    # Only now: the view, when it closes, erases what was printed below it.
    if json_:
        print_json(solutions[0].summary() if seeds == 1 else summary_of(solutions))
    else:
        for solution in solutions:
            print_solution(solution, folder_of(solution.config))
        if seeds > 1:
            print_summary(solutions)
    if failed:
        sys.exit(1)
    if len(solutions) < seeds or any(solution.interrupted for solution in solutions):
        sys.exit(INTERRUPTED)


class LiveView:
    """Progress of searches in the terminal; shows nothing if the output is no terminal."""

    def __init__(self, configs: "list[SolveConfig]") -> None:
        self.configs = configs
        self.live = Live(console=err, transient=True, auto_refresh=False)
        self.shown = 0.0
        self.steps: dict[int, Round] = {}
        """the latest round of each running seed"""
        self.solved: list[bool] = []
        """of each finished search"""

    def __enter__(self) -> "LiveView":
        if err.is_terminal:
            self.live.start()
            self.live.update(
                f"{self.configs[0].task}: starting (compiling takes half a minute on first use) …",
                refresh=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if err.is_terminal:
            self.live.stop()

    def count(self, solution: "Solution") -> None:
        self.steps.pop(solution.config.seed, None)
        self.solved.append(solution.solved)

    def show(self, step: "Round") -> None:
        self.steps[step.seed] = step
        now = time.monotonic()
        if not err.is_terminal or now - self.shown < 0.1:
            return
        self.shown = now
        running = sorted(self.steps.copy().items())  # other threads may add entries
        best = max((latest for _, latest in running), key=lambda latest: latest.best_so_far)
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column()
        config = self.configs[0]
        seed = f", seed {config.seed}" if len(self.configs) == 1 else ""
        table.add_row("task", f"{config.task}, {config.method}{seed}")
        if len(self.configs) > 1:
            table.add_row(
                "searches", f"{len(self.solved)} of {len(self.configs)} done, {sum(self.solved)} solved"
            )
        for number, latest in running:
            table.add_row(
                f"seed {number}" if len(self.configs) > 1 else "best return",
                f"[bold]{latest.best_so_far:.3f}[/bold] on {latest.worlds} worlds, {latest.evaluations:,} "
                f"evaluations ({latest.evaluations / latest.seconds:,.0f} a second), {latest.seconds:.1f} s",
            )
            if latest.best_so_far <= 1.0:  # as for Karel, where 1 is perfect
                bar = ProgressBar(total=1.0, completed=max(latest.best_so_far, 0.0), width=30)
                table.add_row("", bar)
        program = coloured(best.domain.parse(best.domain.text(best.program)))
        self.live.update(Group(table, Panel(program, border_style="dim", padding=(0, 2))), refresh=True)


def print_solution(solution: "Solution", folder: Path) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    config = solution.config
    table.add_row("task", f"{config.task}, {config.method}, seed {config.seed}")
    word = ": [green]solved[/green]" if solution.solved else ": not solved"
    if math.isinf(solution.task.best):  # the task does not say which return counts as solved
        word = ""
    earned = f"[bold]{solution.unseen_return:.3f}[/bold] ({solution.judged[0]})"
    add_returns(table, "return", earned, solution.elsewhere, word)
    table.add_row("", f"{solution.search_return:.3f} on the search's own {solution.worlds}")
    table.add_row("search", f"{solution.evaluations:,} evaluations, {solution.seconds:.1f} s")
    if solution.interrupted:
        table.add_row("", "interrupted: best program so far; the same command resumes the search")
    add_privileged(table, solution.privileged)
    table.add_row("saved in", escape(str(folder)))
    panel = Panel(coloured(solution.task.domain.parse(solution.program)), border_style="dim", padding=(0, 2))
    out.print(Columns([panel, table], padding=(0, 3)))


def add_returns(table: Table, what: str, earned: str, elsewhere: dict[str, float], word: str = "") -> None:
    """Add rows for a program's return, its returns at other sizes, and a verdict on all of them."""
    lines = [earned, *(f"[bold]{other:.3f}[/bold] at {size}" for size, other in elsewhere.items())]
    lines[-1] += word
    for line in lines:
        table.add_row(what, line)
        what = ""


def summary_of(solutions: "list[Solution]") -> dict[str, Any]:
    return {
        "task": solutions[0].config.task,
        "method": solutions[0].config.method,
        "seeds": len(solutions),
        "return": mean(solution.unseen_return for solution in solutions),
        "elsewhere": elsewhere_of(solutions),
        "search_return": mean(solution.search_return for solution in solutions),
        "solved": sum(solution.solved for solution in solutions),
        "runs": [solution.summary() for solution in solutions],
    }


def elsewhere_of(solutions: "list[Solution]") -> dict[str, float]:
    """Compute the mean return at each other size."""
    return {size: mean(solution.elsewhere[size] for solution in solutions) for size in solutions[0].elsewhere}


def print_summary(solutions: "list[Solution]") -> None:
    returns = [solution.unseen_return for solution in solutions]
    evaluations = sorted(solution.evaluations for solution in solutions)
    solved = sum(solution.solved for solution in solutions)
    out.print(
        f"[bold]{mean(returns):.3f}[/bold] on average (lowest {min(returns):.3f}); "
        + "".join(f"{earned:.3f} at {size}; " for size, earned in elsewhere_of(solutions).items())
        + f"{solved} of {len(solutions)} solved; "
        f"{evaluations[len(evaluations) // 2]:,} evaluations (median), "
        f"{mean(solution.seconds for solution in solutions):.1f} s on average"
    )


@app.command()
def imitate(
    file: FileArgument = None,
    expression: ExpressionOption = None,
    seed: RunSeedOption = 0,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, help="Maximum number of iterations.")
    ] = 1000,
    space: SpaceOption = "leaps",
    json_: JsonOption = False,
) -> None:
    """Find a program that behaves like a given one, without reading its text.

    This is the paper's program reconstruction: a search in the space for the highest R_mat. R_mat measures
    how alike the actions of two programs are, from 0 to 1.
    """
    from leaps.embedding.space import Space
    from leaps.search.reconstruct import PLUS, reconstruct
    from leaps.search.search import VALID_BONUS

    program = to_line(read_program(file, expression))
    loaded = Space.load(space, language=default_domain().language)
    runner = random_worlds().runner(program, seed)
    found = reconstruct(loaded, program, runner, PLUS, seed, iterations)
    text = loaded.text(found.program)
    if json_:
        print_json(
            {
                "program": program,
                "found": text,
                "seed": seed,
                "space": space,
                "r_mat": found.r_mat,
                "score": found.r_mat + VALID_BONUS,
                "iterations": found.iterations,
            }
        )
        return
    out.print(Panel(coloured(default_domain().parse(text)), border_style="dim", padding=(0, 2), expand=False))
    out.print(
        f"R_mat [bold]{found.r_mat:.3f}[/bold] (the paper's table adds {VALID_BONUS}: "
        f"{found.r_mat + VALID_BONUS:.2f}), found in iteration {found.iterations:,}"
    )
