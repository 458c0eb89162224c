"""Prove that programs do the same as one that has been run, without running them.

A run looks up some entries of its program's table. Another program does the same in the same worlds if it has
the same operations there: follow both from their beginnings, side by side, along the entries that were used.
What the other has elsewhere can't matter, as nothing led there. A program for which this is not found may
still do the same, in other words.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.dsl.compiler import HALT, LOOP, NO_SENSE, OPERATION, SET, SHIFT, Compiled

_NONE = -1


@jit
def _meet(
    partners: NDArray[np.int64],
    visited: NDArray[np.bool_],
    one: int,
    other: int,
    waiting: NDArray[np.int64],
    count: int,
) -> int:
    """Pair two places, and remember to look there: how many wait then; -1 if one has another partner."""
    if not visited[one] or partners[one] == other:
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
def _match_codes(
    senses: NDArray[np.uint8], others: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where one program perceives a code, what may another perceive?

    [codes] the other's code with what is known of it, and what else may be added to that: of senses that only
    the other asks about, nothing is known.
    """
    bits = other_bits = 0
    while bits < len(senses) and senses[bits] != NO_SENSE:
        bits += 1
    while other_bits < len(others) and others[other_bits] != NO_SENSE:
        other_bits += 1
    known = np.zeros(1 << bits, np.int64)
    perhaps = np.zeros(1 << other_bits, np.int64)
    count = 1
    for place in range(other_bits):
        shared = _NONE
        for bit in range(bits):
            if senses[bit] == others[place]:
                shared = bit
        if shared == _NONE:
            for number in range(count):
                perhaps[count + number] = perhaps[number] | (1 << place)
            count *= 2
        else:
            for code in range(len(known)):
                known[code] |= ((code >> shared) & 1) << place
    return known, perhaps[:count]


@jit
def _follow(
    table: NDArray[np.int32],
    loops: NDArray[np.int32],
    entry: int,
    used: NDArray[np.bool_],
    visited: NDArray[np.bool_],
    other_table: NDArray[np.int32],
    other_loops: NDArray[np.int32],
    other_entry: int,
    known: NDArray[np.int64],
    perhaps: NDArray[np.int64],
    partners: NDArray[np.int64],
    loop_partners: NDArray[np.int64],
    waiting: NDArray[np.int64],
) -> bool:
    """Pair the places of a program that were used with those of another, if it does the same there."""
    partners[:] = _NONE
    loop_partners[:] = _NONE
    count = _meet(partners, visited, entry, other_entry, waiting, 0)
    codes, other_codes = len(known), len(other_table) // len(other_loops)
    while count > 0:
        count -= 1
        place = waiting[count]
        other = partners[place]
        for code in range(codes):
            if not used[place * codes + code]:
                continue
            here = table[place * codes + code]
            operation = here & OPERATION
            for more in perhaps:
                there = other_table[other * other_codes + (known[code] | more)]
                if operation != there & OPERATION:
                    return False
                if operation in (SET, LOOP):
                    loop, other_loop = here >> SHIFT, there >> SHIFT
                    if not _same_loop(loop_partners, loops, other_loops, loop, other_loop):
                        return False
                    body, other_body = loops[loop, 1], other_loops[other_loop, 1]
                    count = _meet(partners, visited, body, other_body, waiting, count)
                    if count >= 0 and operation == LOOP:
                        after, other_after = loops[loop, 2], other_loops[other_loop, 2]
                        count = _meet(partners, visited, after, other_after, waiting, count)
                elif operation < HALT:
                    count = _meet(partners, visited, here >> SHIFT, there >> SHIFT, waiting, count)
                if count < 0:
                    return False
    return True


@jit
def _follow_all(
    compiled: Compiled,
    program: int,
    used: NDArray[np.bool_],
    others: Compiled,
    same: NDArray[np.bool_],
    others_used: NDArray[np.bool_],
) -> None:
    first, last = compiled.start[program], compiled.start[program + 1]
    loops, senses = compiled.loops[first:last], compiled.senses[program]
    entries = slice(compiled.first[program], compiled.first[program + 1])
    table, looked_up = compiled.table[entries], used[entries]
    known, perhaps = _match_codes(senses, senses)
    codes = len(known)
    visited = np.zeros(last - first, np.bool_)
    for entry in range(len(looked_up)):
        visited[entry // codes] |= looked_up[entry]
    partners = np.empty(last - first, np.int64)
    loop_partners, waiting = np.empty_like(partners), np.empty_like(partners)
    matched = senses  # what `known` and `perhaps` are of
    for other in range(len(same)):
        if others.entry[other] < 0:
            continue  # not a program
        if (others.senses[other] != matched).any():
            matched = others.senses[other]
            known, perhaps = _match_codes(senses, matched)
        first, last = others.start[other], others.start[other + 1]
        entries = slice(others.first[other], others.first[other + 1])
        same[other] = _follow(
            table,
            loops,
            compiled.entry[program],
            looked_up,
            visited,
            others.table[entries],
            others.loops[first:last],
            others.entry[other],
            known,
            perhaps,
            partners,
            loop_partners,
            waiting,
        )
        if same[other]:
            other_codes = (entries.stop - entries.start) // (last - first)
            for place in range(len(partners)):
                if partners[place] == _NONE:
                    continue
                row = entries.start + partners[place] * other_codes
                for code in range(codes):
                    if looked_up[place * codes + code]:
                        for more in perhaps:
                            others_used[row + (known[code] | more)] = True


def do_the_same(
    compiled: Compiled, program: int, used: NDArray[np.bool_], others: Compiled
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[n] which of n programs provably do what one program of a batch did when it was run.

    used: [entries] whether each entry of the batch's table was looked up. Also returned: those that the
    others would look up, [entries] of their table; none where nothing is proven. (Of senses that only another
    asks about nothing is known, so there it is all that it might look up.)
    """
    same = np.zeros(others.count, np.bool_)
    others_used = np.zeros(len(others.table), np.bool_)
    _follow_all(compiled, program, used, others, same, others_used)
    return same, others_used
