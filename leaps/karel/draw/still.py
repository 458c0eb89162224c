"""Draw one world in pixels or as vectors, and save the picture."""

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from leaps.base.files import write_atomically
from leaps.karel.draw.grid import Cell, cell_size
from leaps.karel.draw.layout import lay_out
from leaps.karel.draw.pixels import render
from leaps.karel.draw.trail import Trail
from leaps.karel.draw.vectors import write_svg
from leaps.karel.world import World


def to_image(
    world: World, *, cell: int | None = None, path: Sequence[Cell] = (), caption: str = ""
) -> Image.Image:
    """Draw a world in pixels.

    `cell`: size of a cell in pixels; by default, at most 40, and the picture at most 960 high and wide.
    `path`: cells (row, column) on Karel's path, oldest first; see `path_of`.
    """
    return render(lay_out(world, cell_size(world, cell), Trail(path), caption))


def to_svg(world: World, *, cell: int | None = None, path: Sequence[Cell] = (), caption: str = "") -> str:
    """Draw the same picture as `to_image`, as vectors."""
    return write_svg(lay_out(world, cell_size(world, cell), Trail(path), caption))


def save(
    world: World, file: Path, *, cell: int | None = None, path: Sequence[Cell] = (), caption: str = ""
) -> None:
    """Save a picture, as PNG or SVG by the file's suffix. Missing folders are created."""
    match file.suffix.lower():
        case ".png":
            buffer = io.BytesIO()
            to_image(world, cell=cell, path=path, caption=caption).save(buffer, "PNG", optimize=True)
            write_atomically(file, buffer.getvalue())
        case ".svg":
            write_atomically(file, to_svg(world, cell=cell, path=path, caption=caption).encode())
        case suffix:
            raise ValueError(f"a picture's file must end with .png or .svg, found {suffix!r} in {file}")
