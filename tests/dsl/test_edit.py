"""Programs are as many edits apart as the paper's debugging study counts."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.dsl.edit import edit_distance, edit_distances, levenshtein
from leaps.dsl.language import Language
from leaps.dsl.sample import sample_programs
from leaps.dsl.syntax import Block, Program, Repeat, blocks, head_tokens, tokens_of, walk
from leaps.dsl.text import parse
from leaps.karel.world import LANGUAGE, PROGRAMS
from tests.hoover import HOOVER
from tests.strategies import programs


def program(body: str, language: Language = LANGUAGE) -> Program:
    return parse(f"DEF run m( {body} m)", language)


def distance(a: str, b: str) -> int:
    return edit_distance(program(a), program(b), LANGUAGE)


def apart(a: Program, b: Program) -> int:
    return edit_distance(a, b, LANGUAGE)


def row_of(tree: Program, language: Language = LANGUAGE) -> NDArray[np.uint8]:
    return language.encode(tokens_of(tree))


# A second, simple implementation on trees


def statement_list(tree: Program) -> list[str]:
    """A program as the study counts: its statements with their condition or count, and ELSE being one."""

    def of_block(block: Block) -> Iterator[str]:
        for statement in block:
            yield " ".join(head_tokens(statement))
            for opening, body, _ in blocks(statement):
                yield from opening[:-1]  # without the bracket: an ELSE, or nothing
                yield from of_block(body)

    return list(of_block(tree.body))


def fewest_edits(a: Sequence[str], b: Sequence[str]) -> int:
    """Levenshtein's distance as its definition says."""

    @cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        changed = between(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(between(i - 1, j) + 1, between(i, j - 1) + 1, changed)

    return between(len(a), len(b))


def expected_distance(a: Program, b: Program) -> int:
    return max(fewest_edits(statement_list(a), statement_list(b)), int(a != b))


# The listings of the paper's appendix "Human Debugging"

ROUND = "WHILE c( noMarkersPresent c) w( turnRight move w) putMarker move "
TOP_OFF = ROUND * 4
TOP_OFF_3 = (
    "REPEAT R=9 r( WHILE c( noMarkersPresent c) w( IF c( frontIsClear c) i( move i) w) putMarker move r) "
    + ROUND * 3
)
TOP_OFF_5 = (
    "WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) "
    f"WHILE c( frontIsClear c) w( {ROUND * 4} w)"
)
TURNS = f"turnRight turnRight move {'turnRight ' * 29}"
FOUR_CORNER = f"{TURNS} turnRight putMarker turnRight turnRight"
FOUR_CORNER_3 = f"{TURNS} REPEAT R=4 r( REPEAT R=9 r( move r) putMarker turnRight r) turnRight"
FOUR_CORNER_5 = f"{TURNS} putMarker REPEAT R=3 r( REPEAT R=9 r( move r) putMarker turnRight r)"
PICKS = {n: "pickMarker move " * n for n in (3, 4, 5, 6)}
TAIL = f"{PICKS[3]} turnLeft {PICKS[3]} turnLeft {PICKS[3]}"
HARVESTER = f"turnLeft turnLeft {PICKS[5]} turnLeft {PICKS[4]} turnLeft {TAIL}"
HARVESTER_3 = f"turnLeft turnLeft REPEAT R=4 r( {PICKS[6]} turnLeft r) {PICKS[5]} turnLeft {TAIL}"
HARVESTER_5 = f"REPEAT R=3 r( {PICKS[5]} turnLeft r) REPEAT R=3 r( {PICKS[4]} turnLeft r) {TAIL}"


@pytest.mark.parametrize(
    ("original", "edited", "budget"),
    [
        (TOP_OFF, TOP_OFF_3, 3),
        (TOP_OFF, TOP_OFF_5, 5),
        (FOUR_CORNER, FOUR_CORNER_3, 3),
        (FOUR_CORNER, FOUR_CORNER_5, 5),
        (HARVESTER, HARVESTER_5, 5),
    ],
)
def test_a_listing_of_the_paper_is_within_its_budget(original: str, edited: str, budget: int) -> None:
    assert distance(original, edited) <= budget


def test_the_papers_harvester_of_3_edits_has_5_as_printed() -> None:
    """REPEAT, and twice a pickMarker and a move: the Levenshtein distance that the paper names is 5."""
    assert distance(HARVESTER, HARVESTER_3) == 5


def test_a_listing_of_the_paper_may_use_its_whole_budget() -> None:
    assert distance(TOP_OFF, TOP_OFF_5) == 5


# What one edit is


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("move turnLeft", "move putMarker turnLeft"),
        ("move turnLeft", "turnLeft"),
        ("move turnLeft", "move turnRight"),
        ("move move turnLeft move", "REPEAT R=4 r( move move turnLeft move r)"),
        ("move move turnLeft move", "move WHILE c( frontIsClear c) w( move turnLeft w) move"),
        ("move move turnLeft", "IF c( not c( frontIsClear c) c) i( move move i) turnLeft"),
        ("WHILE c( frontIsClear c) w( move w)", "WHILE c( leftIsClear c) w( move w)"),
        ("WHILE c( frontIsClear c) w( move w)", "WHILE c( not c( frontIsClear c) c) w( move w)"),
        ("WHILE c( frontIsClear c) w( move w)", "IF c( frontIsClear c) i( move i)"),
        ("WHILE c( frontIsClear c) w( move w)", "REPEAT R=4 r( move r)"),
        ("REPEAT R=3 r( move r)", "REPEAT R=4 r( move r)"),
    ],
)
def test_a_change_of_one_statement_is_one_edit(before: str, after: str) -> None:
    assert distance(before, after) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("REPEAT R=3 r( move r)", "REPEAT R=4 r( move r)"),
        ("WHILE c( frontIsClear c) w( move w)", "WHILE c( leftIsClear c) w( move w)"),
        ("WHILE c( frontIsClear c) w( move w)", "WHILE c( not c( frontIsClear c) c) w( move w)"),
        ("IF c( not c( leftIsClear c) c) i( move i)", "IF c( not c( frontIsClear c) c) i( move i)"),
    ],
)
def test_changes_of_several_statements_add_up(before: str, after: str) -> None:
    assert distance(f"{before} " * 3, f"{after} " * 3) == 3


