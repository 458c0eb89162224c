"""Seeds do not depend on how many are drawn."""

import numpy as np

from leaps.gym.seeds import SEEDS, Seeds, draw_seeds


def test_a_seed_depends_on_the_seed_given_and_on_its_number() -> None:
    many, some = draw_seeds(6, 3, "big"), draw_seeds(2, 3, "big", first=4)
    assert many.seeds[4:].tolist() == some.seeds.tolist()
    assert many.seeds.tolist() != draw_seeds(6, 4, "big").seeds.tolist()
    assert ((many.seeds >= 0) & (many.seeds < SEEDS)).all()
    assert (many.count, many.size) == (6, "big")


def test_seeds_are_taken_and_joined() -> None:
    many = draw_seeds(5, 0, "")
    joined = Seeds.join([many.take(slice(0, 2)), many.take(np.array([2, 3, 4]))])
    assert np.array_equal(joined.seeds, many.seeds)
    assert joined.size == draw_seeds(0, 0, "").size == ""
