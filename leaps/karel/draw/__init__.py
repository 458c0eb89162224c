"""Pictures of worlds (coloured text, PNG and SVG) and of rollouts (GIF).

A picture is laid out once, as layers of four kinds of shapes. `pixels` draws them with Pillow, and `vectors`
writes them as SVG. A task's exits are drawn as floor, since Karel can't see them either.

    world ─► room, trail ─► layout ─► pixels  ─► still, film
                                   └► vectors ─► still
    world ─► terminal                    rollout ─► frames ─► film
"""

from leaps.karel.draw.film import save_gif
from leaps.karel.draw.frames import frames_of_actions, frames_of_program, path_of
from leaps.karel.draw.still import save, to_image, to_svg
from leaps.karel.draw.terminal import to_text

__all__ = [
    "frames_of_actions",
    "frames_of_program",
    "path_of",
    "save",
    "save_gif",
    "to_image",
    "to_svg",
    "to_text",
]