def test_wrapping_ten_statements_in_a_loop_is_one_edit() -> None:
    assert distance("move " * 10, f"REPEAT R=2 r( {'move ' * 10} r)") == 1


def test_an_else_around_statements_that_were_there_is_two_edits() -> None:
    """The IF becomes an IFELSE, and the ELSE is added."""
    before = "IF c( frontIsClear c) i( move i) turnLeft"
    assert distance(before, "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e)") == 2


def test_an_else_with_a_new_action_is_three_edits() -> None:
    before = "IF c( frontIsClear c) i( move i)"
    assert distance(before, "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e)") == 3


def test_moving_the_end_of_a_block_is_one_edit() -> None:
    assert distance("REPEAT R=2 r( move r) turnLeft", "REPEAT R=2 r( move turnLeft r)") == 1


def test_a_program_is_listed_statement_by_statement() -> None:
    body = "IFELSE c( not c( frontIsClear c) c) i( move i) ELSE e( REPEAT R=3 r( turnLeft r) e) putMarker"
    assert statement_list(program(body)) == [
        "IFELSE c( not c( frontIsClear c) c)",
        "move",
        "ELSE",
        "REPEAT R=3",
        "turnLeft",
        "putMarker",
    ]


# A distance


@settings(max_examples=60)
@given(programs, programs)
def test_the_distance_is_symmetric(a: Program, b: Program) -> None:
    assert apart(a, b) == apart(b, a)


@settings(max_examples=60)
@given(programs)
def test_a_program_has_distance_0_to_itself(a: Program) -> None:
    assert apart(a, Program(a.body)) == 0


@settings(max_examples=60)
@given(programs, programs)
def test_only_equal_programs_have_distance_0(a: Program, b: Program) -> None:
    assert (apart(a, b) == 0) == (a == b)


@settings(max_examples=60)
@given(programs, programs, programs)
def test_the_triangle_inequality_holds(a: Program, b: Program, c: Program) -> None:
    assert apart(a, c) <= apart(a, b) + apart(b, c)


@settings(max_examples=60)
@given(programs, st.data())
def test_wrapping_any_statements_in_a_loop_is_one_edit(a: Program, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(a.body) - 1))
    last = data.draw(st.integers(first + 1, len(a.body)))
    wrapped = (*a.body[:first], Repeat(2, a.body[first:last]), *a.body[last:])
    assert apart(a, Program(wrapped)) == 1


@settings(max_examples=60)
@given(programs, programs)
def test_no_distance_exceeds_the_statements_of_the_longer_program(a: Program, b: Program) -> None:
    assert apart(a, b) <= max(len(statement_list(a)), len(statement_list(b)))


