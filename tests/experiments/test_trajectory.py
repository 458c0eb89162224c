"""A recorded search is the search: done again by hand, step by step, it gives the same numbers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.dsl.text import ProgramError
from leaps.embedding.space import Space
from leaps.embedding.weights import save_weights
from leaps.experiments.trajectory import (
    Iteration,
    Plane,
    Trajectory,
    evolution,
    evolution_table,
    record,
    spread,
)
from leaps.karel.world import LANGUAGE
from leaps.search.cem import CEM
from leaps.search.objective import Objective
from leaps.search.search import InSpace
from leaps.search.solve import Round, Run, SolveConfig
from tests.embedding.helpers import needs_shipped_weights, placed, shipped, untrained

STAIRS = "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft move turnRight move w) m)"
POPULATION, LEFT_OVER = 64, 10


@dataclass
class ByHand:
    """The same search without a recorder."""

    run: Run
    points: list[NDArray[np.float32]]
    scores: list[NDArray[np.float64]]
    means: list[NDArray[np.float64]]

    def returns(self, programs: Sequence[str]) -> list[float]:
        """What programs earn on the search's worlds."""
        tokens = LANGUAGE.batch([LANGUAGE.encode(program.split()) for program in programs])
        objective = Objective(self.run.task, self.run.objective.worlds)
        return cast("list[float]", objective.returns(tokens).mean(axis=1).tolist())


def by_hand(config: SolveConfig) -> ByHand:
    run = Run(config)
    done = ByHand(run, [], [], [])
    while not run.finished:
        step = run.step()
        assert isinstance(run.search, InSpace)
        assert isinstance(run.search.search, CEM)
        done.points.append(run.search.points)
        done.scores.append(step.scores)
        done.means.append(run.search.search.mean)
    return done


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Space:
    """A space that has learned nothing, with points that are not its latents."""
    file = tmp_path_factory.mktemp("space") / "weights.safetensors"
    save_weights(placed(untrained(16)), file)
    return Space(file)


@pytest.fixture(scope="module")
def config(space: Space) -> SolveConfig:
    """Five populations, and the beginning of a sixth."""
    return SolveConfig("stair-climber", "leaps+", 5, 5 * POPULATION + LEFT_OVER, space=str(space.file))


@pytest.fixture(scope="module")
def recorded(config: SolveConfig, space: Space) -> Trajectory:
    return record(config, space, STAIRS, programs=300)


@pytest.fixture(scope="module")
def again(config: SolveConfig) -> ByHand:
    return by_hand(config)


def test_there_are_as_many_iterations_as_the_search_made(recorded: Trajectory, again: ByHand) -> None:
    assert [iteration.number for iteration in recorded.iterations] == [1, 2, 3, 4, 5, 6]
    assert len(recorded.iterations) == again.run.round


def test_the_returns_of_a_population_are_those_of_the_search(recorded: Trajectory, again: ByHand) -> None:
    assert [iteration.mean for iteration in recorded.iterations] == [x.mean() for x in again.scores]
    assert [iteration.best for iteration in recorded.iterations] == [x.max() for x in again.scores]


def test_returns_below_0_count_in_the_mean(recorded: Trajectory, again: ByHand) -> None:
    assert min(scores.min() for scores in again.scores) < 0
    assert min(iteration.mean for iteration in recorded.iterations) < 0


def test_the_best_program_earns_the_best_return(recorded: Trajectory, again: ByHand) -> None:
    earned = again.returns([iteration.program for iteration in recorded.iterations])
    assert earned == [iteration.best for iteration in recorded.iterations]
    assert len(set(earned)) > 1  # or another population's best would do as well


def test_the_centres_program_is_what_the_mean_stands_for(
    recorded: Trajectory, again: ByHand, space: Space
) -> None:
    expected = [space.text(space.decode(mean[None], 45)[0]) for mean in again.means]
    assert [iteration.centre_program for iteration in recorded.iterations] == expected


def test_the_centres_return_is_its_programs(recorded: Trajectory, again: ByHand) -> None:
    earned = again.returns([iteration.centre_program for iteration in recorded.iterations])
    assert [iteration.centre_return for iteration in recorded.iterations] == earned


def test_programs_keep_to_the_searchs_length(config: SolveConfig, space: Space) -> None:
    short = record(replace(config, max_length=9, budget=POPULATION), space, programs=10).iterations[0]
    assert len(short.program.split()) <= 9
    assert len(short.centre_program.split()) <= 9


