"""A compiled task implements the task protocol: worlds, states, rollouts, courses, films."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import leaps
from leaps.compiled.plain import World
from leaps.compiled.starts import Starts
from leaps.compiled.task import CompiledTask
from leaps.domain import Domain, Task
from leaps.dsl.interpreter import Outcome
from leaps.dsl.sample import sample_programs
from leaps.evaluate import evaluate
from tests.compiled.sweeper import SWEEPER, TASK, sample

CLEAN = (
    "DEF run m( WHILE c( not c( bump c) c) w( suck forward w) suck turn "
    "WHILE c( not c( bump c) c) w( suck forward w) suck m)"
)
FREE = replace(TASK, name="free", react=None, is_over=None, cost=0.0)
"""the task without what gets in the way of a perfect return"""


def draw_variant(rng: np.random.Generator, variant: str) -> World:
    """Draw a world from a seed, like an environment that is reset with one."""
    seed = int(rng.integers(2**31))
    return sample(np.random.default_rng(seed), {"short": (1, 4), "long": (1, 9)}[variant])


NAMED = replace(
    FREE, name="named", sample=draw_variant, size="short", smallest=None, variants=("short", "long"), steps=60
)


def test_a_compiled_task_is_a_task() -> None:
    assert isinstance(TASK, Task)
    assert leaps.CompiledTask is CompiledTask


def test_executor_and_interpreter_agree_on_random_programs() -> None:
    tokens = sample_programs(SWEEPER.language, SWEEPER.programs, 80, seed=5)
    worlds = TASK.worlds(4, seed=9)
    rollouts = TASK.run(TASK.compile(tokens), worlds, want_actions=True)
    assert rollouts.returns is not None
    assert rollouts.actions is not None
    outcomes = set()
    for row, ids in enumerate(tokens):
        for number in range(worlds.count):
            course = TASK.course(SWEEPER.parse(SWEEPER.text(ids)), worlds.take(np.array([number])))
            actions = [step.action for step in course]
            assert rollouts.actions[row, number, : len(actions)].tolist() == actions
            assert (len(actions), course.outcome) == (
                rollouts.steps[row, number],
                rollouts.outcome[row, number],
            )
            assert course.stage.worth() == pytest.approx(rollouts.returns[row, number])
            outcomes.add(course.outcome)
    assert outcomes == set(Outcome)


def test_a_search_finds_a_perfect_program() -> None:
    found = leaps.solve(FREE, seed=0, budget=20_000, worlds=16, also=[(1, 12)])
    assert found.solved
    assert evaluate(found.program, FREE, seed=77, size=(1, 12)).returns.min() == 1.0


def test_a_program_is_repaired() -> None:
    found = leaps.repair(CLEAN.replace("turn", "forward"), FREE, edits=1, budget=3000)
    assert (found.solution.unseen_return, found.edits) == (1.0, 1)


def test_worlds_depend_on_the_seed_and_their_number() -> None:
    many = TASK.worlds(5, seed=3, size=(1, 9))
    some = TASK.worlds(2, seed=3, size=(1, 9), first=3)
    assert many.size == (1, 9)
    assert np.array_equal(many.take(slice(3, 5)).cells, some.cells)
    assert np.array_equal(many.take(slice(3, 5)).numbers, some.numbers)
    assert not np.array_equal(many.cells, TASK.worlds(5, seed=4, size=(1, 9)).cells)
    joined = Starts.join([many.take(slice(0, 3)), some])
    assert np.array_equal(joined.cells, many.cells)
    assert TASK.worlds(0, seed=3).count == 0


def test_sizes_may_be_names() -> None:
    assert NAMED.worlds(2, seed=0).size == NAMED.check_size(None) == NAMED.check_size("") == "short"
    assert NAMED.worlds(2, seed=0, size="long").cells.shape == (2, 1, 1, 9)
    assert NAMED.horizon("long") == 60
    result = evaluate(CLEAN, NAMED, size="long")
    assert (result.size, result.returns.min()) == ("long", 1.0)
    with pytest.raises(ValueError, match="named has no variant '8x8'; expected one of: short, long"):
        NAMED.check_size((8, 8))


def test_also_accepts_another_variant() -> None:
    found = leaps.solve(NAMED, seed=1, budget=20_000, worlds=16, also=["long"])
    assert found.solved
    assert found.elsewhere == {"long": 1.0}


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ((1, 1), "sweep needs at least 1x2 cells, found 1x1"),
        ("wide", "expected height and width, such as 8x8"),
        ((1, 2, 3), "expected height and width"),
    ],
)
def test_an_invalid_size_raises(size: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TASK.check_size(size)
    with pytest.raises(ValueError, match="sweep has worlds of 1x7 only, found 1x8"):
        replace(TASK, smallest=None).check_size((1, 8))


def test_a_horizon_may_depend_on_the_size() -> None:
    assert replace(TASK, steps=None).horizon((1, 9)) == 90
    assert replace(TASK, steps=lambda size: 3 * size[1]).horizon() == 21
    with pytest.raises(ValueError, match=r"sweep: steps must be a whole number from 1 .* found 0"):
        replace(TASK, steps=lambda size: 0 * size[1]).horizon()


def test_a_limit_follows_the_name() -> None:
    limited = TASK.changed([("~", "5")])
    assert (limited.name, limited.horizon(), limited.variant_of) == ("sweep~5", 5, "sweep")
    for wrong in ([("~", "x")], [("@", "0.5")], [("~", "5"), ("~", "6")]):
        with pytest.raises(ValueError, match=r"expected (one|a) number of actions after ~"):
            TASK.changed(wrong)


def both_ends(size: tuple[int, int]) -> list[World]:
    cells = np.ones((1, *size), np.uint8)
    return [World(cells, np.array([place, 1, 0])) for place in (0, size[1] - 1)]


def an_end(rng: np.random.Generator, size: tuple[int, int]) -> World:
    return both_ends(size)[rng.integers(2)]


def test_listed_states_give_exact_returns() -> None:
    task = replace(FREE, sample=an_end, listing=both_ends)
    result = evaluate(
        "DEF run m( WHILE c( not c( bump c) c) w( suck forward w) suck m)", task, prefer_exact=True
    )
    assert str(result.expected()) == "exact, all 2 states"
    assert result.mean_return[0] == pytest.approx((1 + 1 / 7) / 2)
    weighted = replace(task, listing=lambda size: (both_ends(size), [0.25, 0.75]))
    states = weighted.states()
    assert states is not None
    assert states.weights.tolist() == [0.25, 0.75]
    assert FREE.states() is None
    assert replace(task, listing=lambda _: None).states() is None


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (lambda _: [], "expected worlds and as many probabilities, found 0 and 0"),
        (lambda size: (both_ends(size), [1.0]), "found 2 and 1"),
        (lambda size: (both_ends(size), [0.5, 0.4]), "expected positive probabilities that sum to 1"),
        (lambda size: both_ends(size)[:1], "expected every world that the task draws, but world"),
        (lambda _: both_ends((1, 3)), r"listing: world 0: expected cells .* of 1x7"),
    ],
)
def test_a_wrong_list_of_states_raises(listing: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(FREE, sample=an_end, listing=listing).states()


def drawing(world: Any) -> Any:
    return lambda *_: world


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (drawing(None), "expected a leaps.compiled.plain.World, found NoneType"),
        (drawing(World(np.zeros((1, 7)), np.zeros(3))), r"found shapes \[1, 7\] and \[3\]"),  # type: ignore[arg-type]
        (drawing(World(np.full((1, 1, 7), -1), np.zeros(3))), "expected cells of 0 to 255"),  # type: ignore[arg-type]
        (drawing(World(np.zeros((1, 1, 7)), np.full(3, 0.5))), "and whole numbers"),  # type: ignore[arg-type]
        (lambda *_: [][1], r"\(.*test_task.py, line \d+\): IndexError"),
    ],
)
def test_a_wrong_drawn_world_raises(sampler: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"sweep: sample.*{message}"):
        replace(TASK, sample=sampler).worlds(1, seed=0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "a/b"}, "a task's name must not be empty"),
        ({"perceive": 3}, "perceive: expected a plain Python function"),
        ({"sample": None}, "sample: expected a function, found None"),
        ({"domain": "sweeper"}, "domain: expected a leaps.domain.Domain"),
        ({"size": (0, 4)}, "size must be a height and a width from 1"),
        ({"smallest": (2, 2)}, "size must be at least smallest, 2x2, found 1x7"),
        ({"variants": ("a", "b")}, "size must be one of the variants a, b"),
        ({"variants": ("a",), "size": "a", "steps": None}, "expected steps"),
        ({"steps": 0}, "steps must be a whole number from 1"),
        ({"checked": 0}, "checked must be a whole number from 1"),
        ({"cost": -1.0}, "cost must be a finite number of 0 or more"),
        ({"best": 2.0}, "highest must be at least best=2, found 1"),
        ({"events": -1}, "events must be bits of what act returns"),
    ],
)
def test_a_field_of_a_wrong_type_raises(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TASK, **changes)


def test_programs_that_can_not_catch_up_are_rejected() -> None:
    worlds = FREE.worlds(8, seed=2)
    rollouts = FREE.run(
        FREE.compile(["DEF run m( turn m)", CLEAN]), worlds, needed=np.arange(1.0, 9.0), want_used=True
    )
    assert rollouts.tried is not None
    assert rollouts.tried.tolist() == [1, 8]
    assert rollouts.used is not None
    assert rollouts.used.any()


def test_a_rollout_is_filmed(tmp_path: Path) -> None:
    FREE.film(FREE.compile(CLEAN), FREE.worlds(1, seed=0), tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert getattr(film, "n_frames", 1) > 5


def test_a_task_is_pickled_without_compiled_functions() -> None:
    assert TASK.hooks
    sent = pickle.loads(pickle.dumps(TASK))
    assert sent == TASK
    assert "hooks" not in vars(sent)


def test_two_domains_of_a_file_are_compiled_under_different_names() -> None:
    """Their names are the keys of the cache on disk, for domains that ship."""

    def other(world: World) -> tuple[bool, ...]:
        late = world.numbers[0] > 0
        return late, late, late, late, late, late

    tasks = TASK, replace(TASK, perceive=other), replace(TASK, is_over=None)
    names = {task.engine._run_range.__qualname__ for task in tasks}
    assert len(names) == 3


def test_a_domain_is_made_from_names() -> None:
    made = Domain.of("vacuum", ("forward", "suck"), ("dirt", "bump"), {"clean": "dirt"})
    assert made.language.senses == ("dirt", "bump")
    assert made.language.opposites == (("clean", "dirt"),)
    assert sum(made.programs.perceptions) == pytest.approx(1)


def test_perceive_may_return_the_bits_of_a_number() -> None:
    """Languages of at most four senses are compiled differently; both accept tuples and numbers."""

    def few(world: World) -> int:
        return int(world.cells[0, 0, world.numbers[0]] > 0) | int(world.numbers[1] > 0) << 1

    def as_truths(world: World) -> tuple[bool, bool]:
        return world.cells[0, 0, world.numbers[0]] > 0, world.numbers[1] > 0

    names = ("dirt", "right")
    domain = Domain.of("few", SWEEPER.language.actions, names)
    programs = sample_programs(domain.language, domain.programs, 50, seed=1)
    tasks = [replace(FREE, domain=domain, perceive=perceive) for perceive in (few, as_truths)]
    one, other = (task.run(task.compile(programs), task.worlds(4, seed=0)) for task in tasks)
    assert np.array_equal(one.steps, other.steps)
    assert np.array_equal(one.returns, other.returns)  # type: ignore[arg-type]
    assert one.steps.max() > one.steps.min()
