"""Completion at the cursor offers the tokens that the mask allows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaps.dsl.language import Language
from leaps.dsl.mask import SyntaxMask
from leaps.dsl.syntax import Program, tokens_of
from leaps.karel.world import LANGUAGE
from leaps.studio.completion import complete, kinds_of
from leaps.studio.requests import RequestError
from leaps.studio.spans import Source
from tests.strategies import programs


def labels(text: str, cursor: int | None = None) -> list[str]:
    result = complete(Source(text), len(text) if cursor is None else cursor, LANGUAGE)
    return [option["label"] for option in result["options"]]


@given(programs, st.data())
def test_options_are_the_tokens_that_the_mask_allows(program: Program, data: st.DataObject) -> None:
    tokens = tokens_of(program)[:390]
    written = tokens[: data.draw(st.integers(0, len(tokens)))]
    mask = SyntaxMask(LANGUAGE, 1, 400)
    for token in LANGUAGE.encode(written):
        mask.advance(np.array([token]))
    allowed = {LANGUAGE.tokens[i] for i in np.flatnonzero(mask.allowed()[0])} - {"<pad>"}
    assert set(labels(" ".join([*written, ""]))) == allowed
    begun = data.draw(st.sampled_from(["m", "R=", "tu", "WHI"]))
    assert set(labels(" ".join([*written, begun]))) == allowed


def test_empty_text_offers_def_and_complete_program_offers_nothing() -> None:
    assert labels("") == ["DEF"]
    assert labels("DEF run m( move m) ") == []


def test_the_word_at_the_cursor_is_replaced() -> None:
    text = "DEF run m( move m)"
    assert complete(Source(text), 13, LANGUAGE)["from"] == 11
    assert complete(Source(text), 15, LANGUAGE)["from"] == 11
    assert complete(Source(text), 11, LANGUAGE)["from"] == 11
    assert complete(Source(text), 10, LANGUAGE)["from"] == 8
    assert labels(text, 10) == ["m("]
    assert "turnLeft" in labels(text, 13)
    assert "m)" in labels(text, 16)


def test_nothing_is_offered_after_an_error() -> None:
    assert labels("DEF run m( jump ") == []
    assert labels("DEF m( ") == []
    assert labels("DEF run m( <pad> ") == []


def test_tokens_are_offered_after_a_comment_but_not_inside() -> None:
    text = "DEF run # m( mo\n m"
    assert labels(text, 15) == []
    assert labels(text) == ["m("]
    assert labels(text, 8) == ["m("]


def test_offsets_are_in_utf16_units() -> None:
    text = "# 🐢\nDEF ru"
    result = complete(Source(text), len(text) + 1, LANGUAGE)
    assert result["from"] == text.index("ru") + 1
    assert [option["label"] for option in result["options"]] == ["run"]


def test_cursor_outside_the_text_raises() -> None:
    assert complete(Source("DEF"), 3, LANGUAGE)["from"] == 0
    with pytest.raises(RequestError, match="cursor: expected 0 to 3, found 4"):
        complete(Source("DEF"), 4, LANGUAGE)


def test_near_the_maximum_length_only_tokens_that_fit_are_offered() -> None:
    text = "DEF run m( " + "move " * 395
    assert set(labels(text)) == {*LANGUAGE.actions, "m)"}
    assert labels(text + "move ") == ["m)"]
    assert labels(text + "move " * 20) == []


def test_tokens_have_kinds() -> None:
    kinds = kinds_of(LANGUAGE)
    assert list(kinds) == list(LANGUAGE.tokens[:-1])
    assert kinds["move"] == "action"
    assert kinds["markersPresent"] == "perception"
    assert kinds["R=19"] == "count"
    assert {kinds[token] for token in ("DEF", "run", "not", "ELSE", "REPEAT")} == {"keyword"}
    assert {kinds[token] for token in ("m(", "c)", "e(", "w)")} == {"bracket"}


def test_tokens_are_from_the_given_language() -> None:
    language = Language(("go", "wait"), ("lit",), max_repeat=1)
    found = complete(Source("DEF run m( IF c( "), 17, language)
    assert found["options"] == [
        {"label": "lit", "kind": "perception"},
        {"label": "not", "kind": "keyword"},
    ]
    assert complete(Source("DEF run m( move "), 16, language)["options"] == []
