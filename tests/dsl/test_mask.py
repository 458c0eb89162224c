"""The mask allows exactly the tokens after which a program can still be completed within the limit."""

from collections import defaultdict
from functools import cache
from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given, settings
from lark import Lark, Token
from numpy.typing import NDArray

from leaps.dsl.language import Kind
from leaps.dsl.mask import SHORTEST, SyntaxMask
from leaps.dsl.syntax import Program, tokens_of
from leaps.dsl.text import parse
from leaps.karel.world import LANGUAGE
from tests.dsl.helpers import GOLDEN
from tests.strategies import programs


def walk_at_random(batch: int, max_length: int, seed: int) -> NDArray[np.uint8]:
    """Write programs by picking evenly among the allowed tokens, for `max_length` tokens."""
    rng = np.random.default_rng(seed)
    mask = SyntaxMask(LANGUAGE, batch, max_length)
    out = np.empty((batch, max_length), np.uint8)
    for column in range(max_length):
        allowed = mask.allowed()
        out[:, column] = (rng.random(allowed.shape) * allowed).argmax(axis=1)
        mask.advance(out[:, column])
    return out


def allowed_after(text: str, max_length: int) -> list[str]:
    """The tokens that may follow a text, by name."""
    mask = SyntaxMask(LANGUAGE, 1, max_length)
    for token in LANGUAGE.encode(text.split()):
        mask.advance(np.array([token]))
    return [LANGUAGE.tokens[i] for i in np.flatnonzero(mask.allowed()[0])]


def allowed_kinds(mask: SyntaxMask) -> NDArray[np.bool_]:
    """[batch, kinds] whether any token of a kind is allowed."""
    return np.logical_or.reduceat(mask.allowed(), LANGUAGE.first.astype(np.int64), axis=1)


# Sound: what the mask allows becomes a program


@pytest.mark.parametrize("max_length", range(5, 61))
def test_a_random_walk_ends_in_a_program_within_the_limit(max_length: int) -> None:
    for row in walk_at_random(40, max_length, seed=max_length):
        parse(LANGUAGE.text(row), LANGUAGE)


def test_random_walks_reach_the_maximum_length() -> None:
    walks = walk_at_random(200, 12, seed=0)
    assert (walks != LANGUAGE.pad).sum(axis=1).max() == 12


def test_a_walk_that_always_nests_ends_in_a_program_that_the_parser_takes() -> None:
    mask = SyntaxMask(LANGUAGE, 1, 500)
    tokens: list[str] = []
    while not mask.done.all():
        allowed = [LANGUAGE.tokens[i] for i in np.flatnonzero(mask.allowed()[0])]
        tokens.append("REPEAT" if "REPEAT" in allowed else allowed[0])
        mask.advance(LANGUAGE.encode(tokens[-1:]))
    parse(" ".join(tokens), LANGUAGE)


# Complete: what can become a program is allowed


def test_every_golden_program_can_be_written_in_just_its_length() -> None:
    by_length = defaultdict(list)
    for text in GOLDEN:
        by_length[len(text.split())].append(LANGUAGE.encode(text.split()))
    for length, rows in by_length.items():
        mask = SyntaxMask(LANGUAGE, len(rows), length)
        for tokens in np.stack(rows, axis=1):
            assert mask.allowed()[np.arange(len(rows)), tokens].all()
            mask.advance(tokens)


GRAMMAR = """
start: DEF RUN OPEN_M block CLOSE_M
block: statement+
statement: ACTION
    | WHILE condition OPEN_W block CLOSE_W
    | REPEAT COUNT OPEN_R block CLOSE_R
    | IF condition OPEN_I block CLOSE_I
    | IFELSE condition OPEN_I block CLOSE_I ELSE OPEN_E block CLOSE_E
condition: OPEN_C PERCEPTION CLOSE_C
    | OPEN_C NOT OPEN_C PERCEPTION CLOSE_C CLOSE_C
%ignore " "
"""
TERMINALS = [kind.name for kind in Kind if kind != Kind.PAD]
ORACLE = Lark(GRAMMAR + "\n".join(f'{name}: "{name}"' for name in TERMINALS), parser="lalr")


