"""Prove that programs do the same as one that has been run, without running them.

A run looks up some entries of its program's table. Another program does the same in the same worlds if it has
the same operations there: follow both from their beginnings, side by side, along the entries that were used.
What the other has elsewhere can't matter, as nothing led there. A program for which this is not found may
still do the same, in other words.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.compiler import HALT, LOOP, OPERATION, SET, SHIFT, Compiled
from leaps.jit import jit

_NONE = -1


@jit
def _meet(
    partners: NDArray[np.int64],
    used: NDArray[np.uint64],
    one: int,
    other: int,
    waiting: NDArray[np.int64],
    count: int,
) -> int:
    """Pair two places, and remember to look there: how many wait then; -1 if one has another partner."""
    if used[one] == 0 or partners[one] == other:
        return count
    if partners[one] != _NONE:
        return _NONE
    partners[one] = other
    waiting[count] = one
    return count + 1


@jit
def _same_loop(
    loops: NDArray[np.int64], counts: NDArray[np.int32], others: NDArray[np.int32], one: int, other: int
) -> bool:
    """Pair two loops, if they count to the same number and have no other partner."""
    if loops[one] == _NONE:
        for known in loops:
            if known == other:
                return False
        loops[one] = other
    return bool(loops[one] == other and counts[one, 0] == others[other, 0])


@jit
def _follow(
    table: NDArray[np.int32],
    loops: NDArray[np.int32],
    entry: int,
    used: NDArray[np.uint64],
    other_table: NDArray[np.int32],
    other_loops: NDArray[np.int32],
    other_entry: int,
    partners: NDArray[np.int64],
    loop_partners: NDArray[np.int64],
    waiting: NDArray[np.int64],
) -> bool:
    """Pair the places of a program that were used with those of another, if it does the same there."""
    partners[:] = _NONE
    loop_partners[:] = _NONE
    count = _meet(partners, used, entry, other_entry, waiting, 0)
    while count > 0:
        count -= 1
        place = waiting[count]
        other = partners[place]
        for code in range(table.shape[1]):
            if not (used[place] >> np.uint64(code)) & np.uint64(1):
                continue
            here, there = table[place, code], other_table[other, code]
            operation = here & OPERATION
            if operation != there & OPERATION:
                return False
            if operation in (SET, LOOP):
                loop, other_loop = here >> SHIFT, there >> SHIFT
                if not _same_loop(loop_partners, loops, other_loops, loop, other_loop):
                    return False
                count = _meet(partners, used, loops[loop, 1], other_loops[other_loop, 1], waiting, count)
                if count >= 0 and operation == LOOP:
                    count = _meet(partners, used, loops[loop, 2], other_loops[other_loop, 2], waiting, count)
            elif operation < HALT:
                count = _meet(partners, used, here >> SHIFT, there >> SHIFT, waiting, count)
            if count < 0:
                return False
    return True


@jit
def _follow_all(
    compiled: Compiled,
    program: int,
    used: NDArray[np.uint64],
    others: Compiled,
    same: NDArray[np.bool_],
    others_used: NDArray[np.uint64],
) -> None:
    first, last = compiled.start[program], compiled.start[program + 1]
    table, loops, looked_up = compiled.table[first:last], compiled.loops[first:last], used[first:last]
    partners = np.empty(last - first, np.int64)
    loop_partners, waiting = np.empty_like(partners), np.empty_like(partners)
    for other in range(len(same)):
        first, last = others.start[other], others.start[other + 1]
        if others.entry[other] < 0:
            continue  # not a program
        same[other] = _follow(
            table,
            loops,
            compiled.entry[program],
            looked_up,
            others.table[first:last],
            others.loops[first:last],
            others.entry[other],
            partners,
            loop_partners,
            waiting,
        )
        if same[other]:
            for place in range(len(partners)):
                if partners[place] != _NONE:
                    others_used[first + partners[place]] |= looked_up[place]


def do_the_same(
    compiled: Compiled, program: int, used: NDArray[np.uint64], others: Compiled
) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    """[n] which of n programs provably do what one program of a batch did when it was run.

    used: [rows] the entries of the batch's table that were looked up, a bit per code. Also returned: those
    that the others would look up, [rows] of their table; none where nothing is proven.
    """
    same = np.zeros(others.count, np.bool_)
    others_used = np.zeros(len(others.table), np.uint64)
    _follow_all(compiled, program, used, others, same, others_used)
    return same, others_used
