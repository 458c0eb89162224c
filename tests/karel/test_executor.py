"""The fast twin does what the readable one does, on everything."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.base import parallel
from leaps.compiled.engine import LONGEST
from leaps.domain import NO_ACTION, Outcome, Rollouts
from leaps.dsl.compiler import HALT, OPERATION
from leaps.dsl.sample import sample_programs
from leaps.dsl.syntax import If, IfElse, Program, Repeat, While, tokens_of, walk
from leaps.dsl.text import build, parse
from leaps.karel.env import KarelEnv
from leaps.karel.executor import replay, run
from leaps.karel.interpreter import play
from leaps.karel.physics import MOVED, PICKED, PUT
from leaps.karel.tasks import TASKS, KarelTask
from leaps.karel.world import EXIT, KAREL, LANGUAGE, PROGRAMS, World, Worlds, random_worlds
from tests.karel.tricky import PORTAL, TRICKY
from tests.strategies import programs, same, worlds


def executed(program: Program | str, world: World, horizon: int, calls: int | None = None) -> Rollouts:
    compiled = KAREL.compile(program, calls=calls)
    return run(compiled, Worlds.stack([world]), horizon, want_actions=True, want_final=True)


def assert_twins_agree(program: Program, world: World, horizon: int, calls: int | None = None) -> None:
    fast = executed(program, world, horizon, calls)
    final = world.clone()
    course = play(program, final, horizon, calls=calls)
    actions = [step.action for step in course]
    assert fast.actions is not None
    assert fast.final is not None
    assert fast.actions[0, 0, : len(actions)].tolist() == actions
    assert (fast.actions[0, 0, len(actions) :] == NO_ACTION).all()
    assert fast.steps[0, 0] == len(actions)
    assert Outcome(fast.outcome[0, 0]) == course.outcome
    assert same(fast.final.world(0), final)


@settings(max_examples=600)
@given(programs, worlds(), st.integers(0, 120))
def test_executor_and_interpreter_agree_on_any_program_world_and_horizon(
    program: Program, world: World, horizon: int
) -> None:
    assert_twins_agree(program, world, horizon)


@settings(max_examples=600)
@given(programs, worlds(), st.integers(0, 120), st.one_of(st.integers(1, 60), st.sampled_from([220, 1000])))
def test_executor_and_interpreter_agree_with_any_limit_of_calls(
    program: Program, world: World, horizon: int, calls: int
) -> None:
    assert_twins_agree(program, world, horizon, calls)


@settings(max_examples=200)
@given(programs, worlds())
def test_each_action_takes_the_same_number_of_calls_for_executor_and_interpreter(
    program: Program, world: World
) -> None:
    for calls in range(1, 41):
        assert_twins_agree(program, world, 40, calls)


@pytest.mark.parametrize("calls", [20, 220])
def test_executor_and_interpreter_agree_on_the_papers_random_programs_with_a_limit_of_calls(
    calls: int,
) -> None:
    tokens = sample_programs(LANGUAGE, PROGRAMS, 1500, seed=13, max_length=100)
    starts = random_worlds(1500, seed=14)
    for row, ids in enumerate(tokens):
        assert_twins_agree(build(LANGUAGE.decode(ids)), starts.world(row), 220, calls)


def test_executor_and_interpreter_agree_on_the_papers_random_programs() -> None:
    tokens = sample_programs(LANGUAGE, PROGRAMS, 1500, seed=11, max_length=100)
    starts = random_worlds(1500, seed=12)
    for row, ids in enumerate(tokens):
        assert_twins_agree(build(LANGUAGE.decode(ids)), starts.world(row), 100)


@pytest.mark.parametrize("name", TASKS)
def test_executor_and_interpreter_agree_on_every_task(name: str) -> None:
    task = TASKS[name]
    tokens = sample_programs(LANGUAGE, PROGRAMS, 150, seed=21, max_length=60)
    starts = task.worlds(2, seed=22)
    fast = run(KAREL.compile(tokens), starts, 150, task.hooks, want_final=True)
    assert fast.returns is not None
    assert fast.final is not None
    for row, ids in enumerate(tokens):
        program = build(LANGUAGE.decode(ids))
        for number in range(2):
            world = starts.world(number).clone()
            course = play(program, world, 150, task.react, task.events)
            steps = len(list(course))
            assert (steps, course.outcome) == (fast.steps[row, number], fast.outcome[row, number])
            assert task.value(world, starts.world(number)) == pytest.approx(fast.returns[row, number])
            assert same(fast.final.world(row * 2 + number), world)


def assert_all_ways_agree(program: Program, start: World, horizon: int, task: KarelTask) -> None:
    """Hold the executor, what it recorded and films show, and the environment to the interpreter."""
    final = start.clone()
    course = play(program, final, horizon, task.react, task.events)
    actions = [step.action for step in course]
    value = task.value(final, start)

    starts, compiled = Worlds.stack([start]), KAREL.compile(program)
    fast = run(compiled, starts, horizon, task.hooks, want_final=True)
    recorded = run(compiled, starts, horizon, task.hooks, want_final=True, want_actions=True)
    for rollouts in (fast, recorded):
        assert rollouts.final is not None
        assert rollouts.returns is not None
        assert (rollouts.steps[0, 0], rollouts.outcome[0, 0]) == (len(actions), course.outcome)
        assert same(rollouts.final.world(0), final)
        assert rollouts.returns[0, 0] == value
    assert recorded.actions is not None
    assert recorded.actions[0, 0, : len(actions)].tolist() == actions
    assert same(replay(starts, recorded.actions[0], task.hooks).world(horizon), final)

    env = KarelEnv(task, size=start.size, horizon=horizon)
    env.simulation.place(starts)
    stepped = [env.step(action) for action in actions]
    assert same(env.world, final)
    for number, (_, _, terminated, truncated, _) in enumerate(stepped, start=1):
        last = number == len(actions)
        assert terminated == (last and course.outcome == Outcome.ENDED)
        assert truncated == (number == horizon and not terminated)
    if actions:
        assert sum(reward for _, reward, *_ in stepped) == value


@settings(max_examples=500)
@given(programs, worlds(), st.integers(1, 120), st.integers(1, MOVED | PICKED | PUT))
def test_all_ways_to_run_agree_on_a_task_that_moves_and_turns_karel_and_makes_exits(
    program: Program, world: World, horizon: int, events: int
) -> None:
    assert_all_ways_agree(program, TRICKY.prepare(world), horizon, replace(TRICKY, events=events))


def test_a_task_that_moves_karel_is_the_same_task_to_all() -> None:
    start = PORTAL.worlds(1, seed=0).world(0)
    for text in ("DEF run m( move m)", "DEF run m( move turnLeft move putMarker m)"):
        assert_all_ways_agree(parse(text, LANGUAGE), start, 20, PORTAL)
    returns = run(KAREL.compile("DEF run m( move m)"), Worlds.stack([start]), 20, PORTAL.hooks).returns
    assert returns is not None
    assert returns[0, 0] == 1.0


def make_an_exit(world: World, change: int, row: int, column: int) -> bool:  # noqa: ARG001
    world.ground[world.pose[0], world.pose[1]] = EXIT
    return False


@pytest.mark.parametrize(("action", "event"), [("move", MOVED), ("pickMarker", PICKED), ("putMarker", PUT)])
def test_a_task_that_makes_an_exit_where_karel_stands_ends_the_rollout(action: str, event: int) -> None:
    task = replace(TRICKY, react=make_an_exit, events=event)
    start = task.prepare(ROOM)
    start.markers[2, 2] = 1
    program = parse(f"DEF run m( turnLeft {action} turnLeft m)", LANGUAGE)
    assert_all_ways_agree(program, start, 20, task)
    course = play(program, start.clone(), 20, task.react, task.events)
    assert len(list(course)) == 2
    assert course.outcome == Outcome.ENDED


@pytest.mark.parametrize("horizon", [33, 64, 100, 641, 2003])
@pytest.mark.parametrize("name", ["none", "tricky", "portal", *TASKS])
def test_rounds_that_are_skipped_change_nothing(name: str, horizon: int) -> None:
    # What is recorded action by action is run in full; that is what agrees with the interpreter, see above.
    bodies = sample_programs(LANGUAGE, PROGRAMS, 1000, seed=31, max_length=40)
    heads = ["frontIsClear", "noMarkersPresent", "not c( markersPresent c)", "not c( frontIsClear c)"]
    texts = [LANGUAGE.text(ids).removeprefix("DEF run m( ").removesuffix(" m)") for ids in bodies]
    endless = [
        f"DEF run m( WHILE c( {heads[i % 4]} c) w( {text} w) {text} m)" for i, text in enumerate(texts)
    ]
    compiled = KAREL.compile(
        LANGUAGE.batch([LANGUAGE.encode(text.split()) for text in endless]), branches=True
    )
    if name == "none":
        starts, hooks = random_worlds(4, seed=32), None
    else:
        task = {"tricky": TRICKY, "portal": PORTAL}.get(name) or TASKS[name]
        starts, hooks = task.worlds(4, seed=32), task.hooks
    fast = run(compiled, starts, horizon, hooks, want_final=True)
    full = run(compiled, starts, horizon, hooks, want_final=True, want_actions=True)
    assert (full.outcome == Outcome.CUT_OFF).mean() > 0.05
    np.testing.assert_array_equal(fast.outcome, full.outcome)
    np.testing.assert_array_equal(fast.steps, full.steps)
    if hooks is not None:
        np.testing.assert_array_equal(fast.returns, full.returns)
    np.testing.assert_array_equal(fast.covered, full.covered)
    for found, expected in zip(fast.final, full.final, strict=True):
        np.testing.assert_array_equal(found, expected)
    plain = compiled._replace(branches=compiled.branches[:0])
    looked_up = run(plain, starts, horizon, hooks, want_used=True).used
    np.testing.assert_array_equal(
        looked_up, run(plain, starts, horizon, hooks, want_used=True, want_actions=True).used
    )


def test_a_task_changes_the_world_for_ever_and_the_end_is_known_at_once() -> None:
    """A snake that goes round, or a marker that comes and goes: two billion steps are over in no time."""
    round_and_round = KAREL.compile("DEF run m( WHILE c( noMarkersPresent c) w( move turnRight w) m)")
    snake = TASKS["snake"]
    starts = snake.worlds(50, seed=5)
    rollouts = run(round_and_round, starts, LONGEST, snake.hooks)
    assert (rollouts.steps == LONGEST).mean() > 0.5
    to_and_fro = KAREL.compile(
        "DEF run m( WHILE c( noMarkersPresent c) w( putMarker move turnLeft turnLeft move pickMarker w) m)"
    )
    assert run(to_and_fro, Worlds.stack([ROOM]), LONGEST).steps[0, 0] == LONGEST


ROOM = World.parse("""
#####
#...#
#.>.#
#...#
#####""")

