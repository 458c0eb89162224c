"""Beam search: children around each elite, and a restart when the elites stop improving."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.search.beam import Beam, BeamConfig

NARROW = BeamConfig(population=12, elites=3, sigma=1e-3)
"""so narrow that a child tells its parent"""


def parents_of(children: NDArray[np.float32], elites: NDArray[np.float32]) -> list[int]:
    """Return the index of each child's elite; -1 if it has none."""
    away = np.abs(children[:, None] - elites[None]).max(axis=2)
    return [int(row.argmin()) if row.min() < 0.01 else -1 for row in away]


def begun(config: BeamConfig, scores: NDArray[np.float64], seed: int = 0) -> tuple[Beam, NDArray[np.float32]]:
    """A beam after its first scores, and its first points."""
    beam = Beam(config, 6, seed)
    points = beam.ask()
    beam.tell(points, scores)
    return beam, points


def test_the_first_population_is_drawn_from_a_standard_normal_distribution() -> None:
    points = Beam(BeamConfig(population=20_000), 3, seed=0).ask()
    assert points.shape == (20_000, 3)
    assert points.dtype == np.float32
    assert np.abs(points.mean(axis=0)).max() < 5 / np.sqrt(20_000)
    assert np.cov(points.T) == pytest.approx(np.eye(3), abs=0.05)


def test_every_child_is_near_an_elite_and_elites_have_equally_many_children() -> None:
    beam, points = begun(NARROW, np.arange(12.0))
    parents = parents_of(beam.ask(), points[[11, 10, 9]])
    assert sorted(parents) == [0] * 4 + [1] * 4 + [2] * 4


def test_better_elites_get_the_children_left_over() -> None:
    beam, points = begun(BeamConfig(population=8, elites=3, sigma=1e-3), np.arange(8.0))
    parents = parents_of(beam.ask(), points[[7, 6, 5]])
    assert sorted(parents) == [0, 0, 0, 1, 1, 1, 2, 2]


def test_among_equals_the_earlier_ones_are_elites() -> None:
    beam, points = begun(NARROW, np.ones(12))
    assert set(parents_of(beam.ask(), points[:3])) == {0, 1, 2}


@pytest.mark.parametrize("sigma", [0.1, 0.5])
def test_children_are_spread_around_their_parent_by_sigma(sigma: float) -> None:
    beam, points = begun(BeamConfig(population=20_000, elites=1, sigma=sigma), np.arange(20_000.0))
    away = beam.ask() - points[-1]
    assert away.std(axis=0) == pytest.approx(np.full(6, sigma), rel=0.03)
    assert np.abs(away.mean(axis=0)).max() < 5 * sigma / np.sqrt(20_000)


def test_elites_are_of_the_last_population_only() -> None:
    """Better children replace their parents; parents are not scored again."""
    beam, _ = begun(NARROW, np.arange(12.0))
    children = beam.ask()
    beam.tell(children, np.arange(12.0)[::-1] + 1)
    away = np.abs(beam.ask()[:, None] - children[None, :3]).max(axis=2)
    assert away.min(axis=1).max() < 0.01


@pytest.mark.parametrize("fall", [0.0, 0.1, 5.0])
def test_it_restarts_when_the_elites_mean_stops_rising(fall: float) -> None:
    beam, points = begun(NARROW, np.arange(12.0))
    beam.tell(beam.ask(), np.arange(12.0) - fall)
    restarted = beam.ask()
    assert set(parents_of(restarted, points)) == {-1}
    assert restarted.std() == pytest.approx(1.0, abs=0.25)


def test_it_continues_while_the_elites_mean_rises_at_all() -> None:
    beam, points = begun(NARROW, np.arange(12.0))
    beam.tell(beam.ask(), np.arange(12.0) + 1e-9)
    assert -1 not in parents_of(beam.ask(), points[[11, 10, 9]])


def test_the_mean_is_over_elites_only() -> None:
    """Scores of other candidates may fall."""
    beam, points = begun(NARROW, np.arange(12.0))
    beam.tell(beam.ask(), np.array([0.0] * 9 + [9.0, 10.0, 12.0]))
    assert -1 not in parents_of(beam.ask(), points[[11, 10, 9]])


def test_after_a_restart_it_accepts_any_score() -> None:
    beam, _ = begun(NARROW, np.full(12, 5.0))
    beam.tell(beam.ask(), np.zeros(12))  # no better: restart
    points = beam.ask()
    beam.tell(points, np.full(12, 0.5))
    assert -1 not in parents_of(beam.ask(), points[:3])


def test_it_climbs() -> None:
    """The sum of three coordinates is unbounded: a random search with as many points hardly reaches 6."""
    beam = Beam(BeamConfig(population=32, elites=8, sigma=0.5), 3, seed=2)
    best = -np.inf
    for _ in range(40):
        points = beam.ask()
        scores = points.sum(axis=1).astype(np.float64)
        best = max(best, scores.max())
        beam.tell(points, scores)
    assert best > 12


def test_it_never_finishes() -> None:
    beam, _ = begun(NARROW, np.zeros(12))
    assert not beam.finished


def test_the_seed_determines_the_search() -> None:
    one, same, other = (begun(NARROW, np.arange(12.0), seed)[0].ask() for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.isin(one, other).any()


@pytest.mark.parametrize(
    "options",
    [{"elites": 0}, {"population": 4, "elites": 5}, {"sigma": 0.0}, {"sigma": -1.0}],
)
def test_settings_out_of_range_raise(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected 1 ≤ elites ≤ population and sigma > 0, found BeamConfig"):
        BeamConfig(**options)
