"""Run one compiled program in plain Python, one action at a time: for environments outside the package."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.compiler import HALT, LOOP, NO_SENSE, OPERATION, SET, SHIFT, Compiled

Look = Callable[[int], bool]
"""tests whether a sense's perception holds now"""


class Stepper:
    """A running program: call `next` for its next action, take the action, and repeat.

    It tests only perceptions that matter at the current row, and each at most once between two actions.
    """

    def __init__(
        self,
        compiled: Compiled,
        program: int = 0,
        visits: set[tuple[int, int]] | None = None,
        repeats: bool = False,
    ) -> None:
        """visits: set that collects the rows and codes that are looked up in the table, if given. repeats:
        whether a program starts over at its end, unless it would end again without an action.
        """
        if compiled.entry[program] < 0:
            raise ValueError(f"row {program} of the batch is not a program")
        if compiled.limit:
            raise ValueError(f"expected programs without a limit of calls, found {compiled.limit}")
        self._table: NDArray[np.int32] = compiled.rows(program)
        self._rows: dict[int, list[int]] = {}
        """rows of the table as lists, once looked up: rows are large if a program uses many perceptions"""
        table = self._table
        self._loops: list[list[int]] = compiled.loops[compiled.start[program] :][: len(table)].tolist()
        self.senses = [int(sense) for sense in compiled.senses[program] if sense != NO_SENSE]
        """senses that the bits of the program's codes stand for"""
        self._asked: dict[int, tuple[tuple[int, int], ...]] = {}
        self._entry, self._visits, self._repeats = int(compiled.entry[program]), visits, repeats
        self.reset()

    def reset(self) -> None:
        """Restart the program."""
        self._row, self._counters = self._entry, dict[int, int]()
        self._ended: int | None = None

    @property
    def state(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Current row and loop counters: its next actions depend on these and on future perceptions only."""
        return self._row, tuple(sorted(self._counters.items()))

    def asks(self, row: int) -> tuple[tuple[int, int], ...]:
        """Return the senses that matter at a row, each with its bit in the codes."""
        if (known := self._asked.get(row)) is None:
            entries = self._table[row]
            self._rows[row] = entries.tolist()
            bits = [(1 << number, sense) for number, sense in enumerate(self.senses)]
            # A sense matters if the entries of any two codes that differ in its bit alone are different.
            pairs = [(bit, sense, entries.reshape(-1, 2, bit)) for bit, sense in bits]
            known = tuple((bit, sense) for bit, sense, pair in pairs if (pair[:, 0] != pair[:, 1]).any())
            self._asked[row] = known
        return known

    def next(self, look: Look) -> int:
        """Return the next action, or HALT or STUCK; after those two it stays the same."""
        if self._ended is not None:
            return self._ended
        seen: dict[int, bool] = {}
        row, over = self._row, False
        while True:
            code = 0
            asked = self._asked.get(row)
            for bit, sense in self.asks(row) if asked is None else asked:
                holds = seen.get(sense)
                if holds is None:
                    holds = seen[sense] = look(sense)
                if holds:
                    code |= bit
            if self._visits is not None:
                self._visits.add((row, code))
            entry = self._rows[row][code]
            operation = entry & OPERATION
            if operation < HALT:
                self._row = entry >> SHIFT
                return operation
            if operation not in (SET, LOOP):
                if operation == HALT and self._repeats and not over:
                    row, over = self._entry, True
                    continue
                self._ended = operation
                return operation
            times, body, after = self._loops[entry >> SHIFT]
            left = times if operation == SET else self._counters[entry >> SHIFT] - 1
            self._counters[entry >> SHIFT] = left
            row = body if left > 0 else after

    def entries(self, visits: set[tuple[int, int]]) -> list[int]:
        """List the entries of the table that may have been looked up: untested senses have either value."""
        codes = np.arange(1 << len(self.senses))
        found: list[int] = []
        for row, code in visits:
            asked = sum(bit for bit, _ in self.asks(row))
            found += (row * len(codes) + np.flatnonzero(codes & asked == code)).tolist()
        return found
