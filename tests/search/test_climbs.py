"""Climbs go up or along, never down, and the tournament gives the promising ones more patience."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.dsl.neighbours import Limits, Neighbourhood
from leaps.karel.world import LANGUAGE, PROGRAMS
from leaps.search.climbs import MOVES, Climbs, ClimbsConfig
from leaps.search.objective import DROPPED
from leaps.search.search import Programs, Scores, State

SMALL = ClimbsConfig(climbs=4, patience=20, starts=10, batch=5)
MOVE = LANGUAGE.ids["move"]

Toy = Callable[[Programs], Scores]


def climbs_of(config: ClimbsConfig = SMALL, seed: int = 0) -> Climbs:
    neighbourhood = Neighbourhood(LANGUAGE, PROGRAMS, Limits(length=20), MOVES, seed)
    return Climbs(config, neighbourhood, neighbourhood.fresh)


def moves(programs: Programs) -> Scores:
    """A toy score with many equals: how often `move` stands in a program."""
    return np.asarray((programs == MOVE).sum(axis=1), np.float64)


def turn(climbs: Climbs, score: Toy = moves) -> Programs:
    asked = climbs.ask().copy()
    climbs.tell(score(asked))
    return asked


def rival(climbs: Climbs) -> NDArray[np.uint8]:
    assert climbs.rival is not None
    return climbs.rival.copy()


def through_json(state: State) -> State:
    """The state as a file would keep it: arrays are lists."""
    saved = json.loads(json.dumps(state, default=lambda array: array.tolist()))
    assert isinstance(saved, dict)
    return saved


# One climb


def test_a_climb_begins_at_the_best_of_the_fresh_programs() -> None:
    climbs = climbs_of()
    assert climbs.rival is None
    asked = climbs.ask()
    assert len(asked) == SMALL.starts
    scores = np.linspace(0.0, 0.5, len(asked))
    scores[3] = 0.9
    climbs.tell(scores)
    assert np.array_equal(rival(climbs), asked[3])


def test_a_climb_goes_to_the_best_of_better_neighbours() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    asked = climbs.ask().copy()
    assert len(asked) == SMALL.batch
    climbs.tell(np.array([0.6, 0.1, 0.8, 0.7, 0.5]))
    assert np.array_equal(rival(climbs), asked[2])


def test_a_climb_steps_along_a_plateau() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    before = rival(climbs)
    asked = climbs.ask().copy()
    assert (asked[1:] != before).any(axis=1).all()
    climbs.tell(np.array([0.1, DROPPED, 0.5, 0.2, 0.5]))
    assert np.array_equal(rival(climbs), asked[2])


def test_a_step_along_a_plateau_leads_to_another_program() -> None:
    # A neighbour that is the program itself is no step, however equal its score.
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    asked = climbs.ask()
    asked[0] = rival(climbs)
    other = asked[1].copy()
    assert not np.array_equal(other, asked[0])
    climbs.tell(np.full(len(asked), 0.5))
    assert np.array_equal(rival(climbs), other)


def test_a_climb_never_goes_down() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    before = rival(climbs)
    asked = climbs.ask()
    climbs.tell(np.array([0.499, DROPPED, 0.0, 0.3, 0.1]))
    assert np.array_equal(rival(climbs), before)
    assert len(asked) == SMALL.batch


def test_scores_along_a_climb_only_rise_and_reach_the_top() -> None:
    climbs = climbs_of(ClimbsConfig(climbs=1, patience=5000, starts=4, batch=8))
    turn(climbs)
    scores = [moves(rival(climbs)[None])[0]]
    places = {rival(climbs).tobytes()}
    for _ in range(500):
        turn(climbs)
        scores.append(moves(rival(climbs)[None])[0])
        places.add(rival(climbs).tobytes())
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]
    # Along plateaus it saw many more places than there are scores.
    assert len(places) > 2 * len(set(scores))


# The tournament


class Referee:
    """Plays a tournament in which no climb gets anywhere: each keeps the score of its start."""

    def __init__(self, climbs: Climbs, starts: list[float]) -> None:
        self.climbs, self.starts = climbs, iter(starts)
        self.turns: list[tuple[float, int]] = []
        """whose turn it was (its score), and for how many evaluations"""
        self.scores: dict[bytes, float] = {}

    def play(self, evaluations: int) -> None:
        while evaluations > 0:
            fresh = self.climbs.rival is None
            asked = self.climbs.ask()
            score = next(self.starts) if fresh else self.scores[rival(self.climbs).tobytes()]
            if fresh:
                self.scores[asked[0].tobytes()] = score
            if self.turns and self.turns[-1][0] == score:
                self.turns[-1] = score, self.turns[-1][1] + len(asked)
            else:
                self.turns.append((score, len(asked)))
            # The first of the fresh ones is the best.
            self.climbs.tell(
                np.where(np.arange(len(asked)) == 0, score, 0.0) if fresh else np.full(len(asked), DROPPED)
            )
            evaluations -= len(asked)


def test_the_better_half_goes_on_with_twice_the_patience() -> None:
    referee = Referee(climbs_of(), [0.1, 0.4, 0.3, 0.2, 0.9])
    referee.play(4 * 30 + 2 * 40 + 80 + 10)
    assert referee.turns == [
        (0.1, 30), (0.4, 30), (0.3, 30), (0.2, 30),
        (0.4, 40), (0.3, 40),
        (0.4, 80),
        (0.9, 10),
    ]  # fmt: skip


def test_another_tournament_is_as_the_first() -> None:
    whole = 4 * 30 + 2 * 40 + 80
    first, second = [0.1, 0.4, 0.3, 0.2], [0.15, 0.45, 0.35, 0.25]
    referee = Referee(climbs_of(), first + second)
    referee.play(2 * whole)
    assert referee.turns[7:] == [
        (0.15, 30), (0.45, 30), (0.35, 30), (0.25, 30),
        (0.45, 40), (0.35, 40),
        (0.45, 80),
    ]  # fmt: skip


def test_a_tournament_of_an_odd_number_of_climbs_ends_too() -> None:
    config = ClimbsConfig(climbs=3, patience=20, starts=10, batch=5)
    referee = Referee(climbs_of(config), [0.1, 0.2, 0.3, 0.4])
    referee.play(3 * 30 + 40 + 10)
    # The winner of the first round was the last to have its turn, and goes on at once.
    assert referee.turns == [(0.1, 30), (0.2, 30), (0.3, 30 + 40), (0.4, 10)]


def test_something_better_renews_the_patience_and_something_equal_does_not() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    for _ in range(3):  # not enough to end its turn
        turn(climbs, lambda asked: np.zeros(len(asked)))
    turn(climbs, lambda asked: np.full(len(asked), 0.6))
    evaluations = 0
    while climbs.rival is not None:  # None: the next climb begins
        evaluations += len(turn(climbs, lambda asked: np.full(len(asked), 0.6)))
    assert evaluations == SMALL.patience


# Other worlds


def three_climbs() -> tuple[Climbs, list[NDArray[np.uint8]]]:
    """Climbs of which three have begun, at scores 0.1, 0.2 and 0.3, the third having its turn."""
    climbs = climbs_of()
    referee = Referee(climbs, [0.1, 0.2, 0.3, 0.4])
    referee.play(30 + 30 + 10)
    programs = [climb.program for climb in climbs.climbs if climb.program is not None]
    assert len(programs) == 3
    return climbs, programs


def test_when_worlds_change_all_the_climbs_programs_are_asked_for_again() -> None:
    climbs, programs = three_climbs()
    climbs.worlds_changed()
    assert climbs.rival is None  # so that none of them is dropped
    assert np.array_equal(climbs.ask(), np.stack(programs))


def test_scores_on_changed_worlds_are_no_turn() -> None:
    climbs, _ = three_climbs()
    before = [(climb.waited, climb.program) for climb in climbs.climbs], climbs.active
    climbs.worlds_changed()
    climbs.ask()
    climbs.tell(np.array([0.3, 0.2, 0.1]))
    after = [(climb.waited, climb.program) for climb in climbs.climbs], climbs.active
    assert before == after
    assert len(climbs.ask()) == SMALL.batch  # neighbours again


def test_climbs_are_judged_by_their_scores_on_changed_worlds() -> None:
    climbs, _ = three_climbs()
    climbs.worlds_changed()
    climbs.ask()
    climbs.tell(np.array([0.1, 0.2, 0.05]))
    asked = climbs.ask().copy()
    # Below what the climb had before, above what it has now.
    climbs.tell(np.array([0.0, 0.06, 0.0, 0.0, 0.0]))
    assert np.array_equal(rival(climbs), asked[1])


def test_the_better_half_is_the_better_on_changed_worlds() -> None:
    climbs, programs = three_climbs()
    climbs.worlds_changed()
    climbs.ask()
    climbs.tell(np.array([0.9, 0.8, 0.7]))
    referee = Referee(climbs, [0.1])
    referee.scores = {
        program.tobytes(): score for program, score in zip(programs, (0.9, 0.8, 0.7), strict=True)
    }
    referee.play(20 + 30 + 2 * 40)
    assert referee.turns == [(0.7, 20), (0.1, 30), (0.9, 40), (0.8, 40)]


def test_changed_worlds_are_nothing_to_a_search_that_has_not_begun() -> None:
    climbs, other = climbs_of(), climbs_of()
    climbs.worlds_changed()
    assert np.array_equal(climbs.ask(), other.ask())


# Saved and restored


@pytest.mark.parametrize("turns", [0, 1, 7, 40])
@pytest.mark.parametrize("changed", [False, True])
def test_a_restored_search_goes_on_as_if_nothing_had_been(turns: int, changed: bool) -> None:
    climbs, other = climbs_of(seed=1), climbs_of(seed=2)
    for _ in range(turns):
        turn(climbs)
    if changed:
        climbs.worlds_changed()
    for _ in range(3):
        turn(other)
    other.restore(through_json(climbs.state()))
    for _ in range(60):
        assert np.array_equal(turn(climbs), turn(other))


def test_a_state_stays_as_it_was_taken() -> None:
    climbs = climbs_of()
    for _ in range(5):
        turn(climbs)
    state: dict[str, Any] = climbs.state()
    before = through_json(state)
    for _ in range(50):
        turn(climbs)
    assert through_json(state) == before


def test_another_seed_is_another_search() -> None:
    assert not np.array_equal(climbs_of(seed=1).ask(), climbs_of(seed=2).ask())


# Settings


@pytest.mark.parametrize("name", ["climbs", "patience", "starts", "batch"])
@pytest.mark.parametrize("value", [0, -1])
def test_settings_below_one_are_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, found {value}"):
        ClimbsConfig(**{name: value})