SILENT = "IF c( markersPresent c) i( move i)"


@pytest.mark.parametrize(
    ("text", "outcome", "steps"),
    [
        ("DEF run m( WHILE c( frontIsClear c) w( IF c( markersPresent c) i( move i) w) m)", Outcome.STUCK, 0),
        ("DEF run m( turnLeft WHILE c( frontIsClear c) w( REPEAT R=0 r( move r) w) m)", Outcome.STUCK, 1),
        ("DEF run m( " + "REPEAT R=19 r( " * 30 + SILENT + " r)" * 30 + " m)", Outcome.HALTED, 0),
        ("DEF run m( " + "REPEAT R=19 r( " * 30 + "move" + " r)" * 30 + " m)", Outcome.CUT_OFF, 1000),
        ("DEF run m( REPEAT R=19 r( " + SILENT + " r) move m)", Outcome.HALTED, 1),
        ("DEF run m( REPEAT R=19 r( REPEAT R=19 r( turnLeft r) r) m)", Outcome.HALTED, 361),
        ("DEF run m( WHILE c( leftIsClear c) w( turnLeft w) m)", Outcome.CUT_OFF, 1000),
        ("DEF run m( REPEAT R=0 r( move r) m)", Outcome.HALTED, 0),
    ],
)
def test_no_run_hangs(text: str, outcome: Outcome, steps: int) -> None:
    rollouts = executed(text, ROOM, 1000)
    assert (Outcome(rollouts.outcome[0, 0]), rollouts.steps[0, 0]) == (outcome, steps)
    assert_twins_agree(parse(text, LANGUAGE), ROOM, 1000)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("DEF run m( move m)", 2),  # the program and the action
        ("DEF run m( move move move m)", 1 + 4 + 3),  # entering a block of three costs 4
        ("DEF run m( REPEAT R=3 r( turnLeft turnLeft r) m)", 1 + 2 + 3 * (2 + 2)),
        ("DEF run m( REPEAT R=0 r( move r) move m)", 1 + 2 + 2 + 1),
        ("DEF run m( WHILE c( markersPresent c) w( move w) move m)", 1 + 2 + 2 + 1),
        ("DEF run m( WHILE c( noMarkersPresent c) w( turnLeft putMarker w) m)", 1 + 2 + 2 + 2),
        ("DEF run m( IFELSE c( frontIsClear c) i( move move i) ELSE e( turnLeft e) m)", 1 + 2 + 2 + 2),
        ("DEF run m( IF c( not c( frontIsClear c) c) i( move i) turnLeft m)", 1 + 2 + 2 + 1),
        ("DEF run m( REPEAT R=19 r( " + SILENT + " r) move m)", 1 + 2 + 2 + 19 * 2 + 1),
    ],
)
def test_a_program_needs_a_known_number_of_calls(text: str, calls: int) -> None:
    assert executed(text, ROOM, 100, calls).outcome[0, 0] == Outcome.HALTED
    assert executed(text, ROOM, 100, calls - 1).outcome[0, 0] == Outcome.CUT_OFF


