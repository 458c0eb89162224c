"""Films of rollouts, as GIF."""

import io
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from leaps.base.files import write_atomically
from leaps.karel.draw import palette
from leaps.karel.draw.grid import cell_size
from leaps.karel.draw.layout import lay_out
from leaps.karel.draw.lettering import wrap
from leaps.karel.draw.pixels import render
from leaps.karel.draw.shapes import Picture
from leaps.karel.draw.trail import Trail
from leaps.karel.world import World

LARGEST_CELL = 28
MOST_PIXELS = 640
"""maximum length of a film's longer side, unless the size of a cell is given"""
FADE = 24
"""number of steps over which the path fades; with all steps, the whole path would change in every frame"""
MOST_FRAMES = 300
HOLD_MILLISECONDS = 1500
LEAST_MILLISECONDS = 20
"""shortest time of a frame: GIF counts in hundredths of a second, and browsers slow down frames shorter than
two of them"""


def save_gif(
    frames: Sequence[World],
    file: Path,
    *,
    milliseconds: int = 120,
    cell: int | None = None,
    captions: Sequence[str] | None = None,
) -> None:
    """Save a rollout as a GIF that loops and holds its last frame for 1.5 s.

    `captions`: one per frame. A long rollout is thinned evenly to `MOST_FRAMES` frames, but its path is
    complete. Identical consecutive frames are stored as one with a longer time.
    """
    if not frames:
        raise ValueError("a film needs at least one frame, found none")
    if captions is not None and len(captions) != len(frames):
        raise ValueError(f"expected a caption per frame, found {len(captions)} for {len(frames)} frames")
    if strange := {frame.size for frame in frames} - {frames[0].size}:
        (height, width), (other_height, other_width) = frames[0].size, strange.pop()
        raise ValueError(
            f"all frames of a film must have the same size, found {height}x{width} and "
            f"{other_height}x{other_width}"
        )
    if milliseconds < LEAST_MILLISECONDS:
        raise ValueError(
            f"a frame must be shown for at least {LEAST_MILLISECONDS} milliseconds, found {milliseconds}"
        )
    colours = _colour_table()
    images = [
        render(picture).quantize(palette=colours, dither=Image.Dither.NONE)
        for picture in _pictures(frames, captions or [""] * len(frames), cell)
    ]
    buffer = io.BytesIO()
    images[0].save(
        buffer,
        "GIF",
        save_all=True,
        append_images=images[1:],
        duration=[milliseconds] * (len(images) - 1) + [max(milliseconds, HOLD_MILLISECONDS)],
        loop=0,
        palette=bytes(colours.getpalette() or ()),  # otherwise each frame gets its own palette
        optimize=True,  # leaves out unchanged pixels
    )
    write_atomically(file, buffer.getvalue())


def _pictures(frames: Sequence[World], captions: Sequence[str], cell: int | None) -> Iterator[Picture]:
    """Yield the layout of each frame that is shown, all of one size."""
    cell = cell_size(frames[0], cell, largest=LARGEST_CELL, most_pixels=MOST_PIXELS)
    width = frames[0].size[1] * cell
    lines = max(len(wrap(caption, width)) for caption in captions)
    shown = set(np.linspace(0, len(frames) - 1, min(len(frames), MOST_FRAMES)).round().astype(int).tolist())
    trail = Trail()
    for index, frame in enumerate(frames):
        trail.visit(frame.place[:2])
        if index in shown:
            yield lay_out(frame, cell, trail, captions[index], lines=lines, fade=FADE)


def _colour_table() -> Image.Image:
    """Make the colour table of all frames: the palette, and mixed colours for smooth edges."""
    mixed = []
    for a, b in itertools.combinations(palette.COLOURS, 2):
        distance = max(abs(x - y) for x, y in zip(palette.rgb(a), palette.rgb(b), strict=True))
        steps = distance // 14
        mixed += [palette.mix(a, b, step / steps) for step in range(1, steps)]
    table = Image.new("P", (1, 1))
    table.putpalette(b"".join(map(palette.rgb, dict.fromkeys([*palette.COLOURS, *mixed]))))
    return table