@settings(max_examples=60)
@given(programs)
def test_every_statement_is_listed(a: Program) -> None:
    assert len([item for item in statement_list(a) if item != "ELSE"]) == len(list(walk(a)))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("kitten", "sitting", 3),
        ("", "abc", 3),
        ("abc", "", 3),
        ("", "", 0),
        ("flaw", "lawn", 2),
        ("ab", "ba", 2),
    ],
)
def test_the_distance_of_lists_is_levenshteins(a: str, b: str, expected: int) -> None:
    assert levenshtein(*(np.array([ord(letter) for letter in word], np.int64) for word in (a, b))) == expected
    assert fewest_edits(a, b) == expected  # what the distances below are compared with


# As its definition says, for many programs at once


@settings(max_examples=100)
@given(programs, programs)
def test_the_distance_is_that_of_the_lists_of_statements(a: Program, b: Program) -> None:
    assert apart(a, b) == expected_distance(a, b)


@settings(max_examples=60)
@given(programs, st.lists(programs, min_size=1, max_size=5), st.integers(0, 7), st.integers(0, 7))
def test_distances_of_a_batch_equal_those_of_single_programs(
    origin: Program, others: list[Program], more: int, padding: int
) -> None:
    """However much padding there is, at the end of the one as of the others."""
    rows = [row_of(other) for other in (*others, origin)]
    batch = LANGUAGE.batch(rows, max(map(len, rows)) + more)
    padded = np.pad(row_of(origin), (0, padding), constant_values=LANGUAGE.pad)
    expected = [expected_distance(origin, other) for other in (*others, origin)]
    assert edit_distances(padded, batch, LANGUAGE).tolist() == expected


@pytest.mark.parametrize(("more", "padding"), [(0, 0), (4, 0), (0, 4), (3, 5)])
def test_padding_is_no_edit(more: int, padding: int) -> None:
    body = row_of(program("move turnLeft"))
    origin, other = (np.pad(body, (0, n), constant_values=LANGUAGE.pad) for n in (more, padding))
    assert edit_distances(origin, other[None], LANGUAGE).tolist() == [0]


def test_a_long_programs_distances_are_exact_too() -> None:
    """More statements than random programs have, and blocks within blocks within blocks."""
    deep = program("WHILE c( frontIsClear c) w( turnLeft " * 40 + "move " + "w) " * 40)
    changed = program(
        "WHILE c( frontIsClear c) w( turnLeft " * 20
        + "IF c( frontIsClear c) i( turnLeft " * 3
        + "WHILE c( frontIsClear c) w( turnLeft " * 15
        + "move "
        + "w) " * 15
        + "i) " * 3
        + "w) " * 20
    )
    assert apart(deep, changed) == expected_distance(deep, changed) == 7


@pytest.mark.parametrize(
    ("language", "rows"),
    [
        (LANGUAGE, sample_programs(LANGUAGE, PROGRAMS, 40, seed=3)),
        (HOOVER.language, sample_programs(HOOVER.language, HOOVER.programs, 40, seed=3)),
    ],
    ids=["Karel", "Hoover"],
)
def test_programs_of_any_language_have_distances(language: Language, rows: NDArray[np.uint8]) -> None:
    trees = [parse(language.text(row), language) for row in rows]
    for number in range(5):
        expected = [expected_distance(trees[number], tree) for tree in trees]
        assert edit_distances(rows[number], rows, language).tolist() == expected
        assert [edit_distance(trees[number], tree, language) for tree in trees] == expected


def test_an_edit_of_another_languages_program_is_one() -> None:
    before, after = (
        program(body, HOOVER.language)
        for body in ("REPEAT R=3 r( suck forward r)", "WHILE c( not c( bump c) c) w( suck forward w)")
    )
    assert edit_distance(before, after, HOOVER.language) == 1


def test_counting_edits_changes_no_program() -> None:
    origin, batch = row_of(program("move turnLeft")), row_of(program("move putMarker"))[None]
    before = origin.copy(), batch.copy()
    edit_distances(origin, batch, LANGUAGE)
    np.testing.assert_array_equal(origin, before[0])
    np.testing.assert_array_equal(batch, before[1])


def test_no_programs_have_no_distances() -> None:
    none = np.zeros((0, 20), np.uint8)
    assert edit_distances(row_of(program("move")), none, LANGUAGE).tolist() == []
