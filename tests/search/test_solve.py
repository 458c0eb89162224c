"""`solve`: reproducible searches, judged on held-out worlds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import leaps
from leaps.base import parallel
from leaps.base.randomness import Stream, below
from leaps.base.seeds import SEARCH_SEEDS, UNSEEN_SEEDS
from leaps.dsl.edit import edit_distance
from leaps.dsl.text import parse
from leaps.evaluate import UNSEEN, evaluate
from leaps.karel.tasks import KarelTask
from leaps.karel.world import EAST, LANGUAGE, WALL, World, Worlds, clear, place_karel
from leaps.search.methods import METHODS
from leaps.search.objective import NEARLY, Objective
from leaps.search.run import SHORTLIST
from leaps.search.solve import Round, Run, Solution, SolveConfig, solve, work
from tests.embedding.helpers import needs_shipped_weights
from tests.search.solutions import assert_same

pytestmark = needs_shipped_weights


def sample_corridor(stream: Stream, world: World) -> None:
    """A corridor of random length, with Karel at its start."""
    _, width = world.ground.shape
    clear(world)
    world.ground[2:, :] = WALL
    world.ground[:, 4 + below(stream, width - 4) :] = WALL
    place_karel(world, 1, 1, EAST)


def marked_end(world: World, start: World) -> float:  # noqa: ARG001
    """Whether the only marker is in the last cell."""
    last = 1
    while world.ground[1, last + 1] != WALL:
        last += 1
    return 1.0 if world.markers[1, last] == 1 and world.markers.sum() == 1 else 0.0


def broken_value(world: World, start: World) -> float:  # noqa: ARG001
    """NaN with two or more markers."""
    return np.nan if world.markers.sum() > 1 else 0.5 * float(world.markers.sum())


def always_broken(world: World, start: World) -> float:  # noqa: ARG001
    return np.inf


def distance(world: World, start: World) -> float:  # noqa: ARG001
    """A negative value: minus the cells from Karel to the end of the corridor, minus 10 without a marker."""
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
    """Recompute the reported return from the program's text."""
    config = solution.config
    seed = UNSEEN_SEEDS + config.seed
    again = evaluate(
        solution.program, solution.task, episodes=UNSEEN, seed=seed, size=config.size, prefer_exact=True
    )
    return again.expected().mean


# Solutions


@pytest.mark.parametrize("task", ["stair-climber", "maze", "top-off"])
@pytest.mark.parametrize("seed", [0, 1])
def test_easy_tasks_are_solved_on_held_out_worlds(task: str, seed: int) -> None:
    solution = solve(task, seed=seed)
    assert solution.solved
    assert not solution.interrupted
    assert solution.unseen_return == 1.0
    assert expected_return(solution) == 1.0


def test_leaps_solve_is_exported_by_the_package() -> None:
    assert leaps.solve("stair-climber").solved


def test_solve_takes_a_configuration() -> None:
    config = SolveConfig("maze", seed=2)
    one, other = solve(config), solve("maze", seed=2)
    assert (one.config, one.program) == (other.config, other.program)


@pytest.mark.parametrize("seed", range(3))
def test_also_finds_a_program_that_is_perfect_at_other_sizes(seed: int) -> None:
    """Harvester has one initial state, so most programs that are perfect there count its rows."""
    also = ((9, 9), (12, 17))
    alone, held = (solve("harvester", seed=seed, also=sizes) for sizes in ((), also))
    assert alone.solved
    assert alone.elsewhere == {}
    assert held.solved
    assert (held.unseen_return, held.elsewhere) == (1.0, {"9x9": 1.0, "12x17": 1.0})
    for size in also:
        assert evaluate(held.program, "harvester", episodes=1, size=size).mean_return[0] == 1.0
        assert evaluate(alone.program, "harvester", episodes=1, size=size).mean_return[0] < 1.0


def test_checks_compare_returns_at_each_size() -> None:
    """Harvester has one world of each size, so there are no counterexamples; TopOff has many worlds."""
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


def test_another_size_of_world_is_searched_and_judged() -> None:
    solution = solve("maze", size=(6, 9))
    assert solution.solved
    assert expected_return(solution) == 1.0


# Reproducibility


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_search(method: str) -> None:
    assert_same(*(solve("four-corner", method, 3, budget=500) for _ in range(2)))


def test_the_number_of_cores_changes_nothing() -> None:
    try:
        parallel.set_threads(1)
        alone = solve("harvester", budget=1500)
        parallel.set_threads(3)
        assert_same(alone, solve("harvester", budget=1500))
    finally:
        parallel.set_threads(None)


def test_another_seed_gives_another_search() -> None:
    one, other = (solve("harvester", seed=seed, budget=300) for seed in (0, 1))
    assert one.history != other.history


def test_a_listener_changes_nothing() -> None:
    steps: list[Round] = []
    assert_same(solve("maze", seed=2), solve("maze", seed=2, listener=steps.append))


# Evaluations


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("budget", [1, 7, 333])
def test_a_budget_is_exceeded_by_at_most_one_run_of_the_incumbent(method: str, budget: int) -> None:
    tried: list[int] = []
    solution = solve("snake", method, budget=budget, listener=lambda step: tried.append(len(step.asked)))
    expected = min(budget, METHODS[method].budget)
    assert sum(tried) <= solution.budget_spent
    assert expected <= solution.budget_spent <= expected + 1