def test_a_loop_that_cannot_act_is_cut_off_by_a_limit_of_calls() -> None:
    text = "DEF run m( turnLeft WHILE c( frontIsClear c) w( REPEAT R=0 r( move r) w) m)"
    for calls, outcome in ((None, Outcome.STUCK), (1000, Outcome.CUT_OFF)):
        rollouts = executed(text, ROOM, 1000, calls)
        assert (Outcome(rollouts.outcome[0, 0]), rollouts.steps[0, 0]) == (outcome, 1)
        assert_twins_agree(parse(text, LANGUAGE), ROOM, 1000, calls)


@pytest.mark.parametrize("inner", ["move", SILENT, "move " + SILENT, SILENT + " REPEAT R=0 r( move r)"])
@pytest.mark.parametrize("calls", [220, 10**9])
def test_nothing_hangs_with_a_limit_of_calls(inner: str, calls: int) -> None:
    text = "DEF run m( turnLeft " + "REPEAT R=19 r( " * 30 + inner + " r)" * 30 + " m)"
    assert executed(text, ROOM, 1000, calls).outcome[0, 0] == Outcome.CUT_OFF
    assert_twins_agree(parse(text, LANGUAGE), ROOM, 1000, calls)


def test_some_of_the_compiled_programs_keep_their_limit_of_calls() -> None:
    compiled = KAREL.compile(
        ["DEF run m( move m)", "DEF run m( WHILE c( leftIsClear c) w( turnLeft w) m)"], calls=9
    )
    assert run(compiled.take(np.array([1, 0])), Worlds.stack([ROOM]), 100).steps.tolist() == [[6], [1]]


