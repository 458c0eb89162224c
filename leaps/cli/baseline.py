"""The command that trains what programs are compared with: baseline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leaps.baselines.methods import BASELINES, Options, build_trainer, get_baseline
from leaps.cli.app import (
    DataOption,
    JsonOption,
    SizeOption,
    TaskOption,
    app,
    check_device,
    load_data,
    out,
    parse_size,
    print_json,
    progress_bar,
)
from leaps.karel.world import KAREL

if TYPE_CHECKING:
    from leaps.baselines.train import Point


def need_baselines() -> None:
    """Say how to install what the baselines are made of, if it isn't there."""
    try:
        import sb3_contrib  # noqa: F401
        import sklearn  # noqa: F401
        import stable_baselines3  # noqa: F401
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the baselines need {error.name}; install it with: pip install 'leaps[baselines]'"
        ) from None


def parse_changes(words: list[str]) -> dict[str, str]:
    """Read NAME=VALUE several times."""
    changes = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise ValueError(f"--set: expected NAME=VALUE such as epochs=8, found {word!r}")
        changes[name.strip()] = value.strip()
    return changes


@app.command()
def baseline(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD",
            help=f"One of {', '.join(BASELINES)}.",
        ),
    ],
    task: TaskOption,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Same seed, same training.")] = 0,
    steps: Annotated[
        int | None,
        typer.Option("--steps", min=1, help="Environment steps to train for; 2,000,000 by default."),
    ] = None,
    size: SizeOption = None,
    origin: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="A training to begin from: see below."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A hyperparameter other than the paper's."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Where the training lives; out/METHOD-TASK-SEED by default."
        ),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    json_: JsonOption = False,
) -> None:
    """Train a baseline on a task, and say how well it does on worlds that it was not trained on.

    Its hyperparameters are those that the paper found best for the task. An interrupted training goes on
    where it was when the same command is given again. drl-abs-t goes on with a policy of drl-abs on another
    task, viper imitates a policy, hrl and hrl-abs can use skills of your own: give their folder with --from.

      leaps baseline drl-abs --task maze --set entropy=0.01
      leaps run --policy out/drl-abs-maze-0 --task maze --size 100x100
    """
    need_baselines()
    from leaps.baselines.train import BaselineConfig, Training
    from leaps.experiments.report.figures import draw_learning_curve
    from leaps.search.reconstruct import TEST_PROGRAMS
    from leaps.tasks import get

    chosen = get_baseline(method)
    config = BaselineConfig(method, task, seed, chosen.steps if steps is None else steps, parse_size(size))
    check_device(device)
    task_name = task
    if task not in TEST_PROGRAMS:
        wanted = get(task)
        if wanted.domain is not KAREL:
            raise ValueError(f"--task: baselines act in Karel's worlds only, which {wanted.name} has none of")
        task_name = wanted.name  # of a task in a file, without the file
    folder = to or Path("out") / f"{method}-{task_name}-{seed}"
    options = Options(device, origin, parse_changes(change or []))
    training = Training(config, build_trainer(config, options), folder)
    if training.resume() and not json_:
        out.print(f"[dim]going on after {training.trainer.steps:,} steps[/dim]")
    with progress_bar() as bar:
        shown = bar.add_task(
            f"{method} on {task}", total=config.steps, completed=training.trainer.steps, said=""
        )

        def show(point: "Point") -> None:
            said = "" if point.mean_return is None else f"return {point.mean_return:.3f}"
            bar.update(shown, completed=point.steps, said=said)

        result = training.run(show)
    draw_learning_curve(
        [(point.steps, point.mean_return) for point in training.curve if point.mean_return is not None],
        f"{method} on {task}",
        folder / "curve.png",
    )
    if json_:
        print_json(result)
        return
    out.print(
        f"[bold]{result['return']:.3f}[/bold] ({result['judged']}), after {result['steps']:,} steps and "
        f"{result['seconds']:.0f} s"
    )
    out.print(f"kept in {folder}: what was learned, its curve and its configuration", style="dim")


@app.command()
def skills(
    data: DataOption,
    to: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The training's folder; an unfinished one goes on.")
    ],
    epochs: Annotated[int, typer.Option("--epochs", min=1)] = 20,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Sequences per update; 512 suit a GPU.")] = 128,
    rate: Annotated[float, typer.Option("--rate", help="Of learning; 0.001 suits batches of 512.")] = 3e-4,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0)] = 0,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    json_: JsonOption = False,
) -> None:
    """Learn skills from a data set's rollouts: the sequences of actions that hrl and hrl-abs choose among.

    Those that come with the package were made so, on a GPU; `leaps baseline hrl --from DIR` uses others.
    """
    from leaps.baselines.skill_training import SKILLS_FILE, action_sequences, train_skills
    from leaps.baselines.skill_training import Progress as Update
    from leaps.baselines.skills import SkillsConfig

    check_device(device)
    config = SkillsConfig(epochs=epochs, batch=batch, learning_rate=rate, seed=seed)
    dataset = load_data(data)
    with progress_bar() as bar:
        shown = bar.add_task("epoch 1", total=None, said="")

        def show(update: Update) -> None:
            said = "  ".join(f"{name} {value:.3f}" for name, value in list(update.metrics.items())[:2])
            words = f"epoch {update.epoch} of {epochs}"
            bar.update(shown, description=words, completed=update.update, total=update.updates, said=said)

        train, held_out = (action_sequences(dataset, split) for split in ("train", "validation"))
        found = train_skills(config, train, held_out, to, device, show)
    if json_:
        print_json({"out": str(to), **found})
        return
    out.print(
        f"{found['exact']:.1%} of unseen sequences come back whole, {found['actions']:.1%} of their actions"
    )
    out.print(f"kept in {to / SKILLS_FILE}", style="dim")