def test_final_choice_and_simplification_are_counted() -> None:
    """16 programs are compared for the final choice; simplifying tries many."""
    peer = solve("snake", "hc", budget=500)
    assert peer.budget_spent == 500
    assert 500 < peer.evaluations <= 500 + SHORTLIST
    assert peer.rollouts == 500 * 16 + (peer.evaluations - 500) * peer.task.checked
    own = solve("maze")
    assert own.evaluations > own.budget_spent + 100
    assert own.evaluations_to_found <= own.budget_spent
    steps: list[Round] = []
    run = Run(SolveConfig("maze"))
    work(run, steps.append)
    assert (run.objective.evaluations, run.objective.rollouts) == (
        own.evaluations + 1,
        own.rollouts + own.worlds,
    )


def test_a_random_search_evaluates_the_number_of_programs_in_its_name() -> None:
    assert solve("snake", "random-8").budget_spent == 8
    assert solve("snake", "random-64").budget_spent == 64


def test_a_search_that_has_found_a_program_stops() -> None:
    assert solve("stair-climber", budget=100_000).evaluations < 100_000


# Worlds


def test_worlds_of_search_checks_and_judgement_are_disjoint(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_overfitted_program_is_detected() -> None:
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
            # Counterexamples were added.
            assert solution.worlds > 1
            assert solution.found not in wrong
        caught += wrong
    assert caught


@pytest.mark.parametrize(
    ("task", "method"), [("harvester", "ladder"), ("maze", "hc"), ("snake", "random-64")]
)
def test_the_reported_return_is_that_on_held_out_worlds(task: str, method: str) -> None:
    solution = solve(task, method, seed=4, budget=200)
    assert solution.unseen_return == expected_return(solution)
    assert solution.solved == (solution.unseen_return >= 1.0 - NEARLY)


@pytest.mark.parametrize("method", ["ladder", "random-64", "hc"])
def test_the_history_has_the_scores_of_the_programs(method: str) -> None:
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


# Interrupted


def interrupt_after(rounds: int) -> Callable[[Round], None]:
    def listener(step: Round) -> None:
        if step.round == rounds:
            raise KeyboardInterrupt

    return listener


@pytest.mark.parametrize("method", ["ladder", "leaps+", "hc"])
def test_an_interrupted_search_returns_the_best_so_far(method: str) -> None:
    solution = solve("snake", method, listener=interrupt_after(5))
    assert solution.interrupted
    whole = solve("snake", method, budget=solution.budget_spent)
    assert not whole.interrupted
    # As if the budget had ended there, but without simplification, to return at once.
    assert solution.program == solution.found == whole.found
    assert (solution.budget_spent, solution.history) == (whole.budget_spent, whole.history)


def test_an_interruption_before_the_first_round_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Objective, "scores", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve("maze")


def test_an_interruption_during_simplification_returns_the_program(
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


# A user-defined task


def test_a_user_defined_task_is_solved() -> None:
    solution = solve(CORRIDOR)
    assert solution.solved
    assert solution.config.task == "corridor"
    assert evaluate(solution.program, CORRIDOR, episodes=500, seed=1).mean_return[0] == 1.0


def test_a_later_nan_raises_with_the_best_program_so_far() -> None:
    task = replace(CORRIDOR, name="broken", value=broken_value)
    best: list[NDArray[np.uint8]] = []
    with pytest.raises(
        ValueError, match="broken: a state's value must be a finite number, found nan"
    ) as error:
        # One program at a time, so that some come before the first that breaks it.
        solve(task, "hc", listener=lambda step: best.append(step.program))
    assert best
    named = str(error.value).partition("best program before that: ")[2]
    assert named == LANGUAGE.text(best[-1])
    assert parse(named, LANGUAGE)


def test_a_constant_nan_raises() -> None:
    task = replace(CORRIDOR, name="broken", value=always_broken)
    with pytest.raises(ValueError, match="broken: a state's value must be a finite number, found inf"):
        solve(task)


def test_a_task_with_negative_returns_is_searched() -> None:
    # Values have no lower bound; a rejected program must not look better.
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
def test_no_program_exceeds_the_maximum_length(method: str, max_length: int) -> None:
    tried = 0

    def look(step: Round) -> None:
        nonlocal tried
        tried = max(tried, int((step.asked != LANGUAGE.pad).sum(axis=1).max()))

    solution = solve("harvester", method, max_length=max_length, budget=700, listener=look)
    assert max([tried, *lengths(solution)]) <= max_length


def test_a_program_is_found_within_a_small_maximum_length() -> None:
    # The shortest that solves it has this length.
    solution = solve("maze", max_length=12, seed=1)
    assert solution.solved
    assert max(lengths(solution)) <= 12


def test_a_search_with_an_origin_stays_within_the_edits() -> None:
    origin = "DEF run m( WHILE c( noMarkersPresent c) w( move w) m)"
    solution = solve("maze", origin=origin, edits=1, budget=2000)
    assert solution.solved
    for program in (solution.program, solution.found, *(row["program"] for row in solution.history)):
        assert edit_distance(parse(origin, LANGUAGE), parse(program, LANGUAGE), LANGUAGE) <= 1


def test_edits_without_an_origin_have_no_effect() -> None:
    one, other = (solve("harvester", edits=edits, budget=500) for edits in (1, 5))
    assert_same(one, other)