def test_the_centre_is_where_the_mean_is_seen(recorded: Trajectory, again: ByHand, space: Space) -> None:
    expected = recorded.plane.place(space.latent(np.stack(again.means)))
    assert np.stack([iteration.centre for iteration in recorded.iterations]) == pytest.approx(expected)


def test_a_population_is_where_its_points_are_seen(recorded: Trajectory, again: ByHand, space: Space) -> None:
    for iteration, points in zip(recorded.iterations[:-1], again.points[:-1], strict=True):
        expected = recorded.plane.place(space.latent(points))
        assert iteration.population == pytest.approx(expected, abs=1e-5)


def test_of_a_last_population_only_what_was_tried_is_kept(recorded: Trajectory) -> None:
    *_, before, last = recorded.iterations
    assert [len(x.population) for x in recorded.iterations] == [POPULATION] * 5 + [LEFT_OVER]
    assert np.array_equal(last.centre, before.centre)  # the search got no scores


def test_the_truth_is_where_its_program_is_seen(recorded: Trajectory, space: Space) -> None:
    assert recorded.truth is not None
    expected = recorded.plane.place(space.latent(space.encode([STAIRS])))[0]
    assert recorded.truth == pytest.approx(expected, abs=1e-5)
    assert (recorded.truth_program, recorded.truth_return) == (STAIRS, 1.0)


def test_returns_are_of_worlds_of_all_sizes(config: SolveConfig, space: Space) -> None:
    counts = "DEF run m( REPEAT R=3 r( turnLeft move turnRight move r) m)"
    at_two = replace(config, budget=POPULATION, also=((30, 30),))
    found = record(at_two, space, counts, programs=300)
    expected = Run(at_two).objective.returns(LANGUAGE.encode(counts.split())[None]).mean()
    assert found.truth_return == pytest.approx(expected)
    alone = record(replace(at_two, also=()), space, counts, programs=300)
    assert alone.truth_return != found.truth_return


def test_the_same_seed_is_the_same_trajectory(
    config: SolveConfig, recorded: Trajectory, space: Space
) -> None:
    assert record(config, space, STAIRS, programs=300).report() == recorded.report()


def test_another_seed_is_another_trajectory(config: SolveConfig, recorded: Trajectory, space: Space) -> None:
    other = record(replace(config, seed=2, budget=POPULATION), space, programs=300)
    assert not np.allclose(other.iterations[0].population, recorded.iterations[0].population)
    assert (other.truth, other.truth_program, other.truth_return) == (None, None, None)


def test_listener_gets_every_step(config: SolveConfig, space: Space) -> None:
    steps: list[Round] = []
    record(replace(config, budget=2 * POPULATION), space, programs=10, listener=steps.append)
    assert [step.evaluations for step in steps] == [POPULATION, 2 * POPULATION]


@needs_shipped_weights
def test_a_search_has_converged_when_its_last_ten_populations_are_perfect() -> None:
    found = record(SolveConfig("stair-climber", "leaps+", 0), shipped(), programs=100)
    assert found.converged
    assert [iteration.best for iteration in found.iterations[-10:]] == [1.0] * 10
    assert len(found.iterations) < CEM.ITERATIONS


def test_a_search_whose_budget_is_used_up_has_not_converged(recorded: Trajectory) -> None:
    assert not recorded.converged


def test_search_without_trajectory_raises(config: SolveConfig, space: Space) -> None:
    with pytest.raises(
        ValueError, match=r"only leaps and leaps\+ have a trajectory in the space, found 'cebs'"
    ):
        record(replace(config, method="cebs"), space)


def test_space_of_another_search_raises(config: SolveConfig, tmp_path: Path) -> None:
    save_weights(untrained(16), tmp_path / "other")
    with pytest.raises(ValueError, match=r"expected the space of the search, .*, found .*other"):
        record(config, Space(tmp_path / "other"))


def test_invalid_truth_program_raises(config: SolveConfig, space: Space) -> None:
    with pytest.raises(ProgramError, match="mov"):
        record(config, space, "DEF run m( mov m)")


def test_too_few_programs_for_a_plane_raise(config: SolveConfig, space: Space) -> None:
    with pytest.raises(ValueError, match="programs must be at least 3 to fit a plane, found 2"):
        record(config, space, programs=2)


