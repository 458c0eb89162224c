"""Draw random programs: the paper's probabilistic sampler (appendix "Program Dataset Generation Details").

A statement is expanded into a kind of statement drawn from a table. STMT_STMT, two statements in a row,
determines the length. The code is compiled, from a random stream to token ids, since the data set and the
searches draw millions of programs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.base.randomness import Stream, below, seed_stream, uniform
from leaps.dsl.language import Kind, Language
from leaps.dsl.syntax import MAX_NESTING

DEEPEST = 1000
"""upper bound of max_depth, beyond all practical values"""
DECISIVE: dict[str, Any] = {
    "while_": 0.12,
    "repeat": 0.02,
    "sequence": 0.44,
    "action": 0.2,
    "if_": 0.1,
    "if_else": 0.12,
    "negation": 0.5,
}
"""shares for domains other than Karel: more decisions, and half of the conditions negated"""


@dataclass(frozen=True)
class ProgramDistribution:
    """Probabilities and limits for random programs. The default shares of statements are the paper's."""

    actions: tuple[float, ...]
    """share of each action"""
    perceptions: tuple[float, ...]
    """share of each perception"""
    while_: float = 0.15
    repeat: float = 0.03
    sequence: float = 0.5
    """STMT_STMT: one statement becomes two"""
    action: float = 0.2
    if_: float = 0.08
    if_else: float = 0.04
    negation: float = 0.1
    """share of conditions that are negated"""
    max_depth: int = 6
    """maximum depth of expansions of the grammar, below which only actions are drawn. The program's statement
    has depth 1, and each statement within a statement adds 2: for example, it becomes a sequence, and the
    sequence becomes two statements"""
    max_nesting: int = 4
    """maximum depth of nested loops and conditionals; only actions are drawn in the innermost"""

    def __post_init__(self) -> None:
        for name, shares in (
            ("actions", self.actions),
            ("perceptions", self.perceptions),
            ("statements", self.statements),
        ):
            if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
                raise ValueError(f"the shares of {name} must be 0 or more and add up to 1, found {shares}")
        if not 0 <= self.negation <= 1:
            raise ValueError(f"negation must be a share from 0 to 1, found {self.negation}")
        if not (0 <= self.max_depth <= DEEPEST and 0 <= self.max_nesting <= MAX_NESTING):
            raise ValueError(
                f"expected max_depth from 0 to {DEEPEST} and max_nesting from 0 to {MAX_NESTING}, "
                f"found {self.max_depth} and {self.max_nesting}"
            )

    @property
    def statements(self) -> tuple[float, ...]:
        return self.while_, self.repeat, self.sequence, self.action, self.if_, self.if_else

    def shortest(self) -> int:
        """Return the number of tokens of the shortest program that can be drawn."""
        condition = 3 if self.negation < 1 else 6

        @cache
        def statement(depth: int, nesting: int) -> int:
            if depth > self.max_depth or nesting >= self.max_nesting or self.action > 0:
                return 1
            inside = statement(depth + 2, nesting + 1)
            lengths = [
                (self.sequence, 2 * statement(depth + 2, nesting) if self.sequence > 0 else 0),
                (self.repeat, 4 + inside),
                (self.while_, 3 + condition + inside),
                (self.if_, 3 + condition + inside),
                (self.if_else, 6 + condition + 2 * inside),
            ]
            return min(length for share, length in lengths if share > 0)

        return 4 + statement(1, 0)

    def check(self, language: Language, max_length: int) -> None:
        """Raise a ValueError if no program of this language and length can be drawn."""
        if len(self.actions) != len(language.actions):
            raise ValueError(f"expected {len(language.actions)} shares of actions, found {len(self.actions)}")
        if len(self.perceptions) != len(language.perceptions):
            raise ValueError(
                f"expected {len(language.perceptions)} shares of perceptions, found {len(self.perceptions)}"
            )
        if max_length < (shortest := self.shortest()):
            raise ValueError(
                f"max_length={max_length} is too short; the shortest program has {shortest} tokens"
            )

    def tables(self) -> "Tables":
        """Return the distribution for compiled code: cumulative shares, and the other settings."""
        return (
            np.cumsum(self.statements),
            np.cumsum(self.actions),
            np.cumsum(self.perceptions),
            np.array([self.negation, self.max_depth, self.max_nesting]),
        )


Tables = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
_WHILE, _REPEAT, _SEQUENCE, _ACTION, _IF, _IFELSE = range(6)


@jit
def choose(stream: Stream, cumulative: NDArray[np.float64]) -> int:
    """Draw an index with the probabilities of cumulative shares."""
    x = uniform(stream) * cumulative[-1]
    index = 0
    while index < len(cumulative) - 1 and x >= cumulative[index]:
        index += 1
    return index


@jit
def _put(out: NDArray[np.uint8], at: int, token: int) -> int:
    """Write a token if there is room, and return the next position either way."""
    if at < len(out):
        out[at] = token
    return at + 1


@jit
def push(stack: NDArray[np.int64], top: int, what: int, depth: int, nesting: int) -> int:
    stack[top, 0], stack[top, 1], stack[top, 2] = what, depth, nesting
    return top + 1


@jit
def write_condition(
    stream: Stream, tables: Tables, first: NDArray[np.uint8], out: NDArray[np.uint8], at: int
) -> int:
    """Write a random condition with its brackets, starting at out[at]; return the position after it."""
    _, _, perceptions, rest = tables
    at = _put(out, at, first[Kind.OPEN_C])
    negated = uniform(stream) < rest[0]
    if negated:
        at = _put(out, at, first[Kind.NOT])
        at = _put(out, at, first[Kind.OPEN_C])
    at = _put(out, at, first[Kind.PERCEPTION] + choose(stream, perceptions))
    if negated:
        at = _put(out, at, first[Kind.CLOSE_C])
    return _put(out, at, first[Kind.CLOSE_C])


