"""Token arrays to tables: a program as "in this place, perceiving this → do that, go there".

Perceptions change only when the program acts, so everything between two actions can be decided when the
program is compiled: a place is a point in the program, and its row of the table says, for each of the
codes that can be perceived, which action comes next and which place follows it. One lookup a step.

The table is built backwards, from the last token to the first, so that what follows a statement is known
when the statement is reached. Two things need care:

- A loop's end goes back to its beginning, which is not known yet. Its row is filled with HOLEs first, and
  the rows of its body are patched when the loop's beginning is reached. A HOLE found at the beginning
  itself means that the body can be passed without acting: a WHILE is then stuck for good, and ends the
  run at once; a REPEAT is over.
- REPEAT counts. Two pseudo-actions, SET and LOOP, keep its counter; each leads, after at most as many
  more as loops are nested, to an action. So the time between two actions is bounded, and nothing hangs.

With a limit of calls (see `leaps.karel.interpreter.Calls`), the table also has the number of calls that each
lookup stands for. Then three things differ:

- Entering a WHILE costs calls, the later rounds don't. So there are two rows, one for each.
- A REPEAT of no rounds costs calls, too, and has a row.
- Where the remaining rounds of a REPEAT do nothing, they are still counted through, because their calls
  count. There are at most 19 for each open loop, so the time between two actions is still bounded.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.language import Kind, Language
from leaps.dsl.mask import CLOSES, NEXT, OPENS, Block, State
from leaps.dsl.syntax import MAX_NESTING
from leaps.jit import jit
from leaps.parallel import share

# A table entry is `operation + (place << SHIFT)`; an operation below HALT is an action.
SHIFT = 8
HALT, STUCK, SET, LOOP, HOLE = 251, 252, 253, 254, 255
OPERATION = 255


class Compiled(NamedTuple):
    """Programs ready to run. Program `i` owns rows `start[i]` to `start[i + 1]` of table and loops."""

    table: NDArray[np.int32]
    """[rows, codes] entries: operation and following place (for SET and LOOP: which loop)"""
    loops: NDArray[np.int32]
    """[rows, 3] of each REPEAT: how often, the place of its body, the place after it"""
    start: NDArray[np.int64]
    """[programs + 1]"""
    entry: NDArray[np.int32]
    """[programs] the place where a program begins; -1 if it is not a program"""

    branches: NDArray[np.uint64]
    """[rows, codes] which conditions are looked at on the way to the entry, if wanted: bit 2k if the k-th
    of the program (in the order of the text) holds, bit 2k + 1 if it doesn't. Those past the 32nd are left
    out. Where a REPEAT may be over, its body's conditions count as looked at"""
    calls: NDArray[np.int32] | None
    """[rows, codes] calls that looking up the entry stands for; None without a limit. (None, not an empty
    array: numba then compiles the kernels a second time, and those without a limit lose no speed.)"""
    limit: int
    """of calls in a run, the program's own included; 0 if there is none"""

    @property
    def count(self) -> int:  # type: ignore[override]  # nobody counts arrays in a tuple
        return len(self.entry)

    def take(self, programs: NDArray[np.integer]) -> "Compiled":
        """Some of the programs, in the order given; without their branches."""
        rows = [slice(self.start[program], self.start[program + 1]) for program in programs]
        return Compiled(
            np.concatenate([self.table[:0], *(self.table[part] for part in rows)]),
            np.concatenate([self.loops[:0], *(self.loops[part] for part in rows)]),
            np.cumsum([0, *(part.stop - part.start for part in rows)]),
            self.entry[programs],
            self.branches[:0],
            None
            if self.calls is None
            else np.concatenate([self.calls[:0], *(self.calls[part] for part in rows)]),
            self.limit,
        )


