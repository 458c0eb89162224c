"""The published search step by step, and what each change of leaps+ changes."""

from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.embedding.space import Space
from leaps.karel.world import KAREL
from leaps.search.cem import ONE_SETTING, PAPER_CEM, RESTART_AFTER
from leaps.search.checkpoint import restore, state_of
from leaps.search.leaps import CHANGES, IN_A_ROW, Leaps, config_for, parse_changes
from leaps.search.methods import LEAPS_BUDGET, LEAPS_WORLDS, Setting, get_method
from leaps.search.objective import NEARLY
from leaps.search.search import VALID_BONUS, Candidates
from leaps.search.solve import Run, SolveConfig
from tests.embedding.helpers import needs_shipped_weights

NONE: frozenset[str] = frozenset()
MAZE = PAPER_CEM["maze"].population


class Numbered:
    """A space of two dimensions that decodes every point to a different number, and records the points."""

    dimensions = 2

    def __init__(self) -> None:
        self.decoded: list[NDArray[np.float32]] = []
        self.count = 0

    def decode(self, points: NDArray[np.float32], max_length: int | None = None) -> Candidates:  # noqa: ARG002
        self.decoded.append(points)
        numbers = self.count + np.arange(len(points))
        self.count += len(points)
        return np.stack([numbers // 256 % 256, numbers % 256], axis=1).astype(np.uint8)


def searching(changes: frozenset[str] = NONE, task: str = "maze") -> tuple[Leaps, Numbered]:
    space = Numbered()
    return Leaps(cast(Space, space), task, 0, 45, changes), space


def iterate(search: Leaps, centre: float, best: float = 0.5) -> None:
    """Run one iteration with these scores of the population's best program and of the centre."""
    scores = np.zeros(len(search.ask()))
    scores[-1] = best
    search.tell(scores)
    search.ask()
    search.tell(np.array([centre]))


# The published search


def test_each_population_is_followed_by_the_centre_of_the_next() -> None:
    search, space = searching()
    for _ in range(3):
        population = search.ask()
        scores = np.linspace(0.0, 0.7, MAZE)
        points = space.decoded[-1]
        search.tell(scores)
        elites = np.argsort(-scores)[: PAPER_CEM["maze"].elites]
        weights = scores[elites] + VALID_BONUS
        centre = search.ask()
        assert (len(population), len(centre)) == (MAZE, 1)
        assert space.decoded[-1][0] == pytest.approx(weights @ points[elites] / weights.sum())
        search.tell(np.array([0.2]))


def test_the_score_of_a_centre_does_not_move_the_search() -> None:
    one, other = searching()[0], searching()[0]
    for centre in (0.0, 0.3, 0.9):
        iterate(one, centre)
        iterate(other, 0.0)
    assert np.array_equal(one.cem.mean, other.cem.mean)


def test_ten_perfect_centres_in_a_row_end_the_search() -> None:
    search, _ = searching()
    for _ in range(IN_A_ROW - 1):
        iterate(search, 1.0 - NEARLY)
    iterate(search, 0.999)  # which breaks the row
    for _ in range(IN_A_ROW):
        assert not search.finished
        iterate(search, 1.0)
    assert search.converged
    assert search.finished
    assert search.cem.iteration == 2 * IN_A_ROW == 20


def test_perfect_programs_of_a_population_do_not_end_it() -> None:
    search, _ = searching()
    for _ in range(3 * IN_A_ROW):
        iterate(search, centre=0.0, best=1.0)
    assert not search.finished


def test_the_answer_is_the_program_of_the_centre_even_if_a_sampled_one_is_better() -> None:
    search, _ = searching()
    assert search.answer is None
    for score in (0.4, 0.2):  # the latest, not the best
        search.ask()
        search.tell(np.ones(MAZE))
        centre = search.ask().copy()
        search.tell(np.array([score]))
        assert search.answer is not None
        assert np.array_equal(search.answer.program, centre[0])
        assert search.answer.score == score


def test_a_search_ends_after_a_thousand_iterations_without_restart() -> None:
    search, space = searching()
    asked = 0
    while not search.finished:
        programs = search.ask()
        search.tell(np.zeros(len(programs)))
        asked += len(programs)
    assert asked == space.count == 1000 * (MAZE + 1)
    assert (search.cem.iteration, search.cem.began) == (1000, 0)
    assert not search.converged
    assert len(space.decoded[-1]) == 1  # the last centre is scored, too


@pytest.mark.parametrize("task", PAPER_CEM)
def test_each_task_has_the_papers_setting(task: str) -> None:
    assert config_for(task, NONE) == PAPER_CEM[task]
    assert config_for(task, NONE).restart_after == 0


def test_a_task_without_a_paper_setting_has_the_one_setting() -> None:
    assert config_for("snake", NONE) == ONE_SETTING


def test_the_budget_is_a_thousand_iterations_of_the_largest_population() -> None:
    assert 1000 * (max(config.population for config in PAPER_CEM.values()) + 1) == LEAPS_BUDGET


# The changes


class Properties(NamedTuple):
    """The settings that the changes concern."""

    setting: Any
    restart: int
    whitened: bool
    stop: bool
    best: bool


def properties_of(name: str) -> Properties:
    search = get_method(name).build(Setting(KAREL, "maze", "leaps", 0, 45))
    assert isinstance(search, Leaps)
    centre = search.centre
    return Properties(
        setting_of(search.cem.config),
        search.cem.config.restart_after,
        not search.space.raw,
        not centre.stops,
        not centre.answers,
    )


def setting_of(config: Any) -> tuple[Any, ...]:
    return config.population, config.sigma, config.elite_fraction, config.decay, config.initial


CHANGED = Properties(setting_of(ONE_SETTING), RESTART_AFTER, True, True, True)


@needs_shipped_weights
def test_the_published_search_has_no_changes() -> None:
    assert properties_of("leaps") == Properties(setting_of(PAPER_CEM["maze"]), 0, False, False, False)


@needs_shipped_weights
@pytest.mark.parametrize("change", CHANGES)
def test_a_single_change_changes_nothing_else(change: str) -> None:
    expected = properties_of("leaps")._replace(**{change: getattr(CHANGED, change)})
    assert properties_of(f"leaps+{change}") == expected


@needs_shipped_weights
def test_all_changes_are_leaps_plus() -> None:
    assert Properties._fields == ("setting", "restart", "whitened", "stop", "best")
    assert set(Properties._fields) == set(CHANGES)
    assert properties_of("leaps+") == CHANGED
    assert properties_of("leaps+restart+best") == properties_of("leaps")._replace(restart=50, best=True)


def test_a_restart_follows_fifty_iterations_without_a_better_program() -> None:
    search, _ = searching(frozenset({"restart"}))
    for _ in range(RESTART_AFTER + 1):
        assert search.cem.began == 0
        iterate(search, 0.0, best=0.5)
    assert search.cem.began == RESTART_AFTER + 1


def test_with_stop_perfect_programs_of_ten_populations_in_a_row_end_the_search() -> None:
    search, _ = searching(frozenset({"stop"}))
    for _ in range(IN_A_ROW):
        assert not search.finished
        iterate(search, centre=0.0, best=1.0)
    assert search.finished
    search, _ = searching(frozenset({"stop"}))
    for _ in range(2 * IN_A_ROW):
        iterate(search, centre=1.0, best=0.5)
    assert not search.finished


def test_with_best_the_answer_is_chosen_among_all_programs_and_the_centre_still_stops() -> None:
    search, _ = searching(frozenset({"best"}))
    for _ in range(IN_A_ROW):
        iterate(search, 1.0)
    assert search.finished
    assert search.answer is None


def test_an_unused_centre_is_not_scored() -> None:
    search, space = searching(frozenset({"stop", "best"}))
    for _ in range(5):
        search.tell(np.zeros(len(search.ask())))
    assert [len(points) for points in space.decoded] == [MAZE] * 5


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("leaps", set()),
        ("leaps+", set(CHANGES)),
        ("leaps+best", {"best"}),
        ("leaps+restart+best", {"restart", "best"}),
        ("leaps+ties+x3", {"ties", "x3"}),
        ("hc", None),
        ("leapsbest", None),
    ],
)
def test_names_of_changes_are_parsed(name: str, changes: set[str] | None) -> None:
    assert parse_changes(name) == changes


