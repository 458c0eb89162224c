"""Commands about the program space: data, train, encode, decode, interpolate, latent-map, smoothness.

torch and matplotlib are imported by the commands that need them: the others should answer at once.
"""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.progress import Progress, TaskID
from rich.table import Table

from leaps.base.settings import changed
from leaps.base.splits import SPLITS
from leaps.cli.app import (
    DataOption,
    ExpressionOption,
    FileArgument,
    JsonOption,
    app,
    check_device,
    load_data,
    out,
    print_json,
    progress_bar,
    random_worlds,
    read_source,
    read_text,
)
from leaps.cli.baseline import parse_changes
from leaps.dsl.text import parse, to_line
from leaps.tasks import default_domain

if TYPE_CHECKING:
    from leaps.embedding.dataset import Data, TaskData, TaskDataConfig

SpaceOption = Annotated[
    str,
    typer.Option(
        "--space", help="A shipped variant (leaps, p, pr, pl), a file of weights, or a training's folder."
    ),
]
SetDataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Override a setting of DataConfig (TaskDataConfig with --task), e.g. max_length=30.",
    ),
]
SetTrainOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Override a setting of TrainConfig, e.g. kl=sum; with --task also of the data, e.g. "
        "data.programs=5000.",
    ),
]
OfTaskOption = Annotated[
    str | None,
    typer.Option(
        "--task",
        "-t",
        help="Task whose domain and initial states are used, a name or FILE.py:NAME; without it, Karel's "
        "random worlds.",
    ),
]


def show(bar: Progress, task: TaskID, done: int) -> None:
    bar.update(task, completed=done)


