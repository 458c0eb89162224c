"""Programs as text: parsing, printing and errors that point at the wrong token.

`parse` reads two forms: one line of tokens, and the indented form that people edit. White space and line
breaks don't matter, and a `#` starts a comment.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.language import FIXED_TOKENS, Kind, Language
from leaps.dsl.mask import CLOSES, NEXT, OPENS, State, automaton_allows
from leaps.dsl.mask import Block as OpenBlock
from leaps.dsl.syntax import (
    MAX_NESTING,
    Action,
    Block,
    Condition,
    If,
    IfElse,
    Program,
    Repeat,
    Statement,
    While,
    blocks,
    head_tokens,
    tokens_of,
)

PREFIX = ("DEF", "run", "m(")
"""first tokens of every program"""
PREFIX_IDS = (int(Kind.DEF), int(Kind.RUN), int(Kind.OPEN_M))
"""token ids of the prefix, the same in every language"""
INDENT = "  "
EXCERPT = 72  # number of columns of the source that an error shows


class ProgramError(ValueError):
    """Error for a text that is not a program. The message shows the wrong token and the expected ones."""

    def __init__(self, problem: str, source: str, start: int, end: int, token: int) -> None:
        self.problem = problem
        self.token = token
        self.start = start
        self.end = end
        self.line = source.count("\n", 0, start) + 1
        line_start = source.rfind("\n", 0, start) + 1
        self.column = start - line_start + 1
        where = f"token {token}" + (f", line {self.line}" if "\n" in source.strip() else "")
        super().__init__(f"{where}: {problem}\n{_excerpt(source, line_start, start, end)}")


def _excerpt(source: str, line_start: int, start: int, end: int) -> str:
    """Return two lines: the source around the error, and carets under it."""
    line_end = source.find("\n", start)
    line_end = len(source) if line_end < 0 else line_end
    left = max(line_start, min(start - EXCERPT // 2, line_end - EXCERPT))
    right = min(line_end, left + EXCERPT)
    before, after = "… " if left > line_start else "", " …" if right < line_end else ""
    shown = "".join(c if c.isprintable() else " " for c in source[left:right])
    carets = "^" * max(1, min(end, right) - start)
    line = shown + after if after else shown.rstrip()
    return f"  {before}{line}\n  {' ' * (len(before) + start - left)}{carets}"


class Word(NamedTuple):
    text: str
    start: int


_WORD = re.compile(r"#[^\n]*|[^\s#]+")


def words(source: str) -> Iterator[Word]:
    """Split a text into words, leaving out white space and comments."""
    for match in _WORD.finditer(source):
        if not match.group().startswith("#"):
            yield Word(match.group(), match.start())


def parse(source: str, language: Language) -> Program:
    """Read a program from text, on one line or indented.

    Args:
        source: The text. White space and line breaks do not matter, and `#` starts a comment.
        language: The actions and perceptions of a domain, such as `leaps.karel.world.LANGUAGE`.

    Returns:
        The program as a tree.

    Raises:
        ProgramError: The text is not a program. The message points at the first mistake.

    >>> from leaps.karel.world import LANGUAGE
    >>> parse("DEF run m( move WHILE m)", LANGUAGE)
    Traceback (most recent call last):
    leaps.dsl.text.ProgramError: token 5: found 'm)', expected c(
      DEF run m( move WHILE m)
                            ^^
    """
    return build(_check(source, language))


def _check(source: str, language: Language) -> list[str]:
    """Walk the text through the grammar's automaton, and return its tokens."""
    state: int = State.DEF
    stack: list[int] = [OpenBlock.NONE]
    tokens: list[str] = []
    end = 0
    for index, (text, start) in enumerate(words(source)):
        end = start + len(text)
        token = language.ids.get(text)
        if token is None or token == language.pad:
            raise ProgramError(_unknown(text, language, state, stack[-1]), source, start, end, index)
        kind = Kind(int(language.kinds[token]))
        following = int(NEXT[state, stack[-1], kind])
        if following < 0:
            problem = f"found {text!r}, expected {expected(language, state, stack[-1])}"
            raise ProgramError(problem, source, start, end, index)
        if opened := int(OPENS[state, kind]):
            stack.append(opened)
            if len(stack) > MAX_NESTING + 2:  # the stack also holds its bottom and the program itself
                problem = f"blocks are nested deeper than {MAX_NESTING}"
                raise ProgramError(problem, source, start, end, index)
        elif CLOSES[kind]:
            stack.pop()
        tokens.append(text)
        state = following
    if state != State.END:
        if not tokens:
            raise ProgramError("the text is empty, expected DEF", source.strip(), 0, 0, 0)
        missing = expected(language, state, stack[-1])
        raise ProgramError(
            f"the program ends here, expected {missing}", source[:end] + " ", end + 1, end + 1, len(tokens)
        )
    return tokens


def _unknown(text: str, language: Language, state: int, block: int) -> str:
    allowed = automaton_allows(state, block)
    if re.fullmatch(r"R=-?\d+", text):
        return f"found {_shorten(text)}, expected {expected(language, state, block)}"
    fitting = [name for name, kind in zip(language.tokens, language.kinds, strict=True) if kind in allowed]
    meant = _closest(text, fitting) or _closest(text, language.tokens[:-1])
    hint = f"did you mean {meant!r}?" if meant else f"expected {expected(language, state, block)}"
    return f"{_shorten(text)} is not a token of this language; {hint}"


def _closest(text: str, names: Sequence[str]) -> str | None:
    """Return the name that was probably meant, ignoring case."""
    if len(text) > 40:
        return None
    folded = {name.casefold(): name for name in reversed(names)}
    close = difflib.get_close_matches(text.casefold(), folded, n=1)
    return folded[close[0]] if close else None


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "…")


