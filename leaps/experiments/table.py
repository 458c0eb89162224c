"""Results as a table: rows, columns, and entries with one return per seed."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, stdev

from leaps.experiments.catalogue import Experiment
from leaps.experiments.cell import Result


@dataclass(frozen=True)
class Entry:
    """The results of a method on a task, one per seed."""

    results: tuple[Result, ...]

    @property
    def returns(self) -> list[float]:
        return [float(result.values["return"]) for result in self.results]

    @property
    def mean(self) -> float:
        return mean(self.returns)

    @property
    def deviation(self) -> float:
        """The standard deviation, as the paper reports it; 0 for a single seed."""
        return stdev(self.returns) if len(self.results) > 1 else 0.0

    def __str__(self) -> str:
        return f"{round(self.mean, 2) + 0.0:.2f} ({self.deviation:.2f})"  # never -0.00


Rows = dict[str, dict[str, Entry]]
"""entries by method and task; those without results are absent"""


def tabulate(experiment: Experiment, results: Iterable[Result]) -> Rows:
    """Sort an experiment's results into its table.

    If a method has several variants (a transfer from several source tasks), the entry is that of the best
    variant. Only variants with the most seeds count, since a single seed may be lucky.
    """
    variants: dict[tuple[str, str], dict[str, list[Result]]] = {}
    for result in sorted(results, key=lambda result: result.cell):
        cell = result.cell
        variants.setdefault((cell.method, cell.task), {}).setdefault(cell.column, []).append(result)
    rows: Rows = {}
    for method in experiment.methods:
        for task in experiment.tasks:
            entries = [Entry(tuple(found)) for found in variants.get((method, task), {}).values()]
            if entries:
                rows.setdefault(method, {})[task] = max(
                    entries, key=lambda entry: (len(entry.results), entry.mean)
                )
    return rows