# Planes


def distances(places: NDArray[Any]) -> NDArray[np.float64]:
    exact = places.astype(np.float64)
    return np.asarray(np.sqrt(((exact[:, None] - exact) ** 2).sum(axis=2)))


def flat() -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Latents of six dimensions that all lie in a plane, and their places in it."""
    plane = np.random.default_rng(0).standard_normal((50, 2)) * [2, 6]
    directions, _, _ = np.linalg.svd(np.random.default_rng(1).standard_normal((6, 6)))
    return np.asarray(plane @ directions[:2] + 7, np.float32), plane


def test_a_plane_through_what_is_flat_keeps_all_distances() -> None:
    latents, plane = flat()
    placed = Plane.through(latents).place(latents)
    assert distances(placed) == pytest.approx(distances(plane), abs=1e-4)
    assert placed.mean(axis=0) == pytest.approx([0, 0], abs=1e-4)


def test_the_first_axis_is_that_of_most_variance() -> None:
    latents, _ = flat()
    plane = Plane.through(latents)
    across, up = plane.place(latents).var(axis=0)
    assert across > 5 * up
    assert plane.shares == pytest.approx((across / (across + up), up / (across + up)))


def test_the_cloud_is_what_the_plane_was_laid_through(recorded: Trajectory) -> None:
    assert recorded.cloud.mean(axis=0) == pytest.approx([0, 0], abs=1e-3)
    across, up = recorded.cloud.var(axis=0)
    assert across / up == pytest.approx(recorded.plane.shares[0] / recorded.plane.shares[1], rel=1e-3)
    assert len(np.unique(recorded.cloud, axis=0)) > 0.9 * len(recorded.cloud)


# Evolution


def with_bests(bests: Sequence[float], converged: bool = False) -> Trajectory:
    """A trajectory of these best returns; programs are named after their iterations."""
    place = np.zeros(2, np.float32)
    iterations = [
        Iteration(i, place[None], place, best - 1, best, best, f"program {i}", f"centre {i}")
        for i, best in enumerate(bests, 1)
    ]
    plane = Plane(np.zeros(2, np.float32), np.eye(2, dtype=np.float32), (0.5, 0.25))
    config = SolveConfig("maze", "leaps+", 3)
    return Trajectory(config, iterations, converged, plane, place[None], None, None, None)


def numbers(bests: Sequence[float], rows: int = 8) -> list[int]:
    return [iteration.number for iteration in evolution(with_bests(bests), rows)]


def test_an_evolution_is_the_first_the_rises_and_the_last() -> None:
    assert numbers([0, 0, 0.2, 0.2, 0.1, 0.5, 0.3, 0.5, 0.4]) == [1, 3, 6, 9]


def test_a_last_iteration_that_is_a_rise_is_there_once() -> None:
    assert numbers([-0.5, 0.1, 0.1, 1.0]) == [1, 2, 4]


def test_a_search_of_one_iteration_evolves_in_one_row() -> None:
    assert numbers([0.3]) == [1]


@pytest.mark.parametrize("rows", range(2, 12))
def test_an_evolution_of_many_rises_has_its_rows_and_both_ends(rows: int) -> None:
    bests = [i / 30 for i in range(30)]
    picked = numbers(bests, rows)
    assert len(picked) == rows
    assert (picked[0], picked[-1]) == (1, 30)
    assert max(np.diff(picked)) - min(np.diff(picked)) <= 1


@pytest.mark.parametrize("rows", [3, 8])
def test_the_iteration_that_found_the_best_is_never_left_out(rows: int) -> None:
    picked = numbers([*(i / 30 for i in range(30)), 0.5], rows)
    assert len(picked) == rows
    assert picked[-2:] == [30, 31]


def test_the_returns_of_an_evolution_rise() -> None:
    bests = np.random.default_rng(0).uniform(size=200).tolist()
    *rising, last = evolution(with_bests(bests))
    assert (np.diff([iteration.best for iteration in rising]) > 0).all()
    assert rising[-1].best == max(bests)
    assert last.number == 200


@pytest.mark.parametrize("rows", [1, 0])
def test_evolution_with_fewer_than_two_rows_raises(rows: int) -> None:
    with pytest.raises(ValueError, match=f"rows must be at least 2, found {rows}"):
        evolution(with_bests([0.0, 1.0]), rows)


def test_the_table_has_a_line_per_row() -> None:
    assert evolution_table(with_bests([0.1, 0.1, 0.75, 1.0], converged=True), 8).splitlines() == [
        "How programs evolved: maze, leaps+, seed 3",
        "",
        "| iteration | best return | best program |",
        "|---:|---:|---|",
        "| 1 | 0.10 | `program 1` |",
        "| 3 | 0.75 | `program 3` |",
        "| 4 (converged) | 1.00 | `program 4` |",
    ]


def test_a_table_says_converged_only_if_that_is_so() -> None:
    assert "converged" not in evolution_table(with_bests([0.1, 0.5]))


# Reports


def test_a_report_is_the_trajectory_in_plain_numbers(recorded: Trajectory) -> None:
    report = json.loads(json.dumps(recorded.report()))
    assert report["config"]["task"] == "stair-climber"
    assert report["truth"]["return"] == 1.0
    for stored, kept in zip(report["iterations"], recorded.iterations, strict=True):
        assert (
            stored["iteration"],
            stored["best_return"],
            stored["mean_return"],
            stored["centre_return"],
        ) == (
            kept.number,
            kept.best,
            kept.mean,
            kept.centre_return,
        )
        assert (stored["best_program"], stored["centre_program"]) == (kept.program, kept.centre_program)
        assert stored["population"] == pytest.approx(kept.population, abs=1e-4)
        assert stored["centre"] == pytest.approx(kept.centre, abs=1e-4)
    assert report["cloud"] == pytest.approx(recorded.cloud, abs=1e-4)


def test_a_report_without_a_truth_says_so() -> None:
    assert with_bests([1.0]).report()["truth"] is None


def test_a_summary_is_what_a_picture_needs_and_can_be_read(recorded: Trajectory) -> None:
    stored = json.loads(json.dumps(recorded.summary()))
    read = Trajectory.of_summary(stored)
    assert (read.config, read.converged, read.truth_program) == (recorded.config, False, STAIRS)
    assert read.plane.shares == pytest.approx(recorded.plane.shares, abs=1e-4)
    assert read.truth == pytest.approx(recorded.truth, abs=6e-4)
    assert read.cloud == pytest.approx(recorded.cloud, abs=6e-4)
    for one, other in zip(read.iterations, recorded.iterations, strict=True):
        assert (one.number, one.program) == (other.number, other.program)
        assert (one.mean, one.best, one.centre_return) == pytest.approx(
            (other.mean, other.best, other.centre_return), abs=1e-4
        )
        assert one.centre == pytest.approx(other.centre, abs=6e-4)
        assert one.population == pytest.approx(other.population, abs=6e-4)
    assert read.summary() == stored


def test_a_summary_of_a_long_search_keeps_some_populations_and_the_programs_that_rose() -> None:
    bests = [i / 1000 if i % 100 == 0 else 0.0 for i in range(1000)]
    stored = with_bests(bests).summary()
    assert [int(number) for number in stored["populations"]] == [i + 1 for i in spread(1000, 6)]
    assert [int(number) for number in stored["programs"]] == numbers(bests, 24)
    assert len(stored["best_returns"]) == len(stored["centres"]["x"]) == 1000
    read = Trajectory.of_summary(stored)
    assert [len(read.iterations[i].population) for i in (0, 1, 999)] == [1, 0, 1]
    assert (read.iterations[100].program, read.iterations[101].program) == ("program 101", "")
    assert read.truth is None
    assert len(json.dumps(stored)) < 100_000


def test_a_summary_of_a_short_search_keeps_every_program() -> None:
    stored = with_bests([0.5] * 24).summary()
    assert len(stored["programs"]) == 24
    assert len(with_bests([0.5] * 25).summary()["programs"]) == 2


# Choosing some of many


@pytest.mark.parametrize(
    ("count", "most", "chosen"),
    [(1, 6, [0]), (4, 6, [0, 1, 2, 3]), (11, 3, [0, 5, 10]), (1000, 2, [0, 999]), (7, 1, [0])],
)
def test_some_of_many_are_spread_evenly(count: int, most: int, chosen: list[int]) -> None:
    assert spread(count, most) == chosen


@pytest.mark.parametrize("count", [60, 61, 100, 999])
def test_as_many_are_chosen_as_are_wanted(count: int) -> None:
    assert len(spread(count, 60)) == 60
