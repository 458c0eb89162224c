"""Ranges of seeds are disjoint, also from the user's seeds."""

import itertools

from leaps.base import seeds


def test_ranges_are_disjoint() -> None:
    starts = [value for name, value in vars(seeds).items() if name.endswith("_SEEDS")]
    assert len(starts) == 6
    begins = sorted([0, *starts])
    assert all(after - before >= seeds.SPAN for before, after in itertools.pairwise(begins))


def test_ranges_match_stored_results() -> None:
    assert (seeds.SEARCH_SEEDS, seeds.CHECK_SEEDS, seeds.UNSEEN_SEEDS) == (2**40, 2 * 2**40, 3 * 2**40)
    assert (seeds.VIPER_SEEDS, seeds.VIPER_VALIDATION_SEEDS) == (4 * 2**40, 5 * 2**40)