@pytest.mark.parametrize("name", ["leaps+luck", "leaps+best+", "leaps++", "leaps+x1", "leaps+x33"])
def test_an_unknown_change_raises_with_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=f"unknown change '.*' in .*; expected {', '.join(CHANGES)}"):
        parse_changes(name)


def test_only_one_factor_of_distances_can_be_given() -> None:
    with pytest.raises(ValueError, match=r"expected one factor of distances in 'leaps\+x2\+x3'"):
        parse_changes("leaps+x2+x3")


# Details of the authors' code


def test_leaps_plus_has_none_of_the_authors_details() -> None:
    config = config_for("maze", frozenset(CHANGES))
    assert (config.unit, config.negative_weights) == (1.0, False)
    assert get_method("leaps+").redraw_every == 0
    assert not searching(frozenset(CHANGES))[0].ties_by_text


@pytest.mark.parametrize("task", PAPER_CEM)
def test_longer_distances_are_those_of_the_start_and_of_every_population(task: str) -> None:
    one, longer = searching(task=task)[0].cem, searching(frozenset({"x3"}), task)[0].cem
    assert longer.mean == pytest.approx(3 * one.mean)
    for _ in range(3):
        points, scores = one.ask(), np.arange(one.config.population, dtype=float)
        assert longer.ask() == pytest.approx(3 * points, rel=1e-5)
        one.tell(points, scores)
        longer.tell(3 * points, scores)
    assert longer.sigma == pytest.approx(3 * one.sigma)


