"""Syntax masks and the table of the grammar, which parser, compiler, decoder and editor share.

The grammar is a pushdown automaton. Its stack holds the open blocks; everything else is the state.
`NEXT[state, block, kind]` is the state after a token of that kind when `block` is the innermost open
block (-1: the token is not allowed). Two more tables prevent dead ends within a length limit. `NEED[state]`
is the fewest tokens that complete a statement begun in that state, and `CLOSING[block]` the fewest that close
a block. A token is allowed only if the tokens still needed after it fit into the remaining length.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.language import Kind, Language
from leaps.dsl.syntax import MAX_NESTING


class Block(IntEnum):
    """A kind of open block; NONE is the bottom of the stack."""

    NONE = 0
    PROGRAM = 1
    WHILE = 2
    IF = 3
    THEN = 4
    ELSE = 5
    REPEAT = 6


class State(IntEnum):
    """The part of a program expected next.

    After these come the seven states of a condition, once for each statement that has one.
    """

    DEF = 0
    RUN = 1
    OPEN_PROGRAM = 2
    FIRST = 3  # a statement: a block is never empty
    MORE = 4  # a statement, or the end of the block
    COUNT = 5
    OPEN_REPEAT = 6
    ELSE = 7
    OPEN_ELSE = 8
    END = 9


# The states of `c( not c( perception c) c) open(`, as offsets from the statement's first.
OPEN_CONDITION, PERCEPTION_OR_NOT, OPEN_NEGATED, NEGATED, CLOSE_NEGATED, CLOSE_CONDITION, OPEN_BODY = range(7)
CONDITIONAL = {
    Kind.WHILE: (10, Kind.OPEN_W, Block.WHILE),
    Kind.IF: (17, Kind.OPEN_I, Block.IF),
    Kind.IFELSE: (24, Kind.OPEN_I, Block.THEN),
}
STATES = 31


def _transitions() -> list[tuple[int, Kind, int, Block]]:
    """List all (state, kind of token, next state, block that it opens), without tokens that close a block."""
    rows: list[tuple[int, Kind, int, Block]] = [
        (State.DEF, Kind.DEF, State.RUN, Block.NONE),
        (State.RUN, Kind.RUN, State.OPEN_PROGRAM, Block.NONE),
        (State.OPEN_PROGRAM, Kind.OPEN_M, State.FIRST, Block.PROGRAM),
        (State.COUNT, Kind.COUNT, State.OPEN_REPEAT, Block.NONE),
        (State.OPEN_REPEAT, Kind.OPEN_R, State.FIRST, Block.REPEAT),
        (State.ELSE, Kind.ELSE, State.OPEN_ELSE, Block.NONE),
        (State.OPEN_ELSE, Kind.OPEN_E, State.FIRST, Block.ELSE),
        (State.END, Kind.PAD, State.END, Block.NONE),
    ]
    for begin in (State.FIRST, State.MORE):
        rows.append((begin, Kind.ACTION, State.MORE, Block.NONE))
        rows.append((begin, Kind.REPEAT, State.COUNT, Block.NONE))
        rows += [(begin, kind, base, Block.NONE) for kind, (base, _, _) in CONDITIONAL.items()]
    for base, opening, block in CONDITIONAL.values():
        rows += [
            (base + OPEN_CONDITION, Kind.OPEN_C, base + PERCEPTION_OR_NOT, Block.NONE),
            (base + PERCEPTION_OR_NOT, Kind.PERCEPTION, base + CLOSE_CONDITION, Block.NONE),
            (base + PERCEPTION_OR_NOT, Kind.NOT, base + OPEN_NEGATED, Block.NONE),
            (base + OPEN_NEGATED, Kind.OPEN_C, base + NEGATED, Block.NONE),
            (base + NEGATED, Kind.PERCEPTION, base + CLOSE_NEGATED, Block.NONE),
            (base + CLOSE_NEGATED, Kind.CLOSE_C, base + CLOSE_CONDITION, Block.NONE),
            (base + CLOSE_CONDITION, Kind.CLOSE_C, base + OPEN_BODY, Block.NONE),
            (base + OPEN_BODY, opening, State.FIRST, block),
        ]
    return rows


# The token that closes each block, and the state after it.
CLOSE = {
    Block.PROGRAM: (Kind.CLOSE_M, State.END),
    Block.WHILE: (Kind.CLOSE_W, State.MORE),
    Block.IF: (Kind.CLOSE_I, State.MORE),
    Block.THEN: (Kind.CLOSE_I, State.ELSE),
    Block.ELSE: (Kind.CLOSE_E, State.MORE),
    Block.REPEAT: (Kind.CLOSE_R, State.MORE),
}


def _tables() -> tuple[NDArray[np.int8], ...]:
    unreachable = 100
    need = np.full(STATES, unreachable, np.int8)
    closing = np.full(len(Block), unreachable, np.int8)
    need[[State.MORE, State.END]] = 0
    closing[Block.NONE] = 0
    for _ in range(STATES):  # shortest completions; each round settles at least one more
        for block, (_, expected) in CLOSE.items():
            closing[block] = min(closing[block], 1 + need[expected])
        for state, kind, after, opened in _transitions():
            if kind != Kind.PAD:
                need[state] = min(need[state], 1 + need[after] + closing[opened], unreachable)

    following = np.full((STATES, len(Block), len(Kind)), -1, np.int8)
    change = np.zeros((STATES, len(Block), len(Kind)), np.int8)
    opens = np.zeros((STATES, len(Kind)), np.int8)
    for state, kind, after, opened in _transitions():
        following[state, :, kind] = after
        change[state, :, kind] = need[after] + closing[opened] - need[state]
        opens[state, kind] = opened
    for block, (kind, expected) in CLOSE.items():
        following[State.MORE, block, kind] = expected
        change[State.MORE, block, kind] = need[expected] - closing[block]
    change[State.END, :, Kind.PAD] = -1  # padding does not count towards the length
    return following, change, opens, need, closing


NEXT, CHANGE, OPENS, NEED, CLOSING = _tables()
"""NEXT: see above. CHANGE[state, block, kind]: change of the number of tokens still needed, not counting the
token itself. OPENS[state, kind]: the block that the token opens, or NONE."""

CLOSES = np.zeros(len(Kind), np.bool_)
CLOSES[[kind for kind, _ in CLOSE.values()]] = True

NESTS = np.zeros(len(Kind), np.bool_)
NESTS[[Kind.REPEAT, *CONDITIONAL]] = True
"""[kinds] whether a token begins a statement with blocks"""

SHORTEST = int(NEED[State.DEF])
"""number of tokens of the shortest program, `DEF run m( action m)`"""


class SyntaxMask:
    """Track a batch of programs while they are written, and compute the tokens that may come next.

    >>> from leaps.karel.world import LANGUAGE
    >>> mask, written = SyntaxMask(LANGUAGE, batch=1, max_length=5), []
    >>> while (allowed := mask.allowed()[0]).any() and not mask.done.all():
    ...     mask.advance(np.array([allowed.argmax()]))
    ...     written.append(LANGUAGE.tokens[allowed.argmax()])
    >>> " ".join(written)
    'DEF run m( move m)'
    """

    def __init__(self, language: Language, batch: int, max_length: int) -> None:
        if max_length < SHORTEST:
            raise ValueError(
                f"max_length={max_length} is too short; the shortest program has {SHORTEST} tokens"
            )
        self.language = language
        self.state = np.full(batch, State.DEF, np.int64)
        self.stack = np.zeros((batch, max_length), np.int8)
        self.depth = np.zeros(batch, np.int64)
        self.owed = np.full(batch, SHORTEST, np.int64)
        self.left = np.full(batch, max_length, np.int64)

    @property
    def done(self) -> NDArray[np.bool_]:
        """[batch] which programs are complete."""
        return np.asarray(self.state == State.END)

    def _block(self) -> NDArray[np.int8]:
        return np.asarray(self.stack[np.arange(len(self.state)), self.depth])

    def _allowed_kinds(self) -> NDArray[np.bool_]:
        """[batch, kinds]"""
        block = self._block()
        legal = NEXT[self.state, block] >= 0
        fits = self.owed[:, None] + 1 + CHANGE[self.state, block] <= self.left[:, None]
        deepest = self.depth > MAX_NESTING  # the program itself is a block, too
        return np.asarray(legal & fits & ~(deepest[:, None] & NESTS))

    def allowed(self) -> NDArray[np.bool_]:
        """[batch, tokens] which tokens may come next; a complete program takes only `<pad>`."""
        return np.asarray(self._allowed_kinds()[:, self.language.kinds])

    def advance(self, tokens: NDArray[np.integer]) -> None:
        """Append one token to each program."""
        kind = self.language.kinds[tokens]
        rows, block = np.arange(len(self.state)), self._block()
        refused = ~self._allowed_kinds()[rows, kind]
        if refused.any():
            bad = int(refused.argmax())
            raise ValueError(f"program {bad} can't continue with {self.language.tokens[int(tokens[bad])]!r}")
        following = NEXT[self.state, block, kind]
        opened = OPENS[self.state, kind]
        self.owed += CHANGE[self.state, block, kind]
        self.owed[kind == Kind.PAD] = 0
        self.left -= kind != Kind.PAD
        self.depth += (opened > 0).astype(np.int64) - CLOSES[kind]
        self.stack[rows[opened > 0], self.depth[opened > 0]] = opened[opened > 0]
        self.state = following.astype(np.int64)


def automaton_allows(state: int, block: int) -> list[Kind]:
    """List the kinds of token that the grammar allows, without a limit of length."""
    return [kind for kind in Kind if NEXT[state, block, kind] >= 0 and kind != Kind.PAD]
