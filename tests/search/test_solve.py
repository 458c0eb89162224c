"""From a task to a program that holds, the same for the same seed, judged on worlds that nobody saw."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import leaps
from leaps.base import parallel
from leaps.base.randomness import Stream, below
from leaps.dsl.edit import edit_distance
from leaps.dsl.text import parse
from leaps.evaluate import UNSEEN, ExpectedReturn, evaluate
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, LANGUAGE, WALL, World, Worlds, clear, place_karel
from leaps.search.methods import METHODS
from leaps.search.objective import NEARLY, Objective
from leaps.search.solve import SHORTLIST, Run, Solution, SolveConfig, Step, solve, work
from leaps.tasks import get
from tests.embedding.helpers import needs_shipped_weights
from tests.search.solutions import assert_same

pytestmark = needs_shipped_weights

SEARCH_SEEDS, UNSEEN_SEEDS = 1 << 40, 3 << 40
"""where the seeds of the search's worlds begin, and those of the final judgement: reported numbers need it"""


def sample_corridor(stream: Stream, world: World) -> None:
    """A corridor of random length, Karel at its beginning."""
    _, width = world.ground.shape
    clear(world)
    world.ground[2:, :] = WALL
    world.ground[:, 4 + below(stream, width - 4) :] = WALL
    place_karel(world, 1, 1, EAST)


def marked_end(world: World, start: World) -> float:  # noqa: ARG001
    """Say whether the only marker lies in the last cell."""
    last = 1
    while world.ground[1, last + 1] != WALL:
        last += 1
    return 1.0 if world.markers[1, last] == 1 and world.markers.sum() == 1 else 0.0


def broken_value(world: World, start: World) -> float:  # noqa: ARG001
    """As soon as two markers lie about, it no longer knows."""
    return np.nan if world.markers.sum() > 1 else 0.5 * float(world.markers.sum())


def always_broken(world: World, start: World) -> float:  # noqa: ARG001
    return np.inf


def distance(world: World, start: World) -> float:  # noqa: ARG001
    """What is a loss rather than a gain: cells from Karel to the end of the corridor, and no marker is 10."""
    last = 1
    while world.ground[1, last + 1] != WALL:
        last += 1
    return -float(last - world.pose[1]) - (10.0 if world.markers.sum() == 0 else 0.0)


CORRIDOR = KarelTask(
    name="corridor",
    summary="leave a marker in the last cell of a corridor",
    size=(4, 12),
    smallest=(3, 6),
    sample=sample_corridor,
    value=marked_end,
)


def lengths(solution: Solution) -> list[int]:
    programs = [solution.program, solution.found, *(row["program"] for row in solution.history)]
    return [len(program.split()) for program in programs]


def expected_return(solution: Solution) -> float:
    """The reported return, computed again from the program's text."""
    config = solution.config
    seed = UNSEEN_SEEDS + config.seed
    again = evaluate(
        solution.program, solution.task, episodes=UNSEEN, seed=seed, size=config.size, prefer_exact=True
    )
    return again.expected().mean


# The promise


@pytest.mark.parametrize("task", ["stair-climber", "maze", "top-off"])
@pytest.mark.parametrize("seed", [0, 1])
def test_easy_tasks_are_solved_on_worlds_never_seen(task: str, seed: int) -> None:
    solution = solve(task, seed=seed)
    assert solution.solved
    assert not solution.interrupted
    assert solution.unseen_return == 1.0
    assert expected_return(solution) == 1.0


def test_the_package_itself_solves_too() -> None:
    assert leaps.solve("stair-climber").solved


def test_a_configuration_can_be_given_as_a_whole() -> None:
    config = SolveConfig("maze", seed=2)
    one, other = solve(config), solve("maze", seed=2)
    assert (one.config, one.program) == (other.config, other.program)


@pytest.mark.parametrize("seed", range(3))
def test_a_program_holds_at_other_sizes_if_asked_to(seed: int) -> None:
    """Harvester's fields are all alike, so that most programs that are perfect there count its rows."""
    also = ((9, 9), (12, 17))
    alone, held = (solve("harvester", seed=seed, also=sizes) for sizes in ((), also))
    assert alone.solved
    assert alone.elsewhere == {}
    assert held.solved
    assert (held.unseen_return, held.elsewhere) == (1.0, {"9x9": 1.0, "12x17": 1.0})
    for size in also:
        assert evaluate(held.program, "harvester", episodes=1, size=size).mean_return[0] == 1.0
        assert evaluate(alone.program, "harvester", episodes=1, size=size).mean_return[0] < 1.0


