"""Parse a program's text, with the positions of its statements and errors.

An editor in a browser counts UTF-16 units, Python counts characters. This module returns positions in UTF-16
units.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from leaps.dsl.language import Language
from leaps.dsl.syntax import Action, Program, head_tokens, tokens_of, walk
from leaps.dsl.text import ProgramError, Word, parse, to_indented, to_line, words
from leaps.studio.requests import CHARACTERS, TOKENS, RequestError

Span = list[int]
"""[start, end) in UTF-16 units"""
HEADS = {"WHILE", "IF", "IFELSE", "REPEAT"}
"""the words that start a statement, besides the names of actions"""


class Source:
    """A text with its positions in UTF-16 units."""

    def __init__(self, text: str) -> None:
        self.text = text
        units = (1 + (ord(character) > 0xFFFF) for character in text)
        self._offsets = None if text.isascii() else list(accumulate(units, initial=0))

    @cached_property
    def words(self) -> list[Word]:
        return list(words(self.text))

    @property
    def units(self) -> int:
        """Length of the text in UTF-16 units."""
        return self.offset(len(self.text))

    def offset(self, character: int) -> int:
        return character if self._offsets is None else self._offsets[character]

    def character(self, offset: int) -> int:
        """Return the index of the character at an offset, also between the halves of a surrogate pair."""
        return offset if self._offsets is None else bisect_right(self._offsets, offset) - 1

    def span(self, start: int, end: int) -> Span:
        return [self.offset(start), self.offset(end)]


@dataclass(frozen=True)
class Problem:
    """A syntax error and its position."""

    message: str
    span: Span


@dataclass(frozen=True)
class Reading:
    """A parsed text: a program or a syntax error."""

    source: Source
    tree: Program | None
    language: Language
    problem: Problem | None = None

    @property
    def program(self) -> Program:
        """The program; raises an error if the text is none."""
        if self.tree is None:
            raise RequestError(f"program: {self.problem.message if self.problem else 'none'}")
        return self.tree

    @property
    def tokens(self) -> int:
        return len(tokens_of(self.program))

    def heads(self) -> list[Span]:
        """Return the span of each statement's own words, in the order of the text."""
        heads = {*self.language.actions, *HEADS}
        starts = [index for index, word in enumerate(self.source.words) if word.text in heads]
        spans = []
        for first, statement in zip(starts, walk(self.program), strict=True):
            last = self.source.words[first + len(head_tokens(statement)) - 1]
            spans.append(self.source.span(self.source.words[first].start, last.start + len(last.text)))
        return spans

    def refusal(self) -> dict[str, Any]:
        """Return the answer for a text that is no program."""
        assert self.problem is not None
        return {"valid": False, "error": {"message": self.problem.message, "span": self.problem.span}}


def read(text: str, language: Language) -> Reading:
    """Parse a program within the bounds."""
    source = Source(text)
    if len(text) > CHARACTERS:
        message = f"a program has at most {CHARACTERS:,} characters, found {len(text):,}"
        return Reading(source, None, language, Problem(message, source.span(CHARACTERS, len(text))))
    if len(source.words) > TOKENS:
        message = f"a program has at most {TOKENS} tokens, found {len(source.words)}"
        last = source.words[-1]
        span = source.span(source.words[TOKENS].start, last.start + len(last.text))
        return Reading(source, None, language, Problem(message, span))
    try:
        return Reading(source, parse(text, language), language)
    except ProgramError as error:
        start, end = error.start, error.end
        if start >= end:  # the text ends too early: mark its last word
            last = source.words[-1] if source.words else Word(text, 0)
            start, end = last.start, last.start + len(last.text)
        return Reading(source, None, language, Problem(error.problem, source.span(start, end)))


def check(reading: Reading) -> dict[str, Any]:
    """Return the program in its two forms, or the syntax error."""
    if reading.tree is None:
        return reading.refusal()
    return {
        "valid": True,
        "tokens": reading.tokens,
        "indented": to_indented(reading.tree),
        "line": to_line(reading.tree),
        "statements": reading.heads(),
    }


def kind_of(statement: object) -> str:
    """Name the kind of a statement."""
    return "action" if isinstance(statement, Action) else type(statement).__name__.lower()
