"""Programs proven to behave the same do so, and obvious equivalences are proven."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.dsl.compiler import NO_SENSE, Compiled, compile_tokens
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.dsl.same import do_the_same
from leaps.dsl.sample import sample_programs
from leaps.dsl.syntax import MAX_NESTING, Program, tokens_of
from leaps.karel.executor import run
from leaps.karel.tasks import TASKS
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS, World, Worlds
from tests.dsl.helpers import MANY, few_of_many, follow
from tests.strategies import programs, worlds

ROOM = World.parse("""
######
#>...#
######""")


def looked_up(text: str, world: World, horizon: int = 100) -> NDArray[np.bool_]:
    used = run(KAREL.compile(text), Worlds.stack([world]), horizon, want_used=True).used
    assert used is not None
    return used


def proven(text: str, other: str, world: World = ROOM) -> bool:
    """Return whether the second program provably does what the first does in a world."""
    same, _ = do_the_same(KAREL.compile(text), 0, looked_up(text, world), KAREL.compile(other))
    return bool(same[0])


@pytest.mark.parametrize("name", TASKS)
def test_proven_programs_behave_the_same_in_all_tried_worlds(name: str) -> None:
    """Neighbours of random programs, as a search draws them: some do the same, most don't."""
    task = TASKS[name]
    starts = task.worlds(6, seed=1)
    neighbourhood = Neighbourhood(LANGUAGE, PROGRAMS, Limits(), dict.fromkeys(Move, 1.0), seed=2)
    count = 0
    for program in sample_programs(LANGUAGE, PROGRAMS, 60, seed=3, max_length=45):
        compiled = KAREL.compile(program[None])
        first = run(compiled, starts, 150, task.hooks, want_actions=True, want_used=True)
        drawn, _ = neighbourhood.draw(program[None], 60)
        neighbours = KAREL.compile(drawn)
        assert first.used is not None
        same, used = do_the_same(compiled, 0, first.used, neighbours)
        others = run(neighbours, starts, 150, task.hooks, want_actions=True, want_used=True)
        assert others.actions is not None
        assert others.used is not None
        for number in np.flatnonzero(same):
            assert np.array_equal(others.actions[number], first.actions[0])  # type: ignore[index]
            assert np.array_equal(others.outcome[number], first.outcome[0])
            entries = neighbours.entries(number)
            assert np.array_equal(used[entries], others.used[entries])
        assert not used[np.repeat(~same, np.diff(neighbours.first))].any()
        count += int((same & (drawn != program).any(axis=1)).sum())
    assert count > 60


@settings(max_examples=300)
@given(programs, worlds(), st.integers(0, 60), st.integers(0, 1000))
def test_nothing_is_proven_of_neighbours_that_differ(
    program: Program, world: World, horizon: int, seed: int
) -> None:
    """In nasty worlds, and of nasty programs."""
    starts, tokens = Worlds.stack([world]), LANGUAGE.encode(tokens_of(program))
    limits = Limits(length=len(tokens) + 20, nesting=MAX_NESTING)
    neighbourhood = Neighbourhood(LANGUAGE, PROGRAMS, limits, dict.fromkeys(Move, 1.0), seed)
    drawn, _ = neighbourhood.draw(tokens[None], 40)
    compiled, neighbours = KAREL.compile(tokens[None]), KAREL.compile(drawn)
    first = run(compiled, starts, horizon, want_actions=True, want_used=True)
    others = run(neighbours, starts, horizon, want_actions=True)
    assert first.used is not None
    assert first.actions is not None
    assert others.actions is not None
    same, _ = do_the_same(compiled, 0, first.used, neighbours)
    alike = (others.actions == first.actions).all(axis=(1, 2)) & (others.outcome == first.outcome).all(axis=1)
    assert alike[same].all()


@settings(max_examples=200)
@given(programs, worlds(), st.integers(0, 60))
def test_a_program_is_proven_equal_to_itself(program: Program, world: World, horizon: int) -> None:
    compiled = KAREL.compile(program)
    used = run(compiled, Worlds.stack([world]), horizon, want_used=True).used
    assert used is not None
    same, again = do_the_same(compiled, 0, used, compiled)
    assert same[0]
    assert np.array_equal(again, used)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # A branch that is never taken may be anything, or missing.
        ("IF c( markersPresent c) i( move i) move", "IF c( markersPresent c) i( turnLeft i) move"),
        ("IF c( markersPresent c) i( move i) move", "move"),
        ("move", "WHILE c( markersPresent c) w( REPEAT R=3 r( putMarker r) w) move"),
        # Another condition that holds as well.
        ("IF c( frontIsClear c) i( move i)", "IFELSE c( noMarkersPresent c) i( move i) ELSE e( turnLeft e)"),
        # Loops of the same number, whatever else there is.
        (
            "REPEAT R=3 r( move r)",
            "IF c( markersPresent c) i( REPEAT R=2 r( move r) i) REPEAT R=3 r( move r)",
        ),
        # What follows a loop that never ends.
        (
            "WHILE c( noMarkersPresent c) w( turnLeft w) move",
            "WHILE c( noMarkersPresent c) w( turnLeft w) putMarker",
        ),
    ],
)
def test_irrelevant_differences_are_ignored(one: str, other: str) -> None:
    one, other = f"DEF run m( {one} m)", f"DEF run m( {other} m)"
    assert proven(one, other)
    assert proven(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("move", "turnLeft"),
        ("move", "move move"),
        ("REPEAT R=2 r( move r)", "REPEAT R=3 r( move r)"),
        ("IF c( frontIsClear c) i( move i)", "IF c( not c( frontIsClear c) c) i( move i)"),
        ("WHILE c( frontIsClear c) w( move w) putMarker", "WHILE c( frontIsClear c) w( move w)"),
    ],
)
def test_relevant_differences_are_detected(one: str, other: str) -> None:
    assert not proven(f"DEF run m( {one} m)", f"DEF run m( {other} m)")
    assert not proven(f"DEF run m( {other} m)", f"DEF run m( {one} m)")


