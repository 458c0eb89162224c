"""What searches took: how many of them solved their task, with how many evaluations, in how many seconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from leaps.experiments.cell import Result
from leaps.experiments.table import Entry, Rows
from leaps.report.parts import Listing
from leaps.report.statistics import is_number

HEAD = "Searches"
LEGEND = (
    "Searches whose program is perfect on 1,000 freshly drawn worlds, of all · median of the programs "
    "evaluated · median of the rollouts · median seconds on one core. Rollouts and seconds are with all "
    "checks on fresh worlds, which ours makes before it believes in a program. Seconds are the processor's "
    "where they were stored, as those of ours are, and else the clock's, some of which were taken while the "
    "cores were shared."
)
NOTHING = "–"
OF_SEARCHES = ("solved", "evaluations", "rollouts")
"""what only they say, besides the seconds that trainings count, too"""


def effort_of(name: str, rows: Rows, tasks: tuple[str, ...]) -> Listing | None:
    """The methods of a table that search for programs; None if there are none."""
    found = {
        method: row
        for method, row in rows.items()
        if any(_is_search(result) for entry in row.values() for result in entry.results)
    }
    if not found:
        return None
    lines = tuple((method, *(_said(row.get(task)) for task in tasks)) for method, row in found.items())
    return Listing(f"{name}, searches", ("", *tasks), lines)


def ours_of(rows: Mapping[str, Entry]) -> Listing | None:
    """Our search task by task, as people first see it; None if it has no results."""
    found = {task: entry for task, entry in rows.items() if all(map(_is_search, entry.results))}
    if not found:
        return None
    told = {task: _taken(entry) for task, entry in found.items()}
    lines = (
        ("return", *(f"{entry.mean:.3f}" for entry in found.values())),
        ("seeds solved", *(f"{one.solved}/{one.runs}" for one in told.values())),
        ("programs tried", *(f"{one.evaluations:,.0f}" for one in told.values())),
        ("rollouts, with all checks", *(_thousands(one.rollouts) for one in told.values())),
        ("seconds on one core", *(f"{one.seconds:.1f}" for one in told.values())),
    )
    return Listing("ours", ("", *found), lines)


def check_effort(result: Result, file: Path) -> None:
    """Refuse what says only a part of what a search took, or says it in something else than numbers."""
    values = result.values
    searched = any(name in values for name in OF_SEARCHES)
    for name in (*OF_SEARCHES, "seconds") if searched else ("seconds",):
        value = values.get(name)
        if (searched or name in values) and not (is_number(value) or (name == "solved" and value in (0, 1))):
            raise ValueError(f"{file}: expected a finite number as {name!r}, found {value!r}")


def _is_search(result: Result) -> bool:
    # One that saw only a share of the worlds was called solved on that share.
    return "evaluations" in result.values and "return_on_seen" not in result.values


def _said(entry: Entry | None) -> str:
    if entry is None:
        return NOTHING
    if not all(map(_is_search, entry.results)):
        return NOTHING
    taken = _taken(entry)
    tried, rollouts = f"{taken.evaluations:,.0f}", _thousands(taken.rollouts)
    return f"{taken.solved}/{taken.runs} · {tried} · {rollouts} · {taken.seconds:.1f} s"


@dataclass(frozen=True)
class Taken:
    """By the searches of an entry."""

    runs: int
    solved: int
    evaluations: float
    """median"""
    rollouts: float
    """median"""
    seconds: float
    """median"""


def _taken(entry: Entry) -> Taken:
    values = [result.values for result in entry.results]
    return Taken(
        len(values),
        sum(bool(one["solved"]) for one in values),
        median(int(one["evaluations"]) for one in values),
        median(int(one["rollouts"]) for one in values),
        median(float(one.get("core_seconds", one["seconds"])) for one in values),
    )


def _thousands(count: float) -> str:
    """A number of rollouts, of which nobody needs the last digits.

    >>> _thousands(80), _thousands(12_528), _thousands(17_400_000)
    ('0.1k', '13k', '17,400k')
    """
    return f"{count / 1000:.1f}k" if count < 9_950 else f"{count / 1000:,.0f}k"
