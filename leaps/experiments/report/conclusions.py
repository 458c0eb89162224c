"""The conclusion of each experiment in a few sentences, computed from its results."""

from collections.abc import Callable, Sequence
from statistics import fmean

from leaps.experiments.computing import AUTHORS, CUMULATIVE
from leaps.experiments.report.contents import Section
from leaps.experiments.report.wording import number
from leaps.experiments.study import EDITS, ORIGINAL

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def conclusion_of(section: Section) -> str:
    """One paragraph: the experiment's finding, then the number of reproduced numbers."""
    find = _FINDINGS.get(section.experiment.name, _ranking)
    return " ".join([*find(section), *_agreement(section)])


def mean_of(section: Section, row: str) -> float | None:
    """The mean of a row over all columns; None while a column has no result."""
    entries = [section.table[row, task].entry for task in section.experiment.tasks]
    means = [entry.mean for entry in entries if entry is not None]
    return fmean(means) if len(means) == len(entries) else None


def _means(section: Section, rows: Sequence[str]) -> dict[str, float]:
    """The means of rows with results in all columns."""
    found = {row: mean_of(section, row) for row in rows}
    return {row: mean for row, mean in found.items() if mean is not None}


def _count(count: int) -> str:
    return COUNTS[count] if count < len(COUNTS) else str(count)


def _columns(section: Section) -> str:
    count = len(section.experiment.tasks)
    return "" if count == 1 else f" over the {_count(count)} columns"


def _agreement(section: Section) -> list[str]:
    """Count the entries that agree with their reported number."""
    both = [one for one in section.table.values() if one.entry is not None and one.reported is not None]
    if not both:
        return []
    better = sum(row.better for row in section.summaries.values())
    worse = sum(row.worse for row in section.summaries.values())
    return [
        f"Of {len(both)} reported numbers, {len(both) - better - worse} agree within the reported deviation; "
        f"higher here: {better}, lower: {worse}."
    ]


def _ranking(section: Section, rows: Sequence[str] | None = None) -> list[str]:
    """List rows by mean, highest first."""
    means = _means(section, rows or section.experiment.methods)
    if not means:
        return []
    ordered = sorted(means, key=lambda row: -means[row])
    listed = ", ".join(f"`{row}` {number(means[row])}" for row in ordered)
    partial = [row for row in section.summaries if row not in means and (rows is None or row in rows)]
    rest = f" (`{'`, `'.join(partial)}`: results missing in some columns)" if partial else ""
    return [f"Means{_columns(section)}: {listed}{rest}."]


def _beside(section: Section, row: str) -> list[str]:
    """A row's mean beside the reported one."""
    summary = section.summaries.get(row)
    if summary is None or summary.means is None:
        return []
    here, reported = summary.means
    return [f"`{row}` has a mean of {number(here)}; {number(reported)} is reported."]


def _published(section: Section) -> list[str]:
    return [*_beside(section, "leaps"), *_ranking(section)]


def _as_run(section: Section) -> list[str]:
    means = _means(section, (AUTHORS,))
    details = [f"With three details of the authors' code it has {number(means[AUTHORS])}."] if means else []
    return [*_beside(section, "leaps"), *details]


def _steps(section: Section) -> list[str]:
    rows = ["leaps", *("+".join(["leaps", *CUMULATIVE[:count]]) for count in range(1, len(CUMULATIVE)))]
    means = _means(section, [*rows, "leaps+"])
    if len(means) < len(rows) + 1:
        return _ranking(section)
    ordered = list(means.values())
    gains = {
        change: after - before
        for change, before, after in zip(CUMULATIVE, ordered, ordered[1:], strict=False)
    }
    largest = max(gains, key=lambda change: gains[change])
    return [
        f"The changes raise the mean return from {number(ordered[0])} (`leaps`) to {number(ordered[-1])} "
        f"(`leaps+`). The largest step is `{largest}`, with {number(gains[largest])}."
    ]


def _lowest(section: Section) -> list[str]:
    """The row with the lowest mean, and the range of all others."""
    means = _means(section, section.experiment.methods)
    if len(means) < 3:
        return _ranking(section)
    lowest = min(means, key=lambda row: means[row])
    others = [mean for row, mean in means.items() if row != lowest]
    return [
        f"`{lowest}` has the lowest mean{_columns(section)}, {number(means[lowest])}. "
        f"All other rows have {number(min(others))} to {number(max(others))}."
    ]


def _ablation(section: Section) -> list[str]:
    means = _means(section, section.experiment.methods)
    if "ladder" not in means or len(means) < 2:
        return _ranking(section)
    without = {row.removeprefix("ladder-"): mean for row, mean in means.items() if row != "ladder"}
    ordered = sorted(without, key=lambda idea: without[idea])
    listed = ", ".join(f"`{idea}` {number(without[idea])}" for idea in ordered)
    return [f"Ladder has a mean of {number(means['ladder'])}{_columns(section)}; without {listed}."]


def _debugging(section: Section) -> list[str]:
    means = _means(section, (ORIGINAL, *EDITS))
    if len(means) < len(EDITS) + 1:
        return _ranking(section)
    repaired = ", ".join(f"{number(means[row])} with `{row}`" for row in EDITS)
    return [
        f"`leaps repair` raises the mean return of the study's programs from {number(means[ORIGINAL])} to "
        f"{repaired}."
    ]


_FINDINGS: dict[str, Callable[[Section], list[str]]] = {
    "reconstruction": _published,
    "tasks": _published,
    "as-run": _as_run,
    "steps": _steps,
    "depends": _lowest,
    "ablation": _ablation,
    "debugging": _debugging,
    "generalization": _published,
    "unseen": _published,
    "short": _published,
    "karel-hard": _published,
}
"""finding by experiment; all others list the means of their rows"""
