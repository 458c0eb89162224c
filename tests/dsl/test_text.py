"""Programs are read and printed, and errors point at the wrong token."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaps.dsl.language import Language
from leaps.dsl.sample import sample_programs
from leaps.dsl.syntax import MAX_NESTING, Action, Program, tokens_of
from leaps.dsl.text import PREFIX, PREFIX_IDS, ProgramError, parse, to_indented, to_line, words
from leaps.dsl.text import read as read_tokens
from leaps.karel.world import LANGUAGE, PROGRAMS
from tests.dsl.helpers import GOLDEN
from tests.hoover import HOOVER
from tests.strategies import programs

STATEMENT = "an action (move, turnRight, turnLeft, pickMarker, putMarker), REPEAT, IF, IFELSE or WHILE"
PERCEPTION = "a perception (frontIsClear, leftIsClear, rightIsClear, markersPresent, noMarkersPresent)"


def read(text: str) -> Program:
    return parse(text, LANGUAGE)


def error(text: str) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        read(text)
    return caught.value


# Reading and printing


def test_the_golden_programs_are_printed_as_they_were_read() -> None:
    assert [to_line(read(text)) for text in GOLDEN] == list(GOLDEN)


def test_the_golden_programs_survive_being_indented() -> None:
    assert [to_line(read(to_indented(read(text)))) for text in GOLDEN] == list(GOLDEN)


def test_random_programs_are_printed_as_they_were_read() -> None:
    rows = sample_programs(LANGUAGE, PROGRAMS, 1000, seed=1)
    texts = [LANGUAGE.text(row) for row in rows]
    assert [to_line(read(text)) for text in texts] == texts


@given(programs)
def test_a_line_reads_back_as_the_same_tree(program: Program) -> None:
    assert read(to_line(program)) == program


@given(programs)
def test_the_indented_form_reads_back_as_the_same_tree(program: Program) -> None:
    assert read(to_indented(program)) == program


def test_the_indented_form_has_a_statement_a_line() -> None:
    text = (
        "DEF run m( WHILE c( not c( frontIsClear c) c) w( REPEAT R=3 r( turnLeft r) "
        "IFELSE c( markersPresent c) i( pickMarker move i) ELSE e( putMarker e) w) m)"
    )
    assert (
        to_indented(read(text))
        == """\
DEF run m(
  WHILE c( not c( frontIsClear c) c) w(
    REPEAT R=3 r(
      turnLeft
    r)
    IFELSE c( markersPresent c) i(
      pickMarker
      move
    i) ELSE e(
      putMarker
    e)
  w)
m)"""
    )


@given(programs, st.data())
def test_white_space_does_not_matter(program: Program, data: st.DataObject) -> None:
    space = st.text(" \t\n\r\f\v\u00a0\u3000", min_size=1, max_size=3)
    text = "".join(data.draw(space) + token for token in tokens_of(program)) + data.draw(space)
    assert read(text) == program


@given(programs, st.data())
def test_comments_do_not_matter(program: Program, data: st.DataObject) -> None:
    comment = st.text(st.characters(exclude_characters="\n"), max_size=5).map(lambda text: f"#{text}\n")
    gap = st.sampled_from([" "]) | comment
    text = "".join(data.draw(gap) + token for token in tokens_of(program)) + data.draw(gap)
    assert read(text) == program


def test_a_comment_may_follow_a_token_at_once() -> None:
    assert read("DEF run m( move# ahead\nm)#the end") == Program((Action("move"),))


def test_a_comment_hides_tokens() -> None:
    assert read("DEF run m( move # turnLeft\n m)") == Program((Action("move"),))


def test_words_know_where_they_start() -> None:
    assert [tuple(word) for word in words(" DEF  run # x\n m(")] == [("DEF", 1), ("run", 6), ("m(", 15)]


# Pointing at mistakes: the whole message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "DEF run m( move WHILE m)",  # the example of the design page
            """\