@app.command()
def data(
    to: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write; it must be new or empty.")
    ],
    task: OfTaskOption = None,
    programs: Annotated[
        int | None,
        typer.Option(
            "--programs", min=20, help="Number of different programs; 50,000, or 20,000 with --task."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Same seed, same bytes.")] = 0,
    change: SetDataOption = None,
    json_: JsonOption = False,
) -> None:
    """Make a data set: random programs, and rollouts that take all their branches.

    Programs are drawn as in the paper, at most 44 tokens long, and split 70 / 15 / 15 into training,
    validation and test. Each has ten rollouts in random 8x8 worlds, of at most 100 steps, which together take
    every branch of the program. A histogram shows the lengths.

    As in the authors' generator, programs are dropped that don't end, or that fail at an action, in too many
    of 100 worlds. --set keep=every keeps them all, --set keep=complete those that only fail at actions.

    With --task, programs are those of the task's domain. Each has four rollouts of at most 50 actions in the
    task's own initial states, and is kept if it acts in at least one of them.

      leaps data --task CartPole-v1 --out data --set horizon=100
    """
    from leaps.embedding.dataset import MANIFEST_FILE
    from leaps.experiments.report.figures import draw_lengths

    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ValueError(f"{to} already holds something; nothing was written. Expected a new or empty folder")
    made: Any
    if task is not None:
        made = draw_task_data(task, seed, parse_changes(change or []), programs)
    else:
        worlds = random_worlds()
        some = {} if programs is None else {"programs": programs}
        config = changed(worlds.settings(seed=seed, **some), parse_changes(change or []))
        with progress_bar() as bar:
            job = bar.add_task("programs", total=config.programs, detail="")
            made = worlds.make_data(config, partial(show, bar, job))
    draw_lengths(made.lengths, to / "lengths.png")
    made.save(to)
    if json_:
        print_json({"out": str(to), **made.summary()})
        return
    summary = made.summary()
    out.print(f"{summary['programs']:,} programs with {summary['rollouts']:,} rollouts in {to}")
    out.print(
        f"length: {summary['mean_length']:.1f} tokens on average, at most {summary['max_length']}"
        + (" (the paper's: 17.9 and 44)" if task is None else "")
    )
    if task is None:
        untaken = summary["programs_with_an_untaken_branch"]
        out.print(f"{untaken:,} programs have a branch that no world tried takes")
    out.print(f"see {to / MANIFEST_FILE} and {to / 'lengths.png'}", style="dim")


def draw_task_data(task: str, seed: int, changes: dict[str, str], programs: int | None = None) -> "TaskData":
    """Make the data set of a task, with a progress bar."""
    from leaps.embedding.dataset import make_task_data

    config = task_data_config(task, seed, changes, programs)
    with progress_bar() as bar:
        job = bar.add_task("programs", total=config.programs, detail="")
        return make_task_data(config, progress=partial(show, bar, job))


def task_data_config(
    task: str, seed: int, changes: dict[str, str], programs: int | None = None
) -> "TaskDataConfig":
    from leaps.embedding.dataset import TaskDataConfig

    count = TaskDataConfig.programs if programs is None else programs
    return changed(TaskDataConfig(task, count, seed), changes)


def data_for_training(folder: Path) -> "Data":
    """Read a data set, of a task or of Karel's random worlds."""
    from leaps.base.tensors import read_about
    from leaps.embedding.dataset import DATA_FILE, TaskData

    file = folder / DATA_FILE
    config = read_about(file).get("config") if file.exists() else None
    return TaskData.load(folder) if isinstance(config, dict) and "task" in config else load_data(folder)


def data_of_task(task: str, seed: int, changes: dict[str, str], folder: Path) -> "TaskData":
    """Read the data set that a training keeps in its folder, or make it."""
    from leaps.embedding.dataset import DATA_FILE, TaskData

    if not (folder / DATA_FILE).exists():
        draw_task_data(task, seed, changes).save(folder)
    found, expected = TaskData.load(folder), task_data_config(task, seed, changes)
    if found.config != expected:
        raise ValueError(
            f"{folder} holds the data set {found.config}, expected {expected}; use another --out"
        )
    return found


DATA_FOLDER = "data"
"""of a training with --task, in its folder"""


@app.command()
def train(
    to: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder of the training; an unfinished one is resumed."),
    ],
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Data set of `leaps data`; or use --task.")
    ] = None,
    task: OfTaskOption = None,
    variant: Annotated[
        str, typer.Option("--variant", help="leaps (all three losses), p, pr or pl.")
    ] = "leaps",
    preset: Annotated[
        str,
        typer.Option(
            "--preset", help="paper (for a GPU), quick (minutes on two cores) or authors (150 epochs)."
        ),
    ] = "paper",
    seed: Annotated[int, typer.Option("--seed", "-s", min=0)] = 0,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="Instead of the preset's.")] = None,
    change: SetTrainOption = None,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write logs for TensorBoard.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Learn a program space from a data set.

    The paper's schedule: an epoch of the losses P and L, then as many updates of R, in turn; R begins when
    80 % of the validation programs are decoded exactly (`rl_from`). After each epoch all is saved, and the
    same command continues after an interruption; on a CPU it ends with the same weights as if there had been
    none. The weights kept are those of the best epoch on the validation split.

    With --task, the data set of the task is made first, with default settings, in the folder's data/. The
    space is then for `leaps solve TASK --space DIR`.

      leaps train --data data --out space --device cuda --set kl=sum --set model.embedding=256
      leaps train --task CartPole-v1 --out space --preset quick --variant pl
    """
    import torch

    from leaps.embedding.dataset import DATA_FILE, TaskData
    from leaps.embedding.train import CONFIG_FILE, METRICS_FILE, PRESETS, WEIGHTS_FILE, TrainConfig
    from leaps.embedding.train import Progress as Update
    from leaps.embedding.train import train as run_training
    from leaps.experiments.explore import SearchJudge

    if preset not in PRESETS:
        raise ValueError(f"--preset: expected one of {', '.join(PRESETS)}, found {preset!r}")
    check_device(device)
    settings: dict[str, Any] = {**PRESETS[preset], **({"epochs": epochs} if epochs else {})}
    if (data is None) == (task is None):
        raise ValueError("expected either --data with a data set, or --task")
    changes = parse_changes(change or [])
    of_data = {} if task is None else {name: changes.pop(name) for name in [*changes] if name[:5] == "data."}
    config = changed(TrainConfig(variant=variant, seed=seed, **settings), changes)
    if to.exists() and not to.is_dir():
        raise ValueError(f"{to} is a file; nothing was written. Expected a folder")
    known = to / CONFIG_FILE, to / DATA_FOLDER / DATA_FILE
    if to.exists() and any(to.iterdir()) and not any(file.exists() for file in known):
        raise ValueError(f"{to} already holds something else; nothing was written")
    dataset: Data
    if data is not None:
        dataset = data_for_training(data)
    else:
        assert task is not None
        named = {name.removeprefix("data."): value for name, value in of_data.items()}
        dataset = data_of_task(task, seed, named, to / DATA_FOLDER)
    if config.select == "search" and isinstance(dataset, TaskData):
        raise ValueError("select=search needs a data set of Karel's random worlds; use select=behaviour")
    torch.set_float32_matmul_precision("high")
    with progress_bar() as bar:
        job = bar.add_task("epoch 1", total=None, detail="")

        def show_update(update: Update) -> None:
            detail = "  ".join(f"{name} {value:.3f}" for name, value in list(update.metrics.items())[:5])
            bar.update(
                job,
                description=f"epoch {update.epoch} of {config.epochs}",
                completed=update.update,
                total=update.updates,
                detail=detail,
            )

        def epoch_done(metrics: dict[str, float]) -> None:
            if tensorboard:
                write_tensorboard(to / "tensorboard", metrics)

        judge = None
        if config.select == "search":
            judge = SearchJudge(cast("Any", dataset), config)
        best = run_training(config, dataset, to, torch.device(device), show_update, epoch_done, judge)
    if json_:
        print_json({"out": str(to), "variant": variant, "seed": seed, **best})
        return
    out.print(f"the best of {config.epochs} epochs is number {best['epoch']}: {to / WEIGHTS_FILE}")
    table = Table.grid(padding=(0, 2))
    words = {
        "test_exact": "unseen programs decoded exactly",
        "test_behaviour": "R_mat of what is decoded",
        "test_action_accuracy": "π: actions right",
        "test_sequence_accuracy": "π: rollouts all right",
    }
    for name, meaning in words.items():
        if name in best:
            table.add_row(meaning, f"{best[name]:.3f}")
    out.print(table)
    if "R" in config.losses and "reward" not in best:
        out.print(
            f"The loss R has no part in these weights: it begins after an epoch that decodes "
            f"{config.rl_from:.0%} of the validation programs exactly (--set rl_from=0.5, or more epochs)."
        )
    out.print(f"all epochs: {to / METRICS_FILE}", style="dim")


def write_tensorboard(folder: Path, metrics: dict[str, float]) -> None:
    """Add one epoch to the logs."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ValueError("--tensorboard needs the package tensorboard: pip install tensorboard") from None
    with SummaryWriter(str(folder)) as writer:
        for name, value in metrics.items():
            if name != "epoch":
                writer.add_scalar(name, value, int(metrics["epoch"]))


