"""The programs that were found, for people to read."""

from collections.abc import Mapping
from dataclasses import dataclass

from leaps.dsl.text import ProgramError, parse, to_indented, words
from leaps.experiments.table import Entry, Rows
from leaps.karel.world import LANGUAGE

EXPERIMENTS = ("tasks", "karel-hard")
"""whose columns are tasks, and whose entries are searches on them"""
METHODS = ("leaps", "ours")


@dataclass(frozen=True)
class Found:
    """A method's program for a task."""

    task: str
    method: str
    seed: int
    mean_return: float
    tokens: int
    text: str
    """indented"""


def programs_of(tables: Mapping[str, Rows]) -> tuple[Found, ...]:
    """A program per task and method, of those that have one; tasks in the order of the tables."""
    found = []
    for experiment in EXPERIMENTS:
        rows = tables.get(experiment, {})
        tasks = list(dict.fromkeys(task for method in METHODS for task in rows.get(method, {})))
        for task in tasks:
            for method in METHODS:
                entry = rows.get(method, {}).get(task)
                if entry and (best := _shortest_of_the_best(entry)):
                    found.append(best)
    return tuple(found)


def _shortest_of_the_best(entry: Entry) -> Found | None:
    results = [result for result in entry.results if result.values.get("program")]
    if not results:
        return None

    def rank(number: int) -> tuple[float, int, int]:
        values = results[number].values
        return -float(values["return"]), len(list(words(str(values["program"])))), number

    _, tokens, number = min(rank(number) for number in range(len(results)))
    best = results[number]
    try:
        text = to_indented(parse(str(best.values["program"]), LANGUAGE))
    except ProgramError as error:
        raise ValueError(f"the program of {best.cell.name} is none: {error}") from None
    return Found(
        best.cell.task, best.cell.method, best.cell.seed, float(best.values["return"]), tokens, text.rstrip()
    )
