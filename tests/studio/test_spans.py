"""Spans of statements and errors, in UTF-16 units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaps.dsl.language import Language
from leaps.dsl.syntax import Program, head_tokens, walk
from leaps.dsl.text import to_indented, to_line
from leaps.karel.world import LANGUAGE
from leaps.studio.requests import RequestError
from leaps.studio.spans import Reading, Source, check, kind_of, read
from tests.strategies import programs


def read_karel(text: str) -> Reading:
    return read(text, LANGUAGE)


def cut(text: str, span: list[int]) -> str:
    """Return the text in a span, as a browser counts."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * span[0] : 2 * span[1]].decode("utf-16-le", "surrogatepass")


@given(programs, st.booleans())
def test_spans_contain_the_heads_of_the_statements(program: Program, indented: bool) -> None:
    text = to_indented(program) if indented else to_line(program)
    heads = [" ".join(head_tokens(statement)) for statement in walk(program)]
    if len(text) <= 4000 and len(text.split()) <= 400:
        assert [cut(text, span) for span in read_karel(text).heads()] == heads


def test_head_may_be_spread_over_lines_and_comments() -> None:
    text = "DEF run m(\n WHILE # as long as\n  c( frontIsClear\n c) w( move w) m)"
    spans = read_karel(text).heads()
    assert cut(text, spans[0]) == "WHILE # as long as\n  c( frontIsClear\n c)"
    assert cut(text, spans[1]) == "move"


@pytest.mark.parametrize("comment", ["# é", "# 🐢", "# \ud83d alone", "# 🐢🐢 ü"])
def test_spans_after_other_scripts_are_in_utf16_units(comment: str) -> None:
    text = f"{comment}\nDEF run m( move {comment}\n turnLeft m)"
    assert [cut(text, span) for span in read_karel(text).heads()] == ["move", "turnLeft"]


@given(st.text())
def test_character_is_the_inverse_of_offset(text: str) -> None:
    source = Source(text)
    assert source.units == len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert [source.character(source.offset(i)) for i in range(len(text) + 1)] == [*range(len(text) + 1)]


def test_offset_inside_a_surrogate_pair_is_at_its_character() -> None:
    assert Source("a🐢b").character(2) == 1


def test_check_returns_both_forms() -> None:
    result = check(
        read_karel("DEF run m( IFELSE c( not c( frontIsClear c) c) i( turnLeft i) ELSE e( move e) m)")
    )
    assert result["valid"]
    assert result["tokens"] == 18
    assert result["indented"].splitlines()[1] == "  IFELSE c( not c( frontIsClear c) c) i("
    assert result["line"].startswith("DEF run m( IFELSE")
    assert len(result["statements"]) == 3


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("DEF run m( jump m)", "'jump' is not a token", "jump"),
        ("# 🐢\nDEF run m( jump m)", "'jump' is not a token", "jump"),
        ("DEF run m( move WHILE m)", "found 'm)', expected c(", "m)"),
        ("DEF run m( move", "the program ends here", "move"),
        ("DEF run m( move # and so on\n\n", "the program ends here", "move"),
        ("", "the text is empty", ""),
        ("  ", "the text is empty", "  "),
    ],
)
def test_error_has_the_span_of_the_wrong_word(text: str, message: str, where: str) -> None:
    result = check(read_karel(text))
    assert not result["valid"]
    assert message in result["error"]["message"]
    assert "\n" not in result["error"]["message"]
    assert cut(text, result["error"]["span"]) == where


def test_too_many_tokens_is_an_error() -> None:
    longest = "DEF run m( " + "move " * 396 + "m)"
    assert check(read_karel(longest))["tokens"] == 400
    text = "DEF run m( " + "move " * 397 + "m)"
    result = check(read_karel(text))
    assert result["error"]["message"] == "a program has at most 400 tokens, found 401"
    assert cut(text, result["error"]["span"]) == "m)"


def test_too_many_characters_is_an_error() -> None:
    text = "DEF run m( move m)" + " " * 3983
    result = check(read_karel(text))
    assert result["error"] == {
        "message": "a program has at most 4,000 characters, found 4,001",
        "span": [4000, 4001],
    }
    assert check(read_karel(text[:4000]))["valid"]


def test_program_of_an_invalid_text_raises_its_message() -> None:
    with pytest.raises(RequestError, match="found 'm\\)', expected c\\("):
        _ = read_karel("DEF run m( IF m)").program


@given(st.text(max_size=60))
def test_check_accepts_any_text(text: str) -> None:
    result = check(read_karel(text))
    if not result["valid"]:
        start, end = result["error"]["span"]
        assert 0 <= start <= end <= Source(text).units


def test_statements_have_kinds() -> None:
    text = (
        "DEF run m( move WHILE c( frontIsClear c) w( IF c( frontIsClear c) i( move i) w) REPEAT R=2 r( "
        "IFELSE c( frontIsClear c) i( move i) ELSE e( move e) r) m)"
    )
    kinds = [kind_of(statement) for statement in walk(read_karel(text).program)]
    assert kinds == ["action", "while", "if", "action", "repeat", "ifelse", "action", "action"]


def test_heads_use_the_given_language() -> None:
    language = Language(("go", "wait"), ("lit",), max_repeat=1)
    text = "DEF run m( go WHILE c( lit c) w( wait w) m)"
    assert [cut(text, span) for span in read(text, language).heads()] == ["go", "WHILE c( lit c)", "wait"]
    assert "'move' is not a token" in check(read("DEF run m( move m)", language))["error"]["message"]