@pytest.mark.parametrize("calls", [0, -1, 10**9 + 1])
def test_a_limit_of_calls_that_cannot_be_counted_is_refused(calls: int) -> None:
    with pytest.raises(ValueError, match="the limit of calls must be from 1 to 1,000,000,000, found"):
        KAREL.compile("DEF run m( move m)", calls=calls)


def test_a_program_that_ends_with_its_last_allowed_action_has_halted() -> None:
    assert Outcome(executed("DEF run m( turnLeft turnLeft m)", ROOM, 2).outcome[0, 0]) == Outcome.HALTED
    assert (
        Outcome(executed("DEF run m( turnLeft turnLeft turnLeft m)", ROOM, 2).outcome[0, 0])
        == Outcome.CUT_OFF
    )


def test_a_horizon_that_steps_could_not_tell_is_refused() -> None:
    endless = "DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)"
    assert executed_steps(endless, LONGEST) == LONGEST
    for horizon in (LONGEST + 1, 2**33, -1):
        with pytest.raises(ValueError, match="horizon must be from 0 to 2,147,483,647, found"):
            executed_steps(endless, horizon)


def executed_steps(text: str, horizon: int) -> int:
    return int(run(KAREL.compile(text), Worlds.stack([ROOM]), horizon).steps[0, 0])