def expected(language: Language, state: int, block: int) -> str:
    """List what the grammar allows here, for a message."""
    names = []
    for kind in automaton_allows(state, block):
        if kind == Kind.ACTION:
            names.append(f"an action ({', '.join(language.actions)})")
        elif kind == Kind.PERCEPTION:
            names.append(f"a perception ({', '.join(language.perceptions)})")
        elif kind == Kind.COUNT:
            names.append(f"R=0 to R={language.max_repeat}")
        else:
            names.append(FIXED_TOKENS[kind])
    if not names:
        return "the end of the program"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def read(program: str | Program, language: Language) -> NDArray[np.uint8]:
    """[length] token ids of a text or a tree. For speed, the grammar of a text is not checked."""
    if isinstance(program, Program):
        return language.encode(tokens_of(program))
    ids = language.ids
    try:
        tokens = np.array([ids[word] for word in program.split()], np.uint8)
    except KeyError:  # a comment, or an error that the parser reports
        tokens = None
    if tokens is None or language.pad in tokens:
        return language.encode(tokens_of(parse(program, language)))
    return tokens


def build(tokens: list[str]) -> Program:
    """Build the tree of a token list that the grammar has accepted."""
    position = 0

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1]

    def condition() -> Condition:
        take()  # c(
        negated = tokens[position] == "not"
        if negated:
            take(), take()  # not c(
        perception = take()
        for _ in range(1 + negated):
            take()  # c)
        return Condition(perception, negated)

    def block() -> Block:
        opening = take()
        closing = opening[:-1] + ")"
        statements: list[Statement] = []
        while tokens[position] != closing:
            statements.append(statement())
        take()
        return tuple(statements)

    def statement() -> Statement:
        head = take()
        match head:
            case "WHILE":
                return While(condition(), block())
            case "IF":
                return If(condition(), block())
            case "IFELSE":
                test, then = condition(), block()
                take()  # ELSE
                return IfElse(test, then, block())
            case "REPEAT":
                return Repeat(int(take().removeprefix("R=")), block())
            case name:
                return Action(name)

    take(), take()  # DEF run
    return Program(block())


def to_line(program: Program) -> str:
    """Print a program as one line of tokens."""
    return " ".join(tokens_of(program))


def to_indented(program: Program) -> str:
    """Print a program with one statement per line and indented blocks."""
    lines = ["DEF run m("]

    def print_block(block: Block, indent: str) -> None:
        for statement in block:
            lines.append(indent + " ".join(head_tokens(statement)))
            for opening, body, closing in blocks(statement):
                lines[-1] += " " + " ".join(opening)
                print_block(body, indent + INDENT)
                lines.append(indent + closing)

    print_block(program.body, INDENT)
    return "\n".join([*lines, "m)"])
