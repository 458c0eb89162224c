"""Cost of experiments: measured where there are results, extrapolated where there are not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from leaps.experiments.catalogue import Experiment
from leaps.experiments.cell import Cell, Result
from leaps.experiments.report.parts import Listing
from leaps.experiments.run import needed_by

TITLE = "What it costs"
INTRODUCTION = (
    "Process hours of each whole experiment, one core per process. Results are measured; missing seeds of a "
    "row are assumed to cost as much as its stored ones. About a dozen trainings shared the GPU, so it is "
    "busy for about a twelfth of these hours. Hours on a shared core are longer than on an idle one."
)
HEAD = ("", "cells", "with results", "hours on a core", "hours beside a GPU", "not measured")
NOTHING = "–"

Kind = tuple[str, int | None]
"""of cells that cost alike: a method, and how long it trains if that is not as usual"""


@dataclass(frozen=True)
class Cost:
    """Of one experiment with all its seeds, and with what only it needs."""

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
            if cell.experiment == experiment.name:  # the others count where they belong
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
        for place, some in (("gpu", on_gpu), ("core", on_core)):
            if some:
                share = len(some) / len(found)
                seconds[place] += fmean(result.all_seconds for result in some) * share * len(cells)
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
