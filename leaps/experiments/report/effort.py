"""Effort of searches: solved tasks, evaluations, rollouts and seconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from leaps.experiments.cell import Result
from leaps.experiments.report.parts import Listing
from leaps.experiments.report.statistics import is_number
from leaps.experiments.table import Entry, Rows

HEAD = "Searches"
LEGEND = (
    "Solved searches / all searches · median evaluations until the program was found · median evaluations · "
    "median rollouts · median seconds on one core. A search is solved if its program is perfect on every "
    "evaluation world. Evaluations, rollouts and seconds include everything: selection among programs, "
    "simplification and all checks on fresh worlds. Published medians of HC count evaluations until found. "
    "Seconds are CPU time where it was stored, else wall-clock time, partly on shared cores."
)
EARLIER = (
    " Some results are from an earlier version, which did not count everything. Medians leave out these "
    "results (–: no other results)."
)
NOTHING = "–"
COUNTS = ("evaluations", "rollouts")
OF_SEARCHES = ("solved", *COUNTS)
"""fields of search results only; seconds are stored for trainings, too"""


def effort_of(name: str, rows: Rows, tasks: tuple[str, ...]) -> Listing | None:
    """Effort of a table's searches; None if it has no searches."""
    found = {
        method: row
        for method, row in rows.items()
        if any(_is_search(result) for entry in row.values() for result in entry.results)
    }
    if not found:
        return None
    lines = tuple((method, *(_cell(row.get(task)) for task in tasks)) for method, row in found.items())
    return Listing(f"{name}, searches", ("", *tasks), lines)


def legend_of(rows: Rows) -> str:
    """The legend of `effort_of`, with a note if there are earlier results."""
    results = [result for row in rows.values() for entry in row.values() for result in entry.results]
    return LEGEND + (EARLIER if any(_is_search(one) and _is_earlier(one.values) for one in results) else "")


def ladder_of(rows: Mapping[str, Entry]) -> Listing | None:
    """The ladder search task by task, for a README; None if it has no results."""
    found = {task: entry for task, entry in rows.items() if all(map(_is_search, entry.results))}
    if not found:
        return None
    efforts = {task: _effort(entry) for task, entry in found.items()}
    lines = (
        ("return", *(f"{entry.mean:.3f}" for entry in found.values())),
        ("seeds solved", *(f"{one.solved}/{one.runs}" for one in efforts.values())),
        ("evaluations until found", *(_count(one.to_found) for one in efforts.values())),
        ("evaluations in all", *(_count(one.evaluations) for one in efforts.values())),
        ("rollouts in all", *(_thousands(one.rollouts) for one in efforts.values())),
        ("seconds on one core", *(_seconds(one.seconds).removesuffix(" s") for one in efforts.values())),
    )
    return Listing("ladder", ("", *found), lines)


def check_effort(result: Result, file: Path) -> None:
    """Raise ValueError if a search's stored effort is incomplete or not numeric."""
    values = result.values
    searched = any(name in values for name in OF_SEARCHES)
    needed = OF_SEARCHES if any(name in values for name in COUNTS) else ("solved",)
    for name in (*needed, "seconds") if searched else ("seconds",):
        value = values.get(name)
        if name == "seconds" and _is_earlier(values) and name not in values:
            continue
        if (searched or name in values) and not (is_number(value) or (name == "solved" and value in (0, 1))):
            raise ValueError(f"{file}: expected a finite number as {name!r}, found {value!r}")


def _is_search(result: Result) -> bool:
    # A search on a fraction of the configurations is solved on that fraction only, so it is left out.
    values = result.values
    return ("evaluations" in values or "search_return" in values) and "return_on_seen" not in values


def _is_earlier(values: Mapping[str, Any]) -> bool:
    return not any(name in values for name in COUNTS)


def _cell(entry: Entry | None) -> str:
    if entry is None or not all(map(_is_search, entry.results)):
        return NOTHING
    one = _effort(entry)
    counts = f"{_count(one.to_found)} · {_count(one.evaluations)} · {_thousands(one.rollouts)}"
    return f"{one.solved}/{one.runs} · {counts} · {_seconds(one.seconds)}"


@dataclass(frozen=True)
class Effort:
    """Effort of an entry's searches. All numbers but the first two are medians over searches that counted
    everything, or None without such searches.
    """

    runs: int
    solved: int
    to_found: float | None
    """evaluations until the program was found"""
    evaluations: float | None
    rollouts: float | None
    seconds: float | None


def _effort(entry: Entry) -> Effort:
    values = [result.values for result in entry.results]
    counted = [one for one in values if not _is_earlier(one)]

    def middle(*names: str) -> float | None:
        """The median of the first stored field among these."""
        found = [
            float(next(one[name] for name in names if name in one)) for one in counted if {*names} & {*one}
        ]
        return median(found) if found else None

    return Effort(
        len(values),
        sum(bool(one["solved"]) for one in values),
        middle("evaluations_to_found"),
        middle("evaluations"),
        middle("rollouts"),
        middle("core_seconds", "seconds"),
    )


def _count(count: float | None) -> str:
    return NOTHING if count is None else f"{count:,.0f}"


def _seconds(seconds: float | None) -> str:
    """Format seconds with one decimal, or two below 0.1 s.

    >>> _seconds(12.34), _seconds(0.04)
    ('12.3 s', '0.04 s')
    """
    if seconds is None:
        return NOTHING
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds:.2f} s"


def _thousands(count: float | None) -> str:
    """Format a number of rollouts in thousands.

    >>> _thousands(80), _thousands(12_528), _thousands(17_400_000)
    ('0.1k', '13k', '17,400k')
    """
    if count is None:
        return NOTHING
    return f"{count / 1000:.1f}k" if count < 9_950 else f"{count / 1000:,.0f}k"