def test_ties_by_text_go_to_the_program_that_is_last_in_the_alphabet() -> None:
    search, space = searching(frozenset({"ties"}))
    text = {0: "DEF run m( move m)", 1: "DEF run m( turnLeft m)", 2: "DEF run m( turnRight m)"}
    space.text = lambda program: text[int(program[1]) % 3]  # type: ignore[attr-defined]
    search.ask()
    points = space.decoded[-1]
    scores = np.zeros(MAZE)
    scores[0] = 1.0  # an elite whatever its text; the other elite is one of equals
    search.tell(scores)
    last = max(i for i in range(1, MAZE) if i % 3 == 2)
    expected = (1.0 + VALID_BONUS) * points[0] + VALID_BONUS * points[last]
    assert PAPER_CEM["maze"].elites == 2
    assert search.cem.centre == pytest.approx(expected / (1.0 + 2 * VALID_BONUS), abs=1e-6)


def test_negative_weights_push_the_mean_away() -> None:
    search = searching(frozenset({"negative"}))[0]
    search.ask()
    points = search.points.astype(float)
    scores = np.full(MAZE, -1.0)
    scores[0] = 1.0
    search.tell(scores)
    weights = np.array([1.0 + VALID_BONUS, -1.0 + VALID_BONUS])
    assert search.cem.centre == pytest.approx(weights @ points[:2] / (weights.sum() + 1e-5), rel=1e-4)


@needs_shipped_weights
@pytest.mark.parametrize(("method", "rounds"), [("leaps+redraw", 200), ("leaps+stop+best+redraw", 100)])
def test_worlds_are_redrawn_every_hundred_iterations(method: str, rounds: int) -> None:
    run = Run(SolveConfig("clean-house", method, seed=2))
    first = run.objective.worlds
    for _ in range(rounds):
        run.step()
    assert run.objective.worlds is first
    run.step()
    second = run.objective.worlds
    assert second.count == first.count
    assert not np.array_equal(second.markers, first.markers)
    for _ in range(rounds - 1):
        run.step()
    assert run.objective.worlds is second
    run.step()
    assert run.objective.worlds is not second


@needs_shipped_weights
def test_the_best_programs_are_rescored_when_worlds_are_redrawn() -> None:
    run = Run(SolveConfig("clean-house", "leaps+best+redraw", seed=2))
    for _ in range(201):
        run.step()
    assert run.best is not None
    assert len(run.shortlist) > 1
    for key, score in run.shortlist.items():
        assert score == run.objective.returns(np.frombuffer(key, np.uint8)[None]).mean()
    assert run.best[0] == max(run.shortlist.values())
    assert run.best[0] == run.objective.returns(run.best[1][None]).mean()


@needs_shipped_weights
def test_a_restored_search_that_redraws_continues_identically() -> None:
    whole, first = (Run(SolveConfig("clean-house", "leaps+redraw", seed=2)) for _ in range(2))
    for _ in range(150):
        whole.step()
        first.step()
    state = state_of(first)
    second = Run(SolveConfig("clean-house", "leaps+redraw", seed=2))
    restore(second, state)
    for _ in range(60):
        expected, found = whole.step(), second.step()
        assert np.array_equal(expected.scores, found.scores)


# Costs


@needs_shipped_weights
@pytest.mark.parametrize("task", ["maze", "clean-house"])
def test_every_program_of_a_population_and_its_centre_are_evaluations_on_ten_worlds(task: str) -> None:
    run = Run(SolveConfig(task, "leaps", seed=1))
    for iteration in range(1, 5):
        run.step()
        run.step()
        assert run.objective.evaluations == iteration * (PAPER_CEM[task].population + 1)
        assert run.objective.rollouts == LEAPS_WORLDS * run.objective.evaluations
    assert LEAPS_WORLDS == 10
