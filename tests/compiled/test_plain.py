"""Worlds of cells and numbers."""

import numpy as np

from leaps.compiled.plain import Worlds, copy_world, layout_of, same_state
from tests.compiled.sweeper import corridors


def test_worlds_are_taken_and_joined() -> None:
    worlds = corridors(5, seed=0)
    assert (worlds.count, worlds.size) == (5, (1, 7))
    again = Worlds.join([worlds.take(slice(0, 2)), worlds.take(np.array([2, 3, 4]))])
    assert np.array_equal(again.cells, worlds.cells)
    assert np.array_equal(again.numbers, worlds.numbers)
    assert worlds.room(3).cells.shape == (3, 1, 1, 7)


def test_a_copied_world_is_equal_until_it_is_changed() -> None:
    worlds, room = corridors(3, seed=0), corridors(3, seed=0).room(1)
    copy_world(worlds, 2, room, 0, layout_of(worlds))
    third = worlds.take(np.array([2]))
    assert same_state(room, third)
    room.numbers[0, 0] += 1
    assert not same_state(room, third)
    room.numbers[0, 0] -= 1
    room.cells[0, 0, 0, 6] ^= 1
    assert not same_state(room, third)
