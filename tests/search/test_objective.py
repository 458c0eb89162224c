"""The objective: mean returns on the search's worlds, exact for all that are not rejected."""

from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from gymnasium import Env, spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.base.randomness import Stream, below
from leaps.domain import Outcome
from leaps.dsl.compiler import MOST_ASKED
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.dsl.sample import sample_programs
from leaps.evaluate import evaluate
from leaps.gym import GymTask
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, KAREL, LANGUAGE, PROGRAMS, World, Worlds, clear, place_karel
from leaps.search.objective import DROPPED, FIRST_LAP, Objective
from leaps.search.solve import Run, SolveConfig
from leaps.tasks import get
from tests.strategies import same


def anywhere(stream: Stream, world: World) -> None:
    """A random position of Karel in an empty room."""
    height, width = world.ground.shape
    clear(world)
    place_karel(world, 1 + below(stream, height - 2), 1 + below(stream, width - 2), EAST)


def far_right(world: World, start: World) -> float:  # noqa: ARG001
    """A value that increases to the right: many different returns from 0 to 1."""
    return float((world.pose[1] - 1) / (world.ground.shape[1] - 3))


def spoiled(world: World, start: World) -> float:  # noqa: ARG001
    """NaN with one marker in the world, infinity with two."""
    markers = world.markers.sum()
    if markers == 1:
        return np.nan
    return np.inf if markers == 2 else 0.5


def nine_tenths(world: World, start: World) -> float:  # noqa: ARG001
    return 0.9


NINE_TENTHS = KarelTask("nine-tenths", "be there", (6, 9), (3, 4), anywhere, nine_tenths)
RIGHT = KarelTask("far-right", "walk to the right", (6, 9), (3, 4), anywhere, far_right)
SPOILED = KarelTask("spoiled", "put no marker", (6, 9), (3, 4), anywhere, spoiled)

STAY = "DEF run m( turnLeft m)"
STEP = "DEF run m( move m)"
WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
BACK = "DEF run m( turnLeft turnLeft WHILE c( frontIsClear c) w( move w) m)"


def tokens(*texts: str) -> NDArray[np.uint8]:
    return LANGUAGE.batch([KAREL.read(text) for text in texts], 45)


def at_column(*columns: int) -> Worlds:
    """Worlds of the task with Karel in those columns, looking right."""
    worlds = RIGHT.worlds(len(columns), seed=0)
    worlds.pose[:, 1] = columns
    return worlds


def objective(worlds: int = 100, seed: int = 0) -> Objective:
    return Objective(RIGHT, RIGHT.worlds(worlds, seed))


@cache
def some_programs() -> NDArray[np.uint8]:
    return sample_programs(LANGUAGE, PROGRAMS, 150, seed=3, max_length=45)


@cache
def their_returns(worlds: int) -> NDArray[np.float64]:
    """Returns on the worlds of seed 0; the first worlds do not depend on the count."""
    return evaluate(some_programs(), RIGHT, episodes=worlds, seed=0).returns


# Without an incumbent


@pytest.mark.parametrize("worlds", [1, FIRST_LAP, 100])
def test_scores_are_the_mean_returns_of_an_evaluation(worlds: int) -> None:
    expected = evaluate(some_programs(), RIGHT, episodes=worlds, seed=0).mean_return
    np.testing.assert_array_equal(objective(worlds).scores(some_programs()), expected)


def test_scores_of_a_shipped_task_are_those_of_an_evaluation_too() -> None:
    """For tasks with a memory, an own size, and reactions."""
    expected = evaluate(some_programs(), "snake", episodes=20, seed=4)
    tried = Objective(expected.task, expected.worlds)
    np.testing.assert_array_equal(tried.scores(some_programs()), expected.mean_return)


@pytest.mark.parametrize("name", ["snake", "top-off"])
def test_scores_with_a_limit_of_calls_and_an_incumbent_are_those_of_an_evaluation(name: str) -> None:
    expected = evaluate(some_programs(), f"{name}~30calls", episodes=20, seed=4)
    assert (expected.rollouts.outcome == Outcome.CUT_OFF).any()
    tried = Objective(expected.task, expected.worlds)
    for incumbent in (None, some_programs()[int(expected.mean_return.argmax())]):
        np.testing.assert_array_equal(tried.scores(some_programs(), incumbent), expected.mean_return)
    assert tried.known == []