def test_the_worlds_given_stay_as_they_were() -> None:
    starts = random_worlds(5, seed=1)
    before = starts.clone()
    run(KAREL.compile("DEF run m( REPEAT R=9 r( putMarker move r) m)"), starts, 50)
    assert same(starts, before)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    compiled = KAREL.compile(sample_programs(LANGUAGE, PROGRAMS, 400, seed=5))
    task = TASKS["snake"]
    starts = task.worlds(8, seed=6)
    least = np.linspace(-1, 0, 8)
    try:
        parallel.set_threads(1)
        alone = run(compiled, starts, 100, task.hooks, want_actions=True)
        alone_in_a_race = run(compiled, starts, 100, task.hooks, needed=least, want_used=True)
        parallel.set_threads(5)
        together = run(compiled, starts, 100, task.hooks, want_actions=True)
        together_in_a_race = run(compiled, starts, 100, task.hooks, needed=least, want_used=True)
    finally:
        parallel.set_threads(None)
    for name in ("outcome", "steps", "returns", "used", "tried"):
        assert np.array_equal(getattr(alone_in_a_race, name), getattr(together_in_a_race, name))
    for name in ("outcome", "steps", "returns", "actions"):
        assert np.array_equal(getattr(alone, name), getattr(together, name))


def test_two_threads_may_run_batches_at_the_same_time() -> None:
    from concurrent.futures import ThreadPoolExecutor

    compiled = KAREL.compile(sample_programs(LANGUAGE, PROGRAMS, 500, seed=7))
    starts = random_worlds(10, seed=8)
    expected = run(compiled, starts, 100).steps
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(run, compiled, starts, 100) for _ in range(8)]:
            assert np.array_equal(future.result().steps, expected)


def test_replay_gives_every_state_of_a_rollout() -> None:
    starts = Worlds.stack([ROOM])
    rollouts = run(KAREL.compile("DEF run m( putMarker move turnLeft m)"), starts, 5, want_actions=True)
    assert rollouts.actions is not None
    states = replay(starts, rollouts.actions[0])
    assert states.count == 6
    assert [states.world(t).place for t in range(6)] == [(2, 2, 1), (2, 2, 1), (2, 3, 1)] + [(2, 3, 0)] * 3
    assert [int(states.world(t).markers[2, 2]) for t in range(6)] == [0, 1, 1, 1, 1, 1]


def test_replay_lets_the_task_change_the_world() -> None:
    task = TASKS["one-stroke"]
    starts = Worlds.stack([task.prepare(ROOM)])
    rollouts = run(KAREL.compile("DEF run m( move m)"), starts, 3, task.hooks, want_actions=True)
    assert rollouts.actions is not None
    last = replay(starts, rollouts.actions[0], task.hooks).world(3)
    assert str(last) == "#####\n#...#\n#.#>#\n#...#\n#####"


def test_a_row_that_is_no_program_is_refused() -> None:
    tokens = LANGUAGE.batch([LANGUAGE.encode(["DEF", "run", "m(", "move", "m)"]), LANGUAGE.encode(["move"])])
    with pytest.raises(ValueError, match="row 1 of the batch is not a program"):
        run(KAREL.compile(tokens), Worlds.stack([ROOM]), 10)


def test_a_hundred_by_hundred_world_runs_to_its_horizon() -> None:
    starts = random_worlds(2, seed=3, size=(100, 100))
    rollouts = run(
        KAREL.compile("DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)"), starts, 100_000
    )
    assert set(rollouts.outcome.ravel().tolist()) <= {Outcome.CUT_OFF, Outcome.HALTED}


@settings(max_examples=200)
@given(programs, worlds(), st.integers(0, 60))
def test_the_conditions_looked_at_are_those_of_the_interpreter(
    program: Program, world: World, horizon: int
) -> None:
    conditionals = [statement for statement in walk(program) if isinstance(statement, While | If | IfElse)]
    course = play(program, world.clone(), horizon)
    expected = 0
    for statement, result in [test for step in course for test in step.tests] + course.tests:
        bits = [2 * k + (not result) for k, other in enumerate(conditionals) if other is statement]
        expected |= 1 << bits[0]
    compiled = KAREL.compile(LANGUAGE.encode(tokens_of(program))[None], branches=True)
    covered = run(compiled, Worlds.stack([world]), horizon).covered
    assert covered is not None
    looked_at = int(covered[0, 0])
    if any(isinstance(statement, Repeat) for statement in walk(program)):
        assert looked_at | expected == looked_at  # a REPEAT that may be over counts as gone round once more
    else:
        assert looked_at == expected