def test_what_a_program_earns_is_believed_size_by_size() -> None:
    """Harvester has one world of each size, so that none can be added that tells more; TopOff has many."""
    run = Run(SolveConfig("harvester", budget=60_000, size=(16, 16), also=((5, 5),), max_length=14))
    while not run.finished:
        run.step()
    assert run.best is not None
    assert run.best[0] < 1.0 - NEARLY
    assert [batch.count for batch in run.objective.batches] == [32, 32]

    run = Run(SolveConfig("top-off", budget=30_000, also=((5, 60),), max_length=7))
    while not run.finished:
        run.step()
    assert run.best is not None
    assert run.best[0] < 1.0 - NEARLY
    assert run.objective.worlds.count > 32


def test_a_program_that_fails_at_another_size_does_not_solve_the_task() -> None:
    solution = solve("four-corner", seed=1, method="random-64", also=((9, 14),))
    assert set(solution.elsewhere) == {"9x14"}
    judged = evaluate(solution.program, "four-corner", episodes=100, seed=UNSEEN_SEEDS + 1, size=(9, 14))
    assert solution.elsewhere["9x14"] == judged.mean_return[0]
    perfect = replace(solution, unseen_return=1.0, judged=())
    assert replace(perfect, elsewhere={"9x14": 1.0}).solved
    assert not replace(perfect, elsewhere={"9x14": 0.99}).solved
    assert not replace(perfect, unseen_return=0.9, elsewhere={"9x14": 1.0}).solved


def test_solved_means_perfect_in_every_state_however_unlikely() -> None:
    solution = solve("top-off")
    assert solution.solved
    almost = ExpectedReturn(1 - 1e-12, 0.1, 512, 512)
    assert not replace(solution, unseen_return=almost.mean, judged=(almost,)).solved


@pytest.mark.parametrize(
    ("task", "over"), [("top-off", "exact, all 512 states"), ("clean-house", "1,000 fresh draws")]
)
def test_a_solution_tells_what_its_return_is_over(task: str, over: str) -> None:
    solution = solve(task, budget=200)
    assert str(solution.judged[0]) == solution.summary()["judged"] == over
    assert solution.unseen_return == solution.judged[0].mean


def test_another_size_of_world_is_searched_and_judged() -> None:
    solution = solve("maze", size=(6, 9))
    assert solution.solved
    assert expected_return(solution) == 1.0


# The same again


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_is_the_same_search(method: str) -> None:
    assert_same(*(solve("four-corner", method, 3, budget=500) for _ in range(2)))


def test_the_number_of_cores_changes_nothing() -> None:
    try:
        parallel.set_threads(1)
        alone = solve("harvester", budget=1500)
        parallel.set_threads(3)
        assert_same(alone, solve("harvester", budget=1500))
    finally:
        parallel.set_threads(None)


def test_another_seed_is_another_search() -> None:
    one, other = (solve("harvester", seed=seed, budget=300) for seed in (0, 1))
    assert one.history != other.history


def test_who_watches_changes_nothing() -> None:
    steps: list[Step] = []
    assert_same(solve("maze", seed=2), solve("maze", seed=2, listener=steps.append))


def test_the_seconds_of_a_search_begin_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10**6, 10))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(now)))
    run = Run(SolveConfig("maze", "random-8", 0))
    for _ in range(1000):  # it waits for its turn
        next(now)
    assert work(run).seconds <= 100


# Evaluations


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("budget", [1, 7, 333])
def test_a_budget_is_spent_and_exceeded_by_one_run_of_the_incumbent_at_most(method: str, budget: int) -> None:
    tried: list[int] = []
    solution = solve("snake", method, budget=budget, listener=lambda step: tried.append(len(step.asked)))
    expected = min(budget, METHODS[method].budget)
    assert sum(tried) <= solution.budget_spent
    assert expected <= solution.budget_spent <= expected + 1


