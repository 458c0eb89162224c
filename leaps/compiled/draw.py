"""Worlds of cells and numbers as text and as pictures, for tasks without their own drawing."""

from typing import TYPE_CHECKING

import numpy as np

from leaps.compiled.plain import World

if TYPE_CHECKING:
    from PIL.Image import Image

EMPTY = "."
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
LARGEST, SMALLEST, LONGEST = 22, 6, 640
"""pixels: maximum and minimum size of a character's cell, and the longer side of a picture, which may be
longer with cells of minimum size"""
INK, PAPER = (40, 44, 52), (250, 250, 248)


def to_text(world: World) -> str:
    """Write a world: each plane as rows of digits, planes side by side, and then the numbers.

    >>> print(to_text(World(np.array([[[0, 3], [0, 0]]], np.uint8), np.array([1, -1]))))
    .3
    ..
    1 -1
    """
    planes = [["".join(map(_digit, row)) for row in plane.tolist()] for plane in world.cells]
    rows = ["  ".join(parts) for parts in zip(*planes, strict=True)]
    return "\n".join([*rows, " ".join(map(str, world.numbers.tolist()))])


def _digit(cell: int) -> str:
    if cell == 0:
        return EMPTY
    return DIGITS[cell] if cell < len(DIGITS) else "#"


def to_image(text: str) -> "Image":
    """Draw a text, each character in its own cell."""
    from PIL import Image, ImageDraw, ImageFont

    rows = text.splitlines() or [""]
    across = max(1, *map(len, rows))
    cell = int(np.clip(LONGEST // max(across, len(rows)), SMALLEST, LARGEST))
    image = Image.new("RGB", (across * cell, len(rows) * cell), PAPER)
    canvas = ImageDraw.Draw(image)
    font = ImageFont.load_default(0.8 * cell)
    for row, line in enumerate(rows):
        for column, character in enumerate(line):
            if not character.isspace():
                centre = (column + 0.5) * cell, (row + 0.5) * cell
                canvas.text(centre, character, INK, font, anchor="mm")
    return image
