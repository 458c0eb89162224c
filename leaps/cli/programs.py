"""Commands about programs and tasks: tasks, check, run, trace, conform."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.columns import Columns
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from leaps.cli.app import (
    ExpressionOption,
    FileArgument,
    JsonOption,
    SeedOption,
    SizeOption,
    TaskOption,
    app,
    out,
    print_json,
    read_for,
    read_program,
    size_for,
)
from leaps.cli.baseline import need_baselines
from leaps.domain import Domain, Episodes, GridTask, Outcome, Scene, Size, Task, size_text
from leaps.dsl.interpreter import Conditional, Course, Step
from leaps.dsl.syntax import (
    Action,
    If,
    IfElse,
    Program,
    While,
    condition_tokens,
    head_tokens,
    tokens_of,
    walk,
)
from leaps.dsl.text import ProgramError, to_indented, to_line
from leaps.evaluate import Evaluation, evaluate
from leaps.tasks import default_domain, get, listed

if TYPE_CHECKING:
    from leaps.baselines.evaluate import Policy


@app.command("tasks")
def list_tasks(json_: JsonOption = False, seed: SeedOption = 0) -> None:
    """List the tasks, each with a picture of an initial state.

    The first six are the paper's, the next four are harder, the others come from other papers. Pass a name
    as [b]--task[/b]. Some environments of Gymnasium and MiniGrid are tasks as well; they are listed last, by
    name only.

    Append [b]~100[/b] to a name to limit rollouts to 100 actions, or [b]~220calls[/b] to stop programs
    after 220 internal calls, as the paper authors' interpreter does. Append [b]~cost[/b] to subtract 0.0001
    from the return for every action, as the published returns of KAREL-LONG do.
    """
    grids: dict[str, Any] = {name: task for name, task in listed().items() if isinstance(task, GridTask)}
    scenes = {name: first_scene(task, seed) for name, task in grids.items()}
    if json_:
        print_json(
            [
                {
                    "name": name,
                    "summary": task.summary,
                    "size": list(task.check_size(None)),
                    "smallest": list(task.smallest),
                    "resizable": task.resizable,
                    "horizon": task.horizon(),
                    **scenes[name].plain(),
                }
                for name, task in grids.items()
            ]
        )
        return
    for name, task in grids.items():
        size = size_text(task.check_size(None))
        facts = Text.assemble(
            (name, "bold"),
            "\n\n",
            task.summary,
            "\n\n",
            (f"{size} cells, at most {task.horizon():,} actions", "dim"),
        )
        row = Table.grid(padding=(0, 3))
        row.add_column(width=46, no_wrap=True)
        row.add_column(width=30)
        row.add_row(plain_text(scenes[name].text()), facts)
        out.print(row, "")
    out.print("Environments:", ", ".join(name for name in listed() if name not in grids))


def first_scene(task: Task, seed: int) -> Scene:
    """Return the seed's first initial state."""
    anything = Program((Action(task.domain.language.actions[0]),))
    scene: Scene = task.course(anything, task.worlds(1, seed)).stage
    return scene


