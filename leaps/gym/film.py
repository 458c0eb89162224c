"""Save an episode as a GIF of the environment's own pictures."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from leaps.base.files import write_atomically
from leaps.domain import Outcome
from leaps.dsl.compiler import Compiled
from leaps.dsl.stepper import Stepper
from leaps.gym.play import walk
from leaps.gym.scene import GymScene
from leaps.gym.seeds import Seeds

if TYPE_CHECKING:
    from PIL.Image import Image

    from leaps.gym.task import GymTask

MILLISECONDS = 40
"""duration of a frame"""


def save_film(task: "GymTask", compiled: Compiled, episodes: Seeds, file: Path) -> None:
    """Save the first program's rollout from the first initial state."""
    frames: list[Image] = []

    class Filmed(GymScene):
        """A scene that takes a picture at every step."""

        def begin(self, seed: int) -> None:
            super().begin(seed)
            frames.append(self.image())

        def act(self, action: int) -> Outcome | None:
            end = super().act(action)
            frames.append(self.image())
            return end

    environment = task.environment(episodes.size, "rgb_array")
    try:
        scene = Filmed(task, environment)
        scene.begin(int(episodes.seeds[0]))
        walk(Stepper(compiled, repeats=task.repeats), scene, task.horizon(episodes.size), whole=True)
    finally:
        environment.close()
    film = BytesIO()
    frames[0].save(film, "GIF", save_all=True, append_images=frames[1:], duration=MILLISECONDS, loop=0)
    write_atomically(file, film.getvalue())
