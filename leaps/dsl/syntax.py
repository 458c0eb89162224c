"""A program as a tree of frozen dataclasses.

>>> Program((While(Condition("frontIsClear"), (Action("move"),)),)).body[0].condition.negated
False
"""

from collections.abc import Iterator
from dataclasses import dataclass

MAX_NESTING = 100
"""maximum depth of nested blocks in a program, far beyond readable programs"""
MOST_TOKENS = 4 * MAX_NESTING
"""maximum number of tokens of a program; a program of this length can't nest deeper than MAX_NESTING"""


@dataclass(frozen=True)
class Condition:
    perception: str
    negated: bool = False


@dataclass(frozen=True)
class Action:
    name: str


@dataclass(frozen=True)
class While:
    condition: Condition
    body: "Block"


@dataclass(frozen=True)
class Repeat:
    times: int
    body: "Block"


@dataclass(frozen=True)
class If:
    condition: Condition
    body: "Block"


@dataclass(frozen=True)
class IfElse:
    condition: Condition
    body: "Block"
    orelse: "Block"


Statement = Action | While | Repeat | If | IfElse
Block = tuple[Statement, ...]


@dataclass(frozen=True)
class Program:
    body: Block


def condition_tokens(condition: Condition) -> list[str]:
    inner = [condition.perception]
    return ["c(", *(["not", "c(", *inner, "c)"] if condition.negated else inner), "c)"]


def head_tokens(statement: Statement) -> list[str]:
    """Return the tokens of a statement before its blocks."""
    match statement:
        case Action(name):
            return [name]
        case While(condition):
            return ["WHILE", *condition_tokens(condition)]
        case If(condition):
            return ["IF", *condition_tokens(condition)]
        case IfElse(condition):
            return ["IFELSE", *condition_tokens(condition)]
        case Repeat(times):
            return ["REPEAT", f"R={times}"]


def blocks(statement: Statement) -> list[tuple[list[str], Block, str]]:
    """Return a statement's blocks, each with its opening tokens and its closing token."""
    match statement:
        case Action():
            return []
        case While(body=body):
            return [(["w("], body, "w)")]
        case If(body=body):
            return [(["i("], body, "i)")]
        case IfElse(body=body, orelse=orelse):
            return [(["i("], body, "i)"), (["ELSE", "e("], orelse, "e)")]
        case Repeat(body=body):
            return [(["r("], body, "r)")]


def tokens_of(program: Program) -> list[str]:
    """List the tokens of a program, in order."""

    def of_block(block: Block) -> Iterator[str]:
        for statement in block:
            yield from head_tokens(statement)
            for opening, body, closing in blocks(statement):
                yield from opening
                yield from of_block(body)
                yield closing

    return ["DEF", "run", "m(", *of_block(program.body), "m)"]


def walk(program: Program) -> Iterator[Statement]:
    """Yield all statements, in the order of the text."""

    def of_block(block: Block) -> Iterator[Statement]:
        for statement in block:
            yield statement
            for _, body, _ in blocks(statement):
                yield from of_block(body)

    return of_block(program.body)
