"""The cross entropy method, against calculations by hand."""

import doctest
import json
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.search import cem
from leaps.search.cem import CEM, PAPER_CEM, CEMConfig, Initial


def mean_after(points: list[list[float]], scores: list[float], elite_fraction: float) -> NDArray[np.float64]:
    """The mean after one iteration with these points and scores."""
    search = CEM(CEMConfig(len(points), elite_fraction=elite_fraction), len(points[0]), seed=0)
    search.tell(np.array(points, np.float32), np.array(scores))
    return search.mean


def after(iterations: int, config: CEMConfig) -> CEM:
    search = CEM(config, 1, seed=0)
    for _ in range(iterations):
        search.tell(search.ask(), np.ones(config.population))
    return search


def test_the_example_of_the_docstring_is_tested() -> None:
    results = doctest.testmod(cem)
    assert results.attempted >= 3
    assert results.failed == 0


# The mean


def test_the_mean_moves_to_the_elites_weighed_by_their_scores() -> None:
    mean = mean_after([[1, 0], [2, 4], [9, 9], [6, 8]], [0.0, 0.25, 0.1, 0.75], elite_fraction=0.5)
    assert mean == pytest.approx([0.25 * 2 + 0.75 * 6, 0.25 * 4 + 0.75 * 8])


def test_a_single_elite_becomes_the_mean() -> None:
    assert mean_after([[1, 2], [3, 4], [5, 6]], [0.3, 0.9, 0.5], elite_fraction=0.34) == pytest.approx([3, 4])


def test_among_equals_the_earlier_ones_are_elites() -> None:
    assert mean_after([[1], [2], [4], [8]], [0.1, 0.7, 0.7, 0.7], elite_fraction=0.5) == pytest.approx([3])


def test_elites_with_zero_scores_have_equal_weight() -> None:
    assert mean_after([[2, -2], [4, -4], [9, 9], [9, 9]], [0, 0, 0, 0], elite_fraction=0.5) == pytest.approx(
        [3, -3]
    )


def test_an_elite_with_score_zero_has_no_weight() -> None:
    assert mean_after([[5], [1], [3]], [0, 0.2, 0], elite_fraction=0.67) == pytest.approx([1])


def test_a_search_without_any_score_stays_finite_and_keeps_exploring() -> None:
    search = CEM(CEMConfig(16, elite_fraction=0.2), 4, seed=0)
    for _ in range(300):
        search.tell(search.ask(), np.zeros(16))
    assert np.isfinite(search.mean).all()
    assert search.ask().std(axis=0).mean() == pytest.approx(0.25, rel=0.3)


def test_the_search_converges_to_the_best_point() -> None:
    search = CEM(CEMConfig(32, elite_fraction=0.2, decay=True), 3, seed=1)
    for _ in range(500):
        points = search.ask()
        search.tell(points, np.exp(-((points + 2.0) ** 2).sum(axis=1)))
    assert search.mean == pytest.approx([-2, -2, -2], abs=0.2)


# The spread


@pytest.mark.parametrize(
    ("iterations", "sigma"), [(0, 0.4), (250, 0.2), (499, 0.1 * 4 ** (1 / 500)), (500, 0.1), (700, 0.1)]
)
def test_sigma_falls_exponentially_to_a_tenth_over_500_iterations(iterations: int, sigma: float) -> None:
    config = CEMConfig(1, sigma=0.4, elite_fraction=1.0, decay=True)
    assert after(iterations, config).sigma == pytest.approx(sigma)


def test_without_decay_sigma_is_constant() -> None:
    assert after(600, CEMConfig(1, sigma=0.4, elite_fraction=1.0)).sigma == 0.4


@pytest.mark.parametrize("sigma", [0.1, 0.5])
def test_the_population_is_spread_around_the_mean_by_sigma(sigma: float) -> None:
    search = CEM(CEMConfig(4000, sigma=sigma, initial="normal"), 8, seed=2)
    away = search.ask() - search.mean
    assert away.std(axis=0) == pytest.approx(np.full(8, sigma), rel=0.06)
    assert np.abs(away.mean(axis=0)).max() < 5 * sigma / np.sqrt(4000)