def test_choosing_and_simplifying_are_counted() -> None:
    """16 programs are compared for the final choice; simplifying tries many."""
    peer = solve("snake", "hc", budget=500)
    assert peer.budget_spent == 500
    assert 500 < peer.evaluations <= 500 + SHORTLIST
    assert peer.rollouts == 500 * 16 + (peer.evaluations - 500) * peer.task.checked
    own = solve("maze")
    assert own.evaluations > own.budget_spent + 100
    assert own.evaluations_to_found <= own.budget_spent
    steps: list[Step] = []
    run = Run(SolveConfig("maze"))
    work(run, steps.append)
    assert (run.objective.evaluations, run.objective.rollouts) == (
        own.evaluations + 1,
        own.rollouts + own.worlds,
    )


def test_a_random_search_evaluates_as_many_as_it_says() -> None:
    assert solve("snake", "random-8").budget_spent == 8
    assert solve("snake", "random-64").budget_spent == 64


def test_a_search_that_has_found_a_program_stops() -> None:
    assert solve("stair-climber", budget=100_000).evaluations < 100_000


def test_what_a_watcher_hears_adds_up() -> None:
    steps: list[Step] = []
    solution = solve("one-stroke", budget=800, listener=steps.append)
    assert [step.round for step in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].evaluations == solution.budget_spent == 800
    for before, step in pairwise(steps):  # the incumbent may be run as well
        assert len(step.asked) <= step.evaluations - before.evaluations <= len(step.asked) + 1
    for step in steps:
        assert step.best == step.scores.max()
        assert len(step.scores) == len(step.asked)
        assert 0 <= step.mean <= max(step.best, 0)
        assert step.best <= step.best_so_far


# Worlds


def test_worlds_of_search_checks_and_judgement_never_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[set[tuple[int, int]]] = []
    draw = KarelTask.worlds

    def recorded(
        task: KarelTask, count: int, seed: int, size: tuple[int, int] | None = None, *, first: int = 0
    ) -> Worlds:
        drawn.append({(seed, first + number) for number in range(count)})
        return draw(task, count, seed, size, first=first)

    monkeypatch.setattr(KarelTask, "worlds", recorded)
    # Sizes with too many initial states to list them: else none is drawn for the judgement.
    for task, seed, size in (("maze", 1, (10, 10)), ("top-off", 7, (5, 30))):
        drawn.clear()
        solution = solve(task, seed=seed, worlds=1, size=size)
        assert solution.worlds > 1  # so that there were checks, which failed
        assert len(drawn) > 3
        assert len(set.union(*drawn)) == sum(map(len, drawn))
        assert drawn[-1] == {(UNSEEN_SEEDS + seed, number) for number in range(UNSEEN)}
        assert drawn[0] == {(SEARCH_SEEDS + seed, 0)}
    drawn.clear()
    assert solve("maze", seed=1).solved
    assert not any(seed >= UNSEEN_SEEDS for seed, _ in set.union(*drawn))


def test_a_program_that_only_fits_its_worlds_is_caught() -> None:
    caught = []
    for seed in range(5):
        solution = solve("maze", seed=seed, worlds=1)
        assert solution.solved
        believed = [
            row["program"] for row in solution.history if row["score"] >= 1.0 - NEARLY and row["worlds"] == 1
        ]
        wrong = [
            program for program in believed if evaluate(program, "maze", episodes=1000).mean_return[0] < 1
        ]
        if wrong:
            # Worlds that break it were added.
            assert solution.worlds > 1
            assert solution.found not in wrong
        caught += wrong
    assert caught


def test_without_a_hunt_worlds_stay_as_they_are() -> None:
    assert solve("maze", "leaps+", worlds=3, budget=2000).worlds == 3


@pytest.mark.parametrize(
    ("task", "method"), [("harvester", "ladder"), ("maze", "hc"), ("snake", "random-64")]
)
def test_the_return_told_is_that_on_the_unseen_worlds(task: str, method: str) -> None:
    solution = solve(task, method, seed=4, budget=200)
    assert solution.unseen_return == expected_return(solution)
    assert solution.solved == (solution.unseen_return >= 1.0 - NEARLY)


