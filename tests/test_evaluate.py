from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.base import parallel
from leaps.domain import Outcome
from leaps.dsl.sample import sample_programs
from leaps.dsl.text import parse
from leaps.evaluate import evaluate
from leaps.karel.world import (
    LANGUAGE,
    PROGRAMS,
)
from leaps.tasks import get
from tests.spoiled import SPOILED

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"


def test_text_tree_and_tokens_have_the_same_returns() -> None:
    forms = [WALK, parse(WALK, LANGUAGE), [WALK], LANGUAGE.encode(WALK.split())[None]]
    returns = [evaluate(form, "top-off", episodes=50).returns for form in forms]  # type: ignore[arg-type]
    assert all(np.array_equal(returns[0], other) for other in returns)


def test_same_seed_gives_the_same_returns_for_any_number_of_threads() -> None:
    programs = sample_programs(LANGUAGE, PROGRAMS, 300, seed=1)
    try:
        parallel.set_threads(1)
        alone = evaluate(programs, "snake", episodes=10, seed=3).returns
        parallel.set_threads(3)
        assert np.array_equal(alone, evaluate(programs, "snake", episodes=10, seed=3).returns)
    finally:
        parallel.set_threads(None)
    assert not np.array_equal(alone, evaluate(programs, "snake", episodes=10, seed=4).returns)


def test_more_episodes_begin_with_the_same_worlds() -> None:
    assert np.array_equal(
        evaluate(WALK, "top-off", episodes=100, seed=2).returns[:, :10],
        evaluate(WALK, "top-off", episodes=10, seed=2).returns,
    )


def test_outcomes_are_counted() -> None:
    result = evaluate(
        [WALK, "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)"], "four-corner", episodes=9
    )
    assert result.count(Outcome.HALTED).tolist() == [9, 0]
    assert result.count(Outcome.CUT_OFF).tolist() == [0, 9]


def test_zero_episodes_raise() -> None:
    with pytest.raises(ValueError, match="episodes must be at least 1"):
        evaluate(WALK, "maze", episodes=0)


def test_empty_list_of_programs_raises() -> None:
    with pytest.raises(ValueError, match="expected at least one program, found none"):
        evaluate([], "maze")


def test_size_may_be_a_list() -> None:
    size: Any = [14, 22]
    assert evaluate(WALK, "clean-house", size=size).size == (14, 22)


def test_nan_value_raises() -> None:
    message = "spoiled: a state's value must be a finite number, found nan"
    assert evaluate("DEF run m( move m)", SPOILED).mean_return[0] == 0.5
    with pytest.raises(ValueError, match=message):
        evaluate(WALK, SPOILED)


# Exact expected returns


def exact(program: str, task: str, size: tuple[int, int] | None = None) -> float:
    result = evaluate(program, task, size=size, prefer_exact=True)
    assert result.weights is not None
    return result.expected().mean


def test_walking_past_the_markers_has_the_computed_return_in_top_off() -> None:
    """If the first marker is in cell k, k - 1 cells are right. Without markers 10 are, plus one extra."""
    first_in = [0.75 ** (k - 1) * 0.25 for k in range(1, 10)]
    earned = sum(chance * (k - 1) for k, chance in enumerate(first_in, start=1)) + 0.75**9 * 11
    assert exact(WALK, "top-off") == pytest.approx(earned / 11, abs=1e-14)


def test_one_step_up_the_stairs_has_the_computed_return() -> None:
    """The goal is the next step with probability 1 / (10 − s) from step s, one of the first nine."""
    climb = "DEF run m( turnLeft move turnRight move m)"
    assert exact(climb, "stair-climber") == pytest.approx(sum(1 / (10 - s) for s in range(1, 10)) / 9)


def test_fetching_the_key_next_to_karel_has_the_computed_return() -> None:
    """In 12 of 18 · 17 pairs of cells, 2 in each of 6 rows, the key is to the right of Karel."""
    assert exact("DEF run m( move pickMarker m)", "door-key") == pytest.approx(0.5 * 12 / (18 * 17))


def test_examples_have_their_exact_returns() -> None:
    examples = Path(__file__).parents[1] / "examples"
    for name in ("maze", "top-off", "stair-climber", "four-corner", "harvester", "door-key", "seeder"):
        assert exact((examples / f"{name}.karel").read_text(), name) == 1.0
    one_stroke = (examples / "one-stroke.karel").read_text()  # misses 1 of 35 cells from 2 of 36 starts
    assert exact(one_stroke, "one-stroke") == pytest.approx((34 + 2 * 34 / 35) / 36, abs=1e-14)


@pytest.mark.parametrize(
    ("task", "size"),
    [
        ("maze", (5, 5)),
        ("door-key", (6, 6)),
        ("stair-climber", (6, 6)),
        ("top-off", (3, 8)),
        ("top-off@0.5", (3, 8)),
        ("one-stroke", (4, 5)),
        ("seeder", (5, 6)),
        ("four-corner", (5, 5)),
        ("harvester-subsets", (4, 4)),
        ("maze~3", (5, 5)),
    ],
)
def test_exact_return_is_the_interpreters_weighted_mean(task: str, size: tuple[int, int]) -> None:
    played = get(task)
    states = played.states(size)
    assert states is not None
    for row in sample_programs(LANGUAGE, PROGRAMS, 10, seed=3):
        program = LANGUAGE.text(row)
        expected = 0.0
        for index, weight in enumerate(states.weights):
            world = states.worlds.world(index).clone()
            start = world.clone()
            for _ in played.play(parse(program, LANGUAGE), world, played.horizon(size)):
                pass
            expected += weight * played.value(world, start)
        assert exact(program, task, size) == pytest.approx(expected, abs=1e-12)


def test_exact_return_is_independent_of_the_seed_and_close_to_the_sampled_mean() -> None:
    programs = sample_programs(LANGUAGE, PROGRAMS, 20, seed=1)
    one = evaluate(programs, "maze", seed=1, prefer_exact=True)
    other = evaluate(programs, "maze", seed=2, episodes=3, prefer_exact=True)
    assert np.array_equal(one.mean_return, other.mean_return)
    drawn = evaluate(programs, "maze", episodes=20_000, seed=1)
    assert np.abs(one.mean_return - drawn.mean_return).max() < 4 * 0.5 / np.sqrt(20_000)


@pytest.mark.parametrize(
    ("task", "episodes", "text", "states"),
    [
        ("top-off", 1, "exact, all 512 states", 512),
        ("maze", 1, "exact, all 23,936 states", 23_936),
        ("harvester", 50, "exact, the only state", 1),
        ("snake", 1000, "1,000 fresh draws", None),
        ("clean-house", 1, "1 fresh draw", None),
    ],
)
def test_expected_return_describes_its_worlds(
    task: str, episodes: int, text: str, states: int | None
) -> None:
    found = evaluate(WALK, task, episodes=episodes, prefer_exact=True).expected()
    assert str(found) == text
    assert found.states == states
    assert found.episodes == (states or episodes)


def test_lowest_return_is_that_of_the_worst_state() -> None:
    found = evaluate(WALK, "top-off", prefer_exact=True).expected()
    assert found.lowest == 0.0  # a marker in the first cell
    assert found.lowest < found.mean