@settings(max_examples=60)
@given(programs)
def test_with_plenty_of_room_the_mask_allows_what_the_grammar_does(program: Program) -> None:
    tokens = LANGUAGE.encode(tokens_of(program))
    mask = SyntaxMask(LANGUAGE, 1, len(tokens) + 50)
    oracle = ORACLE.parse_interactive()
    for token in tokens:
        accepted = oracle.accepts()  # type: ignore[no-untyped-call]
        assert {Kind(kind).name for kind in np.flatnonzero(allowed_kinds(mask)[0]).tolist()} == accepted
        mask.advance(np.array([token]))
        name = Kind(int(LANGUAGE.kinds[token])).name
        oracle.feed_token(Token(name, name))


def test_all_tokens_of_a_kind_are_allowed_together() -> None:
    assert allowed_after("DEF run m( REPEAT", 45) == [f"R={n}" for n in range(20)]


# Exact, however tight the room: compare with all the short programs there are.

Sentence = tuple[Kind, ...]
LONGEST = 20
CONDITIONS: tuple[Sentence, ...] = (
    (Kind.OPEN_C, Kind.PERCEPTION, Kind.CLOSE_C),
    (Kind.OPEN_C, Kind.NOT, Kind.OPEN_C, Kind.PERCEPTION, Kind.CLOSE_C, Kind.CLOSE_C),
)


@cache
def blocks_of(length: int) -> list[Sentence]:
    """List all blocks of this number of tokens, as kinds, without their brackets."""
    first_and_rest = ((k, length - k) for k in range(1, length))
    longer = [a + b for k, rest in first_and_rest for a, b in product(statements_of(k), blocks_of(rest))]
    return statements_of(length) + longer


@cache
def statements_of(length: int) -> list[Sentence]:
    """List all statements of this number of tokens."""
    if length < 1:
        return []
    out: list[Sentence] = [(Kind.ACTION,)] if length == 1 else []
    out += [(Kind.REPEAT, Kind.COUNT, Kind.OPEN_R, *block, Kind.CLOSE_R) for block in blocks_of(length - 4)]
    for condition in CONDITIONS:
        for block in blocks_of(length - 3 - len(condition)):
            out.append((Kind.WHILE, *condition, Kind.OPEN_W, *block, Kind.CLOSE_W))
            out.append((Kind.IF, *condition, Kind.OPEN_I, *block, Kind.CLOSE_I))
        room = length - 6 - len(condition)
        for k in range(1, room):
            for then, otherwise in product(blocks_of(k), blocks_of(room - k)):
                head = (Kind.IFELSE, *condition, Kind.OPEN_I, *then, Kind.CLOSE_I)
                out.append((*head, Kind.ELSE, Kind.OPEN_E, *otherwise, Kind.CLOSE_E))
    return out


@cache
def sentences() -> list[Sentence]:
    """All programs of at most LONGEST tokens, as kinds."""
    bodies = chain.from_iterable(blocks_of(n) for n in range(1, LONGEST - 3))
    return [(Kind.DEF, Kind.RUN, Kind.OPEN_M, *body, Kind.CLOSE_M) for body in bodies]


@cache
def shortest_program_with() -> dict[Sentence, int]:
    """Return the length of the shortest program with each prefix, for all prefixes of short programs."""
    shortest: dict[Sentence, int] = {}
    for sentence in sorted(sentences(), key=len):
        for end in range(len(sentence) + 1):
            shortest.setdefault(sentence[:end], len(sentence))
    return shortest


def test_the_short_programs_are_programs_to_an_independent_parser() -> None:
    for sentence in sentences()[::20]:
        ORACLE.parse(" ".join(kind.name for kind in sentence))