# Kinds as plain numbers, for compiled code.
_ACTION, _OPEN_C = int(Kind.ACTION), int(Kind.OPEN_C)
_CLOSE_M, _CLOSE_W, _CLOSE_R = int(Kind.CLOSE_M), int(Kind.CLOSE_W), int(Kind.CLOSE_R)
_CLOSE_I, _CLOSE_E = int(Kind.CLOSE_I), int(Kind.CLOSE_E)
_OPEN_W, _OPEN_R = int(Kind.OPEN_W), int(Kind.OPEN_R)
_OPEN_I, _OPEN_E = int(Kind.OPEN_I), int(Kind.OPEN_E)
_WHILE, _IF, _IFELSE, _PAD = int(Kind.WHILE), int(Kind.IF), int(Kind.IFELSE), int(Kind.PAD)
_STATE_DEF, _STATE_END, _NO_BLOCK = int(State.DEF), int(State.END), int(Block.NONE)
_DEEPEST = MAX_NESTING + 2
MOST_CALLS = 10**9
"""that a limit may allow; one lookup counts as at most one call more, so that nested loops don't overflow"""


@jit
def accepted_length(tokens: NDArray[np.uint8], kinds: NDArray[np.uint8], stack: NDArray[np.int64]) -> int:
    """Check a program against the grammar: its length without padding, or -1."""
    state, depth = _STATE_DEF, 0
    stack[0] = _NO_BLOCK
    length = 0
    for token in tokens:
        if token >= len(kinds):
            return -1
        kind = kinds[token]
        following = NEXT[state, stack[depth], kind]
        if following < 0:
            return -1
        if kind == _PAD:
            continue
        opened = OPENS[state, kind]
        if opened > 0:
            depth += 1
            if depth >= _DEEPEST:
                return -1
            stack[depth] = opened
        elif CLOSES[kind]:
            depth -= 1
        state = following
        length += 1
    return length if state == _STATE_END else -1


@jit
def _patch(
    table: NDArray[np.int32],
    branches: NDArray[np.uint64],
    calls: NDArray[np.int32] | None,
    first: int,
    last: int,
    hole: int,
    target: int,
) -> None:
    """Let the holes of rows first..last-1 show what row `target` shows."""
    for row in range(first, last):
        for code in range(table.shape[1]):
            if table[row, code] == hole:
                table[row, code] = table[target, code]
                if branches.size > 0:
                    branches[row, code] |= branches[target, code]
                if calls is not None:
                    calls[row, code] = min(calls[row, code] + calls[target, code], MOST_CALLS + 1)