@pytest.mark.parametrize("method", ["ladder", "random-64", "hc"])
def test_the_history_tells_what_the_programs_earned(method: str) -> None:
    solution = solve("harvester", method, seed=2, budget=600)
    rows = [row for row in solution.history if row["worlds"] == solution.history[0]["worlds"]]
    assert rows
    for row in rows:
        seed = SEARCH_SEEDS + solution.config.seed
        again = evaluate(row["program"], "harvester", episodes=row["worlds"], seed=seed)
        assert row["score"] == pytest.approx(again.mean_return[0], abs=1e-12)
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores)
    assert [row["evaluations"] for row in rows] == sorted(row["evaluations"] for row in rows)


def test_the_history_has_every_program_that_was_the_best() -> None:
    best: list[tuple[str, float]] = []

    def look(step: Step) -> None:
        best.append((" ".join(LANGUAGE.decode(step.program)), step.best_so_far))

    for seed in range(5):
        best.clear()
        solution = solve("maze", seed=seed, worlds=1, listener=look)
        assert set(best) <= {(row["program"], row["score"]) for row in solution.history}


def test_the_program_told_is_no_worse_than_the_one_found_and_no_longer() -> None:
    for seed in range(2):
        solution = solve("top-off", seed=seed)
        assert len(solution.program.split()) <= len(solution.found.split())
        found = evaluate(solution.found, "top-off", episodes=1000, seed=99).mean_return[0]
        assert evaluate(solution.program, "top-off", episodes=1000, seed=99).mean_return[0] >= found


# Interrupted


def interrupt_after(rounds: int) -> Callable[[Step], None]:
    def listener(step: Step) -> None:
        if step.round == rounds:
            raise KeyboardInterrupt

    return listener


@pytest.mark.parametrize("method", ["ladder", "leaps+", "hc"])
def test_an_interrupted_search_returns_the_best_so_far(method: str) -> None:
    solution = solve("snake", method, listener=interrupt_after(5))
    assert solution.interrupted
    whole = solve("snake", method, budget=solution.budget_spent)
    assert not whole.interrupted
    # As if the budget had ended there, but for the simplifying: who interrupts doesn't want to wait.
    assert solution.program == solution.found == whole.found
    assert (solution.budget_spent, solution.history) == (whole.budget_spent, whole.history)


def test_an_interruption_before_anything_was_found_passes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Objective, "scores", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve("maze")


def test_an_interruption_while_the_program_is_simplified_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = solve("maze")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("leaps.search.trial.simplify", interrupted)
    try:
        solution = solve("maze")
    except KeyboardInterrupt:
        pytest.fail("what was found is lost")
    assert solution.found == whole.found


# A task of one's own


def test_a_task_of_ones_own_is_solved() -> None:
    solution = solve(CORRIDOR)
    assert solution.solved
    assert solution.config.task == "corridor"
    assert evaluate(solution.program, CORRIDOR, episodes=500, seed=1).mean_return[0] == 1.0


def test_a_value_that_turns_nan_is_reported_with_the_best_program_so_far() -> None:
    task = replace(CORRIDOR, name="broken", value=broken_value)
    best: list[NDArray[np.uint8]] = []
    with pytest.raises(
        ValueError, match="broken: a state's value must be a finite number, found nan"
    ) as error:
        # One program at a time, so that some come before the first that breaks it.
        solve(task, "hc", listener=lambda step: best.append(step.program))
    assert best
    named = str(error.value).partition("best program before that: ")[2]
    assert named == " ".join(LANGUAGE.decode(best[-1]))
    assert parse(named, LANGUAGE)


def test_a_value_that_is_never_a_number_is_reported() -> None:
    task = replace(CORRIDOR, name="broken", value=always_broken)
    with pytest.raises(ValueError, match="broken: a state's value must be a finite number, found inf"):
        solve(task)


def test_a_task_of_losses_is_searched_too() -> None:
    # Nothing says that values are above some number; what is given up in a race must not look like a gain.
    task = replace(CORRIDOR, name="losses", value=distance)
    solution = solve(task, budget=3000)
    worlds = solution.history[0]["worlds"]
    for row in solution.history:
        if row["worlds"] == worlds:
            again = evaluate(row["program"], task, episodes=worlds, seed=SEARCH_SEEDS)
            assert row["score"] == pytest.approx(again.mean_return[0])
    assert solution.unseen_return > -1.0


# Settings