token 5: found 'm)', expected c(
  DEF run m( move WHILE m)
                        ^^""",
        ),
        (
            "DEF run m( move WHILE c( frontIsClear c) w( w) m)",
            f"""\
token 9: found 'w)', expected {STATEMENT}
  DEF run m( move WHILE c( frontIsClear c) w( w) m)
                                              ^^""",
        ),
        (
            "DEF run m( turnleft m)",
            """\
token 3: 'turnleft' is not a token of this language; did you mean 'turnLeft'?
  DEF run m( turnleft m)
             ^^^^^^^^""",
        ),
        (
            "DEF run m( REPEAT R=20 r( move r) m)",
            """\
token 4: found 'R=20', expected R=0 to R=19
  DEF run m( REPEAT R=20 r( move r) m)
                    ^^^^""",
        ),
        (
            "DEF run m( REPEAT R=-1 r( move r) m)",
            """\
token 4: found 'R=-1', expected R=0 to R=19
  DEF run m( REPEAT R=-1 r( move r) m)
                    ^^^^""",
        ),
        (
            "DEF run m( move",
            f"""\
token 4: the program ends here, expected m), {STATEMENT}
  DEF run m( move
                  ^""",
        ),
        (
            "DEF run m( move m) turnLeft",
            """\
token 5: found 'turnLeft', expected the end of the program
  DEF run m( move m) turnLeft
                     ^^^^^^^^""",
        ),
        (
            "",
            """\
token 0: the text is empty, expected DEF
  \n  ^""",
        ),
        (
            "DEF run m(\n  move\n  WHILE m)  # oops\nm)\n",
            """\
token 5, line 3: found 'm)', expected c(
    WHILE m)  # oops
          ^^""",
        ),
        (
            "DEF run m(\n  move\n  # and then?\n\n",
            f"""\
token 4, line 2: the program ends here, expected m), {STATEMENT}
    move
         ^""",
        ),
    ],
)
def test_an_error_has_position_found_token_and_expected_tokens(text: str, message: str) -> None:
    assert str(error(text)) == message


# Pointing at mistakes: every kind


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("run m( move m)", "found 'run', expected DEF"),
        ("DEF m( move m)", "found 'm(', expected run"),
        ("DEF run move m)", "found 'move', expected m("),
        ("DEF", "the program ends here, expected run"),
        ("DEF run m(", f"the program ends here, expected {STATEMENT}"),
        ("DEF run m( m)", f"found 'm)', expected {STATEMENT}"),
        ("DEF run m( move w) m)", f"found 'w)', expected m), {STATEMENT}"),
        ("DEF run m( move m) m)", "found 'm)', expected the end of the program"),
        ("DEF run m( REPEAT r( move r) m)", "found 'r(', expected R=0 to R=19"),
        ("DEF run m( REPEAT 5 r( move r) m)", "'5' is not a token of this language; expected R=0 to R=19"),
        ("DEF run m( REPEAT R=007 r( move r) m)", "found 'R=007', expected R=0 to R=19"),
        ("DEF run m( REPEAT R=2 w( move w) m)", "found 'w(', expected r("),
        ("DEF run m( REPEAT R=2 r( r) m)", f"found 'r)', expected {STATEMENT}"),
        ("DEF run m( IF frontIsClear i( move i) m)", "found 'frontIsClear', expected c("),
        ("DEF run m( IF c( move c) i( move i) m)", f"found 'move', expected {PERCEPTION} or not"),
        ("DEF run m( IF c( c) i( move i) m)", f"found 'c)', expected {PERCEPTION} or not"),
        ("DEF run m( IF c( not frontIsClear c) i( move i) m)", "found 'frontIsClear', expected c("),
        (
            "DEF run m( IF c( not c( not c( frontIsClear c) c) c) i( move i) m)",
            f"found 'not', expected {PERCEPTION}",
        ),
        ("DEF run m( IF c( not c( frontIsClear c) i( move i) m)", "found 'i(', expected c)"),
        ("DEF run m( IF c( frontIsClear c) i( i) m)", f"found 'i)', expected {STATEMENT}"),
        (
            "DEF run m( IF c( frontIsClear c) i( move i) ELSE e( move e) m)",
            f"found 'ELSE', expected m), {STATEMENT}",
        ),
        ("DEF run m( IFELSE c( frontIsClear c) i( move i) m)", "found 'm)', expected ELSE"),
        ("DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE i( move i) m)", "found 'i(', expected e("),
        (
            "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( e) m)",
            f"found 'e)', expected {STATEMENT}",
        ),
        (
            "DEF run m( WHILE c( frontIsClear c) w( move m)",
            f"found 'm)', expected {STATEMENT.replace(' or', ', w) or')}",
        ),
        (
            "DEF run m( move m) <pad>",
            "'<pad>' is not a token of this language; expected the end of the program",
        ),
        ("<pad>", "'<pad>' is not a token of this language; expected DEF"),
        (
            "DEF run m( frontIsClaer m)",
            "'frontIsClaer' is not a token of this language; did you mean 'frontIsClear'?",
        ),
        ("DEF run m( qqq m)", f"'qqq' is not a token of this language; expected {STATEMENT}"),
        (" \t\n ", "the text is empty, expected DEF"),
        ("# nothing\n# at all", "the text is empty, expected DEF"),
    ],
)
def test_every_mistake_has_its_message(text: str, problem: str) -> None:
    assert error(text).problem == problem


def test_an_invalid_count_reports_what_is_expected_there() -> None:
    assert error("DEF run m( R=20 m)").problem.endswith(f"expected {STATEMENT}")


def test_a_bare_bracket_is_hinted_at_with_the_bracket_that_fits() -> None:
    assert error("DEF run m( move )").problem.endswith("did you mean 'm)'?")


@pytest.mark.parametrize(("slip", "token"), [("while", "WHILE"), ("MOVE", "move"), ("ifelse", "IFELSE")])
def test_a_token_in_wrong_case_has_a_hint(slip: str, token: str) -> None:
    assert error(f"DEF run m( {slip} m)").problem.endswith(f"did you mean {token!r}?")


def test_an_error_is_a_value_error() -> None:
    assert isinstance(error("move"), ValueError)


def test_an_error_knows_the_tokens_place_in_the_source() -> None:
    source = "DEF run m(\n  move\n  WHILE m)\nm)"
    wrong = error(source)
    assert source[wrong.start : wrong.end] == "m)"


def test_lines_and_columns_count_from_1() -> None:
    wrong = error("DEF run m(\n  move\n  WHILE m)\nm)")
    assert (wrong.line, wrong.column) == (3, 9)


def test_a_comment_is_no_token_to_the_count() -> None:
    assert error("# a\nDEF # b\nrun # c\nmove").token == 2


# Where the caret stands


def shown(wrong: ProgramError) -> str:
    """What of the excerpt stands above the carets."""
    excerpt, carets = str(wrong).split("\n")[-2:]
    return excerpt[carets.index("^") : len(carets)]


@pytest.mark.parametrize("before", [0, 1, 5, 11, 12, 13, 14, 15, 100, 1000])
@pytest.mark.parametrize("after", [0, 1, 6, 7, 8, 9, 100])
def test_the_caret_of_a_long_line_stands_under_the_wrong_word(before: int, after: int) -> None:
    assert shown(error(f"DEF run m( {'move ' * before}IFELSE i( {'move ' * after}")) == "i("


@pytest.mark.parametrize("count", [100, 1000, 100_000])
def test_a_long_line_is_shown_in_part(count: int) -> None:
    wrong = error(f"DEF run m( {'move ' * count}w) {'move ' * count}m)")
    assert max(len(line) for line in str(wrong).split("\n")[1:]) < 80


def test_omitted_parts_of_a_long_line_are_marked() -> None:
    excerpt = str(error(f"DEF run m( {'move ' * 40}w) {'move ' * 40}m)")).split("\n")[1].strip()
    assert (excerpt[0], excerpt[-1]) == ("…", "…")


@settings(max_examples=200)
@given(programs, st.data())
def test_the_caret_stands_under_the_word_that_was_spoilt(program: Program, data: st.DataObject) -> None:
    tokens = tokens_of(program)
    place = data.draw(st.integers(0, len(tokens) - 1))
    gap = data.draw(st.sampled_from([" ", "  ", "\t", "\n", "\r\n", "\n\t\t", " # so\n"]))
    assert shown(error(gap.join([*tokens[:place], "spoilt", *tokens[place + 1 :]]))) == "spoilt"


@settings(max_examples=200)
@given(programs, st.data())
def test_a_spoilt_word_is_named_by_its_number(program: Program, data: st.DataObject) -> None:
    tokens = tokens_of(program)
    place = data.draw(st.integers(0, len(tokens) - 1))
    assert error(" ".join([*tokens[:place], "spoilt", *tokens[place + 1 :]])).token == place


def test_windows_line_ends_are_not_shown() -> None:
    assert str(error("DEF run m(\r\n  move\r\n  WHILE m)\r\nm)\r\n")).split("\n")[1] == "    WHILE m)"


def test_a_tab_takes_one_column_above_the_caret() -> None:
    assert str(error("DEF\trun\tm(\tmove\tWHILE\tm)")).split("\n")[1:] == [
        "  DEF run m( move WHILE m)",
        "                        ^^",
    ]


def test_the_caret_of_a_missing_end_stands_after_the_last_token() -> None:
    assert str(error("DEF run m(\r\n\tmove\r\n\r\n")).split("\n")[1:] == ["   move", "        ^"]


# Malicious texts


def test_the_deepest_nesting_is_read() -> None:
    depth = MAX_NESTING
    text = "DEF run m( " + "REPEAT R=2 r( " * depth + "move " + "r) " * depth + "m)"
    assert to_line(read(to_indented(read(text)))) == text


def test_one_block_more_is_too_deep() -> None:
    depth = MAX_NESTING + 1
    text = "DEF run m( " + "REPEAT R=2 r( " * depth + "move " + "r) " * depth + "m)"
    assert error(text).problem == "blocks are nested deeper than 100"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("REPEAT R=1 r( ", "r) "),
        ("WHILE c( frontIsClear c) w( ", "w) "),
        ("IF c( not c( frontIsClear c) c) i( ", "i) "),
        ("IFELSE c( frontIsClear c) i( move i) ELSE e( ", "e) "),
    ],
)
def test_a_hundred_thousand_nested_blocks_are_an_error(opening: str, closing: str) -> None:
    text = f"DEF run m( {opening * 100_000}move {closing * 100_000}m)"
    assert error(text).problem == "blocks are nested deeper than 100"


def printable_noise() -> str:
    return np.random.default_rng(0).integers(32, 127, 10_000_000, np.uint8).tobytes().decode()


def unicode_noise() -> str:
    points = np.random.default_rng(0).integers(0, 0x110000, 2_500_000, np.uint32)
    return points.tobytes().decode("utf-32-le", "surrogatepass")


NOISE: dict[str, Callable[[], str]] = {
    "printable characters": printable_noise,
    "unicode of all kinds": unicode_noise,
    "one word": lambda: "x" * 10_000_000,
    "one number": lambda: "R=" + "9" * 10_000_000,
    "control characters": lambda: "\x00\x01\x1b" * 3_000_000,
    "opening brackets": lambda: "m( " * 3_000_000,
    "spaces": lambda: " " * 10_000_000,
    "line breaks": lambda: "\n" * 10_000_000,
    "one comment": lambda: "#" * 10_000_000,
}


@pytest.mark.parametrize("start", ["", "DEF run m( move "])
@pytest.mark.parametrize("kind", NOISE)
def test_ten_megabytes_of_noise_give_a_short_message(kind: str, start: str) -> None:
    assert len(str(error(start + NOISE[kind]()))) < 1000


@pytest.mark.parametrize("start", ["", "DEF run m( move "])
@pytest.mark.parametrize("kind", NOISE)
def test_ten_megabytes_of_noise_are_refused_soon(kind: str, start: str) -> None:
    source = start + NOISE[kind]()
    began = time.process_time()
    error(source)
    assert time.process_time() - began < 2


def complaint(text: str) -> str:
    """Say what is wrong with a text; nothing if it is a program."""
    try:
        read(text)
    except ProgramError as wrong:
        return str(wrong)
    return ""


@settings(max_examples=200)
@given(st.text() | st.lists(st.sampled_from(LANGUAGE.tokens)).map(" ".join))
def test_any_text_is_a_program_or_an_error_of_three_lines(text: str) -> None:
    assert len(complaint(text).splitlines()) in (0, 3)


# Token ids


@pytest.mark.parametrize("language", [LANGUAGE, HOOVER.language])
def test_the_prefix_has_the_same_ids_in_every_language(language: Language) -> None:
    assert tuple(language.ids[token] for token in PREFIX) == PREFIX_IDS


def test_a_text_a_tree_and_a_commented_text_have_the_same_token_ids() -> None:
    text = "DEF run m( forward suck m)"
    expected = HOOVER.language.encode(text.split()).tolist()
    for program in (text, parse(text, HOOVER.language), f"# twice\n{text}"):
        assert read_tokens(program, HOOVER.language).tolist() == expected
