"""Parts of a section, before they are written as Markdown or HTML."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Format = Literal["png", "svg"]


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Words:
    """A paragraph, with `code` in it."""

    text: str
    small: bool = False
    """a remark below a picture or a table"""


@dataclass(frozen=True)
class Picture:
    name: str
    """that its files have"""
    label: str
    """for screen readers"""
    draw: Callable[[Format], bytes]
    palette: Mapping[str, str]
    """its colours by what they are for, as far as a page may have others in the dark"""


@dataclass(frozen=True)
class Listing:
    """A table; cells have `code` in them."""

    label: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Code:
    """A program on lines of its own."""

    text: str


@dataclass(frozen=True)
class Programs:
    """Programs side by side."""

    entries: tuple[tuple[str, str], ...]
    """the line above, with `code` in it, and the indented program"""


Part = Heading | Words | Picture | Listing | Code | Programs


def pictures_of(parts: Sequence[Part]) -> list[Picture]:
    """The pictures among them; their names are those of files, so each has its own."""
    pictures = [part for part in parts if isinstance(part, Picture)]
    names = [picture.name for picture in pictures]
    if len(set(names)) < len(names):
        raise ValueError(f"expected pictures of different names, found {', '.join(names)}")
    return pictures
