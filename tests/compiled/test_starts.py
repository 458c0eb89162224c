"""Initial states: one shape, and valid for compiled code."""

import numpy as np
import pytest

from leaps.compiled.plain import World
from leaps.compiled.starts import Starts, sound, stacked

WORLD = World(np.ones((1, 1, 7), np.uint8), np.arange(3))


def test_a_world_of_other_dtypes_is_converted() -> None:
    world = sound(World(WORLD.cells.astype(float), [0, 1, 2]), (1, 7), "mine")  # type: ignore[arg-type]
    assert (world.cells.dtype.name, world.numbers.dtype.name) == ("uint8", "int64")
    assert np.array_equal(world.cells, WORLD.cells)
    assert world.numbers.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (None, "expected a leaps.compiled.plain.World, found NoneType"),
        (World(None, None), r"of 1x7 and numbers \[n\], found shapes \[\] and \[\]"),  # type: ignore[arg-type]
        (WORLD._replace(cells=np.ones((1, 2, 7))), r"found shapes \[1, 2, 7\]"),  # type: ignore[arg-type]
        (WORLD._replace(cells=np.full((1, 1, 7), 256)), "expected cells of 0 to 255"),
        (WORLD._replace(numbers=np.array([0.5])), "and whole numbers"),
    ],
)
def test_an_invalid_world_raises(world: World, message: str) -> None:
    with pytest.raises(ValueError, match=f"mine: {message}|mine: .*{message}"):
        sound(world, (1, 7), "mine")


def test_worlds_of_several_shapes_raise() -> None:
    with pytest.raises(ValueError, match="mine: expected worlds of one shape at 1x7"):
        stacked([WORLD, WORLD._replace(numbers=np.arange(4))], (1, 7), "mine")


def test_worlds_are_taken_and_joined() -> None:
    worlds = [WORLD._replace(numbers=np.full(3, number)) for number in range(4)]
    starts = stacked(worlds, "big", "mine")
    assert (starts.count, starts.size, starts.worlds.size) == (4, "big", (1, 7))
    again = Starts.join([starts.take(slice(0, 1)), starts.take(np.array([1, 3]))])
    assert again.numbers[:, 0].tolist() == [0, 1, 3]
    assert (again.size, stacked(worlds, (1, 7), "mine").size) == ("big", (1, 7))
