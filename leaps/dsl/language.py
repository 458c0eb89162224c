"""Languages: a fixed grammar of control flow over the actions and perceptions of a domain.

See figure "DSL" of the paper. This module is independent of Karel: `leaps.karel.world.LANGUAGE` is one
instance.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

PAD = "<pad>"
MOST_SENSES = 64
"""maximum number of independent perceptions of a language, which are the bits of one number"""
FEW_SENSES = 4
"""up to this number of senses, programs are compiled for all codes; with more, only for the senses that a
program uses"""


class Kind(IntEnum):
    """Grammatical category of a token. Actions, perceptions and repeat counts are one kind each.

    Compiled code compares with the members, too: numba treats members of an IntEnum as numbers.
    """

    DEF = 0
    RUN = 1
    OPEN_M = 2
    CLOSE_M = 3
    ACTION = 4
    OPEN_R = 5
    CLOSE_R = 6
    COUNT = 7
    REPEAT = 8
    OPEN_C = 9
    CLOSE_C = 10
    OPEN_I = 11
    CLOSE_I = 12
    OPEN_E = 13
    CLOSE_E = 14
    IF = 15
    IFELSE = 16
    ELSE = 17
    PERCEPTION = 18
    NOT = 19
    OPEN_W = 20
    CLOSE_W = 21
    WHILE = 22
    PAD = 23


FIXED_TOKENS = {
    Kind.DEF: "DEF",
    Kind.RUN: "run",
    Kind.OPEN_M: "m(",
    Kind.CLOSE_M: "m)",
    Kind.OPEN_R: "r(",
    Kind.CLOSE_R: "r)",
    Kind.REPEAT: "REPEAT",
    Kind.OPEN_C: "c(",
    Kind.CLOSE_C: "c)",
    Kind.OPEN_I: "i(",
    Kind.CLOSE_I: "i)",
    Kind.OPEN_E: "e(",
    Kind.CLOSE_E: "e)",
    Kind.IF: "IF",
    Kind.IFELSE: "IFELSE",
    Kind.ELSE: "ELSE",
    Kind.NOT: "not",
    Kind.OPEN_W: "w(",
    Kind.CLOSE_W: "w)",
    Kind.WHILE: "WHILE",
    Kind.PAD: PAD,
}


@dataclass(frozen=True)
class Language:
    """The tokens of a domain's programs, in the order of the paper's code, and `<pad>` last.

    >>> Language(actions=("go", "wait"), perceptions=("clear",), max_repeat=2).tokens[:6]
    ('DEF', 'run', 'm(', 'm)', 'go', 'wait')
    """

    actions: tuple[str, ...]
    perceptions: tuple[str, ...]
    max_repeat: int = 19
    """REPEAT takes R=0 to R=max_repeat"""
    opposites: tuple[tuple[str, str], ...] = ()
    """pairs of perceptions: the first holds exactly where the second doesn't"""

    def __post_init__(self) -> None:
        if not self.actions or not self.perceptions:
            raise ValueError("a language needs at least one action and one perception")
        if self.max_repeat < 0:
            raise ValueError(f"max_repeat must be 0 or more, found {self.max_repeat}")
        for name in self.tokens:
            if not name or any(c.isspace() or c == "#" for c in name):
                raise ValueError(f"{name!r} can't be a token: expected a name without white space or '#'")
        if len(set(self.tokens)) < len(self.tokens):
            twice = sorted({name for name in self.tokens if self.tokens.count(name) > 1})
            raise ValueError(f"each name must be one token only; found more than once: {', '.join(twice)}")
        if len(self.tokens) > 255:
            raise ValueError(f"a language has at most 255 tokens, found {len(self.tokens)}")
        derived = [name for name, _ in self.opposites]
        for name, other in self.opposites:
            if not {name, other} <= set(self.perceptions) or other in derived or derived.count(name) > 1:
                raise ValueError(
                    "opposites: expected pairs of perceptions, the first of each the opposite of one that is "
                    f"no opposite itself; found {name!r} of {other!r}"
                )
        if len(self.senses) > MOST_SENSES:
            raise ValueError(
                f"a language has at most {MOST_SENSES} perceptions besides opposites of others, "
                f"found {len(self.senses)}"
            )

    @cached_property
    def _table(self) -> tuple[tuple[str, Kind, int], ...]:
        """Tokens, each with its kind and its argument: number of the action or perception, or of repeats."""

        def fixed(kind: Kind) -> list[tuple[str, Kind, int]]:
            return [(FIXED_TOKENS[kind], kind, 0)]

        rows: list[tuple[str, Kind, int]] = []
        for kind in Kind:  # members are in the order of the vocabulary
            if kind == Kind.ACTION:
                rows += [(name, kind, i) for i, name in enumerate(self.actions)]
            elif kind == Kind.PERCEPTION:
                rows += [(name, kind, i) for i, name in enumerate(self.perceptions)]
            elif kind == Kind.COUNT:
                rows += [(f"R={n}", kind, n) for n in range(self.max_repeat + 1)]
            else:
                rows += fixed(kind)
        return tuple(rows)

    @staticmethod
    def of(tokens: Sequence[str], opposites: Iterable[Sequence[str]] = ()) -> "Language":
        """Return the language with these tokens, as files store them, and these opposites.

        >>> go = Language(actions=("go", "wait"), perceptions=("clear",))
        >>> Language.of(go.tokens) == go
        True
        """

        def between(first: Kind, last: Kind) -> tuple[str, ...]:
            return tuple(tokens[tokens.index(FIXED_TOKENS[first]) + 1 : tokens.index(FIXED_TOKENS[last])])

        try:
            language = Language(
                between(Kind.CLOSE_M, Kind.OPEN_R),
                between(Kind.ELSE, Kind.NOT),
                len(between(Kind.CLOSE_R, Kind.REPEAT)) - 1,
                tuple((name, other) for name, other in opposites),
            )
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"expected the tokens of a language, found others ({error})") from None
        if language.tokens != tuple(tokens):
            raise ValueError("expected the tokens of a language in their order, found another order")
        return language

    @cached_property
    def senses(self) -> tuple[str, ...]:
        """Perceptions that are not opposites of others: sense k is bit k of the perceived code."""
        derived = {name for name, _ in self.opposites}
        return tuple(name for name in self.perceptions if name not in derived)

    @cached_property
    def sense_of(self) -> NDArray[np.uint8]:
        """[perceptions] the sense that each perception depends on."""
        other_of = dict(self.opposites)
        return np.array([self.senses.index(other_of.get(name, name)) for name in self.perceptions], np.uint8)

    @cached_property
    def inverted(self) -> NDArray[np.bool_]:
        """[perceptions] whether each holds when the bit of its sense is 0."""
        derived = {name for name, _ in self.opposites}
        return np.array([name in derived for name in self.perceptions])

    @cached_property
    def truth(self) -> NDArray[np.bool_]:
        """[perceptions, codes] whether a perception holds when a code is perceived; up to FEW_SENSES only."""
        if len(self.senses) > FEW_SENSES:
            raise ValueError(f"expected a language of at most {FEW_SENSES} senses, found {len(self.senses)}")
        codes = np.arange(2 ** len(self.senses))
        return np.asarray(((codes[None] >> self.sense_of[:, None]) & 1 == 1) != self.inverted[:, None])

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All tokens; a token's id is its position."""
        return tuple(name for name, _, _ in self._table)

    @cached_property
    def ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.tokens)}

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """[tokens] the `Kind` of each token."""
        return np.array([kind for _, kind, _ in self._table], np.uint8)

    @cached_property
    def arguments(self) -> NDArray[np.uint8]:
        """[tokens] number of the action or perception, or of repeats, that a token stands for."""
        return np.array([argument for _, _, argument in self._table], np.uint8)

    @cached_property
    def first(self) -> NDArray[np.uint8]:
        """[kinds] the id of the first token of each kind; the other tokens of the kind follow it."""
        return np.array([self.kinds.tolist().index(kind) for kind in Kind], np.uint8)

    @property
    def pad(self) -> int:
        return len(self.tokens) - 1

    def encode(self, tokens: Iterable[str]) -> NDArray[np.uint8]:
        """Turn token names into ids."""
        try:
            return np.array([self.ids[token] for token in tokens], np.uint8)
        except KeyError as error:
            raise ValueError(f"{error.args[0]!r} is not a token of this language") from None

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Turn ids into token names, leaving out the padding."""
        return [self.tokens[i] for i in ids if i != self.pad]

    def text(self, ids: Iterable[int]) -> str:
        """Write token ids as a text of one line."""
        return " ".join(self.decode(ids))

    def batch(self, programs: Sequence[NDArray[np.uint8]], length: int | None = None) -> NDArray[np.uint8]:
        """Stack programs of different lengths into one array, padded with `<pad>`."""
        longest = max((len(ids) for ids in programs), default=0)
        width = longest if length is None else length
        if longest > width:
            raise ValueError(f"expected programs of at most {width} tokens, found one of {longest}")
        out = np.full((len(programs), width), self.pad, np.uint8)
        for row, ids in zip(out, programs, strict=True):
            row[: len(ids)] = ids
        return out
