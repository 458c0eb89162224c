"""The paper's random searches: so many points from N(0, I), once."""

import numpy as np
import pytest

from leaps.search.random_search import RandomSearch


def test_it_asks_once() -> None:
    search = RandomSearch(8, 3, seed=0)
    assert not search.finished
    points = search.ask()
    assert not search.finished  # what was asked has to be told first
    search.tell(points, np.zeros(8))
    assert search.finished


def test_it_asks_for_as_many_points_as_it_was_told_to_in_single_precision() -> None:
    points = RandomSearch(64, 5, seed=0).ask()
    assert points.shape == (64, 5)
    assert points.dtype == np.float32


def test_the_points_are_drawn_from_a_standard_normal_distribution() -> None:
    points = RandomSearch(20_000, 4, seed=1).ask().astype(np.float64)
    assert np.abs(points.mean(axis=0)).max() < 5 / np.sqrt(20_000)
    assert np.cov(points.T) == pytest.approx(np.eye(4), abs=0.05)
    assert (np.abs(points) < 1).mean() == pytest.approx(0.6827, abs=0.01)
    assert (np.abs(points) < 2).mean() == pytest.approx(0.9545, abs=0.005)


def test_the_same_seed_is_the_same_search_and_another_another() -> None:
    one, same, other = (RandomSearch(8, 3, seed=seed).ask() for seed in (4, 4, 5))
    np.testing.assert_array_equal(one, same)
    assert not np.isin(one, other).any()


def test_a_search_that_has_finished_is_still_finished_when_restored() -> None:
    search = RandomSearch(8, 3, seed=0)
    search.tell(search.ask(), np.zeros(8))
    again = RandomSearch(8, 3, seed=1)
    again.restore(search.state())
    assert again.finished


@pytest.mark.parametrize("count", [0, -8])
def test_no_sample_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"expected at least 1 sample, found {count}"):
        RandomSearch(count, 3, seed=0)
