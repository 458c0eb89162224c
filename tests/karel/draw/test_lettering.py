import pytest

from leaps.karel.draw.lettering import caption_size, font, printable, wrap

CAPTION = "the quick brown fox jumps over the lazy dog and comes home late in the evening"


def test_a_long_caption_is_broken_at_spaces() -> None:
    lines = wrap(CAPTION, 168)
    assert len(lines) > 1
    assert " ".join(lines) == CAPTION


@pytest.mark.parametrize("width", [60, 168, 400, 900])
@pytest.mark.parametrize("caption", [CAPTION, CAPTION.replace(" ", "")])
def test_lines_fit(width: int, caption: str) -> None:
    length = font(caption_size(width)).getlength
    assert max(length(line) for line in wrap(caption, width)) < width


def test_a_word_that_is_too_long_is_broken() -> None:
    lines = wrap("m" * 100, 168)
    assert len(lines) > 1
    assert "".join(lines) == "m" * 100


def test_a_picture_too_narrow_for_a_letter_has_a_letter_a_line() -> None:
    assert wrap("ab c", 1) == ["a", "b", "c"]


def test_lines_of_a_caption_stay_lines() -> None:
    assert wrap("one\n\n  two ", 500) == ["one", "two"]


@pytest.mark.parametrize("caption", ["", "  \n ", "\x00"])
def test_an_empty_caption_has_no_lines(caption: str) -> None:
    assert wrap(caption, 500) == []


def test_unprintable_characters_are_left_out() -> None:
    assert printable("a\x00\x1bb ü") == "ab ü"


@pytest.mark.parametrize(("width", "size"), [(60, 12), (480, 15), (960, 18)])
def test_a_wider_picture_has_larger_letters(width: int, size: float) -> None:
    assert caption_size(width) == size
