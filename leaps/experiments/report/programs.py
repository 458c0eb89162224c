"""The best programs that searches found, indented for readers."""

from collections.abc import Mapping
from dataclasses import dataclass

from leaps.dsl.text import ProgramError, parse, to_indented, words
from leaps.experiments.cell import Result
from leaps.experiments.table import Entry, Rows
from leaps.karel.world import LANGUAGE

EXPERIMENTS = ("tasks", "karel-hard")
"""experiments whose columns are tasks and whose entries are searches"""
LOOPS = ("WHILE", "REPEAT")
SHOWN_METHODS = ("leaps", "ladder")


@dataclass(frozen=True)
class Found:
    """A method's program for a task."""

    task: str
    method: str
    seed: int
    mean_return: float
    tokens: int
    loops: int
    text: str
    """indented"""


def programs_of(tables: Mapping[str, Rows]) -> tuple[Found, ...]:
    """The best program per task and method, with tasks in the order of the tables."""
    found = []
    for experiment in EXPERIMENTS:
        rows = tables.get(experiment, {})
        tasks = list(dict.fromkeys(task for method in SHOWN_METHODS for task in rows.get(method, {})))
        for task in tasks:
            for method in SHOWN_METHODS:
                entry = rows.get(method, {}).get(task)
                if entry and (best := best_program(entry)):
                    found.append(best)
    return tuple(found)


def best_program(entry: Entry) -> Found | None:
    """The shortest program among those with the highest return; None if no program is stored."""
    results = [result for result in entry.results if result.values.get("program")]
    if not results:
        return None

    def rank(number: int) -> tuple[float, int, int]:
        values = results[number].values
        return -float(values["return"]), len(list(words(str(values["program"])))), number

    return found_of(results[min(range(len(results)), key=rank)])


def found_of(result: Result) -> Found:
    """The program of a result."""
    cell, text = result.cell, str(result.values["program"])
    try:
        indented = to_indented(parse(text, LANGUAGE)).rstrip()
    except ProgramError as error:
        raise ValueError(f"the program of {cell.name} is not valid: {error}") from None
    tokens = list(words(text))
    loops = sum(word.text in LOOPS for word in tokens)
    value = float(result.values["return"])
    return Found(cell.task, cell.method, cell.seed, value, len(tokens), loops, indented)
