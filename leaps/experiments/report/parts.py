"""Parts of a section, before they are written as Markdown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Words:
    """A paragraph, with `code` in it."""

    text: str


@dataclass(frozen=True)
class Picture:
    name: str
    """of its file, without a suffix"""
    label: str
    """for screen readers"""
    draw: Callable[[], bytes]
    """makes the SVG"""


@dataclass(frozen=True)
class Listing:
    """A table; cells have `code` in them."""

    label: str
    """tells a section's tables apart; it is not written"""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Code:
    """A program on lines of its own."""

    text: str


@dataclass(frozen=True)
class SideBySide:
    """Programs side by side."""

    entries: tuple[tuple[str, str], ...]
    """the line above, with `code` in it, and the indented program"""


Part = Heading | Words | Picture | Listing | Code | SideBySide


def pictures_of(parts: Sequence[Part]) -> list[Picture]:
    """The pictures among them; their names are those of files, so each has its own."""
    pictures = [part for part in parts if isinstance(part, Picture)]
    names = [picture.name for picture in pictures]
    if len(set(names)) < len(names):
        raise ValueError(f"expected pictures of different names, found {', '.join(names)}")
    return pictures