def test_returns_have_a_row_per_program_and_a_column_per_world() -> None:
    earned = objective(5).returns(tokens(STAY, WALK, BACK), at_column(1, 2, 4, 7))
    assert earned == pytest.approx(np.array([[0, 1 / 6, 3 / 6, 1], [1, 1, 1, 1], [0, 0, 0, 0]]))


def test_the_worlds_are_not_changed() -> None:
    tried = objective()
    before = tried.worlds.clone()
    tried.scores(tokens(WALK, BACK))
    tried.scores(tokens(WALK, BACK), incumbent=tokens(STEP)[0])
    assert same(tried.worlds, before)


# With an incumbent


@settings(max_examples=60)
@given(
    worlds=st.sampled_from([1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 100, 200]), incumbent=st.integers(0, 149)
)
def test_a_race_gives_exact_scores_to_all_that_finish(worlds: int, incumbent: int) -> None:
    returns = their_returns(worlds)
    scores = objective(worlds).scores(some_programs(), incumbent=some_programs()[incumbent])
    kept = scores != DROPPED
    np.testing.assert_allclose(scores[kept], returns[kept].mean(axis=1), rtol=0, atol=1e-12)
    # Rejected programs were behind at some time; programs never behind were not rejected.
    lead = np.cumsum(returns - returns[incumbent], axis=1)
    assert (lead[~kept].min(axis=1) < 0).all()
    assert kept[(lead > -1e-12).all(axis=1)].all()
    assert kept[(returns >= returns[incumbent]).all(axis=1)].all()
    assert kept[incumbent]