@pytest.mark.parametrize("max_length", range(5, LONGEST + 1))
def test_a_token_is_allowed_if_and_only_if_some_completion_fits(max_length: int) -> None:
    shortest = shortest_program_with()
    written = [sentence for sentence in sentences() if len(sentence) <= max_length]
    for length in range(max_length):
        beginnings = sorted({sentence[:length] for sentence in written if len(sentence) > length})
        mask = SyntaxMask(LANGUAGE, len(beginnings), max_length)
        for column in np.array(beginnings, np.int64).reshape(len(beginnings), length).T:
            mask.advance(LANGUAGE.first[column])
        fits = [
            [shortest.get((*begun, kind), LONGEST + 1) <= max_length for kind in Kind] for begun in beginnings
        ]
        np.testing.assert_array_equal(allowed_kinds(mask), fits)


def test_just_enough_room_for_a_negated_while_allows_it() -> None:
    assert "not" in allowed_after("DEF run m( WHILE c(", max_length=14)


def test_one_token_less_forbids_it() -> None:
    assert "not" not in allowed_after("DEF run m( WHILE c(", max_length=13)


def test_the_last_token_of_the_shortest_program_is_the_only_one_left() -> None:
    assert allowed_after("DEF run m( move", max_length=5) == ["m)"]


# Complete programs, batches, refusals


def test_a_complete_program_takes_only_padding() -> None:
    assert allowed_after("DEF run m( move m)", max_length=45) == ["<pad>"]


def test_padding_takes_no_room() -> None:
    assert allowed_after("DEF run m( move m) <pad> <pad> <pad>", max_length=5) == ["<pad>"]


def test_an_unfinished_program_takes_no_padding() -> None:
    assert "<pad>" not in allowed_after("DEF run m( move", max_length=45)


def test_a_program_is_done_at_its_end_only() -> None:
    mask = SyntaxMask(LANGUAGE, 1, 45)
    done = []
    for token in LANGUAGE.encode(["DEF", "run", "m(", "move", "m)", "<pad>"]):
        mask.advance(np.array([token]))
        done.append(bool(mask.done[0]))
    assert done == [False, False, False, False, True, True]


def test_programs_in_a_batch_do_not_affect_each_other() -> None:
    rows = LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in GOLDEN[:50]])
    together = SyntaxMask(LANGUAGE, len(rows), 44)
    alone = [SyntaxMask(LANGUAGE, 1, 44) for _ in rows]
    for column in rows.T:
        np.testing.assert_array_equal(together.allowed(), np.concatenate([mask.allowed() for mask in alone]))
        together.advance(column)
        for mask, token in zip(alone, column, strict=True):
            mask.advance(np.array([token]))


def test_an_empty_batch_allows_nothing() -> None:
    assert SyntaxMask(LANGUAGE, 0, 45).allowed().shape == (0, 51)


def test_a_token_against_the_grammar_is_refused_by_name() -> None:
    mask = SyntaxMask(LANGUAGE, 3, 45)
    with pytest.raises(ValueError, match="program 1 can't continue with 'move'"):
        mask.advance(LANGUAGE.encode(["DEF", "move", "DEF"]))


def test_a_refused_token_leaves_the_mask_as_it_was() -> None:
    mask = SyntaxMask(LANGUAGE, 2, 45)
    before = mask.allowed()
    with pytest.raises(ValueError, match="program 1"):
        mask.advance(LANGUAGE.encode(["DEF", "move"]))
    np.testing.assert_array_equal(mask.allowed(), before)


def test_a_token_that_no_longer_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="can't continue with 'WHILE'"):
        allowed_after("DEF run m( WHILE", max_length=5)


@pytest.mark.parametrize("max_length", [4, 0, -1])
def test_a_limit_below_the_shortest_program_is_refused(max_length: int) -> None:
    with pytest.raises(
        ValueError, match=f"max_length={max_length} is too short; the shortest program has 5 tokens"
    ):
        SyntaxMask(LANGUAGE, 1, max_length)


def test_the_shortest_program_has_five_tokens() -> None:
    assert min(len(sentence) for sentence in sentences()) == SHORTEST
