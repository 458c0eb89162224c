"""A task's world that a program acts on step by step, with its display, for traces and the studio."""

from typing import TYPE_CHECKING, Any

from leaps.dsl.interpreter import Outcome
from leaps.karel.interpreter import KarelStage, Reaction
from leaps.karel.world import HEADINGS, World

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.text import Text

    from leaps.karel.tasks.task import KarelTask


class KarelScene(KarelStage):
    """See `leaps.domain.Scene`. Actions change the given world."""

    def __init__(self, task: "KarelTask", world: World, react: Reaction) -> None:
        super().__init__(world, react, task.events)
        self.task, self.start, self.actions = task, world.clone(), 0

    def act(self, action: int) -> Outcome | None:
        self.actions += 1
        return super().act(action)

    def worth(self) -> float:
        return self.task.return_after(self.world, self.start, self.actions)

    def plain(self) -> dict[str, Any]:
        row, column, heading = self.world.place
        return {"grid": self.world.rows(), "agent": [row, column, HEADINGS[heading]]}

    def text(self) -> "Text":
        from leaps.karel.draw import to_text

        return to_text(self.world)

    def image(self) -> "Image":
        from leaps.karel.draw import to_image

        return to_image(self.world)