_STATEMENT = len(
    Kind
)  # waiting to be expanded; smaller numbers are tokens (their kinds) waiting to be written


@jit
def write_statement(
    stream: Stream,
    tables: Tables,
    first: NDArray[np.uint8],
    out: NDArray[np.uint8],
    at: int,
    depth: int,
    nesting: int,
) -> int:
    """Write a random statement, starting at out[at]; return the position after it.

    Tokens that don't fit are not written; the returned position is then past the end. (A stack replaces
    recursion, since numba can't load a recursive function from its cache.)
    """
    statements, actions, _, rest = tables
    waiting = np.empty((6 * (int(rest[1]) + 3), 3), np.int64)  # an expansion leaves at most six
    top = push(waiting, 0, _STATEMENT, depth, nesting)
    while top > 0:
        if at > len(out):
            return at
        top -= 1
        what, depth, nesting = waiting[top, 0], waiting[top, 1], waiting[top, 2]
        if what != _STATEMENT:
            at = _put(out, at, first[what])
            continue
        kind = _ACTION
        if depth <= rest[1] and nesting < rest[2]:
            kind = choose(stream, statements)
        if kind == _ACTION:
            at = _put(out, at, first[Kind.ACTION] + choose(stream, actions))
        elif kind == _SEQUENCE:
            top = push(waiting, top, _STATEMENT, depth + 2, nesting)
            top = push(waiting, top, _STATEMENT, depth + 2, nesting)
        elif kind == _REPEAT:
            at = _put(out, at, first[Kind.REPEAT])
            at = _put(out, at, first[Kind.COUNT] + below(stream, first[Kind.COUNT + 1] - first[Kind.COUNT]))
            at = _put(out, at, first[Kind.OPEN_R])
            top = push(waiting, top, Kind.CLOSE_R, 0, 0)
            top = push(waiting, top, _STATEMENT, depth + 2, nesting + 1)
        elif kind == _WHILE:
            at = _put(out, at, first[Kind.WHILE])
            at = write_condition(stream, tables, first, out, at)
            at = _put(out, at, first[Kind.OPEN_W])
            top = push(waiting, top, Kind.CLOSE_W, 0, 0)
            top = push(waiting, top, _STATEMENT, depth + 2, nesting + 1)
        else:
            at = _put(out, at, first[Kind.IF] if kind == _IF else first[Kind.IFELSE])
            at = write_condition(stream, tables, first, out, at)
            at = _put(out, at, first[Kind.OPEN_I])
            if kind == _IFELSE:  # last things first
                top = push(waiting, top, Kind.CLOSE_E, 0, 0)
                top = push(waiting, top, _STATEMENT, depth + 2, nesting + 1)
                top = push(waiting, top, Kind.OPEN_E, 0, 0)
                top = push(waiting, top, Kind.ELSE, 0, 0)
            top = push(waiting, top, Kind.CLOSE_I, 0, 0)
            top = push(waiting, top, _STATEMENT, depth + 2, nesting + 1)
    return at


@jit
def write_program(
    stream: Stream, tables: Tables, first: NDArray[np.uint8], out: NDArray[np.uint8], pad: int
) -> None:
    """Draw programs until one fits into `out`, and pad it."""
    while True:
        at = _put(out, 0, first[Kind.DEF])
        at = _put(out, at, first[Kind.RUN])
        at = _put(out, at, first[Kind.OPEN_M])
        at = write_statement(stream, tables, first, out, at, 1, 0)
        at = _put(out, at, first[Kind.CLOSE_M])
        if at <= len(out):
            out[at:] = pad
            return


@jit
def _write_programs(
    tables: Tables, first: NDArray[np.uint8], out: NDArray[np.uint8], pad: int, seed: int, index: int
) -> None:
    stream = np.zeros(1, np.uint64)
    for row in range(len(out)):
        seed_stream(stream, seed, index + row)
        write_program(stream, tables, first, out[row], pad)


def sample_programs(
    language: Language,
    distribution: ProgramDistribution,
    count: int,
    seed: int,
    max_length: int = 44,
    *,
    first: int = 0,
) -> NDArray[np.uint8]:
    """Draw programs as token ids, [count, max_length].

    Program `i` depends on the seed and on `first + i` alone.
    """
    distribution.check(language, max_length)
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, found {seed}")
    out = np.empty((count, max_length), np.uint8)
    _write_programs(distribution.tables(), language.first, out, language.pad, seed, first)
    return out


def different_programs(
    language: Language, distribution: ProgramDistribution, batch: int, seed: int, max_length: int
) -> Iterator[bytes]:
    """Yield different random programs endlessly, as bytes, in the order drawn.

    batch: number of programs drawn at a time.
    """
    found: set[bytes] = set()
    first = barren = 0
    while True:
        before = len(found)
        for row in sample_programs(language, distribution, batch, seed, max_length, first=first):
            program = row.tobytes()
            if program not in found:
                found.add(program)
                yield program
        first += batch
        barren = barren + 1 if len(found) == before else 0
        if barren == 100:
            raise ValueError(
                f"there are hardly more than {before} programs of at most {max_length} tokens; "
                f"{batch} can't all be different"
            )


def take_programs(programs: Iterator[bytes], count: int) -> NDArray[np.uint8]:
    """[count, length] the next programs of an iterator."""
    return np.frombuffer(b"".join(islice(programs, count)), np.uint8).reshape(count, -1)
