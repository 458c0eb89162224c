"""An extension of griffe, which reads docstrings for the API page: examples in docstrings become code."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


def fenced(docstring: str) -> str:
    r"""Put doctests into fenced code, since Markdown reads `>>>` as nested quotes.

    >>> fenced("Add.\n\n>>> 1 + 1\n2")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```'
    """
    return EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", docstring)


class Doctests(griffe.Extension):
    """Put the doctests of all docstrings into fenced code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
