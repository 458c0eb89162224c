"""Helpers of these tests: real programs, and a language that is not Karel's."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from leaps.dsl.compiler import HALT, LOOP, NO_SENSE, OPERATION, SET, SHIFT, STUCK, Compiled
from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution

TRACES = Path(__file__).parent.parent / "golden" / "traces.jsonl"
GOLDEN = tuple(json.loads(line)["program"] for line in TRACES.read_text().splitlines())
"""the texts of 1,200 programs that the authors' code ran"""


MANY = Language(
    actions=("north", "east", "south"),
    perceptions=(*(f"p{i}" for i in range(64)), "notP3", "notP63"),
    opposites=(("notP3", "p3"), ("notP63", "p63")),
)
"""a language with as many independent perceptions as there can be"""


def few_of_many(*numbers: int) -> ProgramDistribution:
    """Random programs that ask about these perceptions of MANY, all as often."""
    shares = [1 / len(numbers) if i in numbers else 0.0 for i in range(len(MANY.perceptions))]
    return ProgramDistribution(actions=(0.4, 0.3, 0.3), perceptions=tuple(shares))


def follow(
    compiled: Compiled, program: int | np.integer, perceived: Iterable[int]
) -> Iterator[tuple[int, list[int]]]:
    """Read a program's table as number after number is perceived, a bit per sense.

    What is done (an action, HALT or STUCK), and which entries were looked up for it.
    """
    table, first = compiled.rows(program), compiled.first[program]
    senses = [int(sense) for sense in compiled.senses[program] if sense != NO_SENSE]
    loops = compiled.loops[compiled.start[program] :]
    counters: dict[int, int] = {}
    place = int(compiled.entry[program])
    for number in perceived:
        code = sum((number >> sense & 1) << bit for bit, sense in enumerate(senses))
        looked_up = [int(first) + place * table.shape[1] + code]
        while (entry := int(table[place, code])) & OPERATION in (SET, LOOP):
            loop = entry >> SHIFT
            times, body, after = loops[loop].tolist()
            counters[loop] = times if entry & OPERATION == SET else counters[loop] - 1
            place = body if counters[loop] > 0 else after
            looked_up.append(int(first) + place * table.shape[1] + code)
        yield entry & OPERATION, looked_up
        if entry & OPERATION in (HALT, STUCK):
            return
        place = entry >> SHIFT
