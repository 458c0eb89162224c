"""Draw neighbours of a program: the moves of searches that climb from program to program.

A program is an array of token ids. A move replaces a piece of it, and the result is a program again
(`nodes.py` finds the pieces). All of this is compiled, since a search draws tens of thousands of neighbours a
second.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below, seed_stream, uniform
from leaps.dsl.language import Kind, Language
from leaps.dsl.nodes import (
    BEGIN,
    CONDITION,
    STATEMENT,
    Nodes,
    begins_block_of,
    empty_nodes,
    find_nodes,
    last_of_block,
    length_of,
    next_in_block,
    siblings,
    within,
)
from leaps.dsl.sample import (
    ProgramDistribution,
    Tables,
    choose,
    write_condition,
    write_program,
    write_statement,
)
from leaps.dsl.syntax import MAX_NESTING
from leaps.dsl.text import PREFIX


class Move(IntEnum):
    """Kinds of change to a program. A node is a statement, condition or count, drawn uniformly."""

    REPLACE = 0
    """replace a node by a random one of the same kind"""
    INSERT = 1
    """insert a random statement before or after a statement"""
    DELETE = 2
    """delete a statement"""
    WRAP = 3
    """wrap consecutive statements in a random loop or conditional"""
    UNWRAP = 4
    """replace a loop or conditional by one of its blocks"""
    COPY = 5
    """copy a statement to another position"""
    EXCHANGE = 6
    """swap two statements"""
    CROSS = 7
    """replace a node by one of the same kind from another program"""
    ADJUST = 8
    """replace a single action, perception or count, or negate a condition"""
    REHEAD = 9
    """replace a loop or conditional by another around the same block"""


@dataclass(frozen=True)
class Limits:
    """Maximum size of a program."""

    length: int = 45
    """number of tokens"""
    nesting: int = 4
    """depth of nested loops and conditionals"""
    in_a_row: int = 6
    """number of statements of one block"""

    def __post_init__(self) -> None:
        shortest = len(PREFIX) + 2
        if self.length < shortest or self.in_a_row < 1 or not 0 <= self.nesting <= MAX_NESTING:
            raise ValueError(
                f"expected a length of {shortest} or more, 1 or more statements in a row and a nesting "
                f"from 0 to {MAX_NESTING}, found {self.length}, {self.in_a_row} and {self.nesting}"
            )


_DEPTH = 1
"""depth in the grammar at which a random statement begins, as for a program (see
ProgramDistribution.max_depth)"""
_LONGEST_HEAD = 9
"""maximum number of tokens of a loop or conditional besides its block"""
_TRIES = 30
"""moves tried before a program is left unchanged"""
_TRIES_TO_DRAW = 10_000


@jit
def _splice(
    out: NDArray[np.uint8],
    tokens: NDArray[np.uint8],
    length: int,
    start: int,
    end: int,
    piece: NDArray[np.uint8],
    size: int,
) -> int:
    """Write a program with tokens[start:end] replaced; return its length, or -1 if it is too long."""
    total = length - (end - start) + size
    if total > len(out):
        return -1
    out[:start] = tokens[:start]
    out[start : start + size] = piece[:size]
    out[start + size : total] = tokens[end:length]
    return total


@jit
def _pick(stream: Stream, nodes: Nodes, count: int, kind: int) -> int:
    """Draw a node of one kind uniformly; return -1 if there is none."""
    number = 0
    for node in range(count):
        number += nodes.kind[node] == kind
    if number == 0:
        return -1
    chosen = below(stream, number)
    for node in range(count):
        if nodes.kind[node] == kind:
            if chosen == 0:
                return node
            chosen -= 1
    return -1


_M_REPLACE, _M_INSERT, _M_DELETE, _M_WRAP = (
    int(m) for m in (Move.REPLACE, Move.INSERT, Move.DELETE, Move.WRAP)
)
_M_UNWRAP, _M_COPY, _M_EXCHANGE = (int(m) for m in (Move.UNWRAP, Move.COPY, Move.EXCHANGE))
_M_CROSS, _M_ADJUST, _M_REHEAD = int(Move.CROSS), int(Move.ADJUST), int(Move.REHEAD)


class Scratch(NamedTuple):
    """Working memory, allocated once per batch."""

    nodes: Nodes
    others: Nodes
    opened: NDArray[np.int64]
    blocks: NDArray[np.int64]
    piece: NDArray[np.uint8]


@jit
def _scratch(length: int) -> Scratch:
    return Scratch(
        empty_nodes(length),
        empty_nodes(length),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(length, np.uint8),
    )


Words = tuple[NDArray[np.uint8], NDArray[np.uint8], int]
"""a language: the first token of each kind, the kinds of the tokens, the padding"""


@jit
def _replace(
    stream: Stream,
    tables: Tables,
    first: NDArray[np.uint8],
    tokens: NDArray[np.uint8],
    length: int,
    count: int,
    room: Scratch,
    out: NDArray[np.uint8],
) -> int:
    nodes, piece = room.nodes, room.piece
    # In the grammar, a sequence of statements up to the end of its block is a statement, too.
    rows = 0
    for node in range(count):
        rows += last_of_block(nodes, count, node) > node
    node = below(stream, count + rows)
    last = node
    if node >= count:
        row, node = node - count, 0
        while True:
            last = last_of_block(nodes, count, node)
            if last > node:
                if row == 0:
                    break
                row -= 1
            node += 1
    if nodes.kind[node] == STATEMENT:
        size = write_statement(stream, tables, first, piece, 0, _DEPTH, nodes.nesting[node])
        if size > len(piece):
            return -1
    elif nodes.kind[node] == CONDITION:
        size = write_condition(stream, tables, first, piece, 0)
    else:
        piece[0] = first[Kind.COUNT] + below(stream, first[Kind.COUNT + 1] - first[Kind.COUNT])
        size = 1
    return _splice(out, tokens, length, nodes.start[node], nodes.end[last], piece, size)


@jit
def _adjust(
    stream: Stream,
    words: Words,
    tokens: NDArray[np.uint8],
    length: int,
    piece: NDArray[np.uint8],
    out: NDArray[np.uint8],
) -> int:
    first, kinds, _ = words
    at = below(stream, length - BEGIN) + BEGIN
    kind = kinds[tokens[at]]
    if kind == Kind.NOT:  # remove the negation
        piece[0] = tokens[at + 2]
        return _splice(out, tokens, length, at, at + 4, piece, 1)
    if kind == Kind.OPEN_C and kinds[tokens[at + 1]] == Kind.PERCEPTION and kinds[tokens[at - 1]] != Kind.NOT:
        piece[0], piece[1], piece[2], piece[3] = (
            first[Kind.NOT],
            first[Kind.OPEN_C],
            tokens[at + 1],
            first[Kind.CLOSE_C],
        )
        return _splice(out, tokens, length, at + 1, at + 2, piece, 4)
    if kind not in (Kind.ACTION, Kind.PERCEPTION, Kind.COUNT):
        return -1
    piece[0] = first[kind] + below(stream, first[kind + 1] - first[kind])
    return -1 if piece[0] == tokens[at] else _splice(out, tokens, length, at, at + 1, piece, 1)


@jit
def _enclose(
    stream: Stream,
    tables: Tables,
    first: NDArray[np.uint8],
    body: NDArray[np.uint8],
    piece: NDArray[np.uint8],
) -> int:
    """Write a random loop or IF around a body; return its length, or -1 if it is too long."""
    size = len(body)
    if size + _LONGEST_HEAD > len(piece):
        return -1
    kind = below(stream, 3)
    if kind == 0:
        piece[0] = first[Kind.REPEAT]
        piece[1] = first[Kind.COUNT] + below(stream, first[Kind.COUNT + 1] - first[Kind.COUNT])
        at, opening, closing = 2, Kind.OPEN_R, Kind.CLOSE_R
    else:
        piece[0] = first[Kind.WHILE] if kind == 1 else first[Kind.IF]
        at = write_condition(stream, tables, first, piece, 1)
        opening, closing = (Kind.OPEN_W, Kind.CLOSE_W) if kind == 1 else (Kind.OPEN_I, Kind.CLOSE_I)
    piece[at] = first[opening]
    piece[at + 1 : at + 1 + size] = body
    piece[at + 1 + size] = first[closing]
    return at + 2 + size


@jit
def _wrap(
    stream: Stream,
    tables: Tables,
    first: NDArray[np.uint8],
    tokens: NDArray[np.uint8],
    length: int,
    count: int,
    node: int,
    room: Scratch,
    out: NDArray[np.uint8],
) -> int:
    nodes = room.nodes
    last = node
    while uniform(stream) < 0.5:  # this statement, and perhaps those after it
        following = next_in_block(nodes, count, last)
        if following < 0:
            break
        last = following
    start, end = nodes.start[node], nodes.end[last]
    size = _enclose(stream, tables, first, tokens[start:end], room.piece)
    return -1 if size < 0 else _splice(out, tokens, length, start, end, room.piece, size)


@jit
def _block(stream: Stream, nodes: Nodes, count: int, node: int) -> tuple[int, int]:
    """Return the start and end of the block of a loop or conditional; of an IFELSE, a random one."""
    first, blocks = node, 0
    for candidate in range(node + 1, count):
        if begins_block_of(nodes, candidate, node):
            blocks += 1
            if below(stream, blocks) == 0:
                first = candidate
    return nodes.start[first], nodes.end[last_of_block(nodes, count, first)]


@jit
def _exchange(
    tokens: NDArray[np.uint8],
    length: int,
    one: int,
    other: int,
    nodes: Nodes,
    piece: NDArray[np.uint8],
    out: NDArray[np.uint8],
) -> int:
    if nodes.start[other] < nodes.start[one]:
        one, other = other, one
    a, b, c, d = nodes.start[one], nodes.end[one], nodes.start[other], nodes.end[other]
    if c < b:  # one within the other, or the same
        return -1
    piece[: d - c] = tokens[c:d]
    piece[d - c : d - b] = tokens[b:c]
    piece[d - b : d - a] = tokens[a:b]
    return _splice(out, tokens, length, a, d, piece, d - a)


@jit
def _move(
    stream: Stream,
    tables: Tables,
    words: Words,
    move: int,
    tokens: NDArray[np.uint8],
    other: NDArray[np.uint8],
    room: Scratch,
    out: NDArray[np.uint8],
) -> int:
    """Make one move; return the new program's length, or -1 if the move can't be made.

    The caller checks the limits.
    """
    first, kinds, pad = words
    nodes, piece = room.nodes, room.piece
    length = length_of(tokens, pad)
    count = find_nodes(tokens, length, kinds, nodes, room.opened, room.blocks)
    if move == _M_REPLACE:
        return _replace(stream, tables, first, tokens, length, count, room, out)
    if move == _M_ADJUST:
        return _adjust(stream, words, tokens, length, piece, out)
    if move == _M_CROSS:
        node = below(stream, count)
        donors = find_nodes(other, length_of(other, pad), kinds, room.others, room.opened, room.blocks)
        donor = _pick(stream, room.others, donors, nodes.kind[node])
        if donor < 0:
            return -1
        start, end = room.others.start[donor], room.others.end[donor]
        return _splice(out, tokens, length, nodes.start[node], nodes.end[node], other[start:end], end - start)
    node = _pick(stream, nodes, count, STATEMENT)
    start, end = nodes.start[node], nodes.end[node]
    if move == _M_INSERT:
        at = start if below(stream, 2) == 0 else end
        size = write_statement(stream, tables, first, piece, 0, _DEPTH, nodes.nesting[node])
        return -1 if size > len(piece) else _splice(out, tokens, length, at, at, piece, size)
    if move == _M_DELETE:
        return -1 if siblings(nodes, count, node) < 2 else _splice(out, tokens, length, start, end, piece, 0)
    if move == _M_WRAP:
        return _wrap(stream, tables, first, tokens, length, count, node, room, out)
    if move in (_M_UNWRAP, _M_REHEAD):
        if end - start == 1:  # an action
            return -1
        inside, stop = _block(stream, nodes, count, node)
        body = tokens[inside:stop]
        if move == _M_UNWRAP:
            return _splice(out, tokens, length, start, end, body, len(body))
        size = _enclose(stream, tables, first, body, piece)
        return -1 if size < 0 else _splice(out, tokens, length, start, end, piece, size)
    target = _pick(stream, nodes, count, STATEMENT)
    if move == _M_COPY:
        at = nodes.start[target] if below(stream, 2) == 0 else nodes.end[target]
        return _splice(out, tokens, length, at, at, tokens[start:end], end - start)
    return _exchange(tokens, length, node, target, nodes, piece, out)


@jit
def _write_neighbours(
    stream: Stream,
    tables: Tables,
    words: Words,
    shares: NDArray[np.float64],
    limits: tuple[int, int],
    programs: NDArray[np.uint8],
    others: NDArray[np.uint8],
    out: NDArray[np.uint8],
    moves: NDArray[np.uint8],
) -> None:
    _, kinds, pad = words
    room = _scratch(out.shape[1])
    for row in range(len(out)):
        tokens = programs[row % len(programs)]
        for _ in range(_TRIES):
            move = choose(stream, shares)
            other = others[below(stream, len(others))]
            length = _move(stream, tables, words, move, tokens, other, room, out[row])
            if length > 0 and within(out[row], length, kinds, limits[0], limits[1]):
                out[row, length:] = pad
                moves[row] = move
                break
        else:
            out[row] = tokens
            moves[row] = len(shares)


@jit
def _write_fresh(
    stream: Stream, tables: Tables, words: Words, limits: tuple[int, int], out: NDArray[np.uint8]
) -> bool:
    """Draw programs within limits; return False if that takes too many tries."""
    first, kinds, pad = words
    for row in range(len(out)):
        for _ in range(_TRIES_TO_DRAW):
            write_program(stream, tables, first, out[row], pad)
            if within(out[row], length_of(out[row], pad), kinds, limits[0], limits[1]):
                break
        else:
            return False
    return True


class Neighbourhood:
    """Draws neighbours of programs and random programs, within limits.

    It has its own random stream: the same seed gives the same neighbours.
    """

    def __init__(
        self,
        language: Language,
        distribution: ProgramDistribution,
        limits: Limits,
        shares: dict[Move, float],
        seed: int,
    ) -> None:
        values = np.array(list(shares.values()), np.float64)
        if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
            raise ValueError(f"the moves' shares must be 0 or more, and some more than 0, found {shares}")
        if unknown := [move for move in shares if move not in list(Move)]:
            raise ValueError(f"expected moves of {Move.__name__}, found {unknown}")
        distribution.check(language, limits.length)
        if seed < 0:
            raise ValueError(f"seed must be 0 or more, found {seed}")
        self.language, self.limits = language, limits
        self.shares = np.cumsum([shares.get(move, 0.0) for move in Move])
        self.stream = np.zeros(1, np.uint64)
        seed_stream(self.stream, seed, 0)
        self._tables = distribution.tables()
        self._words = (language.first, language.kinds, language.pad)

    def reword(self, language: Language, tokens: NDArray[np.uint8]) -> None:  # noqa: ARG002
        """Switch to a language of the same form. tokens: [tokens] new id of each old token."""
        assert np.array_equal(language.kinds, self.language.kinds)
        self.language = language

    def fresh(self, count: int) -> NDArray[np.uint8]:
        """[count, length] random programs from the distribution."""
        out = np.empty((count, self.limits.length), np.uint8)
        limits = self.limits.nesting, self.limits.in_a_row
        if not _write_fresh(self.stream, self._tables, self._words, limits, out):
            raise ValueError(f"the distribution hardly ever draws a program within {self.limits}")
        return out

    def fitted(self, programs: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Pad programs to rows as long as the limit."""
        length, pad = self.limits.length, self.language.pad
        if programs.ndim != 2 or len(programs) == 0:
            raise ValueError(f"expected programs [n, length], found {list(programs.shape)}")
        if (programs[:, length:] != pad).any():
            raise ValueError(f"expected programs of at most {length} tokens, found a longer one")
        out = np.full((len(programs), length), pad, np.uint8)
        out[:, : programs.shape[1]] = programs[:, :length]
        return out

    def draw(
        self, programs: NDArray[np.uint8], count: int, others: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """[count, length] neighbours of programs [n, length], taken in turn, and the moves that made them.

        others: programs that CROSS takes pieces from. A program for which no move succeeds is returned
        unchanged, with the move len(Move).
        """
        out = np.empty((count, self.limits.length), np.uint8)
        moves = np.empty(count, np.uint8)
        _write_neighbours(
            self.stream,
            self._tables,
            self._words,
            self.shares,
            (self.limits.nesting, self.limits.in_a_row),
            self.fitted(programs),
            self.fitted(programs if others is None else others),
            out,
            moves,
        )
        return out, moves
