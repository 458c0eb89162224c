"""Draw a world as coloured text."""

from rich.text import Text

from leaps.karel.world import World

WALL_STYLE, FLOOR_STYLE, MARKER_STYLE, KAREL_STYLE = "#718096", "#8a8f98", "bold #3b82f6", "bold #e2571e"
"""colours that are legible on dark and light terminals"""


def to_text(world: World) -> Text:
    """Draw a world for a terminal, two columns per cell so that cells look square.

    If Karel stands on markers, their number is beside it; ten markers are an A, as in `World.parse`.
    """
    text = Text(no_wrap=True)
    karel_row, karel_column, heading = world.place
    for row, cells in enumerate(world.rows()):
        for column, cell in enumerate(cells):
            if (row, column) == (karel_row, karel_column):
                text.append("▲►▼◄"[heading], KAREL_STYLE)
                text.append(" " if cell == "." else cell, MARKER_STYLE)
            elif cell == "#":
                text.append("██", WALL_STYLE)
            elif cell == ".":
                text.append("· ", FLOOR_STYLE)
            else:
                text.append("10" if cell == "A" else f"{cell} ", MARKER_STYLE)
        if row < world.size[0] - 1:
            text.append("\n")
    return text
