"""Run one compiled program in plain Python, an action at a time: where the world is somebody else's."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.compiler import HALT, LOOP, NO_SENSE, OPERATION, SET, SHIFT, Compiled

Look = Callable[[int], bool]
"""look whether a sense's perception holds, now"""


class Stepper:
    """A program at work: ask for its next action, do it, ask again.

    It looks only at what matters where the program stands, and only once between two actions.
    """

    def __init__(
        self,
        compiled: Compiled,
        program: int = 0,
        visits: set[tuple[int, int]] | None = None,
        repeats: bool = False,
    ) -> None:
        """visits: collects the rows and codes of the table that are looked up, if given. repeats: a program
        that has come to its end starts over, unless it would end again without an action.
        """
        if compiled.entry[program] < 0:
            raise ValueError(f"row {program} of the batch is not a program")
        if compiled.limit:
            raise ValueError(f"expected programs without a limit of calls, found {compiled.limit}")
        self._table: NDArray[np.int32] = compiled.rows(program)
        self._rows: dict[int, list[int]] = {}
        """those of the table that were looked up: a program that asks about much has large ones"""
        table = self._table
        self._loops: list[list[int]] = compiled.loops[compiled.start[program] :][: len(table)].tolist()
        self.senses = [int(sense) for sense in compiled.senses[program] if sense != NO_SENSE]
        """those that the bits of its codes stand for"""
        self._asked: dict[int, tuple[tuple[int, int], ...]] = {}
        self._entry, self._visits, self._repeats = int(compiled.entry[program]), visits, repeats
        self.reset()

    def reset(self) -> None:
        """Restart the program."""
        self._place, self._counters = self._entry, dict[int, int]()
        self._ended: int | None = None

    @property
    def state(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """All that its next actions depend on, besides what it will look at."""
        return self._place, tuple(sorted(self._counters.items()))

    def asks(self, place: int) -> tuple[tuple[int, int], ...]:
        """What matters at a place: the bit of each code, and the sense that it stands for."""
        if (known := self._asked.get(place)) is None:
            row = self._table[place]
            self._rows[place] = row.tolist()
            bits = [(1 << number, sense) for number, sense in enumerate(self.senses)]
            # With the codes in pairs that differ in the bit only: does it make a difference in any?
            pairs = [(bit, sense, row.reshape(-1, 2, bit)) for bit, sense in bits]
            known = tuple((bit, sense) for bit, sense, pair in pairs if (pair[:, 0] != pair[:, 1]).any())
            self._asked[place] = known
        return known

    def next(self, look: Look) -> int:
        """Decide what to do next: an action, or HALT or STUCK, which the program then stays at."""
        if self._ended is not None:
            return self._ended
        seen: dict[int, bool] = {}
        place, over = self._place, False
        while True:
            code = 0
            asked = self._asked.get(place)
            for bit, sense in self.asks(place) if asked is None else asked:
                holds = seen.get(sense)
                if holds is None:
                    holds = seen[sense] = look(sense)
                if holds:
                    code |= bit
            if self._visits is not None:
                self._visits.add((place, code))
            entry = self._rows[place][code]
            operation = entry & OPERATION
            if operation < HALT:
                self._place = entry >> SHIFT
                return operation
            if operation not in (SET, LOOP):
                if operation == HALT and self._repeats and not over:
                    place, over = self._entry, True
                    continue
                self._ended = operation
                return operation
            times, body, after = self._loops[entry >> SHIFT]
            left = times if operation == SET else self._counters[entry >> SHIFT] - 1
            self._counters[entry >> SHIFT] = left
            place = body if left > 0 else after

    def entries(self, visits: set[tuple[int, int]]) -> list[int]:
        """Entries of its table that may have been looked up: what was not asked may hold or not."""
        codes = np.arange(1 << len(self.senses))
        found: list[int] = []
        for place, code in visits:
            asked = sum(bit for bit, _ in self.asks(place))
            found += (place * len(codes) + np.flatnonzero(codes & asked == code)).tolist()
        return found
