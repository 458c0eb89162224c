"""Checks on fresh worlds."""

import numpy as np
import pytest

from leaps.dsl.syntax import tokens_of
from leaps.dsl.text import parse
from leaps.karel.world import LANGUAGE, Worlds
from leaps.search import trial
from leaps.search.objective import Objective
from leaps.search.trial import ADDED, CHECKED_ELSEWHERE, CHECKS, Tokens, Trial, worst
from leaps.tasks import get

CHECKED = 1000
"""worlds of a check of a task of Karel"""
MAZE, TOP_OFF = get("maze"), get("top-off")
RIGHT_HAND = (
    "DEF run m( WHILE c( noMarkersPresent c) w( IFELSE c( rightIsClear c) i( turnRight i) "
    "ELSE e( WHILE c( not c( frontIsClear c) c) w( turnLeft w) e) move w) m)"
)
WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
WALK_ROUNDABOUT = "DEF run m( turnLeft turnRight WHILE c( frontIsClear c) w( move w) turnLeft m)"
TOPS = (
    "DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) "
    "IF c( markersPresent c) i( putMarker i) m)"
)


def encoded(text: str, length: int = 45) -> Tokens:
    tokens = np.full(length, LANGUAGE.pad, np.uint8)
    written = LANGUAGE.encode(tokens_of(parse(text, LANGUAGE)))
    tokens[: len(written)] = written
    return tokens


def maze(seed: int = 5) -> tuple[Trial, Objective]:
    return Trial(MAZE, seed, [(8, 8)]), Objective(MAZE, MAZE.worlds(8, seed=1))


def top_off() -> tuple[Trial, Objective]:
    return Trial(TOP_OFF, 5, [(12, 12)]), Objective(TOP_OFF, TOP_OFF.worlds(8, seed=1))


def test_no_world_is_drawn_twice() -> None:
    drawing, _ = maze()
    parts = [drawing.fresh(count) for count in (3, 7, 2)]
    assert drawing.drawn == 12
    for field in Worlds._fields:
        expected = getattr(MAZE.worlds(12, 5, (8, 8)), field)
        assert np.array_equal(getattr(Worlds.join(parts), field), expected)


def test_a_program_that_never_fails_gets_all_checks() -> None:
    on_trial, objective = maze()
    _, returns = on_trial.check(encoded(RIGHT_HAND), (8, 8), objective)
    assert returns.min() == 1.0
    assert on_trial.drawn == objective.rollouts == CHECKS * CHECKED


def test_checks_stop_at_the_first_failure() -> None:
    on_trial, objective = maze()
    worlds, returns = on_trial.check(encoded(WALK), (8, 8), objective)
    assert on_trial.drawn == worlds.count == len(returns) == CHECKED
    assert 0 < returns.mean() < 1


def test_best_of_chooses_the_best_and_the_first_of_equals() -> None:
    on_trial, objective = top_off()
    programs = np.stack([encoded(WALK), encoded(TOPS), encoded(WALK_ROUNDABOUT)])
    assert np.array_equal(on_trial.best_of(programs, objective), programs[1])
    assert np.array_equal(on_trial.best_of(programs[[2, 0]], objective), programs[2])


def test_is_better_is_true_for_a_significant_difference() -> None:
    on_trial, objective = top_off()
    walk, tops = encoded(WALK), encoded(TOPS)
    assert on_trial.is_better(tops, walk, objective)
    assert not on_trial.is_better(walk, tops, objective)
    assert not on_trial.is_better(walk, walk, objective)


def test_is_better_is_false_for_an_insignificant_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    on_trial, objective = maze()
    rng = np.random.default_rng(0)
    monkeypatch.setattr(objective, "returns", lambda _, worlds: rng.normal(0, 1, (1, worlds.count)))
    std = np.sqrt(2 / (CHECKS * CHECKED))  # of the mean of all differences
    assert not any(on_trial.is_better(encoded(WALK), encoded(TOPS), objective) for _ in range(20))
    steady = iter(np.tile([6 * std, 0.0], 20))
    monkeypatch.setattr(
        objective, "returns", lambda _, worlds: next(steady) + rng.normal(0, 1, (1, worlds.count))
    )
    assert all(on_trial.is_better(encoded(WALK), encoded(TOPS), objective) for _ in range(20))


def test_a_program_becomes_simpler_and_no_worse() -> None:
    on_trial, objective = top_off()
    simpler = on_trial.simplified(encoded(WALK_ROUNDABOUT), objective, None, seed=0)
    assert np.array_equal(simpler, encoded(WALK))


