"""Prove that programs behave like one that has been run, without running them.

A run looks up some entries of its program's table. Another program behaves the same in the same worlds if it
has the same operations there. To check this, follow both programs in parallel from their beginnings, along
the entries that were used. All other entries of the second program are unreachable in these worlds. A program
without such a proof may still behave the same.
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
    """Pair two rows and queue them; return the queue's length, or -1 if the first has another partner."""
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
    """Pair two loops if they have the same number of rounds and no other partner."""
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
    """Map the codes of one program to those that another may perceive at the same time.

    Returns the known bits of the other's code [codes], and the bits that may be added to them: those of
    senses that only the other program uses, about which nothing is known.
    """
    bits = other_bits = 0
    while bits < len(senses) and senses[bits] != NO_SENSE:
        bits += 1
    while other_bits < len(others) and others[other_bits] != NO_SENSE:
        other_bits += 1
    known = np.zeros(1 << bits, np.int64)
    perhaps = np.zeros(1 << other_bits, np.int64)
    count = 1
    for other_bit in range(other_bits):
        shared = _NONE
        for bit in range(bits):
            if senses[bit] == others[other_bit]:
                shared = bit
        if shared == _NONE:
            for number in range(count):
                perhaps[count + number] = perhaps[number] | (1 << other_bit)
            count *= 2
        else:
            for code in range(len(known)):
                known[code] |= ((code >> shared) & 1) << other_bit
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
    """Pair the used rows of a program with rows of another; return False if the two differ there."""
    partners[:] = _NONE
    loop_partners[:] = _NONE
    count = _meet(partners, visited, entry, other_entry, waiting, 0)
    codes, other_codes = len(known), len(other_table) // len(other_loops)
    while count > 0:
        count -= 1
        row = waiting[count]
        other = partners[row]
        for code in range(codes):
            if not used[row * codes + code]:
                continue
            here = table[row * codes + code]
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
    matched = senses  # the other's senses that `known` and `perhaps` are for
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
            for row in range(len(partners)):
                if partners[row] == _NONE:
                    continue
                first_entry = entries.start + partners[row] * other_codes
                for code in range(codes):
                    if looked_up[row * codes + code]:
                        for more in perhaps:
                            others_used[first_entry + (known[code] | more)] = True


def do_the_same(
    compiled: Compiled, program: int, used: NDArray[np.bool_], others: Compiled
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[n] which of n programs provably do what one program of a batch did when it was run.

    used: [entries] whether each entry of the batch's table was looked up. The second result is [entries]
    whether the others would look up each entry of their table; False where nothing is proven. Senses that
    only the other program uses are unknown, so both values count as looked up.
    """
    same = np.zeros(others.count, np.bool_)
    others_used = np.zeros(len(others.table), np.bool_)
    _follow_all(compiled, program, used, others, same, others_used)
    return same, others_used
