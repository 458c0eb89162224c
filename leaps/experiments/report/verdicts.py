"""Verdicts on claims: comparisons of stored results, significance of differences, and the outcome."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from leaps.experiments.cell import Result
from leaps.experiments.report.contents import Contents, EntryKey
from leaps.experiments.report.wording import entry_text, number
from leaps.experiments.table import Entry

HOLDS, PARTLY, FAILS, OPEN, MISSING = "holds", "holds in part", "does not hold", "undecided", "not measured"
MARKS = {True: "yes", False: "no", None: "undecided"}
LEVEL, ERRORS = 0.02, 2.0
"""a difference of means counts if it exceeds both LEVEL and ERRORS times its standard error"""


@dataclass(frozen=True)
class Verdict:
    word: str
    evidence: str
    share: str = ""
    """number of cases that hold, if the claim holds in part"""


@dataclass(frozen=True)
class Case:
    """One comparison within a claim."""

    where: str
    """label of the comparison; "" if the numbers name it"""
    holds: bool | None
    """None if the difference is not significant, or a result is missing"""
    numbers: str


@dataclass(frozen=True)
class Gap:
    """Difference of two means."""

    size: float
    error: float | None
    """standard error; None if there is only one seed"""
    numbers: str

    @property
    def sign(self) -> int:
        """1 if significantly higher, −1 if significantly lower, else 0."""
        if self.error is None or abs(self.size) <= max(LEVEL, ERRORS * self.error):
            return 0
        return 1 if self.size > 0 else -1

    @property
    def is_small(self) -> bool:
        """Whether the difference is certainly below LEVEL."""
        return self.sign == 0 and self.error is not None and abs(self.size) + ERRORS * self.error <= LEVEL


def decide(cases: Iterable[Case], note: str = "") -> Verdict:
    """Combine cases: the claim holds if all of them hold, and in part if some do."""
    cases = list(cases)
    lines = [
        f"- {f'{case.where}: ' if case.where else ''}{case.numbers}: **{MARKS[case.holds]}**"
        for case in cases
    ]
    evidence = "\n".join(lines) + (f"\n\n{note}" if note else "")
    holding = sum(case.holds is True for case in cases)
    if holding == len(cases):
        return Verdict(HOLDS, evidence)
    if holding:
        return Verdict(PARTLY, evidence, f"{holding} of {len(cases)}")
    return Verdict(FAILS if any(case.holds is False for case in cases) else OPEN, evidence)


class Results:
    """Stored results by experiment, method and task. A missing result raises KeyError with its name."""

    def __init__(self, contents: Contents) -> None:
        self.entries: dict[str, dict[EntryKey, Entry]] = {
            section.experiment.name: {
                key: one.entry for key, one in section.table.items() if one.entry is not None
            }
            for section in contents.sections
        }
        self.figures: dict[str, dict[EntryKey, Result]] = {
            exhibit.experiment.name: exhibit.shown for exhibit in contents.exhibits
        }

    def entry(self, experiment: str, method: str, task: str) -> Entry:
        if (method, task) not in self.entries.get(experiment, {}):
            raise KeyError(f"{method} on {task} in {experiment}")
        return self.entries[experiment][method, task]

    def has(self, experiment: str, method: str, tasks: Iterable[str]) -> bool:
        return all((method, task) in self.entries.get(experiment, {}) for task in tasks)

    def mean(self, experiment: str, method: str, task: str) -> float:
        return self.entry(experiment, method, task).mean

    def text(self, experiment: str, method: str, task: str) -> str:
        return f"{method} {entry_text(self.entry(experiment, method, task))}"

    def figure(self, name: str, method: str, task: str) -> Mapping[str, Any]:
        """The values of a figure's cell."""
        if (method, task) not in self.figures.get(name, {}):
            raise KeyError(f"{method} on {task} in {name}")
        return self.figures[name][method, task].values

    def gap(self, experiment: str, one: str, other: str, tasks: str | Sequence[str]) -> Gap:
        """Difference of the returns of two methods, on a task or as a mean over several tasks."""
        columns = [tasks] if isinstance(tasks, str) else tasks
        pairs = [(self.entry(experiment, one, task), self.entry(experiment, other, task)) for task in columns]
        if len(pairs) == 1:
            numbers = ", ".join(self.text(experiment, method, columns[0]) for method in (one, other))
        else:
            means = [fmean(pair[side].mean for pair in pairs) for side in (0, 1)]
            numbers = f"{one} {number(means[0])}, {other} {number(means[1])}"
        return _gap(pairs, numbers)

    def change(self, before: str, after: str, method: str, task: str) -> Gap:
        """Change of a method's return from one experiment to another."""
        pair = (self.entry(after, method, task), self.entry(before, method, task))
        return _gap([pair], f"{entry_text(pair[1])} → {entry_text(pair[0])}")


def _gap(pairs: Sequence[tuple[Entry, Entry]], numbers: str) -> Gap:
    errors = [_error(entry) for pair in pairs for entry in pair]
    known = [error for error in errors if error is not None]
    size = fmean(one.mean - other.mean for one, other in pairs)
    error = sqrt(sum(one**2 for one in known)) / len(pairs) if len(known) == len(errors) else None
    return Gap(size, error, numbers)


def _error(entry: Entry) -> float | None:
    """The standard error of an entry's mean. Searches in the same trained space count as one draw of it."""
    groups: dict[str, list[float]] = {}
    for result, value in zip(entry.results, entry.returns, strict=True):
        space = result.values.get("space")
        groups.setdefault(space["name"] if space else "", []).append(value)
    values = [fmean(group) for group in groups.values()] if len(groups) > 1 else entry.returns
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def ahead(where: str, gap: Gap) -> Case:
    """The case that the first mean is higher."""
    return Case(where, False if gap.is_small else {1: True, 0: None, -1: False}[gap.sign], gap.numbers)


def behind(where: str, gap: Gap) -> Case:
    """The case that the first mean is lower."""
    return Case(where, False if gap.is_small else {1: False, 0: None, -1: True}[gap.sign], gap.numbers)


def not_ahead(where: str, gap: Gap) -> Case:
    """The case that the first mean is not higher."""
    return Case(where, gap.sign < 1, gap.numbers)


def at_least(where: str, gap: Gap) -> Case:
    """The case that the first mean is neither significantly lower, nor lower by more than LEVEL."""
    return Case(where, False if gap.sign < 0 else True if gap.size >= -LEVEL else None, gap.numbers)


def best(
    results: Results, experiment: str, method: str, rivals: Sequence[str], task: str, where: str
) -> Case:
    """The case that no rival is better. The numbers are the method's and its closest rival's."""
    gaps = {rival: results.gap(experiment, method, rival, task) for rival in rivals}
    closest = min(gaps.values(), key=lambda gap: gap.size)
    behind = any(gap.sign < 0 for gap in gaps.values())
    return Case(where, False if behind else True if closest.size >= -LEVEL else None, closest.numbers)


Rule = Callable[[Results], Verdict]
