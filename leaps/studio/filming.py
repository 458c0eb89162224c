"""A rollout as a GIF."""

from pathlib import Path
from tempfile import TemporaryDirectory

from leaps.karel.draw import frames_of_actions, save_gif
from leaps.studio.requests import RequestError
from leaps.studio.tracing import Rollout

FRAMES = 400
LARGEST = 40
"""cells along a side of a world that is filmed"""
PIXELS, LARGEST_CELL = 400, 28
"""along a film's longer side, and along a cell's; larger films take seconds to make"""


def check_film(rollout: Rollout) -> None:
    if max(rollout.world.size) > LARGEST:
        height, width = rollout.world.size
        raise RequestError(f"a film has at most {LARGEST} cells a side, found {height}x{width}")


def film(rollout: Rollout) -> bytes:
    """Film the beginning of a rollout, which is all of it unless it is very long."""
    actions, _, _ = rollout.actions()
    frames = frames_of_actions(rollout.world, actions[: FRAMES - 1], rollout.hooks)
    with TemporaryDirectory(prefix="leaps-studio-") as folder:
        file = Path(folder) / "rollout.gif"
        save_gif(frames, file, cell=min(LARGEST_CELL, PIXELS // max(rollout.world.size)))
        return file.read_bytes()