@jit
def _compile_one(
    tokens: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    arguments: NDArray[np.uint8],
    truth: NDArray[np.bool_],
    table: NDArray[np.int32],
    loops: NDArray[np.int32],
    branches: NDArray[np.uint64],
    calls: NDArray[np.int32] | None,
    after: NDArray[np.int64],
    other: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> int:
    """Fill the rows of one valid program (no padding), and return the place where it begins.

    `after`, `other` and `lengths` are stacks, an element per open block: the row of what follows the block's
    statement; the loop's own row or the row of the ELSE block; and how many statements the block has so far.
    """
    codes = table.shape[1]
    track = branches.size > 0
    branches[:] = 0
    if calls is not None:
        calls[:] = 0
    rows = loop_count = 0
    condition = 0  # how many there are up to here
    for token in tokens:
        condition += kinds[token] == _WHILE or kinds[token] == _IF or kinds[token] == _IFELSE
    here = 0  # the row of what comes next
    depth = -1
    lengths[0] = 0
    position = len(tokens) - 1
    while position >= 0:
        kind = kinds[tokens[position]]
        if kind == _ACTION:
            entry = np.int32(arguments[tokens[position]] + (here << SHIFT))
            for code in range(codes):
                table[rows, code] = entry
            if calls is not None:
                calls[rows] += 1
                lengths[depth + 1] += 1
            here = rows
            rows += 1
        elif kind == _CLOSE_M:
            table[rows, :] = HALT
            here = rows
            rows += 1
        elif kind in (_CLOSE_W, _CLOSE_R):
            depth += 1
            after[depth] = here
            other[depth] = rows
            if calls is not None:
                lengths[depth + 1] = 0
            table[rows, :] = HOLE + (rows << SHIFT)  # a loop's holes are named after its row
            here = rows
            rows += 1
        elif kind in (_CLOSE_I, _CLOSE_E):
            depth += 1
            after[depth] = here
            other[depth] = -1
            if calls is not None:
                lengths[depth + 1] = 0
        elif kind == _OPEN_E:
            # `i) ELSE e(`: go on with the THEN block, which is followed by what follows the ELSE block.
            if calls is not None:
                calls[here] += 2 * (lengths[depth + 1] - 1)
                lengths[depth + 1] = 0
            other[depth] = here
            here = after[depth]
            position -= 2
        elif kind == _OPEN_R:
            end, following = other[depth], after[depth]
            hole = HOLE + (end << SHIFT)
            times = arguments[tokens[position - 1]]
            if times == 0:
                here = following
                if calls is not None:
                    table[rows], calls[rows] = table[following], calls[following] + 2
                    here = rows
                    rows += 1
            else:
                if calls is not None:
                    calls[here] += 2 * (lengths[depth + 1] - 1)
                loops[loop_count, 0] = times
                loops[loop_count, 1] = here
                loops[loop_count, 2] = following
                begin = rows
                for code in range(codes):
                    passed = table[here, code] == hole
                    ahead = table[following, code]
                    table[end, code] = ahead if passed else LOOP + (loop_count << SHIFT)
                    table[begin, code] = ahead if passed else SET + (loop_count << SHIFT)
                    if track and passed:
                        looked_at = branches[here, code] | branches[following, code]
                        branches[end, code] |= looked_at
                        branches[begin, code] = looked_at
                if calls is not None:
                    for code in range(codes):
                        passed = table[here, code] == hole
                        spent = times * calls[here, code] + calls[following, code] if passed else 0
                        calls[begin, code] = min(2 + spent, MOST_CALLS + 1)
                        table[end, code] = LOOP + (loop_count << SHIFT)
                _patch(table, branches, calls, end + 1, begin, hole, end)
                rows += 1
                loop_count += 1
                here = begin
            depth -= 1
            if calls is not None:
                lengths[depth + 1] += 1
            position -= 2
        elif kind in (_OPEN_W, _OPEN_I):
            negated = kinds[tokens[position - 3]] != _OPEN_C
            perception = arguments[tokens[position - 3 if negated else position - 2]]
            condition -= 1
            yes = np.uint64(1) << np.uint64(2 * condition) if condition < 32 else np.uint64(0)
            no = yes << np.uint64(1)
            if kind == _OPEN_W:
                begin, otherwise = other[depth], after[depth]
            else:
                begin, otherwise = rows, after[depth] if other[depth] < 0 else other[depth]
                rows += 1
            hole = HOLE + (begin << SHIFT)  # only a loop's body has any
            if calls is not None:
                calls[here] += 2 * (lengths[depth + 1] - 1)
            for code in range(codes):
                holds = truth[perception, code] != negated
                source = here if holds else otherwise
                entry = table[source, code]
                if track:
                    branches[begin, code] = branches[source, code] | (yes if holds else no)
                table[begin, code] = STUCK if holds and entry == hole else entry
            if calls is not None:
                for code in range(codes):
                    source = here if truth[perception, code] != negated else otherwise
                    calls[begin, code] = calls[source, code]
            if kind == _OPEN_W:
                _patch(table, branches, calls, begin + 1, rows, hole, begin)
            here = begin
            if calls is not None:
                if kind == _OPEN_W:
                    table[rows], calls[rows] = table[begin], calls[begin]
                    here = rows
                    rows += 1
                calls[here] += 2
            depth -= 1
            if calls is not None:
                lengths[depth + 1] += 1
            position -= 7 if negated else 4
        position -= 1
    if calls is not None:
        calls[here] += 2 * (lengths[0] - 1) + 1
    return here


@jit
def _rows_of(calls: NDArray[np.int32] | None, rows: slice) -> NDArray[np.int32] | None:
    if calls is None:
        return None
    return calls[rows]


@jit
def _compile_range(
    tokens: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    arguments: NDArray[np.uint8],
    truth: NDArray[np.bool_],
    table: NDArray[np.int32],
    loops: NDArray[np.int32],
    branches: NDArray[np.uint64],
    calls: NDArray[np.int32] | None,
    start: NDArray[np.int64],
    entry: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    blocks = np.empty(_DEEPEST, np.int64)
    after = np.empty(_DEEPEST, np.int64)
    other = np.empty(_DEEPEST, np.int64)
    lengths = np.empty(_DEEPEST, np.int64)
    for program in range(first, last):
        length = accepted_length(tokens[program], kinds, blocks)
        if length < 0:
            entry[program] = -1
            continue
        rows = slice(start[program], start[program + 1])
        entry[program] = _compile_one(
            tokens[program, :length],
            kinds,
            arguments,
            truth,
            table[rows],
            loops[rows],
            branches[rows],
            _rows_of(calls, rows),
            after,
            other,
            lengths,
        )


@jit
def _row_bounds(tokens: NDArray[np.uint8], pad: int) -> NDArray[np.int64]:
    """Where each program's rows start, if it takes as many as it has tokens (it never takes more)."""
    start = np.zeros(len(tokens) + 1, np.int64)
    for program in range(len(tokens)):
        length = tokens.shape[1]
        while length > 0 and tokens[program, length - 1] == pad:
            length -= 1
        start[program + 1] = start[program] + length
    return start


def check_calls(limit: int) -> None:
    """Refuse a limit of calls that can't be counted up to."""
    if not (isinstance(limit, int | np.integer) and 1 <= limit <= MOST_CALLS):
        raise ValueError(f"the limit of calls must be from 1 to {MOST_CALLS:,}, found {limit}")


def compile_tokens(
    tokens: NDArray[np.uint8],
    language: Language,
    truth: NDArray[np.bool_],
    *,
    branches: bool = False,
    calls: int | None = None,
) -> Compiled:
    """Compile a batch of programs.

    tokens: [programs, length] token ids, filled up with `<pad>`; a row that is not a program gets
    entry -1. truth: [perceptions, codes] which perceptions hold under which perceived code.
    branches: keep track of the conditions that are looked at. calls: limit of calls in a run; not together
    with branches.
    """
    if calls is not None:
        check_calls(calls)
        if branches:
            raise ValueError("expected branches or a limit of calls, found both")
    if tokens.ndim != 2 or tokens.dtype != np.uint8:
        raise ValueError(
            f"tokens: expected uint8[programs, length], found {tokens.dtype}{list(tokens.shape)}"
        )
    if truth.ndim != 2 or len(truth) != len(language.perceptions):
        raise ValueError(
            f"truth: expected bool[{len(language.perceptions)} perceptions, codes], found {list(truth.shape)}"
        )
    tokens = np.ascontiguousarray(tokens)
    start = _row_bounds(tokens, language.pad)
    table = np.empty((start[-1], truth.shape[1]), np.int32)
    loops = np.empty((start[-1], 3), np.int32)
    looked_at = np.empty((start[-1] if branches else 0, truth.shape[1]), np.uint64)
    counted = None if calls is None else np.empty_like(table)
    entry = np.empty(len(tokens), np.int32)
    kinds, arguments = language.kinds, language.arguments
    share(
        lambda first, last: _compile_range(
            tokens, kinds, arguments, truth, table, loops, looked_at, counted, start, entry, first, last
        ),
        len(tokens),
        grain=200,
    )
    return Compiled(table, loops, start, entry, looked_at, counted, int(calls or 0))