@pytest.mark.parametrize("method", ["ladder", "leaps+", "hc"])
@pytest.mark.parametrize("max_length", [5, 12, 100])
def test_no_program_is_longer_than_asked_for(method: str, max_length: int) -> None:
    tried = 0

    def look(step: Step) -> None:
        nonlocal tried
        tried = max(tried, int((step.asked != LANGUAGE.pad).sum(axis=1).max()))

    solution = solve("harvester", method, max_length=max_length, budget=700, listener=look)
    assert max([tried, *lengths(solution)]) <= max_length


def test_a_short_program_is_found_where_only_short_ones_may_be() -> None:
    # The shortest that solves it has this length.
    solution = solve("maze", max_length=12, seed=1)
    assert solution.solved
    assert max(lengths(solution)) <= 12


def test_a_search_may_stay_close_to_a_program() -> None:
    origin = "DEF run m( WHILE c( noMarkersPresent c) w( move w) m)"
    solution = solve("maze", origin=origin, edits=1, budget=2000)
    assert solution.solved
    for program in (solution.program, solution.found, *(row["program"] for row in solution.history)):
        assert edit_distance(parse(origin, LANGUAGE), parse(program, LANGUAGE), LANGUAGE) <= 1


def test_edits_are_nothing_to_a_search_without_a_program_to_stay_close_to() -> None:
    one, other = (solve("harvester", edits=edits, budget=500) for edits in (1, 5))
    assert_same(one, other)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"task": "luck"}, "unknown task 'luck'; expected one of stair-climber"),
        ({"method": "luck"}, "unknown method 'luck'; expected one of ladder"),
        ({"budget": 0}, "budget must be at least 1, found 0"),
        ({"budget": -5}, "budget must be at least 1, found -5"),
        ({"worlds": 0}, "worlds must be at least 1, found 0"),
        ({"seed": -1}, "seed must be at least 0, found -1"),
        ({"max_length": 4}, "max_length must be at least 5, found 4"),
        ({"space": "nowhere"}, "no weights at 'nowhere'; expected leaps"),
        ({"edits": 0, "origin": "DEF run m( move m)"}, "edits must be at least 1, found 0"),
        (
            {"method": "hc", "origin": "DEF run m( move m)"},
            "hc can't stay close to a program; expected ladder",
        ),
        ({"origin": "DEF run m( m)"}, "token 3: found 'm\\)', expected an action"),
        ({"size": (3, 3)}, "maze needs at least 5x5 cells"),
        ({"task": "clean-house", "size": (8, 8)}, "clean-house is one fixed flat"),
        ({"also": ((3, 3),)}, "maze needs at least 5x5 cells"),
        ({"also": ((9, 9), (8, 8))}, "also: expected sizes that differ, .* own 8x8; found 9x9, 8x8"),
        ({"size": (9, 9), "also": ((7, 8), (7, 8))}, "sizes that differ, .* own 9x9; found 7x8, 7x8"),
        ({"also": (9, 9)}, "also: expected height and width such as \\(8, 8\\), found 9"),
        ({"also": "9x9"}, "also: expected sizes such as \\[\\(16, 16\\)\\], found '9x9'"),
        ({"also": ["9x9"]}, "maze: expected height and width, such as 8x8 .* found '9x9'"),
        ({"also": [(9.0, 9.0)]}, "also: expected height and width"),
        ({"size": [8]}, "size: expected height and width such as \\(8, 8\\), found \\[8\\]"),
    ],
)
def test_a_bad_configuration_is_refused_with_what_was_expected(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        solve(**{"task": "maze", **settings})


def test_a_solution_sums_itself_up() -> None:
    solution = solve("stair-climber", seed=3)
    summary = solution.summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary["return"] == solution.unseen_return
    assert summary["solved"] is True
    assert SolveConfig(**summary["config"]) == solution.config
    config = SolveConfig("maze", size=(9, 9), also=((7, 8), (10, 10)))
    assert SolveConfig(**config.plain()) == config
    pair = tuple(np.array([9, 9]))
    of_numpy = SolveConfig("maze", seed=np.int64(3), size=pair)  # type: ignore[arg-type]
    assert SolveConfig(**of_numpy.plain()) == of_numpy
    assert get(summary["task"]).name == "stair-climber"