def test_two_loops_cannot_share_a_counter() -> None:
    """The second does the same at every used entry, and yet leaves its loop later."""
    one = (
        "DEF run m( REPEAT R=2 r( move putMarker REPEAT R=2 r( IF c( markersPresent c) i( move i) r) r) "
        "putMarker m)"
    )
    other = (
        "DEF run m( WHILE c( frontIsClear c) w( REPEAT R=2 r( IFELSE c( leftIsClear c) i( move i) ELSE e( "
        "IF c( markersPresent c) i( move i) e) r) putMarker w) m)"
    )
    world = World.parse("""
#######
#.#.#.#
#>....#
#######""")
    assert not proven(one, other, world)


def test_the_proof_holds_only_for_the_tried_worlds() -> None:
    one = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
    other = "DEF run m( WHILE c( frontIsClear c) w( IF c( leftIsClear c) i( turnLeft i) move w) m)"
    wider = World.parse("""
######
#....#
#>...#
######""")
    assert proven(one, other)
    assert not proven(one, other, wider)


def test_one_of_a_batch_is_compared_with_all_of_another() -> None:
    texts = ["DEF run m( turnLeft m)", "DEF run m( WHILE c( frontIsClear c) w( move w) m)"]
    batch = KAREL.compile(texts)
    used = run(batch, Worlds.stack([ROOM]), 20, want_used=True).used
    assert used is not None
    for program in range(2):
        same, _ = do_the_same(batch, program, used, KAREL.compile([*texts, texts[program]]))
        assert same.tolist() == [program == 0, program == 1, True]


def test_an_invalid_row_is_never_proven_equal() -> None:
    rows = LANGUAGE.batch([KAREL.read("DEF run m( move m)"), KAREL.read("DEF run m( m)")])
    batch = KAREL.compile(rows)
    assert batch.entry[1] == -1
    same, _ = do_the_same(KAREL.compile(rows[:1]), 0, looked_up("DEF run m( move m)", ROOM), batch)
    assert same.tolist() == [True, False]


def test_proofs_hold_for_programs_with_different_senses() -> None:
    """Of many perceptions; both with and without others than those of the program that was run."""
    rng = np.random.default_rng(0)
    distribution = few_of_many(0, 3, 17, 63, 64)
    limits = Limits(length=60)
    neighbourhood = Neighbourhood(MANY, distribution, limits, dict.fromkeys(Move, 1.0), seed=2)
    runs = [[int(code) for code in rng.integers(0, 2**64, 30, np.uint64)] for _ in range(3)]
    more = fewer = 0

    def look_up(compiled: Compiled, number: int | np.integer) -> tuple[list[list[int]], NDArray[np.bool_]]:
        """What it does in each run, and which entries of the table it looks up."""
        used = np.zeros(len(compiled.table), np.bool_)
        done = []
        for perceived in runs:
            steps = list(follow(compiled, number, perceived))
            done.append([operation for operation, _ in steps])
            used[[entry for _, looked_up in steps for entry in looked_up]] = True
        return done, used

    for program in sample_programs(MANY, distribution, 60, seed=3, max_length=45):
        compiled = compile_tokens(program[None], MANY)
        done, used = look_up(compiled, 0)
        drawn, _ = neighbourhood.draw(program[None], 60)
        neighbours = compile_tokens(drawn, MANY)
        same, others_used = do_the_same(compiled, 0, used, neighbours)
        own = set(compiled.senses[0]) - {NO_SENSE}
        for number in np.flatnonzero(same):
            other, looked_up = look_up(neighbours, number)
            assert other == done
            assert (others_used | ~looked_up)[neighbours.entries(number)].all()
            others = set(neighbours.senses[number]) - {NO_SENSE}
            more += bool(others - own)
            fewer += bool(own - others)
    assert more > 20
    assert fewer > 20