@app.command()
def encode(
    file: FileArgument = None,
    expression: ExpressionOption = None,
    space: SpaceOption = "leaps",
    json_: JsonOption = False,
) -> None:
    """Print the point of a program in the space, one number per line.

    `leaps encode FILE | leaps decode -` gives the program back, or one like it: of random programs about
    95 % come back exactly, of what people write fewer do.
    """
    from leaps.embedding.space import Space

    source = read_source(file, expression)
    loaded = Space.load(space)
    program = parse(source, loaded.language)
    point = loaded.encode([program])[0]
    if json_:
        print_json({"program": to_line(program), "space": space, "point": [float(x) for x in point]})
        return
    typer.echo("\n".join(repr(float(x)) for x in point))


@app.command()
def decode(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Points: numbers, or the JSON of `leaps encode`. '-': standard input."
        ),
    ],
    space: SpaceOption = "leaps",
    max_length: Annotated[
        int, typer.Option("--max-length", min=5, max=400, help="Tokens of the longest program.")
    ] = 45,
    json_: JsonOption = False,
) -> None:
    """Print the programs that points of the space stand for.

    The file holds the numbers of one or several points, 256 each, separated by white space.
    """
    import numpy as np

    from leaps.embedding.space import Space

    text = read_text(file)
    loaded = Space.load(space)
    try:
        numbers = np.array(
            json.loads(text)["point"] if text.lstrip().startswith("{") else text.split(), np.float32
        )
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{file}: expected numbers, found {text[:40]!r}") from None
    if numbers.size == 0 or numbers.size % loaded.dimensions:
        raise ValueError(f"{file}: expected {loaded.dimensions} numbers per point, found {numbers.size}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{file}: expected finite numbers")
    programs = [loaded.text(row) for row in loaded.decode(numbers.reshape(-1, loaded.dimensions), max_length)]
    if json_:
        print_json({"space": space, "programs": programs})
        return
    typer.echo("\n".join(programs))


