"""The program space of Karel as a map: training programs, places of other programs, walks between two."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.syntax import Program
from leaps.dsl.text import parse, to_indented, to_line
from leaps.embedding.space import Space
from leaps.experiments.explore import Plane
from leaps.experiments.trajectory import spread
from leaps.karel.dataset import DataConfig, unique_programs
from leaps.karel.world import LANGUAGE

POINTS = 2000
"""training programs on the map"""
DIGITS = 4


@dataclass(frozen=True)
class LatentMap:
    """The plane in which the latents of the training programs differ most, and some of those programs."""

    space: Space
    plane: Plane
    programs: NDArray[np.uint8]
    places: NDArray[np.float32]

    @staticmethod
    def of(space: Space, count: int = POINTS) -> "LatentMap":
        """Lay out a map of a space with programs that it was trained on."""
        config = DataConfig(**space.about["data"])
        training = unique_programs(config)[: config.bounds[0]]
        programs = training[spread(len(training), count)]
        latents = space.latent(space.encode(programs))
        plane = Plane.through(latents)
        return LatentMap(space, plane, programs, plane.place(latents))

    @cached_property
    def answer(self) -> dict[str, Any]:
        """All of the map."""
        rows = zip(plain(self.places), self.programs, strict=True)
        return {
            "points": [[*place, self.space.text(tokens)] for place, tokens in rows],
            "explained": list(self.plane.shares),
        }

    def place(self, programs: list[Program]) -> dict[str, Any]:
        """Say where programs are on the map."""
        points = self.space.encode([to_line(program) for program in programs])
        return {"points": plain(self.plane.place(self.space.latent(points)))}

    def walk(self, start: Program, end: Program, steps: int) -> dict[str, Any]:
        """Decode points on the line between two programs: so many between them, and the two ends."""
        first, last = self.space.encode([to_line(start), to_line(end)])
        shares = np.linspace(0, 1, steps + 2)
        points = first + shares.astype(np.float32)[:, None] * (last - first)
        decoded = [self.space.text(tokens) for tokens in self.space.decode(points)]
        return {
            "programs": [to_indented(parse(text, LANGUAGE)) for text in decoded],
            "points": plain(self.plane.place(self.space.latent(points))),
            "shares": shares.round(DIGITS).tolist(),
        }


def plain(places: NDArray[np.float32]) -> list[list[float]]:
    """Places as plain numbers, no finer than a picture shows."""
    rounded: list[list[float]] = places.astype(np.float64).round(DIGITS).tolist()
    return rounded