def test_the_population_has_a_row_per_latent_in_single_precision() -> None:
    points = CEM(CEMConfig(20), 7, seed=0).ask()
    assert points.shape == (20, 7)
    assert points.dtype == np.float32


# Start


def test_the_constant_start_is_that_of_the_authors_code() -> None:
    assert CEM(CEMConfig(initial="constant"), 3, seed=0).mean.tolist() == [0.01] * 3


@pytest.mark.parametrize(("initial", "variance"), [("normal", 1.0), ("moderate", 0.1), ("narrow", 0.01)])
def test_other_starts_are_drawn_with_their_variance(initial: Initial, variance: float) -> None:
    mean = CEM(CEMConfig(initial=initial), 20_000, seed=3).mean
    assert mean.var() == pytest.approx(variance, rel=0.05)
    assert abs(mean.mean()) < 5 * np.sqrt(variance / 20_000)


def test_the_papers_settings_are_its_tables() -> None:
    table = {
        name: (c.population, c.sigma, c.elite_fraction, c.decay, c.initial) for name, c in PAPER_CEM.items()
    }
    assert table == {
        "clean-house": (32, 0.25, 0.05, True, "constant"),
        "four-corner": (64, 0.5, 0.2, False, "narrow"),
        "harvester": (32, 0.5, 0.1, True, "normal"),
        "maze": (16, 0.1, 0.1, False, "constant"),
        "stair-climber": (32, 0.25, 0.05, True, "narrow"),
        "top-off": (64, 0.25, 0.05, False, "narrow"),
    }


# Restarts


def means(restart_after: int, scores: list[float], decay: bool = False) -> list[float]:
    """Return the mean after each iteration, if a whole population has the same score."""
    search = CEM(CEMConfig(4, 0.4, 1.0, decay, "normal", restart_after), 1, seed=5)
    course = [float(search.mean[0])]
    for score in scores:
        search.tell(np.full((4, 1), 77.0, np.float32), np.full(4, score))
        course.append(float(search.mean[0]))
    return course


def test_a_search_without_improvement_restarts() -> None:
    course = means(3, [0.1, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1])
    first, second = course[0], course[5]
    assert course == [first, 77, 77, 77, 77, second, 77, 77]
    assert abs(first) < 5
    assert abs(second) < 5
    assert second != first


def test_a_restart_resets_the_best_score() -> None:
    restarts = [
        index for index, mean in enumerate(means(2, [0.9, 0.9, 0.9, 0.1, 0.2, 0.3, 0.3, 0.3])) if mean != 77
    ]
    assert restarts == [0, 3, 8]


def test_the_papers_search_never_restarts() -> None:
    assert {config.restart_after for config in PAPER_CEM.values()} == {0}
    assert means(0, [0.5] * 50)[1:] == [77] * 50


def test_the_centre_of_the_last_elites_survives_a_restart() -> None:
    search = CEM(CEMConfig(4, 0.4, 1.0, False, "normal", restart_after=1), 1, seed=5)
    assert search.centre[0] == search.mean[0]
    for _ in range(2):
        search.tell(np.full((4, 1), 77.0, np.float32), np.ones(4))
    assert search.centre[0] == 77
    assert search.mean[0] != 77


def test_a_restart_resets_sigma() -> None:
    search = CEM(CEMConfig(4, 0.4, 1.0, True, "normal", restart_after=100), 1, seed=5)
    sigmas = []
    for _ in range(102):
        sigmas.append(search.sigma)
        search.tell(search.ask(), np.ones(4))
    assert sigmas[0] == sigmas[101] == 0.4
    assert sigmas[100] < 0.31


def test_a_restored_search_restarts_identically() -> None:
    config = CEMConfig(8, restart_after=4, elite_fraction=0.5)
    straight, saved = CEM(config, 3, seed=1), CEM(config, 3, seed=1)
    for iteration in range(30):
        scores = np.full(8, 0.5 if iteration % 7 else iteration / 30)
        for search in (straight, saved):
            search.tell(search.ask(), scores)
        restored = CEM(config, 3, seed=99)
        restored.restore(saved.state())
        saved = restored
    assert np.array_equal(straight.ask(), saved.ask())


# Reproducibility


