"""The contents of a report, independent of Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leaps.experiments.catalogue import FIGURES, TABLES, Experiment, files_of
from leaps.experiments.cell import Cell, Result
from leaps.experiments.paper import REPORTED
from leaps.experiments.report.comparison import Comparison, Summary, summarize
from leaps.experiments.report.costs import Cost, cost_of
from leaps.experiments.report.effort import check_effort, effort_of, legend_of
from leaps.experiments.report.notes import NOTES, Notes, note_of
from leaps.experiments.report.origin import Origin, is_full, origin_of
from leaps.experiments.report.parts import Listing
from leaps.experiments.report.programs import Found, programs_of
from leaps.experiments.report.statistics import is_number
from leaps.experiments.store import Store
from leaps.experiments.table import Entry, Rows, tabulate

EntryKey = tuple[str, str]
"""method and task"""


@dataclass(frozen=True)
class Section:
    """An experiment that is a table."""

    experiment: Experiment
    table: dict[EntryKey, Comparison]
    """every method and task, including those without a result"""
    summaries: dict[str, Summary]
    """by method, for methods with results"""
    notes: tuple[str, ...]
    """notes on marked entries, in reading order"""
    explained: dict[EntryKey, int]
    """note numbers of entries, from 1"""
    effort: Listing | None
    """effort of its searches, if it has any"""
    effort_legend: str
    origin: Origin

    @property
    def unexplained(self) -> list[EntryKey]:
        """Marked entries without a note."""
        return [key for key, one in self.table.items() if one.mark and key not in self.explained]


@dataclass(frozen=True)
class Exhibit:
    """An experiment that is a figure."""

    experiment: Experiment
    shown: dict[EntryKey, Result]
    """results to draw, in the experiment's order"""
    origin: Origin


@dataclass(frozen=True)
class Contents:
    """All sections of a report."""

    sections: tuple[Section, ...]
    exhibits: tuple[Exhibit, ...]
    programs: tuple[Found, ...]
    costs: tuple[Cost, ...]
    """costs of experiments with results"""
    quick: bool
    """whether results of quick runs are included"""
    left_out: int
    """number of results outside all tables: quick runs, and policies that other trainings started from"""
    aside: tuple[Path, ...]
    """unreadable files"""

    @property
    def experiments(self) -> list[str]:
        """The names of all experiments with results."""
        tables = [section.experiment.name for section in self.sections]
        return tables + [exhibit.experiment.name for exhibit in self.exhibits]


def gather(store: Store, notes: Notes = NOTES, quick: bool = False) -> Contents:
    """Read a store. quick: treat quick results as full ones, to preview a report."""
    sections, exhibits, tables, costs, left_out = [], [], dict[str, Rows](), [], 0
    for name, built_in in {**TABLES, **FIGURES}.items():
        results = _read(store, name)
        experiment = built_in.with_methods(files_of(results.values()) if built_in.takes_searches else {})
        full = {cell: result for cell, result in results.items() if quick or is_full(experiment, cell)}
        left_out += len(results) - len(full)
        if full and not quick:
            costs.append(cost_of(experiment, results))
        if name in FIGURES:
            if full:
                exhibits.append(_exhibit(experiment, list(full.values())))
            continue
        needed = {other for cell in full for other in experiment.needs(cell)}
        behind = [result for cell, result in results.items() if cell in full or cell in needed]
        rows = tabulate(experiment, full.values())
        if rows:
            tables[name] = rows
            sections.append(_section(experiment, rows, origin_of(experiment, rows, behind), notes))
    if not sections and not exhibits:
        quick_ones = f" except {left_out} of quick runs, which reports leave out" if left_out else ""
        raise ValueError(
            f"no results in {str(store.folder)!r}{quick_ones}; compute some with "
            "`leaps experiment NAME`, or name their folder with --results"
        )
    return Contents(
        tuple(sections),
        tuple(exhibits),
        programs_of(tables),
        tuple(costs),
        quick,
        left_out,
        tuple(store.aside),
    )


def _read(store: Store, experiment: str) -> dict[Cell, Result]:
    found: dict[Cell, Result] = {}
    for result in store.all(experiment):
        cell, value = result.cell, result.values.get("return")
        if experiment in TABLES and not is_number(value):
            raise ValueError(f"{store.file(cell)}: expected a finite number as 'return', found {value!r}")
        check_effort(result, store.file(cell))
        found[cell] = result
    return found


def _exhibit(experiment: Experiment, results: Sequence[Result]) -> Exhibit:
    """Take one result per method and task: a full one rather than a quick one, and the first seed."""
    best: dict[EntryKey, Result] = {}
    for result in sorted(results, key=lambda one: (not is_full(experiment, one.cell), one.cell.seed)):
        best.setdefault((result.cell.method, result.cell.task), result)
    shown = {
        (method, task): best[method, task]
        for method in experiment.methods
        for task in experiment.tasks
        if (method, task) in best
    }
    rows: Rows = {}
    for (method, task), result in shown.items():
        rows.setdefault(method, {})[task] = Entry((result,))
    return Exhibit(experiment, shown, origin_of(experiment, rows, list(shown.values())))


def _section(experiment: Experiment, rows: Rows, origin: Origin, notes: Notes) -> Section:
    reported = REPORTED.get(experiment.name, {})
    table = {
        (method, task): Comparison(rows.get(method, {}).get(task), reported.get(method, {}).get(task))
        for method in experiment.methods
        for task in experiment.tasks
    }
    summaries = {method: summarize([table[method, task] for task in experiment.tasks]) for method in rows}
    numbers: dict[str, int] = {}
    explained: dict[EntryKey, int] = {}
    for key, one in table.items():
        if one.mark and (note := note_of(notes, experiment.name, *key)):
            explained[key] = numbers.setdefault(note, len(numbers) + 1)
    effort = effort_of(experiment.name, rows, experiment.tasks)
    return Section(experiment, table, summaries, tuple(numbers), explained, effort, legend_of(rows), origin)
