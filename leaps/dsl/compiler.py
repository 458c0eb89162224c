"""Compile token arrays to tables: (row, perceived code) → (next action, next row).

Perceptions change only when the program acts, so everything between two actions can be decided when the
program is compiled. A row of the table belongs to a point in the program. For each code that can be
perceived there, it has the next action and the row that follows. A step takes one lookup.

A perceived code is a number with a bit for each sense (see `Language.senses`). Languages of at most
FEW_SENSES senses use the same codes for all programs. In larger languages, each program has its own codes,
of the senses that it uses. These are few, since a condition takes at least four tokens.

The table is built backwards, from the last token to the first. So the row that follows a statement is known
when the statement is reached. Two cases need care:

- A loop's end leads back to its beginning, which is not known yet. Its row is filled with HOLEs first, and
  the rows of its body are patched when the loop's beginning is reached. A HOLE at the beginning itself means
  that the body can be passed without acting. A WHILE is then stuck forever, which ends the run at once; a
  REPEAT is over.
- REPEAT counts. Two pseudo-actions, SET and LOOP, keep its counter. Each leads to an action, after at most as
  many more pseudo-actions as there are nested loops. So the time between two actions is bounded, and no run
  hangs.

With a limit of calls (see `leaps.dsl.interpreter.Calls`), the table also has the number of calls of each
lookup. This makes three differences:

- Entering a WHILE costs calls, but its later rounds don't. So it has a row for each of the two cases.
- A REPEAT of no rounds costs calls, too, and has a row.
- Remaining rounds of a REPEAT that do nothing are still executed, because their calls count. There are at
  most 19 for each open loop, so the time between two actions is still bounded.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.base.parallel import run_sliced
from leaps.dsl.language import FEW_SENSES, Kind, Language
from leaps.dsl.mask import CLOSES, NEXT, OPENS, Block, State
from leaps.dsl.syntax import MAX_NESTING

# A table entry is `operation + (row << SHIFT)`; an operation below HALT is an action.
SHIFT = 8
HALT, STUCK, SET, LOOP, HOLE = 251, 252, 253, 254, 255
OPERATION = 255

NO_SENSE = 255
TOO_MUCH = -2
"""entry of a program that uses more than MOST_ASKED senses"""
MOST_ASKED = 12
"""maximum number of senses that a program may use in a large language; n senses make 2^n codes. With 12, it
takes 10 ms until every row has been used in an environment; 16 would take 0.3 s and 30 MB"""


class Compiled(NamedTuple):
    """Programs ready to run.

    Program `i` owns rows `start[i]` to `start[i + 1]` of `loops`. Of the table it owns as many rows, each
    with an entry per code: entries `first[i]` to `first[i + 1]`, row by row.
    """

    table: NDArray[np.int32]
    """[entries] operation and next row (for SET and LOOP: number of the loop)"""
    loops: NDArray[np.int32]
    """[rows, 3] of each REPEAT: number of rounds, row of its body, row after it"""
    start: NDArray[np.int64]
    """[programs + 1]"""
    first: NDArray[np.int64]
    """[programs + 1]"""
    entry: NDArray[np.int32]
    """[programs] the row where a program begins; -1 if it is not a program, TOO_MUCH if it uses too many
    senses"""
    senses: NDArray[np.uint8]
    """[programs, n] the sense that each bit of a program's codes stands for; NO_SENSE past its last"""

    branches: NDArray[np.uint64]
    """[entries] conditions tested on the way to the entry, if wanted: bit 2k if the k-th condition of the
    program (in the order of the text) holds, bit 2k + 1 if it doesn't. Conditions past the 32nd are left out.
    Where a REPEAT may be over, its body's conditions count as tested"""
    calls: NDArray[np.int32] | None
    """[entries] calls of each lookup; None without a limit. (With None instead of an empty array, numba
    compiles the kernels a second time, and those without a limit lose no speed.)"""
    limit: int
    """maximum number of calls in a run, including the program itself; 0 if there is none"""

    @property
    def count(self) -> int:  # type: ignore[override]  # hides tuple.count, which is of no use here
        return len(self.entry)

    def entries(self, program: int | np.integer) -> slice:
        """Return the range of a program's entries in `table`, `branches` and `calls`."""
        return slice(int(self.first[program]), int(self.first[program + 1]))

    def rows(self, program: int | np.integer, values: NDArray[Any] | None = None) -> NDArray[Any]:
        """[rows, codes] the table of one program, or its part of other values per entry."""
        codes = 1 << int((self.senses[program] != NO_SENSE).sum())
        return (self.table if values is None else values)[self.entries(program)].reshape(-1, codes)

    def take(self, programs: NDArray[np.integer]) -> "Compiled":
        """Select programs, in the order given, without their branches."""
        rows = [slice(self.start[program], self.start[program + 1]) for program in programs]
        entries = [self.entries(program) for program in programs]
        return Compiled(
            np.concatenate([self.table[:0], *(self.table[part] for part in entries)]),
            np.concatenate([self.loops[:0], *(self.loops[part] for part in rows)]),
            np.cumsum([0, *(part.stop - part.start for part in rows)]),
            np.cumsum([0, *(part.stop - part.start for part in entries)]),
            self.entry[programs],
            self.senses[programs],
            self.branches[:0],
            None
            if self.calls is None
            else np.concatenate([self.calls[:0], *(self.calls[part] for part in entries)]),
            self.limit,
        )