def course(seed: int) -> NDArray[np.float32]:
    search = CEM(CEMConfig(16, elite_fraction=0.25), 5, seed=seed)
    asked = []
    for _ in range(10):
        asked.append(search.ask())
        search.tell(asked[-1], np.exp(-(asked[-1] ** 2).sum(axis=1)))
    return np.stack(asked)


def test_the_same_seed_gives_the_same_search() -> None:
    assert np.array_equal(course(7), course(7))


def test_another_seed_gives_another_search() -> None:
    assert not np.array_equal(course(7), course(8))


# End, saving and restoring


def test_it_finishes_after_the_papers_number_of_iterations() -> None:
    config = CEMConfig(1, elite_fraction=1.0)
    assert not CEM(config, 1, seed=0).finished
    assert not after(CEM.ITERATIONS - 1, config).finished
    assert after(CEM.ITERATIONS, config).finished


def test_a_restored_search_continues_identically() -> None:
    """Through a file, in which arrays are lists; the state includes the progress of sigma's decay."""
    config = CEMConfig(16, sigma=0.4, elite_fraction=0.25, decay=True)
    search, again = CEM(config, 5, seed=7), CEM(config, 5, seed=8)
    for _ in range(30):
        points = search.ask()
        search.tell(points, np.exp(-(points**2).sum(axis=1)))
    again.restore(json.loads(json.dumps(search.state(), default=lambda array: array.tolist())))
    assert again.sigma == search.sigma < 0.4
    assert again.mean.tolist() == search.mean.tolist()
    for _ in range(30):
        points = search.ask()
        assert np.array_equal(again.ask(), points)
        for each in (search, again):
            each.tell(points, np.exp(-(points**2).sum(axis=1)))


def test_a_restored_search_finishes_at_the_same_iteration() -> None:
    config = CEMConfig(1, elite_fraction=1.0)
    again = CEM(config, 1, seed=1)
    again.restore(after(CEM.ITERATIONS - 1, config).state())
    assert not again.finished
    again.tell(again.ask(), np.ones(1))
    assert again.finished


# Errors


def test_an_elite_fraction_without_elites_raises() -> None:
    with pytest.raises(ValueError, match=r"elite_fraction=0\.05 of population=8 keeps no elite.*0\.125"):
        CEMConfig(population=8, elite_fraction=0.05)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"population": 0}, "0, 0.25 and 0.05"),
        ({"population": -1}, "-1, 0.25 and 0.05"),
        ({"sigma": 0.0}, "64, 0.0 and 0.05"),
        ({"sigma": -0.1}, "64, -0.1 and 0.05"),
        ({"elite_fraction": 0.0}, "64, 0.25 and 0.0"),
        ({"elite_fraction": 1.01}, "64, 0.25 and 1.01"),
    ],
)
def test_a_setting_out_of_range_raises(options: dict[str, Any], found: str) -> None:
    expected = r"expected population ≥ 1, sigma > 0 and elite_fraction in \(0, 1\], found "
    with pytest.raises(ValueError, match=expected + re.escape(found)):
        CEMConfig(**options)


def test_a_whole_population_may_be_elite() -> None:
    assert CEMConfig(population=8, elite_fraction=1.0).elites == 8


def test_an_unknown_initial_distribution_raises() -> None:
    with pytest.raises(ValueError, match="must be one of constant, narrow, moderate, normal, found 'wide'"):
        CEMConfig(initial="wide")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("points", "scores"), [((4, 3), (4,)), ((5, 2), (4,)), ((4, 2), (5,)), ((4, 2), (4, 1))]
)
def test_wrong_shapes_raise_with_names(points: tuple[int, ...], scores: tuple[int, ...]) -> None:
    search = CEM(CEMConfig(population=4, elite_fraction=0.5), 2, seed=0)
    with pytest.raises(ValueError) as refusal:
        search.tell(np.zeros(points, np.float32), np.zeros(scores))
    message = f"expected points (4, 2) and scores (4,), found {points} and {scores}"
    assert str(refusal.value) == message


def test_a_rejected_tell_changes_nothing() -> None:
    search = CEM(CEMConfig(population=4, elite_fraction=0.5), 2, seed=0)
    before = search.mean.copy()
    with pytest.raises(ValueError):
        search.tell(np.ones((4, 3), np.float32), np.ones(4))
    assert search.iteration == 0
    assert np.array_equal(search.mean, before)
