"""Commands that train baselines: baseline, skills."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leaps.baselines.methods import BASELINES, Options, build_trainer, get_baseline
from leaps.cli.app import (
    DataOption,
    DeviceOption,
    JsonOption,
    RunSeedOption,
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

if TYPE_CHECKING:
    from leaps.baselines.train import Point


def need_baselines() -> None:
    """Raise an error with the install command if a library of the baselines is missing."""
    try:
        import sb3_contrib  # noqa: F401
        import sklearn  # noqa: F401
        import stable_baselines3  # noqa: F401
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the baselines need {error.name}; install it with: pip install 'leaps[baselines]'"
        ) from None


def parse_changes(words: list[str]) -> dict[str, str]:
    """Read a list of NAME=VALUE."""
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
            help=f"Baseline: {', '.join(BASELINES)}.",
        ),
    ],
    task: TaskOption,
    seed: RunSeedOption = 0,
    steps: Annotated[
        int | None,
        typer.Option("--steps", min=1, help="Number of environment steps. Default: 2,000,000."),
    ] = None,
    size: SizeOption = None,
    origin: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Folder of a training to start from; see above."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Override a hyperparameter, e.g. epochs=8."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the training. Default: out/METHOD-TASK-SEED."),
    ] = None,
    device: DeviceOption = "cpu",
    json_: JsonOption = False,
) -> None:
    """Train a baseline on a task, and evaluate it on worlds that it was not trained on.

    The hyperparameters are the paper's best for the task. The same command resumes an interrupted training.
    Some baselines start from another training, given with --from: drl-abs-t fine-tunes a policy of drl-abs
    from another task. viper imitates a policy. hrl and hrl-abs may use skills of `leaps skills`.

      leaps baseline drl-abs --task maze --set entropy=0.01
      leaps run --policy out/drl-abs-maze-0 --task maze --size 100x100
    """
    need_baselines()
    from leaps.baselines.builders import plain_name
    from leaps.baselines.train import BaselineConfig, Training
    from leaps.experiments.report.figures import draw_learning_curve

    chosen = get_baseline(method)
    config = BaselineConfig(method, task, seed, chosen.steps if steps is None else steps, parse_size(size))
    check_device(device)
    name = plain_name(task)
    folder = to or Path("out") / f"{method}-{name}-{seed}"
    options = Options(device, origin, parse_changes(change or []))
    training = Training(config, build_trainer(config, options), folder)
    if training.resume() and not json_:
        out.print(f"[dim]resuming after {training.trainer.steps:,} steps[/dim]")
    with progress_bar() as bar:
        shown = bar.add_task(
            f"{method} on {task}", total=config.steps, completed=training.trainer.steps, detail=""
        )

        def show(point: "Point") -> None:
            detail = "" if point.mean_return is None else f"return {point.mean_return:.3f}"
            bar.update(shown, completed=point.steps, detail=detail)

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
    out.print(f"saved in {folder}: the trained policy, its learning curve and its configuration", style="dim")


@app.command()
def skills(
    data: DataOption,
    to: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder of the training, which is resumed if unfinished."),
    ],
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Number of epochs.")] = 20,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Sequences per update. GPU: 512.")] = 128,
    rate: Annotated[float, typer.Option("--rate", help="Learning rate. For batches of 512: 0.001.")] = 3e-4,
    seed: RunSeedOption = 0,
    device: DeviceOption = "cpu",
    json_: JsonOption = False,
) -> None:
    """Learn skills, the sequences of actions that hrl and hrl-abs choose among, from a data set's rollouts.

    The skills of the package were trained with this command on a GPU. `leaps baseline hrl --from DIR` uses
    other skills.
    """
    from leaps.baselines.skill_training import SKILLS_FILE, action_sequences, train_skills
    from leaps.baselines.skill_training import Progress as Update
    from leaps.baselines.skills import SkillsConfig

    check_device(device)
    config = SkillsConfig(epochs=epochs, batch=batch, learning_rate=rate, seed=seed)
    dataset = load_data(data)
    with progress_bar() as bar:
        shown = bar.add_task("epoch 1", total=None, detail="")

        def show(update: Update) -> None:
            detail = "  ".join(f"{name} {value:.3f}" for name, value in list(update.metrics.items())[:2])
            words = f"epoch {update.epoch} of {epochs}"
            bar.update(shown, description=words, completed=update.update, total=update.updates, detail=detail)

        train, held_out = (action_sequences(dataset, split) for split in ("train", "validation"))
        found = train_skills(config, train, held_out, to, device, show)
    if json_:
        print_json({"out": str(to), **found})
        return
    out.print(
        f"held-out reconstruction: {found['exact']:.1%} of sequences, {found['actions']:.1%} of actions"
    )
    out.print(f"saved as {to / SKILLS_FILE}", style="dim")
