"""Parts of a report section, independent of Markdown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Words:
    """A paragraph that may contain `code`."""

    text: str


@dataclass(frozen=True)
class Picture:
    name: str
    """file name without suffix"""
    label: str
    """alternative text for screen readers"""
    draw: Callable[[], bytes]
    """returns the SVG"""


@dataclass(frozen=True)
class Listing:
    """A table whose cells may contain `code`."""

    label: str
    """name that distinguishes a section's tables; not shown"""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Code:
    """A program as a code block."""

    text: str


@dataclass(frozen=True)
class SideBySide:
    """Programs side by side."""

    entries: tuple[tuple[str, str], ...]
    """caption, which may contain `code`, and indented program"""


Part = Heading | Words | Picture | Listing | Code | SideBySide


def pictures_of(parts: Sequence[Part]) -> list[Picture]:
    """The pictures among parts. Their names must differ, since they name files."""
    pictures = [part for part in parts if isinstance(part, Picture)]
    names = [picture.name for picture in pictures]
    if len(set(names)) < len(names):
        raise ValueError(f"expected pictures of different names, found {', '.join(names)}")
    return pictures