def plain_race(returns: NDArray[np.float64], incumbent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the scores of a race from all returns [programs, worlds]; reject those behind after a lap."""
    ends = [end for lap, end in [(16, 16), (48, 64), (144, 208)] if incumbent.size - end >= lap]
    behind = [returns[:, :end].sum(axis=1) < incumbent[:end].sum() - 1e-9 for end in ends]
    return np.where(np.any(behind, axis=0), DROPPED, returns.mean(axis=1))


@pytest.mark.parametrize(
    "name", ["top-off", "snake", "one-stroke", "door-key", "top-off~cost", "seesaw~200~cost"]
)
def test_a_race_rejects_the_same_programs_as_full_runs(name: str) -> None:
    """Neighbours of good and bad programs, on 16 worlds and on many, with a rising incumbent."""
    task = get(name)
    worlds = task.worlds(150, seed=5)
    neighbourhood = Neighbourhood(LANGUAGE, PROGRAMS, Limits(), dict.fromkeys(Move, 1.0), seed=6)
    dropped = level = 0
    for count in (16, 20, 32, 150):
        tried = Objective(task, worlds.take(slice(0, count)))
        incumbent = neighbourhood.fresh(1)[0]
        for _ in range(60):
            drawn, _ = neighbourhood.draw(incumbent[None], 16)
            found = tried.scores(drawn, incumbent)
            every, its = tried.returns(drawn), tried.returns(incumbent[None])[0]
            np.testing.assert_array_equal(found, plain_race(every, its))
            dropped += int((found == DROPPED).sum())
            level += int((found == its.mean()).sum())
            if found.max() >= its.mean():
                incumbent = drawn[int(found.argmax())]
    assert dropped > 300
    assert level > 300


@pytest.mark.parametrize("name", ["harvester", "top-off", "maze"])
def test_worlds_of_other_sizes_have_equal_weight(name: str) -> None:
    """Programs not rejected at the own size run at all sizes; with a rising incumbent and known results."""
    task = get(name)
    home, *others = (task.worlds(32, 5, size) for size in (None, (9, 9), (10, 14)))
    neighbourhood = Neighbourhood(LANGUAGE, PROGRAMS, Limits(), dict.fromkeys(Move, 1.0), seed=6)
    tried, incumbent = Objective(task, home, tuple(others)), neighbourhood.fresh(1)[0]
    assert tried.count == 96
    dropped = level = 0
    for _ in range(100):
        drawn, _ = neighbourhood.draw(incumbent[None], 16)
        found = tried.scores(drawn, incumbent)
        alone = [Objective(task, batch).returns(drawn) for batch in (home, *others)]
        its = Objective(task, home).returns(incumbent[None])[0]
        behind = plain_race(alone[0], its) == DROPPED
        means = np.concatenate(alone, axis=1).mean(axis=1)
        np.testing.assert_array_equal(found, np.where(behind, DROPPED, means))
        np.testing.assert_array_equal(tried.scores(drawn), means)
        dropped += int(behind.sum())
        level += int((found == tried.scores(incumbent[None])[0]).sum())
        if found.max() >= tried.scores(incumbent[None])[0]:
            incumbent = drawn[int(found.argmax())]
    assert min(dropped, level) > 100


def test_a_program_rejected_at_the_first_size_skips_the_others() -> None:
    tried = Objective(RIGHT, RIGHT.worlds(100, 0), (RIGHT.worlds(50, 0, (7, 7)),))
    scores = tried.scores(tokens(BACK, WALK), incumbent=tokens(WALK)[0])
    assert scores.tolist() == [DROPPED, 1.0]
    assert tried.rollouts == 150 + 1


def test_the_next_incumbent_is_not_run_again() -> None:
    tried = objective(100)
    assert tried.scores(tokens(WALK, STAY), incumbent=tokens(STEP)[0])[0] == 1.0
    before = tried.rollouts
    assert tried.scores(tokens(STAY), incumbent=tokens(WALK)[0]).tolist() == [DROPPED]
    assert tried.rollouts == before + 1


def test_a_program_proven_equivalent_is_not_run() -> None:
    """It can be the next incumbent, and its equivalents are not run either."""
    same_words = [
        "DEF run m( WHILE c( frontIsClear c) w( move w) IF c( markersPresent c) i( move i) m)",
        "DEF run m( WHILE c( frontIsClear c) w( move w) IF c( markersPresent c) i( turnLeft i) m)",
    ]
    tried = objective(100)
    incumbent = tokens(WALK)[0]
    for text in same_words:
        assert tried.scores(tokens(text), incumbent).tolist() == [1.0]
        incumbent = tokens(text)[0]
    assert (tried.evaluations, tried.rollouts) == (3, 100)


def test_a_program_that_falls_behind_is_rejected_early() -> None:
    tried = objective(100)
    scores = tried.scores(tokens(BACK, WALK, STAY), incumbent=tokens(WALK)[0])
    assert scores.tolist() == [DROPPED, 1.0, DROPPED]
    # The incumbent; two that cannot make up for one world; the incumbent itself
    assert tried.rollouts == 100 + 2


def test_a_program_that_falls_behind_late_is_rejected() -> None:
    """Equal to the incumbent on the first worlds, behind it on the later ones."""
    columns = [7] * FIRST_LAP + [1] * 192
    tried = Objective(RIGHT, at_column(*columns))
    assert tried.scores(tokens(STAY), incumbent=tokens(WALK)[0]).tolist() == [DROPPED]
    assert FIRST_LAP < tried.rollouts - 200 < 200


def test_a_program_that_falls_behind_in_the_last_lap_gets_an_exact_score() -> None:
    """Programs are rejected only before the last lap: at the end, all scores are known."""
    columns = [7] * 90 + [1] * 10
    tried = Objective(RIGHT, at_column(*columns))
    scores = tried.scores(tokens(STAY, WALK), incumbent=tokens(WALK)[0])
    assert scores == pytest.approx([0.9, 1.0])


def test_an_equal_program_is_never_rejected() -> None:
    """The same behaviour in different words: the sums of returns must be equal."""
    other_words = "DEF run m( WHILE c( frontIsClear c) w( move w) REPEAT R=0 r( move r) m)"
    other_step = "DEF run m( turnLeft turnRight move m)"
    tried = objective(200)
    assert tried.scores(tokens(other_words), incumbent=tokens(WALK)[0]).tolist() == [1.0]
    expected = objective(200).scores(tokens(STEP))
    assert tried.scores(tokens(other_step), incumbent=tokens(STEP)[0]) == pytest.approx(expected, abs=1e-12)


def test_an_equal_program_is_not_rejected_on_very_many_worlds() -> None:
    """The sum of 30,000 numbers depends on their order by more than the tolerance of a race."""
    columns = np.full(30_000, 7)
    tried = Objective(NINE_TENTHS, at_column(*columns))
    other_words = tokens("DEF run m( turnRight m)")
    assert tried.scores(other_words, incumbent=tokens(STAY)[0]).tolist() == pytest.approx([0.9])


def test_dropped_is_worse_than_any_return_of_the_task() -> None:
    assert their_returns(100).min() > DROPPED


def test_no_program_is_rejected_on_few_worlds() -> None:
    tried = objective(FIRST_LAP)
    assert tried.scores(tokens(BACK), incumbent=tokens(WALK)[0]).tolist() == [0.0]


# Counts


def test_evaluations_count_programs_and_rollouts_count_worlds_too() -> None:
    tried = objective(50)
    tried.scores(some_programs()[:30])
    assert (tried.evaluations, tried.rollouts) == (30, 1500)
    tried.scores(some_programs()[:10])
    assert (tried.evaluations, tried.rollouts) == (40, 2000)


def test_an_incumbent_is_run_and_counted_once() -> None:
    tried = objective(100)
    for time in (1, 2, 3):
        tried.scores(tokens(BACK), incumbent=tokens(WALK)[0])
        assert (tried.evaluations, tried.rollouts) == (1 + time, 100 + time)


def test_a_check_on_other_worlds_is_counted() -> None:
    tried = objective(50)
    tried.returns(some_programs()[:10], tried.worlds.take(np.arange(20)))
    assert (tried.evaluations, tried.rollouts) == (10, 200)


def test_incumbents_are_not_confused() -> None:
    tried = objective(100)
    assert tried.scores(tokens(STEP), incumbent=tokens(WALK)[0]).tolist() == [DROPPED]
    assert tried.scores(tokens(STEP), incumbent=tokens(BACK)[0])[0] > 0


def test_any_number_of_incumbents_may_follow_and_each_equals_itself() -> None:
    """The sum of returns by lap may differ slightly from the sum of all."""
    tried = objective(300)
    for incumbent in some_programs():
        assert tried.scores(incumbent[None], incumbent)[0] != DROPPED


# More worlds


def test_added_worlds_come_first() -> None:
    tried = objective(30)
    before, hard = tried.worlds.clone(), RIGHT.worlds(7, seed=99)
    tried.add(hard)
    assert tried.worlds.count == 37
    assert same(tried.worlds.take(slice(0, 7)), hard)
    assert same(tried.worlds.take(slice(7, 37)), before)


def test_added_worlds_join_those_of_their_size() -> None:
    tried = Objective(RIGHT, RIGHT.worlds(3, 0), (RIGHT.worlds(4, 0, (5, 5)), RIGHT.worlds(5, 0, (7, 7))))
    home, small, large = tried.worlds, *tried.elsewhere
    hard = RIGHT.worlds(2, 9, (7, 7))
    tried.add(hard)
    assert same(tried.worlds, home)
    assert same(tried.elsewhere[0], small)
    assert same(tried.elsewhere[1], Worlds.join([hard, large]))
    assert tried.count == 14


def test_scores_include_added_worlds() -> None:
    tried = Objective(RIGHT, at_column(*[7] * 30))
    assert tried.scores(tokens(STAY)).tolist() == [1.0]
    tried.add(at_column(*[1] * 10))
    assert tried.scores(tokens(STAY)).tolist() == [0.75]


def test_an_incumbent_is_run_again_on_added_worlds() -> None:
    """Its returns are lower there, so its old returns would reject the incumbent itself."""
    tried = Objective(RIGHT, at_column(*[7] * 40))
    incumbent = tokens(STAY)
    assert tried.scores(incumbent, incumbent[0]).tolist() == [1.0]
    before = tried.rollouts
    tried.add(at_column(*[1] * 40))
    assert tried.scores(incumbent, incumbent[0]).tolist() == [0.5]
    assert tried.rollouts - before == 80


# Programs with too many perceptions


class Paid(Env[Any, Any]):
    """Many perceptions, and a reward for one of two actions."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 1, (20,), np.float64)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        return self.np_random.random(20), {}

    def step(self, action: int) -> Any:
        return self.np_random.random(20), float(action), False, False, {}


def is_large(number: int, seen: Any) -> bool:
    return bool(seen[number] > 0.5)


MANY = GymTask(
    "many",
    make=Paid,
    actions={"rest": 0, "earn": 1},
    perceptions={f"p{number}": partial(is_large, number) for number in range(20)},
    steps=5,
)


def asking(count: int) -> NDArray[np.uint8]:
    """A program that tests `count` perceptions, then earns."""
    questions = " ".join(f"IF c( p{number} c) i( rest i)" for number in range(count))
    program = MANY.domain.read(f"DEF run m( {questions} earn earn m)")
    return np.asarray(MANY.domain.language.batch([program], 200)[0])


def test_a_program_with_too_many_perceptions_has_the_lowest_score() -> None:
    tried = Objective(MANY, MANY.worlds(3, 0))
    few, many = asking(2), asking(MOST_ASKED + 1)
    batch = np.stack([many, few, many, asking(MOST_ASKED)])
    scores = tried.scores(batch)
    assert (scores == DROPPED).tolist() == [True, False, True, False]
    assert tried.evaluations == 4
    raced = tried.scores(batch, incumbent=asking(0))
    assert (raced == DROPPED)[[0, 2]].all()
    assert raced[1] == scores[1]
    assert tried.scores(many[None], incumbent=few).tolist() == [DROPPED]
    assert tried.scores(np.stack([many, many])).tolist() == [DROPPED] * 2
    returns = tried.returns(batch)
    assert (returns[[0, 2]] == DROPPED).all()
    np.testing.assert_array_equal(returns[1], tried.returns(few[None])[0])


@pytest.mark.parametrize("method", ["ladder", "hc", "cebs", "random-8"])
def test_a_search_continues_after_rejections(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = Objective.scores

    def some_dropped(self: Objective, programs: NDArray[np.uint8], *rest: Any) -> NDArray[np.float64]:
        found = scores(self, programs, *rest)
        found[(programs.sum(axis=1) % 3 == 0)] = DROPPED
        return found

    monkeypatch.setattr(Objective, "scores", some_dropped)
    run = Run(SolveConfig("harvester", method, seed=0, worlds=8, budget=700))
    while not run.finished:
        run.step()
    assert run.best is not None
    assert np.isfinite(run.best[0])


def test_an_origin_with_too_many_perceptions_raises() -> None:
    with pytest.raises(ValueError, match="program 0 asks about too many perceptions; expected at most 12"):
        Run(SolveConfig("many", origin=MANY.domain.text(asking(17))), MANY)


# Errors


@pytest.mark.parametrize(("actions", "found"), [("putMarker", "nan"), ("putMarker putMarker", "inf")])
def test_a_value_that_is_not_a_number_raises_with_the_tasks_name(actions: str, found: str) -> None:
    tried = Objective(SPOILED, SPOILED.worlds(20, seed=0))
    assert tried.scores(tokens(STAY)).tolist() == [0.5]
    wrong = tokens(STAY, f"DEF run m( {actions} m)")
    message = f"spoiled: a state's value must be a finite number, found {found}"
    with pytest.raises(ValueError, match=message):
        tried.scores(wrong)
    with pytest.raises(ValueError, match=message):
        tried.scores(wrong, incumbent=tokens(STAY)[0])
    with pytest.raises(ValueError, match=message):
        tried.scores(tokens(STAY), incumbent=wrong[1])


def test_all_texts_of_this_file_are_programs() -> None:
    assert (KAREL.compile([STAY, STEP, WALK, BACK]).entry >= 0).all()