@pytest.mark.parametrize("name", ["maze", "snake", "door-key"])
def test_the_entries_looked_up_are_those_that_matter(name: str) -> None:
    """A program that halts there instead has another rollout; one that halts elsewhere has the same."""
    task = TASKS[name]
    starts = task.worlds(8, seed=9)
    rng = np.random.default_rng(10)
    for tokens in sample_programs(LANGUAGE, PROGRAMS, 40, seed=11, max_length=45):
        compiled = KAREL.compile(tokens[None])
        rollouts = run(compiled, starts, 100, task.hooks, want_used=True)
        assert rollouts.used is not None
        used = rollouts.used
        elsewhere = compiled._replace(table=np.where(used, compiled.table, HALT).astype(np.int32))
        again = run(elsewhere, starts, 100, task.hooks)
        assert np.array_equal(again.steps, rollouts.steps)
        assert np.array_equal(again.outcome, rollouts.outcome)
        acting = np.flatnonzero(used & (compiled.table & OPERATION < HALT))
        for entry in rng.permutation(acting)[:5]:
            table = compiled.table.copy()
            table[entry] = HALT
            cut_short = run(compiled._replace(table=table), starts, 100, task.hooks)
            assert (cut_short.steps < rollouts.steps).any()


def test_who_has_not_earned_enough_is_given_up() -> None:
    task = TASKS["top-off"]
    starts = task.worlds(30, seed=12)
    compiled = KAREL.compile(sample_programs(LANGUAGE, PROGRAMS, 300, seed=13, max_length=45))
    full = run(compiled, starts, 200, task.hooks)
    assert full.returns is not None
    needed = np.where(np.arange(30) % 7 == 6, 0.2 * np.arange(30), -np.inf)
    raced = run(compiled, starts, 200, task.hooks, needed=needed)
    assert raced.returns is not None
    assert raced.tried is not None
    behind = np.cumsum(full.returns, axis=1) < needed
    tried = np.where(behind.any(axis=1), behind.argmax(axis=1) + 1, 30)
    assert {7, 30} < set(tried.tolist())  # at once, never, and something between
    assert np.array_equal(raced.tried, tried)
    ran = np.arange(30) < tried[:, None]
    for name in ("returns", "steps", "outcome"):
        assert np.array_equal(getattr(raced, name)[ran], getattr(full, name)[ran])
        assert not getattr(raced, name)[~ran].any()


def test_entries_and_branches_are_not_watched_together() -> None:
    compiled = KAREL.compile(sample_programs(LANGUAGE, PROGRAMS, 2, seed=1), branches=True)
    with pytest.raises(ValueError, match="without branches"):
        run(compiled, random_worlds(2, seed=1), 9, want_used=True)


@pytest.mark.parametrize("needed", [np.zeros(5), np.zeros((2, 4))])
def test_what_is_needed_is_a_number_for_each_world(needed: NDArray[np.float64]) -> None:
    task = TASKS["maze"]
    with pytest.raises(ValueError, match="a number for each of 4 worlds"):
        run(KAREL.compile("DEF run m( move m)"), task.worlds(4, seed=1), 9, task.hooks, needed=needed)
    with pytest.raises(ValueError, match="expected a task"):
        run(KAREL.compile("DEF run m( move m)"), task.worlds(4, seed=1), 9, needed=np.zeros(4))


def test_programs_can_have_worlds_of_their_own() -> None:
    compiled = KAREL.compile(sample_programs(LANGUAGE, PROGRAMS, 6, seed=3))
    starts = random_worlds(18, seed=4)
    every = run(compiled, starts, 50, want_actions=True, want_final=True)
    own = run(compiled, starts, 50, own_worlds=True, want_actions=True, want_final=True)
    assert own.steps.shape == (6, 3)
    for program in range(6):
        for number in range(3):
            world = program * 3 + number
            assert own.steps[program, number] == every.steps[program, world]
            assert np.array_equal(own.actions[program, number], every.actions[program, world])  # type: ignore[index]
            assert same(own.final.world(world), every.final.world(program * 18 + world))
    with pytest.raises(ValueError, match="18 worlds can't be divided evenly among 4 programs"):
        run(KAREL.compile(sample_programs(LANGUAGE, PROGRAMS, 4, seed=3)), starts, 50, own_worlds=True)
