"""The colours of a picture."""

PAGE = "#ffffff"
FLOOR = "#fbfaf7"
GRID = "#e3e4e6"
WALL = "#525e73"
MARKER = "#2b6cb0"
KAREL = "#e2571e"
INK = "#2d3748"
"""of captions; the path has Karel's colour, mixed with the floor's where it is old"""

COLOURS = (PAGE, FLOOR, GRID, WALL, MARKER, KAREL, INK)


def rgb(colour: str) -> bytes:
    """Red, green and blue, a byte each."""
    return bytes.fromhex(colour[1:])


def mix(old: str, new: str, share: float) -> str:
    """Mix two colours: 0 is the old one, 1 the new one.

    >>> mix("#000000", "#ff8000", 0.5)
    '#804000'
    """
    return "#" + bytes(round(a + (b - a) * share) for a, b in zip(rgb(old), rgb(new), strict=True)).hex()
