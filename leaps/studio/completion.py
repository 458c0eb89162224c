"""Completion: the tokens that the syntax mask allows at the cursor."""

import re
from typing import Any

import numpy as np

from leaps.dsl.language import PAD, Kind, Language
from leaps.dsl.mask import SyntaxMask
from leaps.studio.requests import TOKENS, RequestError
from leaps.studio.spans import Source

_COMMENT_OR_WORD = re.compile(r"#[^\n]*|[^\s#]+")


_NAMED = {Kind.ACTION: "action", Kind.PERCEPTION: "perception", Kind.COUNT: "count"}


def kinds_of(language: Language) -> dict[str, str]:
    """Return the tokens of a language, each with its kind for colours and completion."""
    return {
        token: _NAMED.get(Kind(kind), "bracket" if token[-1] in "()" else "keyword")
        for token, kind in zip(language.tokens, language.kinds.tolist(), strict=True)
        if token != PAD
    }


def allowed_after(tokens: list[str], language: Language) -> list[str]:
    """List the tokens that may follow; none after a complete program or an error."""
    mask = SyntaxMask(language, batch=1, max_length=TOKENS)
    try:
        for identity in language.encode(tokens):
            mask.advance(np.array([identity]))
    except ValueError:
        return []
    return [name for name, fits in zip(language.tokens[:-1], mask.allowed()[0], strict=False) if fits]


def complete(source: Source, cursor: int, language: Language) -> dict[str, Any]:
    """List the tokens that fit the word at the cursor (in UTF-16 units), and the start of that word."""
    if cursor > source.units:
        raise RequestError(f"cursor: expected 0 to {source.units}, found {cursor}")
    here = source.character(cursor)
    begin, before = here, []
    for match in _COMMENT_OR_WORD.finditer(source.text):
        comment = match.group().startswith("#")
        if match.start() >= here:
            break
        if match.end() >= here:
            if comment:
                return {"from": source.offset(here), "options": []}
            begin = match.start()
        elif not comment:
            before.append(match.group())
    options = [] if len(before) > TOKENS else allowed_after(before, language)
    kinds = kinds_of(language)
    return {
        "from": source.offset(begin),
        "options": [{"label": token, "kind": kinds[token]} for token in options],
    }
