"""The font of pictures, and line breaks in captions."""

from functools import cache

from PIL import ImageFont

BASELINE = 0.355
"""distance from the middle of a digit down to the baseline, in font sizes"""


@cache
def font(size: float) -> ImageFont.FreeTypeFont:
    """Load Pillow's default font. size: in pixels."""
    loaded = ImageFont.load_default(size)
    assert isinstance(loaded, ImageFont.FreeTypeFont)
    return loaded


def caption_size(width: int) -> float:
    """Choose the font size of captions for a picture of this width in pixels."""
    return float(min(18, max(12, width // 32)))


def printable(text: str) -> str:
    """Remove characters that a font or XML can't represent."""
    return "".join(character for character in text if character.isprintable())


def wrap(caption: str, width: int) -> list[str]:
    """Break a caption into lines that fit below a picture of this width in pixels."""
    size = caption_size(width)
    length = font(size).getlength
    lines = []
    for paragraph in caption.splitlines():
        rest = printable(paragraph).strip()
        while rest:
            fitting = len(rest)
            while fitting > 1 and length(rest[:fitting]) > width - size:
                fitting -= 1
            if fitting < len(rest) and " " in rest[: fitting + 1]:
                fitting = rest.rindex(" ", 0, fitting + 1)
            lines.append(rest[:fitting].rstrip())
            rest = rest[fitting:].lstrip()
    return lines