@app.command()
def check(
    file: FileArgument = None,
    expression: ExpressionOption = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task", "-t", help="Task whose actions and perceptions the program may use. Default: Karel's."
        ),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Check whether a text is a program, and point at the first error.

    Prints a valid program in indented form. The exit code is 2 for any other text.
    """
    domain = default_domain()
    try:
        if task is None:
            program = read_program(file, expression)
        else:
            fitted, program = read_for(get(task), file, expression)
            domain = fitted.domain
    except ProgramError as error:
        if json_:
            print_json(
                {
                    "valid": False,
                    "error": error.problem,
                    "token": error.token,
                    "line": error.line,
                    "column": error.column,
                }
            )
        raise
    statements = list(walk(program))
    actions = sum(isinstance(statement, Action) for statement in statements)
    length = len(tokens_of(program))
    if json_:
        print_json(
            {
                "valid": True,
                "program": to_line(program),
                "tokens": length,
                "statements": len(statements),
                "actions": actions,
                **privileged_summary(program, domain),
            }
        )
        return
    out.print(coloured(program))
    out.print(
        f"[green]a program[/green]: {length} tokens, {len(statements)} statements, {actions} of them actions"
    )
    if hidden := domain.privileged_in(program):
        out.print(f"{PRIVILEGED}: {', '.join(hidden)}", markup=False)


PRIVILEGED = "perceptions that need the environment"


def privileged_summary(program: Program, domain: Domain) -> dict[str, list[str]]:
    """Return the privileged perceptions that a program uses, as JSON; nothing in a domain without any."""
    return {"privileged": domain.privileged_in(program)} if domain.privileged else {}


@app.command("run")
def run_program(
    file: FileArgument = None,
    *,
    task: TaskOption,
    expression: ExpressionOption = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="DIR",
            help="Folder of a trained policy, instead of a program.",
        ),
    ] = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Take the policy's most likely action instead of drawing one.")
    ] = False,
    episodes: Annotated[
        int | None,
        typer.Option("--episodes", "-n", min=1, help="Number of fresh worlds. Default: 100."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", "-s", min=0, help="Seed of the fresh worlds. Default: 0.")
    ] = None,
    size: SizeOption = None,
    gif: Annotated[
        Path | None,
        typer.Option("--gif", metavar="OUT.gif", help="GIF file for an episode in the seed's first world."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Play an episode in the seed's first world in the terminal.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Run a program or a trained policy on a task, and print its mean return.

    The return is the task's value of the last state of an episode; in Karel's tasks 1 is perfect. The mean is
    exact, over all initial states, if they can be listed and no action is drawn at random. Otherwise, or with
    --episodes or --seed, it is the mean over fresh worlds. For instance:

      leaps run examples/maze.karel --task maze --size 100x100 --gif maze.gif
    """
    shown: Program | Policy
    if greedy and policy is None:
        raise ValueError("--greedy: expected a --policy as well")
    if gif is not None and gif.suffix.lower() != ".gif":
        raise ValueError(f"--gif: expected a name that ends in .gif, found {str(gif)!r}")
    wanted = get(task)
    if policy is None:
        wanted, shown = read_for(wanted, file, expression)
    elif file is not None or expression is not None:
        raise ValueError("expected a program or a --policy, and not both")
    else:
        shown = read_policy(policy, wanted, greedy)
    dimensions = size_for(wanted, size)
    result = roll_out(
        shown, wanted, episodes or 100, seed or 0, dimensions, prefer_exact=episodes is None and seed is None
    )
    if gif is not None:
        save_episode(shown, wanted, seed or 0, dimensions, gif)
    if json_:
        print_json(run_summary(shown, result))
        return
    if watch:
        play(shown, wanted, seed or 0, dimensions)
    print_run(shown, result)
    if gif is not None:
        out.print(f"episode saved as {gif}")


def roll_out(
    shown: "Program | Policy",
    task: Any,
    episodes: int,
    seed: int,
    size: Size | None,
    *,
    prefer_exact: bool = False,
) -> Evaluation:
    """Evaluate a program or a policy."""
    if isinstance(shown, Program):
        return evaluate(shown, task, episodes=episodes, seed=seed, size=size, prefer_exact=prefer_exact)
    from leaps.baselines.evaluate import evaluate_policy

    return evaluate_policy(shown, task, episodes=episodes, seed=seed, size=size, prefer_exact=prefer_exact)


def read_policy(folder: Path, task: Task, greedy: bool) -> "Policy":
    """Read a trained policy for a task; greedy: let it take its most likely actions."""
    need_baselines()
    from leaps.baselines.evaluate import check_domain
    from leaps.baselines.policies import load_policy
    from leaps.baselines.ppo import NeuralPolicy

    check_domain(task)
    policy = load_policy(folder)
    if greedy:
        if not isinstance(policy, NeuralPolicy) or policy.greedy:
            raise ValueError(f"--greedy: the policy in {folder} doesn't draw its actions")
        policy.greedy = True
    return policy


