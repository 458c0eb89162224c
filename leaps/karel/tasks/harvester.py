"""Harvester: pick up a marker from every cell.

One marker in each cell of a room; Karel in the bottom left corner, facing East. The value of a state is the
share of the markers that are gone, at least 0.

    # # # # # #
    # 1 1 1 1 #
    # 1 1 1 1 #
    # 1 1 1 1 #
    # > 1 1 1 #
    # # # # # #

`HARVESTER_SUBSETS`, "harvester-subsets", draws each marker with probability one half: the 2^36 configurations
of the paper's appendix on unseen configurations.
"""

from dataclasses import replace

import numpy as np

from leaps.base.randomness import Stream, uniform
from leaps.domain import States
from leaps.karel.tasks.states import can_list, combinations, empty_rooms, equally_likely, subsets
from leaps.karel.tasks.task import KarelTask
from leaps.karel.world import EAST, World, clear, place_karel


def sample(stream: Stream, world: World) -> None:  # noqa: ARG001
    clear(world)
    place_karel(world, world.ground.shape[0] - 2, 1, EAST)
    world.markers[1:-1, 1:-1] = 1


def sample_subset(stream: Stream, world: World) -> None:
    height, width = world.ground.shape
    clear(world)
    place_karel(world, height - 2, 1, EAST)
    while world.markers.sum() == 0:  # without markers the value would be undefined
        for row in range(1, height - 1):
            for column in range(1, width - 1):
                world.markers[row, column] = uniform(stream) < 0.5


def states(size: tuple[int, int]) -> States:
    worlds = empty_rooms(size, *combinations([size[0] - 2], [1]))
    worlds.markers[:, 1:-1, 1:-1] = 1
    return equally_likely(worlds)


def subset_states(size: tuple[int, int]) -> States | None:
    height, width = size
    cells = (height - 2) * (width - 2)
    if not can_list(2**cells - 1, size):
        return None
    marked = subsets(cells)[1:]  # an empty room is drawn again
    worlds = empty_rooms(size, np.full(len(marked), height - 2), np.ones(len(marked), np.int64))
    worlds.markers[:, 1:-1, 1:-1] = marked.reshape(-1, height - 2, width - 2)
    return equally_likely(worlds)


def value(world: World, start: World) -> float:
    height, width = world.ground.shape
    at_start = now = np.int64(0)
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            at_start += np.int64(start.markers[row, column])
            now += np.int64(world.markers[row, column])
    return max(0.0, float(at_start - now) / max(float(at_start), 1.0))


def configuration(world: World) -> int:
    height, width = world.ground.shape
    number = 0
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            number = (2 * number + (world.markers[row, column] > 0)) & 0x3FFFFFFFFFFFFFFF
    return number


def configuration_bits(size: tuple[int, int]) -> int:
    return min((size[0] - 2) * (size[1] - 2), 62)


HARVESTER = KarelTask(
    name="harvester",
    summary="pick up the marker of every cell",
    size=(8, 8),
    smallest=(4, 4),
    sample=sample,
    listing=states,
    value=value,
)

HARVESTER_SUBSETS = replace(
    HARVESTER,
    name="harvester-subsets",
    variant_of="harvester",
    summary="pick up all markers, which lie in about half of the cells",
    sample=sample_subset,
    listing=subset_states,
    configuration=configuration,
    configuration_bits=configuration_bits,
)
