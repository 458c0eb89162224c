"""The paper's random searches: points around a centre, drawn once."""

import numpy as np
import pytest

from leaps.search.cem import CEM, PAPER_CEM, CEMConfig, Initial
from leaps.search.random_search import PAPER_RANDOM, RandomConfig, RandomSearch
from leaps.search.reconstruct import TEST_PROGRAMS


def test_it_asks_once() -> None:
    search = RandomSearch(RandomConfig(8), 3, seed=0)
    assert not search.finished
    points = search.ask()
    assert not search.finished  # the scores are still due
    search.tell(points, np.zeros(8))
    assert search.finished


def test_it_draws_the_configured_number_of_points_in_single_precision() -> None:
    points = RandomSearch(RandomConfig(64), 5, seed=0).ask()
    assert points.shape == (64, 5)
    assert points.dtype == np.float32


@pytest.mark.parametrize("sigma", [0.1, 0.5])
def test_the_points_are_drawn_around_a_centre(sigma: float) -> None:
    points = RandomSearch(RandomConfig(20_000, sigma), 4, seed=1).ask().astype(np.float64)
    assert np.cov(points.T) == pytest.approx(sigma**2 * np.eye(4), abs=0.02 * sigma)
    away = np.abs(points - points.mean(axis=0)) / sigma
    assert (away < 1).mean() == pytest.approx(0.6827, abs=0.01)
    assert (away < 2).mean() == pytest.approx(0.9545, abs=0.005)


@pytest.mark.parametrize(("initial", "variance"), [("normal", 1.0), ("moderate", 0.1), ("narrow", 0.01)])
def test_the_centre_is_drawn_like_cems_first_mean(initial: Initial, variance: float) -> None:
    config = RandomConfig(1, 1e-6, initial)
    points = np.concatenate([RandomSearch(config, 50, seed=seed).ask() for seed in range(100)])
    assert points.var() == pytest.approx(variance, rel=0.1)
    assert abs(points.mean()) < 5 * np.sqrt(variance / points.size)
    first = CEM(CEMConfig(8, elite_fraction=0.5, initial=initial), 50, seed=3).mean
    np.testing.assert_allclose(points[3], first, atol=1e-5)


def test_the_papers_settings_are_those_of_its_appendix() -> None:
    for samples, settings in PAPER_RANDOM.items():
        assert set(settings) == {*PAPER_CEM, *TEST_PROGRAMS}
        assert {config.samples for config in settings.values()} == {samples}
    assert PAPER_RANDOM[8]["stair-climber"] == RandomConfig(8, 0.5, "normal")
    assert PAPER_RANDOM[64]["maze"] == RandomConfig(64, 0.1, "narrow")
    assert PAPER_RANDOM[8]["WHILE"].sigma == 0.1


def test_the_seed_determines_the_search() -> None:
    one, same, other = (RandomSearch(RandomConfig(8), 3, seed=seed).ask() for seed in (4, 4, 5))
    np.testing.assert_array_equal(one, same)
    assert not np.isin(one, other).any()


def test_a_finished_search_is_finished_when_restored() -> None:
    search = RandomSearch(RandomConfig(8), 3, seed=0)
    search.tell(search.ask(), np.zeros(8))
    again = RandomSearch(RandomConfig(8), 3, seed=1)
    again.restore(search.state())
    assert again.finished


@pytest.mark.parametrize(("samples", "sigma"), [(0, 0.5), (-8, 0.5), (8, 0.0)])
def test_a_search_without_samples_raises(samples: int, sigma: float) -> None:
    with pytest.raises(ValueError, match=f"found {samples} and {sigma}"):
        RandomConfig(samples, sigma)