_STATE_DEF, _STATE_END, _NO_BLOCK = int(State.DEF), int(State.END), int(Block.NONE)
_DEEPEST = MAX_NESTING + 2
MOST_CALLS = 10**9
"""largest limit of calls. The calls of one lookup are capped at one more, so that nested loops don't
overflow"""


@jit
def accepted_length(tokens: NDArray[np.uint8], kinds: NDArray[np.uint8], stack: NDArray[np.int64]) -> int:
    """Return the length of a program without padding, or -1 if it does not follow the grammar."""
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
        if kind == Kind.PAD:
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
    """Replace the holes in rows first..last-1 by the entries of row `target`."""
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
    """Fill the rows of one valid program (no padding), and return the row where it begins.

    `after`, `other` and `lengths` are stacks with an element per open block: the row after the block's
    statement; the loop's own row or the row of the ELSE block; and the number of statements so far.
    """
    codes = table.shape[1]
    track = branches.size > 0
    branches[:] = 0
    if calls is not None:
        calls[:] = 0
    rows = loop_count = 0
    condition = 0  # number of conditions up to this position
    for token in tokens:
        condition += kinds[token] == Kind.WHILE or kinds[token] == Kind.IF or kinds[token] == Kind.IFELSE
    here = 0  # row of the part that follows
    depth = -1
    lengths[0] = 0
    position = len(tokens) - 1
    while position >= 0:
        kind = kinds[tokens[position]]
        if kind == Kind.ACTION:
            entry = np.int32(arguments[tokens[position]] + (here << SHIFT))
            for code in range(codes):
                table[rows, code] = entry
            if calls is not None:
                calls[rows] += 1
                lengths[depth + 1] += 1
            here = rows
            rows += 1
        elif kind == Kind.CLOSE_M:
            table[rows, :] = HALT
            here = rows
            rows += 1
        elif kind in (Kind.CLOSE_W, Kind.CLOSE_R):
            depth += 1
            after[depth] = here
            other[depth] = rows
            if calls is not None:
                lengths[depth + 1] = 0
            table[rows, :] = HOLE + (rows << SHIFT)  # a loop's holes carry its row
            here = rows
            rows += 1
        elif kind in (Kind.CLOSE_I, Kind.CLOSE_E):
            depth += 1
            after[depth] = here
            other[depth] = -1
            if calls is not None:
                lengths[depth + 1] = 0
        elif kind == Kind.OPEN_E:
            # `i) ELSE e(`: continue with the THEN block, which is followed by the part after the ELSE block.
            if calls is not None:
                calls[here] += 2 * (lengths[depth + 1] - 1)
                lengths[depth + 1] = 0
            other[depth] = here
            here = after[depth]
            position -= 2
        elif kind == Kind.OPEN_R:
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
        elif kind in (Kind.OPEN_W, Kind.OPEN_I):
            negated = kinds[tokens[position - 3]] != Kind.OPEN_C
            perception = arguments[tokens[position - 3 if negated else position - 2]]
            condition -= 1
            yes = np.uint64(1) << np.uint64(2 * condition) if condition < 32 else np.uint64(0)
            no = yes << np.uint64(1)
            if kind == Kind.OPEN_W:
                begin, otherwise = other[depth], after[depth]
            else:
                begin, otherwise = rows, after[depth] if other[depth] < 0 else other[depth]
                rows += 1
            hole = HOLE + (begin << SHIFT)  # only the body of a loop has holes
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
            if kind == Kind.OPEN_W:
                _patch(table, branches, calls, begin + 1, rows, hole, begin)
            here = begin
            if calls is not None:
                if kind == Kind.OPEN_W:
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
def _measure(
    tokens: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    arguments: NDArray[np.uint8],
    sense_of: NDArray[np.uint8],
    known: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Return the first row and first entry of each program, and the senses that its codes' bits stand for.

    A program gets a row per token, the most that it can need. known: number of senses of the language. A
    program that uses too many senses has no entries.
    """
    count, length = tokens.shape
    start, first = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    senses = np.full((count, known if known <= FEW_SENSES else MOST_ASKED), np.uint8(NO_SENSE))
    for program in range(count):
        rows = length
        while rows > 0 and kinds[min(tokens[program, rows - 1], len(kinds) - 1)] == Kind.PAD:
            rows -= 1
        bits = known
        if known <= FEW_SENSES:
            for bit in range(known):
                senses[program, bit] = bit
        else:
            bits = 0
            for token in tokens[program, :rows]:
                if token < len(kinds) and kinds[token] == Kind.PERCEPTION and bits <= MOST_ASKED:
                    sense = sense_of[arguments[token]]
                    new = True
                    for bit in range(bits):
                        new &= senses[program, bit] != sense
                    if new:
                        if bits < MOST_ASKED:
                            senses[program, bits] = sense
                        bits += 1
        start[program + 1] = start[program] + rows
        first[program + 1] = first[program] + ((rows << bits) if bits <= MOST_ASKED else 0)
    return start, first, senses


@jit
def _rows_of(values: NDArray[np.int32] | None, codes: int) -> NDArray[np.int32] | None:
    if values is None:
        return None
    return values.reshape(len(values) // codes, codes)


@jit
def _some(rows: NDArray[np.int32] | None, wanted: slice) -> NDArray[np.int32] | None:
    if rows is None:
        return None
    return rows[wanted]


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
    """Compile programs first..last-1, all for the codes of one truth table [perceptions, codes]."""
    blocks = np.empty(_DEEPEST, np.int64)
    after = np.empty(_DEEPEST, np.int64)
    other = np.empty(_DEEPEST, np.int64)
    lengths = np.empty(_DEEPEST, np.int64)
    codes = truth.shape[1]
    table_rows = table.reshape(len(table) // codes, codes)
    branches_rows = branches.reshape(len(branches) // codes, codes)
    calls_rows = _rows_of(calls, codes)
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
            table_rows[rows],
            loops[rows],
            branches_rows[rows],
            _some(calls_rows, rows),
            after,
            other,
            lengths,
        )


@jit
def _compile_each(
    tokens: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    arguments: NDArray[np.uint8],
    sense_of: NDArray[np.uint8],
    inverted: NDArray[np.bool_],
    table: NDArray[np.int32],
    loops: NDArray[np.int32],
    branches: NDArray[np.uint64],
    calls: NDArray[np.int32] | None,
    start: NDArray[np.int64],
    first_entry: NDArray[np.int64],
    senses: NDArray[np.uint8],
    entry: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    """Compile programs first..last-1, each for its own codes."""
    bounds, blocks = np.zeros(2, np.int64), np.empty(_DEEPEST, np.int64)
    for program in range(first, last):
        bits = 0
        while bits < MOST_ASKED and senses[program, bits] != NO_SENSE:
            bits += 1
        entries = slice(first_entry[program], first_entry[program + 1])
        bounds[1] = start[program + 1] - start[program]
        if entries.stop == entries.start:  # it uses too many senses, or has no tokens
            well_formed = accepted_length(tokens[program], kinds, blocks) >= 0
            entry[program] = TOO_MUCH if well_formed else -1
            continue
        truth = np.zeros((len(sense_of), 1 << bits), np.bool_)
        for perception in range(len(sense_of)):
            for bit in range(bits):
                if senses[program, bit] == sense_of[perception]:
                    for code in range(1 << bits):
                        truth[perception, code] = ((code >> bit) & 1 == 1) != inverted[perception]
        _compile_range(
            tokens[program : program + 1],
            kinds,
            arguments,
            truth,
            table[entries],
            loops[start[program] : start[program + 1]],
            branches[entries],
            _some(calls, entries),
            bounds,
            entry[program : program + 1],
            0,
            1,
        )


def check_calls(limit: int) -> None:
    """Raise a ValueError for a limit of calls that is out of range."""
    if not (isinstance(limit, int | np.integer) and 1 <= limit <= MOST_CALLS):
        raise ValueError(f"the limit of calls must be from 1 to {MOST_CALLS:,}, found {limit}")


def compile_tokens(
    tokens: NDArray[np.uint8], language: Language, *, branches: bool = False, calls: int | None = None
) -> Compiled:
    """Compile a batch of programs.

    tokens: [programs, length] token ids, padded with `<pad>`; a row that is not a program gets entry -1, one
    that uses too many perceptions TOO_MUCH. branches: whether to record the conditions that are tested.
    calls: limit of calls in a run; not together with branches.
    """
    if calls is not None:
        check_calls(calls)
        if branches:
            raise ValueError("expected branches or a limit of calls, found both")
    if tokens.ndim != 2 or tokens.dtype != np.uint8:
        raise ValueError(
            f"tokens: expected uint8[programs, length], found {tokens.dtype}{list(tokens.shape)}"
        )
    tokens = np.ascontiguousarray(tokens)
    kinds, arguments, sense_of = language.kinds, language.arguments, language.sense_of
    known = len(language.senses)
    start, first_entry, senses = _measure(tokens, kinds, arguments, sense_of, known)
    entries = first_entry[-1]
    table = np.empty(entries, np.int32)
    loops = np.empty((start[-1], 3), np.int32)
    looked_at = np.empty(entries if branches else 0, np.uint64)
    counted = None if calls is None else np.empty_like(table)
    entry = np.empty(len(tokens), np.int32)
    out = table, loops, looked_at, counted, start
    if known <= FEW_SENSES:
        truth = language.truth
        run_sliced(
            lambda first, last: _compile_range(tokens, kinds, arguments, truth, *out, entry, first, last),
            len(tokens),
            grain=200,
        )
    else:
        inverted = language.inverted
        run_sliced(
            lambda first, last: _compile_each(
                tokens, kinds, arguments, sense_of, inverted, *out, first_entry, senses, entry, first, last
            ),
            len(tokens),
            grain=200,
        )
    return Compiled(table, loops, start, first_entry, entry, senses, looked_at, counted, int(calls or 0))
