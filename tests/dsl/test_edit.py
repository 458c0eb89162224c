"""Programs are as many edits apart as the paper's debugging study counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaps.dsl.edit import edit_distance, levenshtein, statement_list
from leaps.dsl.syntax import Program, Repeat, walk
from leaps.dsl.text import parse
from leaps.karel.world import LANGUAGE
from tests.strategies import programs


def program(body: str) -> Program:
    return parse(f"DEF run m( {body} m)", LANGUAGE)


def distance(a: str, b: str) -> int:
    return edit_distance(program(a), program(b))


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
def test_the_way_back_is_as_long(a: Program, b: Program) -> None:
    assert edit_distance(a, b) == edit_distance(b, a)


@settings(max_examples=60)
@given(programs)
def test_a_program_is_no_edit_from_itself(a: Program) -> None:
    assert edit_distance(a, Program(a.body)) == 0


@settings(max_examples=60)
@given(programs, programs)
def test_only_equal_programs_are_no_edit_apart(a: Program, b: Program) -> None:
    assert (edit_distance(a, b) == 0) == (a == b)


@settings(max_examples=60)
@given(programs, programs, programs)
def test_no_detour_is_shorter(a: Program, b: Program, c: Program) -> None:
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


@settings(max_examples=60)
@given(programs, st.data())
def test_wrapping_any_statements_in_a_loop_is_one_edit(a: Program, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(a.body) - 1))
    last = data.draw(st.integers(first + 1, len(a.body)))
    wrapped = (*a.body[:first], Repeat(2, a.body[first:last]), *a.body[last:])
    assert edit_distance(a, Program(wrapped)) == 1


@settings(max_examples=60)
@given(programs, programs)
def test_no_distance_is_longer_than_writing_the_longer_program_anew(a: Program, b: Program) -> None:
    assert edit_distance(a, b) <= max(len(statement_list(a)), len(statement_list(b)))


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
    assert levenshtein(a, b) == expected
