"""Origin of results: commands that compute them, versions, machines and computing time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaps.experiments.catalogue import Experiment
from leaps.experiments.cell import Cell, Result
from leaps.experiments.table import Rows


@dataclass(frozen=True)
class Origin:
    """Origin of an experiment's results."""

    commands: tuple[str, ...]
    versions: tuple[str, ...]
    machines: tuple[str, ...]
    seconds: float
    """computing time, including dependencies"""


def origin_of(experiment: Experiment, rows: Rows, results: Sequence[Result]) -> Origin:
    return Origin(
        commands_of(experiment, rows),
        versions_of(results),
        machines_of(results),
        sum(result.all_seconds for result in results),
    )


def is_full(experiment: Experiment, cell: Cell) -> bool:
    """Whether a cell is part of the full experiment, not of a quick run or only a dependency."""
    known = cell.method in experiment.methods and cell.task in experiment.tasks
    return known and cell in experiment.entries(cell.method, cell.task, cell.seed, False)


def commands_of(experiment: Experiment, rows: Rows) -> tuple[str, ...]:
    """The fewest commands that compute these entries; rows with the same options are in one command."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for method, row in rows.items():
        cells = [result.cell for entry in row.values() for result in entry.results]
        quick = not all(is_full(experiment, cell) for cell in cells)
        seeds = 1 + max(cell.seed for cell in cells)
        options: list[str] = []
        columns = {task for task in experiment.tasks if experiment.entries(method, task, 0, quick)}
        if set(row) != columns:
            options += ["--tasks", ",".join(row)]
        if seeds != (1 if quick else experiment.seeds(method)):
            options += ["--seeds", str(seeds)]
        if quick:
            options.append("--quick")
        groups.setdefault(tuple(options), []).append(method)
    commands = []
    for wanted, methods in groups.items():
        every = set(experiment.methods) - set(experiment.files)
        named = [experiment.files.get(method, method) for method in methods]
        some = ["--methods", ",".join(named)] if set(methods) != every else []
        commands.append(" ".join(["leaps", "experiment", experiment.name, *some, *wanted]))
    return tuple(commands)


def versions_of(results: Iterable[Result]) -> tuple[str, ...]:
    """The distinct versions of leaps, Python, numpy and torch."""
    found: dict[str, set[str]] = {"leaps": set(), "Python": set(), "numpy": set(), "torch": set()}
    for result in results:
        found["leaps"].add(result.version)
        for name in ("Python", "numpy", "torch"):
            if version := result.machine.get(name.lower()):
                found[name].add(str(version))
    return tuple(f"{name} {' and '.join(sorted(versions))}" for name, versions in found.items() if versions)


def machines_of(results: Iterable[Result]) -> tuple[str, ...]:
    """The distinct machines, by processor, cores and GPU."""
    return tuple(sorted({name for result in results if (name := _machine(result))}))


def _machine(result: Result) -> str:
    about = result.machine
    # A processor is often called something like "Maker(R) Thing(TM) X  CPU".
    words = str(about.get("processor", "")).replace("(R)", "").replace("(TM)", "").split()
    parts = [" ".join(words)] if words else []
    if cores := about.get("cores"):
        parts.append(f"{cores} core" + ("" if cores == 1 else "s"))
    if gpu := about.get("gpu"):
        parts.append(str(gpu))
    return ", ".join(parts)