def run_summary(shown: "Program | Policy", result: Evaluation) -> dict[str, Any]:
    returns = result.returns[0]
    return {
        "task": result.task.name,
        "episodes": len(returns),
        "exact": result.weights is not None,
        "seed": result.seed if result.weights is None else None,
        "size": plain_size(result.size),
        "program": to_line(shown) if isinstance(shown, Program) else None,
        "mean_return": float(result.mean_return[0]),
        "std_return": std_return(result),
        **{outcome.name.lower(): int(result.count(outcome)[0]) for outcome in Outcome},
        "mean_steps": float(result.average(result.rollouts.steps)[0]),
        "returns": returns.tolist(),
        "weights": None if result.weights is None else result.weights.tolist(),
        **(privileged_summary(shown, result.task.domain) if isinstance(shown, Program) else {}),
    }


def plain_size(size: Size) -> Any:
    """Return a size as JSON: [height, width], the name of a variant, or None for an environment without."""
    return (size or None) if isinstance(size, str) else list(size)


def std_return(result: Evaluation) -> float:
    """Compute the standard deviation of the return over worlds."""
    apart = result.returns - result.mean_return[:, None]
    return float(result.average(apart**2)[0] ** 0.5)


def coloured(program: Program) -> Text:
    """Return an indented program with coloured keywords and perceptions."""
    text = Text(to_indented(program))
    text.highlight_words(["WHILE", "REPEAT", "IFELSE", "IF", "ELSE", "DEF", "not"], "bold magenta")
    asked = {each.condition.perception for each in walk(program) if isinstance(each, While | If | IfElse)}
    text.highlight_words(sorted(asked), "cyan")
    text.highlight_regex(r"(?<!\S)[a-z][()](?!\S)", "dim")
    text.highlight_regex(r"R=\d+", "green")
    return text


def print_run(shown: "Program | Policy", result: Evaluation) -> None:
    """Print a program or a policy beside its returns and outcomes."""
    returns, steps = result.returns[0], result.rollouts.steps[0]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    mean, exact = float(result.mean_return[0]), result.weights is not None
    seed = "" if exact else f", seed {result.seed}"
    size = f", {size_text(result.size)}" if result.size else ""
    table.add_row("task", f"{result.task.name}{size}{seed}")
    table.add_row("mean return", f"[bold]{mean:.3f}[/bold] ± {std_return(result):.3f} ({result.expected()})")
    if returns.min() < returns.max():
        worst = int(returns.argmin())
        kind = "state" if exact else "episode"
        see = f" (see it: leaps trace … --{kind} {worst})" if isinstance(shown, Program) else ""
        table.add_row("lowest", f"{returns.min():.3f} in {kind} {worst}{see}")
    mean_steps = float(result.average(result.rollouts.steps)[0])
    table.add_row("steps", f"{mean_steps:.1f} on average, at most {steps.max():,}")
    task = result.task
    calls = task.compile(shown).limit if isinstance(shown, Program) else 0
    limit = f"{calls:,} calls" if calls else f"{task.horizon(result.size):,} steps"
    words = {
        Outcome.HALTED: "ended with the program",
        Outcome.ENDED: "were ended by the task",
        Outcome.CUT_OFF: f"were cut off after {limit}",
        Outcome.STUCK: "got stuck in a loop without actions",
    }
    label = "states" if exact else "episodes"
    for outcome, meaning in words.items():
        if count := int(result.count(outcome)[0]):
            table.add_row(label, f"{count:,} {meaning}")
            label = ""
    if isinstance(shown, Program):
        add_privileged(table, task.domain.privileged_in(shown))
    what = coloured(shown) if isinstance(shown, Program) else Text(f"a policy that sees {shown.observation}")
    out.print(Columns([Panel(what, border_style="dim", padding=(0, 2)), table], padding=(0, 3)))


def add_privileged(table: Table, names: list[str]) -> None:
    """Add a row for the privileged perceptions that a program uses, if any."""
    if names:
        table.add_row("privileged", Text(f"needs the environment for {', '.join(names)}"))


def save_episode(shown: "Program | Policy", task: Any, seed: int, size: Size | None, file: Path) -> None:
    """Save an episode in the seed's first world as a GIF."""
    if isinstance(shown, Program):
        task.film(task.compile(shown), task.worlds(1, seed, size), file)
        return
    from leaps.baselines.evaluate import film_policy

    film_policy(shown, task, seed, size, file)


