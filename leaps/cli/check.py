"""Recompute stored cells of an experiment and report what differs: `leaps experiment NAME --check N`."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from leaps.cli.app import out, print_json, progress_bar

if TYPE_CHECKING:
    from leaps.experiments.backends import Backend
    from leaps.experiments.cell import Result
    from leaps.experiments.check import Checked
    from leaps.experiments.store import Store


@dataclass(frozen=True)
class Drawn:
    """Stored cells to check."""

    experiment: str
    results: "Sequence[Result]"
    stored: int
    """number of cells that they were drawn from"""
    seed: int
    """seed of the draw"""


def draw_stored(
    store: "Store",
    name: str,
    methods: list[str] | None,
    tasks: list[str] | None,
    seeds: int | None,
    quick: bool,
    count: int,
    seed: int | None,
) -> Drawn:
    """Draw stored cells of an experiment; all of them if `count` is larger than what is stored."""
    from leaps.experiments.check import draw, stored_cells
    from leaps.experiments.export import is_quick

    stored = stored_cells(store, name, methods, tasks, seeds)
    if quick:
        stored = [result for result in stored if is_quick(result.cell)]
    if not stored and not store.aside:
        raise ValueError(
            f"--check: no such cells of {name} are stored in {store.folder}; `leaps experiment {name}` "
            "computes them, and --results names another folder"
        )
    seed = secrets.randbelow(10**6) if seed is None else seed
    return Drawn(name, draw(stored, count, seed), len(stored), seed)


def check_stored(
    drawn: Drawn, store: "Store", workers: "Backend", work: Path, device: str, json_: bool
) -> None:
    """Recompute drawn cells, and report every field that differs."""
    from leaps.experiments.check import MISSING, check

    try:
        with progress_bar() as bar:
            shown = bar.add_task(f"checking {drawn.experiment}", total=len(drawn.results), detail="")

            def show(one: "Checked") -> None:
                bar.update(shown, advance=1, detail=one.stored.cell.name)
                if not json_:
                    print_checked(one)

            checked = check(drawn.results, store, workers, work, device, show)
    finally:
        workers.close()
    damaged = sorted({str(file) for file in store.aside})
    equal = sum(one.equal for one in checked)
    if json_:
        print_json(
            {
                "experiment": drawn.experiment,
                "check_seed": drawn.seed,
                "stored": drawn.stored,
                "checked": [one.stored.cell.name for one in checked],
                "equal": equal,
                "different": [
                    {
                        "cell": one.stored.cell.name,
                        "file": str(store.file(one.stored.cell)),
                        "differences": [difference.as_json() for difference in one.differences],
                        "machine": list(one.machines),
                    }
                    for one in checked
                    if one.differences
                ],
                "failures": {one.stored.cell.name: one.failure for one in checked if one.failure},
                "damaged": damaged,
            }
        )
    else:
        for file in damaged:
            out.print(f"damaged file, not checked: {file}", markup=False, soft_wrap=True, style="red")
        changed = sum(any(one.expected is not MISSING for one in each.differences) for each in checked)
        failed = sum(each.failure is not None for each in checked)
        out.print(
            f"{drawn.experiment}: checked {len(checked)} of {drawn.stored} stored cells, drawn with "
            f"--check-seed {drawn.seed}: {equal} equal bit for bit, {changed} with another value than "
            f"stored, {len(checked) - equal - changed - failed} that only lack new fields, {failed} failed",
            soft_wrap=True,
        )
    if equal < len(checked) or damaged:
        raise typer.Exit(1)


def print_checked(one: "Checked") -> None:
    """Print a cell that was recomputed, with every field that differs."""

    def say(line: str, style: str | None = None) -> None:
        out.print(line, markup=False, soft_wrap=True, style=style)

    name = one.stored.cell.name
    if one.failure is not None:
        say(f"{name}: could not be recomputed: {one.failure}", "red")
    elif one.equal:
        say(f"{name}: equal")
    else:
        count = len(one.differences)
        say(f"{name}: {count} " + ("field differs" if count == 1 else "fields differ"), "red")
        for difference in one.differences:
            say(f"  {difference}")
        if one.machines:
            say(
                f"  The machine differs ({'; '.join(one.machines)}): results on other versions or hardware "
                "may differ in the last bits, and trainings in more."
            )
