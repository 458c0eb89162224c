"""The program space as a map: training programs, coordinates of other programs, walks between two."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.syntax import Program
from leaps.dsl.text import to_indented, to_line
from leaps.embedding.space import Space
from leaps.experiments.explore import Plane, line_between, training_programs
from leaps.experiments.trajectory import spread
from leaps.tasks import default_domain

POINTS = 2000
"""training programs on the map"""
DIGITS = 4
"""decimals of coordinates"""


@dataclass(frozen=True)
class LatentMap:
    """The plane in which the latents of the training programs differ most, and some of those programs."""

    space: Space
    plane: Plane
    programs: NDArray[np.uint8]
    coordinates: NDArray[np.float32]

    @staticmethod
    def of(space: Space, count: int = POINTS) -> "LatentMap":
        """Lay out a map of a space with some of its training programs."""
        training = training_programs(space)
        programs = training[spread(len(training), count)]
        latents = space.latent(space.encode(programs))
        plane = Plane.through(latents)
        return LatentMap(space, plane, programs, plane.place(latents))

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The whole map as JSON."""
        rows = zip(plain(self.coordinates), self.programs, strict=True)
        return {
            "points": [[*point, self.space.text(tokens)] for point, tokens in rows],
            "explained": list(self.plane.shares),
        }

    def place(self, programs: list[Program]) -> dict[str, Any]:
        """Compute the coordinates of programs on the map."""
        points = self.space.encode([to_line(program) for program in programs])
        return {"points": plain(self.plane.place(self.space.latent(points)))}

    def walk(self, start: Program, end: Program, steps: int) -> dict[str, Any]:
        """Decode this many points on the line between two programs, and the two ends."""
        domain = default_domain()
        points = line_between(self.space, to_line(start), to_line(end), steps)
        decoded = [domain.parse(self.space.text(tokens)) for tokens in self.space.decode(points)]
        return {
            "programs": [to_indented(program) for program in decoded],
            "points": plain(self.plane.place(self.space.latent(points))),
            "shares": np.linspace(0, 1, steps + 2).round(DIGITS).tolist(),
        }


def plain(coordinates: NDArray[np.float32]) -> list[list[float]]:
    """Round coordinates to the precision of a picture, as plain numbers."""
    rounded: list[list[float]] = coordinates.astype(np.float64).round(DIGITS).tolist()
    return rounded
