"""Pictures are found among the parts, and their files don't overwrite each other."""

import pytest

from leaps.experiments.report.parts import Code, Heading, Listing, Part, Picture, Words, pictures_of


def picture(name: str) -> Picture:
    return Picture(name, "label", lambda: b"<svg/>")


def test_pictures_keep_their_order() -> None:
    one, other = picture("one"), picture("other")
    parts: list[Part] = [Heading("a"), one, Words("b"), Listing("c", ("",), (("",),)), other, Code("d")]
    assert pictures_of(parts) == [one, other]


def test_duplicate_picture_names_raise() -> None:
    with pytest.raises(ValueError, match="expected pictures of different names, found one, one"):
        pictures_of([picture("one"), picture("one")])
