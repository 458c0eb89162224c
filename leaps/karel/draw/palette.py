"""The colours of a picture."""

PAGE = "#ffffff"
FLOOR = "#fbfaf7"
GRID = "#e3e4e6"
WALL = "#525e73"
MARKER = "#2b6cb0"
KAREL = "#e2571e"
INK = "#2d3748"
"""colour of captions. (The path has Karel's colour, mixed with the floor's in its older parts)"""

COLOURS = (PAGE, FLOOR, GRID, WALL, MARKER, KAREL, INK)


def rgb(colour: str) -> bytes:
    """Convert a colour to red, green and blue, one byte each."""
    return bytes.fromhex(colour[1:])


def mix(old: str, new: str, fraction: float) -> str:
    """Mix two colours: fraction 0 is the old one, 1 the new one.

    >>> mix("#000000", "#ff8000", 0.5)
    '#804000'
    """
    return "#" + bytes(round(a + (b - a) * fraction) for a, b in zip(rgb(old), rgb(new), strict=True)).hex()
