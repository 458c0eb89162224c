"""Stored results as the verdicts on claims see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leaps.experiments.catalogue import EXPERIMENTS
from leaps.experiments.cell import Result, cell
from leaps.experiments.report.contents import Exhibit
from leaps.experiments.report.verdicts import Results
from leaps.experiments.table import Entry

Returns = Mapping[tuple[str, str], float | Sequence[float]]
"""by method and task; one number stands for five equal ones"""


@dataclass
class StoredSection:
    name: str
    entries: dict[tuple[str, str], Entry]

    @property
    def experiment(self) -> object:
        return EXPERIMENTS[self.name]

    @property
    def table(self) -> dict[tuple[str, str], object]:
        return {place: _Compared(entry) for place, entry in self.entries.items()}


@dataclass
class _Compared:
    entry: Entry


@dataclass
class StoredContents:
    sections: list[StoredSection] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)


def entry(name: str, place: tuple[str, str], value: float | Sequence[float], **values: Any) -> Entry:
    returns = [value] * 5 if isinstance(value, float) else value
    return Entry(
        tuple(
            Result(cell(name, *place, seed), {"return": one, **values}, 0.0, "0")
            for seed, one in enumerate(returns)
        )
    )


def results(exhibits: Sequence[Exhibit] = (), **tables: Returns) -> Results:
    sections = [
        StoredSection(name, {place: entry(name, place, value) for place, value in returns.items()})
        for name, returns in tables.items()
    ]
    return Results(StoredContents(sections, list(exhibits)))  # type: ignore[arg-type]