def frames_of(
    shown: "Program | Policy", task: Any, seed: int, size: Size | None
) -> list[tuple[str | Text, float]]:
    """Return the states of an episode in the seed's first world, each with the return of ending there."""
    if isinstance(shown, Program):
        course = task.course(shown, task.worlds(1, seed, size))
        start = (course.stage.text(), course.stage.worth())
        return [start, *((course.stage.text(), course.stage.worth()) for _ in course)]
    from leaps.baselines.evaluate import frames_of_policy

    return [*frames_of_policy(shown, task, seed, size)]


LONGEST_SHOW = 12.0  # seconds


def play(shown: "Program | Policy", task: Any, seed: int, size: Size | None) -> None:
    """Play an episode in the seed's first world, if the output is a terminal."""
    if not out.is_terminal:
        return
    frames = frames_of(shown, task, seed, size)
    if not isinstance(frames[0][0], Text):
        out.print(
            f"[dim]{escape(task.name)} has no text picture; shown are its observations. "
            "Use --gif for a film.[/dim]"
        )
    lines = [str(picture).splitlines() for picture, _ in frames]
    if max(len(line) for text in lines for line in text) > out.width or len(lines[0]) + 3 > out.height:
        out.print("[dim]the world is larger than the terminal; use --gif[/dim]")
        return
    pause = min(0.15, LONGEST_SHOW / len(frames))
    with Live(console=out, auto_refresh=False, transient=True) as live:
        for step, (picture, value) in enumerate(frames):
            line = Text(f"step {step} of {len(frames) - 1}   value {value:.2f}", "dim")
            live.update(Group(plain_text(picture), line), refresh=True)
            time.sleep(pause)


@app.command()
def trace(
    file: FileArgument = None,
    *,
    task: TaskOption,
    expression: ExpressionOption = None,
    seed: SeedOption = 0,
    episode: Annotated[
        int,
        typer.Option("--episode", min=0, help="Number of the world among the seed's worlds, from 0."),
    ] = 0,
    state: Annotated[
        int | None,
        typer.Option("--state", min=0, help="Number of the initial state among all states, from 0."),
    ] = None,
    size: SizeOption = None,
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="Maximum number of actions.")] = None,
    json_: JsonOption = False,
) -> None:
    """Run a program step by step, with the reason of every action.

    Each step shows the conditions tested since the last action and their results, the statement that acted,
    and the world after the action.
    """
    wanted, program = read_for(get(task), file, expression)
    dimensions = wanted.check_size(size_for(wanted, size))
    if state is None:
        starts = wanted.worlds(1, seed, dimensions, first=episode)
    else:
        starts = listed_state(wanted, dimensions, state)
    horizon = min(wanted.horizon(dimensions), steps or sys.maxsize)
    course = wanted.course(program, starts, horizon=horizon)
    scene = course.stage
    start = scene.plain()
    recorded: list[dict[str, Any]] = []
    if not json_:
        out.print(plain_text(scene.text()))
    for number, step in enumerate(_steps_of(course), start=1):
        path = [*(" ".join(head_tokens(statement)) for statement in step.path), step.statement.name]
        value = scene.worth()
        if json_:
            recorded.append(
                {
                    "step": number,
                    "action": step.statement.name,
                    "path": path,
                    "tests": tests_of(step.tests),
                    "value": value,
                    **scene.plain(),
                }
            )
        else:
            print_step(number, path, tests_of(step.tests), plain_text(scene.text()), value)
    value = scene.worth()
    if json_:
        print_json(
            {
                "task": wanted.name,
                "seed": seed if state is None else None,
                "episode": episode if state is None else None,
                "state": state,
                "size": plain_size(dimensions),
                "program": to_line(program),
                "start": start,
                "steps": recorded,
                "outcome": course.outcome.name.lower(),
                "last_tests": tests_of(course.tests),
                "return": value,
                **privileged_summary(program, wanted.domain),
            }
        )
        return
    by_calls = course.calls is not None and course.steps < horizon
    limit = f"{course.calls:,} calls" if by_calls else f"{course.steps:,} actions"
    endings = {
        Outcome.HALTED: "the program ends",
        Outcome.ENDED: "the task ends the rollout",
        Outcome.CUT_OFF: f"stopped after {limit}",
        Outcome.STUCK: "a loop repeats for ever without acting",
    }
    out.print()
    print_tests(tests_of(course.tests) if course.outcome != Outcome.CUT_OFF else [])
    out.print(f"[bold]{endings[course.outcome]}[/bold], return {value:.3f}")
    if hidden := wanted.domain.privileged_in(program):
        out.print(f"{PRIVILEGED}: {', '.join(hidden)}", markup=False)


