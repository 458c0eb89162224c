"""Ladder: climbs never get worse, and promising ones get more evaluations."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from leaps.dsl.neighbours import Limits, Neighbourhood
from leaps.karel.world import LANGUAGE, PROGRAMS
from leaps.search.ladder import IDEAS, MOVES, Climb, Ladder, LadderConfig, parse_missing
from leaps.search.objective import DROPPED
from leaps.search.search import Candidates, Scores, State
from tests.search.counting import CountsMoves

SMALL = LadderConfig(patience=20, resting=3, starts=10, batch=5, plateau_length=1.0)
MOVE = LANGUAGE.ids["move"]

Toy = Callable[[Candidates], Scores]


def climbs_of(config: LadderConfig = SMALL, seed: int = 0) -> Ladder:
    neighbourhood = Neighbourhood(LANGUAGE, PROGRAMS, Limits(length=20), MOVES, seed)
    return Ladder(config, neighbourhood, neighbourhood.fresh)


def moves(programs: Candidates) -> Scores:
    """A toy score with many equal values: the number of `move` in a program."""
    return np.asarray((programs == MOVE).sum(axis=1), np.float64)


def turn(climbs: Ladder, score: Toy = moves) -> Candidates:
    asked = climbs.ask().copy()
    climbs.tell(score(asked))
    return asked


def incumbent(climbs: Ladder) -> NDArray[np.uint8]:
    assert climbs.incumbent is not None
    return climbs.incumbent.copy()


def through_json(state: State) -> State:
    """The state after a round trip through a file: arrays are lists."""
    saved = json.loads(json.dumps(state, default=lambda array: array.tolist()))
    assert isinstance(saved, dict)
    return saved


# One climb


def test_a_climb_starts_at_the_best_of_the_fresh_programs() -> None:
    climbs = climbs_of()
    assert climbs.incumbent is None
    asked = climbs.ask()
    assert len(asked) == SMALL.starts
    scores = np.linspace(0.0, 0.5, len(asked))
    scores[3] = 0.9
    climbs.tell(scores)
    assert np.array_equal(incumbent(climbs), asked[3])


class Counting(CountsMoves, Neighbourhood):
    pass


def neighbours_by_distance(config: LadderConfig) -> dict[int, int]:
    """Count neighbours by their number of moves."""
    neighbourhood = Counting(LANGUAGE, PROGRAMS, Limits(length=20), MOVES, 0)
    climbs = Ladder(config, neighbourhood, lambda count: np.zeros((count, 20), np.uint8))
    turn(climbs, lambda asked: np.zeros(len(asked)))
    away, count = np.unique(climbs.ask()[:, 0], return_counts=True)
    return dict(zip(away.tolist(), count.tolist(), strict=True))


def test_half_of_the_neighbours_are_one_move_away_a_quarter_two_and_so_on() -> None:
    assert neighbours_by_distance(LadderConfig(batch=16)) == {1: 8, 2: 4, 3: 2, 4: 1, 5: 1}


def test_a_climb_steps_to_the_best_of_better_neighbours() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    asked = climbs.ask().copy()
    assert len(asked) == SMALL.batch
    climbs.tell(np.array([0.6, 0.1, 0.8, 0.7, 0.5]))
    assert np.array_equal(incumbent(climbs), asked[2])


def test_a_climb_steps_along_a_plateau() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    before = incumbent(climbs)
    asked = climbs.ask().copy()
    assert (asked[1:] != before).any(axis=1).all()
    climbs.tell(np.array([0.1, DROPPED, 0.5, 0.2, 0.5]))
    assert np.array_equal(incumbent(climbs), asked[2])


def test_a_plateau_move_leads_to_another_program() -> None:
    # A neighbour that is the program itself is no step, however equal its score.
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    asked = climbs.ask()
    asked[0] = incumbent(climbs)
    other = asked[1].copy()
    assert not np.array_equal(other, asked[0])
    climbs.tell(np.full(len(asked), 0.5))
    assert np.array_equal(incumbent(climbs), other)


def of_length(tokens: int, action: str = "move") -> NDArray[np.uint8]:
    words = ["DEF", "run", "m(", *[action] * (tokens - 4), "m)"]
    return np.asarray(LANGUAGE.batch([LANGUAGE.encode(words)], 20)[0])


def after_equals(before: int, *lengths: int, score: float = 0.5) -> int:
    """Return the length of a program after a step, given the lengths of its neighbours and their score."""
    climbs = climbs_of(LadderConfig(batch=len(lengths), plateau_length=0.7))
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    climbs.climb.program = of_length(before)
    climbs.ask()[:] = [of_length(length, "turnLeft") for length in lengths]
    climbs.tell(np.full(len(lengths), score))
    return int((incumbent(climbs) != LANGUAGE.pad).sum())


def test_a_plateau_move_leaves_room_to_grow() -> None:
    """A plateau move may lengthen a program up to 14 of 20 tokens."""
    assert after_equals(10, 15, 14) == 14
    assert after_equals(10, 16, 15, 20) == 10
    assert after_equals(17, 18, 17) == 17
    assert after_equals(17, 18, 16, 15) == 16
    assert after_equals(20, 20) == 20


def test_a_better_program_may_have_any_length() -> None:
    assert after_equals(10, 20, score=0.6) == 20


def test_the_score_of_a_climb_never_falls() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    before = incumbent(climbs)
    asked = climbs.ask()
    climbs.tell(np.array([0.499, DROPPED, 0.0, 0.3, 0.1]))
    assert np.array_equal(incumbent(climbs), before)
    assert len(asked) == SMALL.batch


def test_scores_along_a_climb_only_rise_and_reach_the_top() -> None:
    climbs = climbs_of(LadderConfig(patience=5000, starts=4, batch=8))
    turn(climbs)
    scores = [moves(incumbent(climbs)[None])[0]]
    places = {incumbent(climbs).tobytes()}
    for _ in range(500):
        turn(climbs)
        scores.append(moves(incumbent(climbs)[None])[0])
        places.add(incumbent(climbs).tobytes())
    assert scores == sorted(scores)
    assert scores[-1] > scores[0]
    # Along plateaus it saw many more programs than there are scores.
    assert len(places) > 2 * len(set(scores))


# The ladder


class Referee:
    """Record the active climb of each turn, if no climb improves."""

    def __init__(self, climbs: Ladder, starts: list[float]) -> None:
        self.climbs, self.starts = climbs, iter(starts)
        self.turns: list[tuple[float, int]] = []
        """whose turn it was (its score), and for how many evaluations"""

    def play(self, evaluations: int) -> None:
        while evaluations > 0:
            fresh = self.climbs.incumbent is None
            asked = self.climbs.ask()
            score = next(self.starts) if fresh else self.climbs.climb.score
            if self.turns and self.turns[-1][0] == score:
                self.turns[-1] = score, self.turns[-1][1] + len(asked)
            else:
                self.turns.append((score, len(asked)))
            # The first of the fresh ones is the best.
            self.climbs.tell(
                np.where(np.arange(len(asked)) == 0, score, 0.0) if fresh else np.full(len(asked), DROPPED)
            )
            evaluations -= len(asked)


# A climb begins with 10 evaluations, and comes to the first rung after 20 more, to the second after 40, …


def test_the_better_of_two_climbs_is_resumed_with_twice_the_patience() -> None:
    referee = Referee(climbs_of(), [0.1, 0.4, 0.3])
    referee.play(30 + 30 + 40 + 10)
    assert referee.turns == [(0.1, 30), (0.4, 30 + 40), (0.3, 10)]


def test_climbs_reach_higher_rungs() -> None:
    referee = Referee(climbs_of(), [0.1, 0.4, 0.3, 0.2, 0.9])
    referee.play(30 + 70 + 30 + 30 + 40 + 80 + 30)
    assert referee.turns == [
        (0.1, 30), (0.4, 30 + 40),
        (0.3, 30), (0.2, 30), (0.3, 40),
        (0.4, 80),  # of the two on the second rung
        (0.9, 30),
    ]  # fmt: skip


def test_a_paused_climb_may_be_resumed_later() -> None:
    referee = Referee(climbs_of(), [0.3, 0.4, 0.1, 0.2, 0.15])
    referee.play(30 + 70 + 30 + 30 + 40)
    assert referee.turns[-1] == (0.3, 40)


def test_only_the_best_paused_climbs_are_kept() -> None:
    scores = [(37 * number % 101) / 101 for number in range(100)]  # all different
    climbs = climbs_of()
    Referee(climbs, scores).play(6000)
    assert len(climbs.rungs) > 3
    assert climbs.rungs[0].came > 20
    assert all(len(rung.climbs) <= SMALL.resting for rung in climbs.rungs)
    resting = [climb.score for climb in climbs.rungs[0].climbs]
    assert min(resting) > np.quantile(scores[: climbs.rungs[0].came], 0.25)


def test_half_of_the_climbs_that_reach_a_rung_are_resumed() -> None:
    climbs = climbs_of()
    Referee(climbs, [(37 * number % 101) / 101 for number in range(100)]).play(6000)
    for rung, above in pairwise(climbs.rungs):
        assert rung.went_on == rung.came // 2
        assert above.came in (rung.went_on, rung.went_on - 1)  # one may be under way


def test_an_improvement_renews_the_patience_and_an_equal_program_does_not() -> None:
    climbs = climbs_of()
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    for _ in range(3):  # not enough to end its turn
        turn(climbs, lambda asked: np.zeros(len(asked)))
    turn(climbs, lambda asked: np.full(len(asked), 0.6))
    evaluations = 0
    while climbs.incumbent is not None:  # None: the next climb begins
        evaluations += len(turn(climbs, lambda asked: np.full(len(asked), 0.6)))
    assert evaluations == SMALL.patience


# Changed worlds


def three_climbs() -> tuple[Ladder, list[NDArray[np.uint8]]]:
    """A search with an active climb of score 0.4, a paused one of 0.1, and one of 0.3 on a higher rung."""
    climbs = climbs_of()
    Referee(climbs, [0.1, 0.3, 0.4]).play(30 + 30 + 40 + 10)
    assert [climb.score for climb in all_climbs(climbs)] == [0.4, 0.1, 0.3]
    return climbs, [climb.program for climb in all_climbs(climbs) if climb.program is not None]


def all_climbs(climbs: Ladder) -> list[Climb]:
    return [climbs.climb, *(climb for rung in climbs.rungs for climb in rung.climbs)]


def test_when_worlds_change_the_programs_of_all_climbs_are_rescored() -> None:
    climbs, programs = three_climbs()
    climbs.worlds_changed()
    assert climbs.incumbent is None  # so that none of them is dropped
    assert np.array_equal(climbs.ask(), np.stack(programs))


def test_rescoring_uses_no_patience() -> None:
    climbs, _ = three_climbs()
    before = [(climb.waited, climb.rung, climb.program) for climb in all_climbs(climbs)]
    climbs.worlds_changed()
    climbs.ask()
    climbs.tell(np.array([0.3, 0.2, 0.1]))
    assert [climb.score for climb in all_climbs(climbs)] == [0.3, 0.2, 0.1]
    assert [(climb.waited, climb.rung, climb.program) for climb in all_climbs(climbs)] == before
    assert len(climbs.ask()) == SMALL.batch  # neighbours again


def test_climbs_are_judged_by_their_scores_on_changed_worlds() -> None:
    climbs, _ = three_climbs()
    climbs.worlds_changed()
    climbs.ask()
    climbs.tell(np.array([0.05, 0.1, 0.2]))
    asked = climbs.ask().copy()
    # Below what the climb had before, above what it has now.
    climbs.tell(np.array([0.0, 0.06, 0.0, 0.0, 0.0]))
    assert np.array_equal(incumbent(climbs), asked[1])


def test_the_climb_that_is_better_on_changed_worlds_is_resumed() -> None:
    climbs, _ = three_climbs()
    climbs.worlds_changed()
    climbs.ask()
    climbs.tell(np.array([0.7, 0.9, 0.8]))
    referee = Referee(climbs, [0.2])
    referee.play(20 + 30 + 40)
    # The third and the fourth reach the first rung, and the first is resumed.
    assert referee.turns == [(0.7, 20), (0.2, 30), (0.9, 40)]


def test_changed_worlds_do_not_affect_a_search_that_has_not_started() -> None:
    climbs, other = climbs_of(), climbs_of()
    climbs.worlds_changed()
    assert np.array_equal(climbs.ask(), other.ask())


# Saved and restored


@pytest.mark.parametrize("turns", [0, 1, 7, 40, 400])
@pytest.mark.parametrize("changed", [False, True])
def test_a_restored_search_continues_identically(turns: int, changed: bool) -> None:
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


def test_a_state_does_not_change_after_it_was_taken() -> None:
    climbs = climbs_of()
    for _ in range(5):
        turn(climbs)
    state: dict[str, Any] = climbs.state()
    before = through_json(state)
    for _ in range(50):
        turn(climbs)
    assert through_json(state) == before


def test_another_seed_gives_another_search() -> None:
    assert not np.array_equal(climbs_of(seed=1).ask(), climbs_of(seed=2).ask())


# Settings


@pytest.mark.parametrize(("name", "least"), [("patience", 1), ("resting", 0), ("starts", 1), ("batch", 1)])
def test_settings_below_their_minimum_raise_by_name(name: str, least: int) -> None:
    setting: dict[str, Any] = {name: least - 1}
    with pytest.raises(ValueError, match=f"{name} must be at least {least}, found {least - 1}"):
        LadderConfig(**setting)


# Ideas switched off


def test_without_far_all_neighbours_are_one_move_away() -> None:
    assert neighbours_by_distance(LadderConfig(batch=16).without(frozenset({"far"}))) == {1: 16}


def test_without_plateau_a_climb_only_steps_to_better_programs() -> None:
    climbs = climbs_of(SMALL.without(frozenset({"plateau"})))
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    before = incumbent(climbs)
    turn(climbs, lambda asked: np.full(len(asked), 0.5))
    assert np.array_equal(incumbent(climbs), before)
    better = climbs.ask()[1].copy()
    climbs.tell(np.array([0.5, 0.6, 0.5, 0.5, 0.5]))
    assert np.array_equal(incumbent(climbs), better)


def test_without_ladder_no_climb_is_resumed() -> None:
    climbs = climbs_of(SMALL.without(frozenset({"ladder"})))
    starts = 0
    for _ in range(200):
        starts += climbs.climb.program is None
        turn(climbs, lambda asked: np.zeros(len(asked)))
        assert climbs.climb.rung == 0
        assert all_climbs(climbs) == [climbs.climb]
    # A climb lasts for its start and as many neighbours as it has patience.
    assert starts == pytest.approx(200 / (1 + SMALL.patience / SMALL.batch), rel=0.1)


def test_without_room_a_program_may_have_any_length_on_a_plateau() -> None:
    config = LadderConfig(starts=1, batch=1).without(frozenset({"room"}))
    climbs = climbs_of(config)
    for length in (8, 20):
        climbs.ask()
        climbs.asked = of_length(length)[None]
        climbs.tell(np.array([0.5]))
    assert np.array_equal(incumbent(climbs), of_length(20))


def test_without_omissions_the_settings_are_the_defaults() -> None:
    assert LadderConfig().without(frozenset()) == LadderConfig()
    changed = {idea for idea in IDEAS if LadderConfig().without(frozenset({idea})) != LadderConfig()}
    assert changed == {"plateau", "far", "ladder", "room"}


def test_names_list_what_is_switched_off() -> None:
    assert parse_missing("ladder") == frozenset()
    assert parse_missing("ladder-space") == frozenset({"space"})
    assert parse_missing("ladder-far-space") == frozenset({"space", "far"})
    assert parse_missing("leaps") is None
    with pytest.raises(ValueError, match="unknown idea 'luck' in 'ladder-luck'; expected space, plateau, "):
        parse_missing("ladder-luck")
