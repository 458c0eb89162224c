"""What may be written at the cursor: the tokens that the decoder's own mask allows there."""

import re
from typing import Any

import numpy as np

from leaps.dsl.language import Kind
from leaps.dsl.mask import SyntaxMask
from leaps.karel.world import LANGUAGE
from leaps.studio.requests import TOKENS, RequestError
from leaps.studio.spans import Source

_COMMENT_OR_WORD = re.compile(r"#[^\n]*|[^\s#]+")


def kind_of(token: str) -> str:
    """What a token is to people who choose among them."""
    kind = Kind(int(LANGUAGE.kinds[LANGUAGE.ids[token]]))
    named = {Kind.ACTION: "action", Kind.PERCEPTION: "perception", Kind.COUNT: "count"}
    return named.get(kind, "bracket" if token[-1] in "()" else "keyword")


def allowed_after(tokens: list[str]) -> list[str]:
    """The tokens that may follow; none if those are no beginning of a program, or a whole one."""
    mask = SyntaxMask(LANGUAGE, batch=1, max_length=TOKENS)
    try:
        for identity in LANGUAGE.encode(tokens):
            mask.advance(np.array([identity]))
    except ValueError:
        return []
    return [name for name, fits in zip(LANGUAGE.tokens[:-1], mask.allowed()[0], strict=False) if fits]


def complete(source: Source, cursor: int) -> dict[str, Any]:
    """Say what the word at the cursor (in UTF-16 units) may be, and where it begins."""
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
    options = [] if len(before) > TOKENS else allowed_after(before)
    return {
        "from": source.offset(begin),
        "options": [{"label": token, "kind": kind_of(token)} for token in options],
    }