@app.command()
def interpolate(
    start: Annotated[str, typer.Argument(metavar="A", help="A program: a file, or the program itself.")],
    end: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    steps: Annotated[int, typer.Option("--steps", min=1, max=1000, help="Points between the two.")] = 8,
    space: SpaceOption = "leaps",
    json_: JsonOption = False,
) -> None:
    """Walk from one program to another through the space, and print what is decoded on the way.

    The paper's tables "Program Embedding Space Interpolations".
    """
    from leaps.embedding.space import Space
    from leaps.experiments.explore import interpolate as walk

    sources = [text if text.lstrip().startswith("DEF") else read_text(Path(text)) for text in (start, end)]
    loaded = Space.load(space)
    ends = [to_line(parse(source, loaded.language)) for source in sources]
    programs = walk(loaded, ends[0], ends[1], steps)
    if json_:
        print_json({"space": space, "start": ends[0], "end": ends[1], "programs": programs})
        return
    table = Table("", "decoded program", show_lines=False)
    for number, program in enumerate(programs):
        name = "START" if number == 0 else "END" if number == steps + 1 else str(number)
        table.add_row(name, program, style="dim" if number and program == programs[number - 1] else "")
    out.print(table)


@app.command("latent-map")
def draw_latent_map(
    data: DataOption,
    to: Annotated[Path, typer.Option("--out", metavar="MAP.png", help="The picture, PNG or SVG.")] = Path(
        "latent-map.png"
    ),
    space: SpaceOption = "leaps",
    seed: Annotated[int, typer.Option("--seed", "-s", min=0)] = 0,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, help="Of the search for each test program.")
    ] = 1000,
    json_: JsonOption = False,
) -> None:
    """Draw the space in two dimensions.

    The paper's figure: training programs, normal samples, its four test programs, and what a search of the
    space finds for their behaviour.
    """
    from leaps.embedding.space import Space
    from leaps.experiments.explore import chart_of_space
    from leaps.experiments.report.figures import check_suffix, draw_map

    check_suffix(to)
    with progress_bar() as bar:
        task = bar.add_task("searching", total=4, detail="")

        def show_name(name: str) -> None:
            bar.update(task, advance=1, detail=name)

        dataset = load_data(data)
        programs = dataset.tokens[dataset.split("train")]
        chart = chart_of_space(
            Space.load(space, language=default_domain().language), programs, seed, iterations, show_name
        )
    draw_map(chart, to, f"The program space {space!r}")
    if json_:
        print_json({"out": str(to), "space": space, "r_mat": chart.r_mat})
        return
    out.print(f"the map is in {to}")


@app.command()
def smoothness(
    data: DataOption,
    space: Annotated[
        list[str] | None, typer.Option("--space", help="As for encode; may be given several times.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option("--split", help="train, validation or test; may be repeated.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Measure how alike neighbours in a space behave.

    The paper's Table 2: the mean R_mat of each program and its ten nearest neighbours. All variants and
    splits, if none are named: some minutes.
    """
    from leaps.embedding.space import Space
    from leaps.embedding.train import VARIANTS
    from leaps.experiments.explore import smoothness as measure

    dataset = load_data(data)
    splits = split or list(SPLITS)
    rows: dict[str, dict[str, float]] = {}
    with progress_bar() as bar:
        for name in space or list(VARIANTS):
            loaded = Space.load(name, language=default_domain().language)
            rows[name] = {}
            for part in splits:
                task = bar.add_task(f"{name}, {part}", total=len(dataset.split(part)), detail="")
                rows[name][part] = measure(loaded, dataset, part, partial(show, bar, task))
                bar.remove_task(task)
    if json_:
        print_json(rows)
        return
    table = Table("space", *splits, title="mean R_mat of the ten nearest programs", title_justify="left")
    for name, values in rows.items():
        table.add_row(name, *(f"{values[part]:.3f}" for part in splits))
    out.print(table)