def test_edits_that_make_no_difference_are_taken_back() -> None:
    on_trial, objective = top_off()
    back = on_trial.simplified(encoded(WALK_ROUNDABOUT), objective, encoded(WALK), seed=0)
    assert LANGUAGE.decode(back) == LANGUAGE.decode(encoded(WALK))


def test_a_simpler_program_that_fails_on_fresh_worlds_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    on_trial, objective = top_off()
    walked: list[int] = []

    def too_simple(program: Tokens, on: Objective, seed: int) -> Tokens:  # noqa: ARG001
        walked.append(on.worlds.count)
        return encoded("DEF run m( move m)")

    monkeypatch.setattr(trial, "simplify", too_simple)
    assert np.array_equal(on_trial.simplified(encoded(TOPS), objective, None, 0), encoded(TOPS))
    assert walked == [108, 124, 140]  # the next attempt includes the worlds on which it failed


# At several sizes

NINE = "DEF run m( REPEAT R=9 r( IF c( markersPresent c) i( putMarker i) move r) m)"
"""tops off what lies in a world of 12x12, and no further"""


HALF = "DEF run m( move WHILE c( frontIsClear c) w( IF c( markersPresent c) i( putMarker i) move w) m)"
"""passes over the first cell, and does the rest at any size"""


def sizes() -> tuple[Trial, Objective]:
    elsewhere = (TOP_OFF.worlds(8, 1, (9, 12)), TOP_OFF.worlds(8, 1, (5, 30)))
    return Trial(TOP_OFF, 5, [(12, 12), (9, 12), (5, 30)]), Objective(
        TOP_OFF, TOP_OFF.worlds(8, 1), elsewhere
    )


def test_a_program_is_checked_at_any_size() -> None:
    on_trial, objective = sizes()
    worlds, returns = on_trial.check(encoded(NINE), (9, 12), objective)
    assert (worlds.size, returns.min()) == ((9, 12), 1.0)
    assert on_trial.drawn == CHECKS * CHECKED_ELSEWHERE
    worlds, returns = on_trial.check(encoded(NINE), (5, 30), objective)
    assert worlds.size == (5, 30)
    assert returns.mean() < 1.0
    assert on_trial.drawn == (CHECKS + 1) * CHECKED_ELSEWHERE


def test_a_program_that_is_perfect_at_all_sizes_is_better() -> None:
    on_trial, objective = sizes()
    assert np.array_equal(
        on_trial.best_of(np.stack([encoded(NINE), encoded(TOPS)]), objective), encoded(TOPS)
    )
    assert on_trial.is_better(encoded(TOPS), encoded(NINE), objective)
    on_trial, objective = top_off()
    assert np.array_equal(
        on_trial.best_of(np.stack([encoded(NINE), encoded(TOPS)]), objective), encoded(NINE)
    )
    assert not on_trial.is_better(encoded(TOPS), encoded(NINE), objective)


def test_all_sizes_have_equal_weight() -> None:
    """Independent of the number of worlds: slightly worse at the own size, much better at the other."""
    on_trial = Trial(TOP_OFF, 5, [(12, 12), (5, 30)])
    objective = Objective(TOP_OFF, TOP_OFF.worlds(8, 1), (TOP_OFF.worlds(8, 1, (5, 30)),))
    both = np.stack([encoded(NINE), encoded(HALF)])
    assert np.array_equal(on_trial.best_of(both, objective), encoded(HALF))
    assert on_trial.is_better(encoded(HALF), encoded(NINE), objective)
    assert not on_trial.is_better(encoded(NINE), encoded(HALF), objective)


def test_a_simpler_program_that_fails_at_another_size_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    on_trial, objective = sizes()
    walked: list[list[int]] = []

    def too_simple(program: Tokens, on: Objective, seed: int) -> Tokens:  # noqa: ARG001
        walked.append([on.worlds.count, *(batch.count for batch in on.elsewhere)])
        return encoded(NINE)

    monkeypatch.setattr(trial, "simplify", too_simple)
    assert np.array_equal(on_trial.simplified(encoded(TOPS), objective, None, 0), encoded(TOPS))
    assert walked == [[108, 8, 8], [108, 8, 24], [108, 8, 40]]
    # Nor where the program that is to become simpler is not perfect itself, and less so at home.
    assert np.array_equal(on_trial.simplified(encoded(HALF), objective, None, 0), encoded(HALF))


def test_the_worst_worlds_come_first() -> None:
    worlds = MAZE.worlds(40, seed=2)
    returns = np.ones(40)
    returns[[30, 4, 11]] = [0.5, 0.0, 0.5]
    found = worst(worlds, returns)
    assert found.count == ADDED
    for place, number in enumerate([4, 11, 30, 0, 1]):
        assert np.array_equal(found.world(place).ground, worlds.world(number).ground)
