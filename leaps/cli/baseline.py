"""The command that trains what programs are compared with: baseline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leaps.cli.app import (
    JsonOption,
    SizeOption,
    TaskOption,
    app,
    check_device,
    out,
    parse_size,
    print_json,
    progress_bar,
)

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
            metavar="METHOD", help="drl, drl-fcn, drl-abs, drl-abs-t, hrl, hrl-abs, naive or viper."
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
        typer.Option(
            "--from", metavar="DIR", help="A training to go on from (drl-abs-t) or imitate (viper)."
        ),
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
    where it was when the same command is given again.

      leaps baseline drl-abs --task maze --set entropy=0.01
      leaps run --policy out/drl-abs-maze-0 --task maze --size 100x100
    """
    need_baselines()
    from leaps.baselines.methods import Options, get_method
    from leaps.baselines.train import BaselineConfig, Training
    from leaps.figures import draw_learning_curve

    chosen = get_method(method)
    config = BaselineConfig(method, task, seed, chosen.steps if steps is None else steps, parse_size(size))
    check_device(device)
    folder = to or Path("out") / f"{method}-{task}-{seed}"
    options = Options(device, origin, parse_changes(change or []))
    training = Training(config, chosen.build(config, options), folder)
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
        f"[bold]{result['return']:.3f}[/bold] on 1,000 unseen worlds, after {result['steps']:,} steps and "
        f"{result['seconds']:.0f} s"
    )
    out.print(f"kept in {folder}: what was learned, its curve and its configuration", style="dim")
