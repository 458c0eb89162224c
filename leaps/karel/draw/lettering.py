"""The font, and captions broken into lines."""

from functools import cache

from PIL import ImageFont

BASELINE = 0.355
"""how far below the middle of a digit it stands, in font sizes"""


@cache
def font(size: float) -> ImageFont.FreeTypeFont:
    """Load Pillow's own font, in pixels."""
    loaded = ImageFont.load_default(size)
    assert isinstance(loaded, ImageFont.FreeTypeFont)
    return loaded


def caption_size(width: int) -> float:
    """Choose the size of the font for the caption of a picture so many pixels wide."""
    return float(min(18, max(12, width // 32)))


def printable(text: str) -> str:
    """Leave out what neither a font nor XML knows."""
    return "".join(character for character in text if character.isprintable())


def wrap(caption: str, width: int) -> list[str]:
    """Break a caption into lines that fit below a picture so many pixels wide."""
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
