"""Computing cost of experiments, measured from results and extrapolated to missing seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from leaps.experiments.catalogue import Experiment
from leaps.experiments.cell import Cell, Result
from leaps.experiments.report.parts import Listing
from leaps.experiments.run import needed_by

TITLE = "Computing cost"
INTRODUCTION = (
    "Process hours of each complete experiment, with one core per process. Stored results are measured. "
    "Missing seeds of a row are assumed to cost as much as its stored ones. About a dozen trainings shared "
    "the GPU, so it is busy for about a twelfth of these hours. A shared core takes longer than an idle one."
)
HEAD = ("", "cells", "with results", "hours on a core", "hours beside a GPU", "not measured")
NOTHING = "–"

Kind = tuple[str, int | None]
"""a kind of cell with similar cost: method, and training steps if not the default"""


@dataclass(frozen=True)
class Cost:
    """Cost of one experiment with all its seeds, and with dependencies that only it has."""

    experiment: str
    cells: int
    measured: int
    core_seconds: float
    gpu_seconds: float
    unknown: tuple[str, ...]
    """methods without any result"""


def cost_of(experiment: Experiment, results: Mapping[Cell, Result]) -> Cost:
    wanted: dict[Kind, list[Cell]] = {}
    for wave in needed_by(experiment.cells()):
        for cell in wave:
            if cell.experiment == experiment.name:  # cells of other experiments count there
                wanted.setdefault(_kind(cell), []).append(cell)
    seconds = {"core": 0.0, "gpu": 0.0}
    unknown, measured = [], 0
    for (method, steps), cells in wanted.items():
        found = [results[cell] for cell in cells if cell in results]
        measured += len(found)
        if not found:
            unknown.append(f"{method} ({steps:,} steps)" if steps else method)
            continue
        on_gpu = [result for result in found if "gpu" in result.machine]
        on_core = [result for result in found if "gpu" not in result.machine]
        for kind, some in (("gpu", on_gpu), ("core", on_core)):
            if some:
                fraction = len(some) / len(found)
                seconds[kind] += fmean(result.all_seconds for result in some) * fraction * len(cells)
    return Cost(
        experiment.name,
        sum(len(cells) for cells in wanted.values()),
        measured,
        seconds["core"],
        seconds["gpu"],
        tuple(unknown),
    )


def _kind(cell: Cell) -> Kind:
    return cell.method, cell.option("steps")


def costs_table(costs: Sequence[Cost]) -> Listing:
    rows = [
        (
            cost.experiment,
            f"{cost.cells:,}",
            f"{cost.measured:,}",
            _hours(cost.core_seconds),
            _hours(cost.gpu_seconds),
            ", ".join(cost.unknown) or NOTHING,
        )
        for cost in costs
    ]
    total = (
        "all",
        f"{sum(cost.cells for cost in costs):,}",
        f"{sum(cost.measured for cost in costs):,}",
        _hours(sum(cost.core_seconds for cost in costs)),
        _hours(sum(cost.gpu_seconds for cost in costs)),
        "",
    )
    return Listing("costs", HEAD, (*rows, total))


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2f}" if seconds else NOTHING