def listed_state(task: Task, size: Size, number: int) -> Episodes:
    """Find an initial state by its number in the task's list."""
    states = task.states(size)
    if states is None:
        at = f" at {size_text(size)}" if size else ""
        raise ValueError(
            f"--state: {task.name} doesn't list its initial states{at}; use --seed and --episode"
        )
    if number >= states.worlds.count:
        raise ValueError(
            f"--state must be below {states.worlds.count:,}, the number of initial states of {task.name}, "
            f"found {number:,}"
        )
    return states.worlds.take(np.array([number]))


def _steps_of(course: Course) -> Iterator[Step]:
    """Yield the steps of a run; an error of a user's task is raised with the number of the step."""
    try:
        yield from course
    except ValueError as error:
        raise ValueError(f"step {course.steps}: {error}") from None


def plain_text(picture: str | Text) -> Text:
    """Return a scene's text, without reading brackets as markup."""
    return picture if isinstance(picture, Text) else Text(picture)


def tests_of(
    tests: "tuple[tuple[Conditional, bool], ...] | list[tuple[Conditional, bool]]",
) -> list[dict[str, Any]]:
    """Return tested conditions as JSON."""
    return [
        {
            "statement": head_tokens(statement)[0],
            "condition": " ".join(condition_tokens(statement.condition)[1:-1]),
            "result": result,
        }
        for statement, result in tests
    ]


def print_tests(tests: list[dict[str, Any]]) -> None:
    for test in tests:
        answer = "[green]yes[/green]" if test["result"] else "[red]no[/red]"
        out.print(f"  {test['statement']} {test['condition']}? {answer}")


def print_step(number: int, path: list[str], tests: list[dict[str, Any]], picture: Any, value: float) -> None:
    out.print()
    out.print(f"[bold]step {number}: {path[-1]}[/bold]   [dim]value {value:.3f}[/dim]")
    print_tests(tests)
    if path[:-1]:
        out.print(f"  [dim]in {' › '.join(path[:-1])}[/dim]")
    out.print(picture)


@app.command()
def conform(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.jsonl", help="File of recorded runs, one JSON object per line.")
    ],
    json_: JsonOption = False,
) -> None:
    """Check the executor and the interpreter against recorded runs.

    A record is a trace (program, grid, agent, actions, halted, final_grid, final_agent) or a task run (task,
    program, grid, agent, steps, return). The exit code is 1 if any record disagrees. Traces run with the
    limit of the paper authors' interpreter, 220 internal calls; task runs have no limit of calls.
    """
    domain = default_domain()
    if domain.extras.conform is None:
        raise ValueError(f"the domain {domain.name} has no recorded runs to check")
    count, disagreements = domain.extras.conform(file)
    agree = count - len(disagreements)
    if json_:
        print_json(
            {
                "records": count,
                "agree": agree,
                "disagreements": [
                    {"line": d.line, "program": d.program, "runner": d.runner, "what": d.what}
                    for d in disagreements
                ],
            }
        )
    else:
        for disagreement in disagreements[:5]:
            out.print(
                f"[red]line {disagreement.line}[/red], {disagreement.runner}: {disagreement.what}",
                markup=True,
            )
            out.print(f"  {disagreement.program}", style="dim", markup=False)
        if len(disagreements) > 5:
            out.print(f"… and {len(disagreements) - 5} more")
        out.print(f"{agree} of {count} agree")
    if disagreements:
        raise typer.Exit(1)
