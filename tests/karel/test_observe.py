import numpy as np

from leaps.dsl.syntax import Condition
from leaps.karel.interpreter import holds
from leaps.karel.observe import perceptions, planes
from leaps.karel.world import LANGUAGE, WALL, World, Worlds, random_worlds


def test_planes_stand_in_the_papers_order() -> None:
    seen = planes(Worlds.stack([World.parse("####\n#v3#\n####")]))[0]
    assert seen.shape == (3, 4, 16)
    assert seen[1, 1].nonzero()[0].tolist() == [2, 5]  # facing South, no marker
    assert seen[1, 2].nonzero()[0].tolist() == [5 + 3]  # three markers
    assert seen[0, 0].nonzero()[0].tolist() == [4, 5]  # wall


def test_planes_determine_the_world() -> None:
    worlds = random_worlds(50, seed=3)
    seen = planes(worlds)
    assert np.array_equal(seen[..., 4] == 1, worlds.ground == WALL)
    assert np.array_equal(seen[..., 5:].argmax(axis=-1), worlds.markers)
    karel = seen[..., :4].reshape(50, -1)
    assert (karel.sum(axis=1) == 1).all()
    where = np.stack(np.unravel_index(karel.argmax(axis=1), (8, 8, 4)), axis=1)
    assert np.array_equal(where, worlds.pose)


def test_perceptions_are_those_of_programs() -> None:
    worlds = random_worlds(60, seed=4)
    seen = perceptions(worlds)
    for number in range(60):
        world = worlds.world(number)
        assert seen[number].tolist() == [holds(Condition(name), world) for name in LANGUAGE.perceptions]
