"""A data set is what its configuration says, and a file that isn't one is refused."""

import json
import struct
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import load, save

from leaps.base import parallel
from leaps.base.tensors import metadata
from leaps.domain import NO_ACTION, Outcome
from leaps.dsl import sample
from leaps.dsl.sample import sample_programs
from leaps.dsl.syntax import If, IfElse, While, walk
from leaps.dsl.text import build
from leaps.karel import dataset
from leaps.karel.dataset import (
    CHUNK,
    DATA_FILE,
    MANIFEST_FILE,
    DataConfig,
    Dataset,
    choose_worlds,
    make_dataset,
)
from leaps.karel.executor import run
from leaps.karel.interpreter import apply, play
from leaps.karel.physics import FAILED
from leaps.karel.world import KAREL, LANGUAGE, WALL, World, Worlds, random_worlds

CONFIG = DataConfig(programs=200, seed=3, keep="every", pool=64, more=128)


@cache
def small() -> Dataset:
    """200 programs; some have a branch that was never taken."""
    return make_dataset(CONFIG)


@pytest.fixture
def _threads_restored() -> Iterator[None]:
    yield
    parallel.set_threads(None)


def covered(tokens: NDArray[np.uint8], worlds: Worlds, *, own: bool = False) -> NDArray[np.uint64]:
    """[programs, worlds] the branches that each program takes in each world."""
    found = run(KAREL.compile(tokens, branches=True), worlds, CONFIG.horizon, own_worlds=own).covered
    assert found is not None
    return found


def together(taken: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """[programs] what is taken in any of the worlds."""
    return np.asarray(np.bitwise_or.reduce(taken, axis=1))


def chosen_cover() -> NDArray[np.uint64]:
    data = small()
    return together(covered(data.tokens, data.worlds(slice(None)), own=True))


# Programs


def test_no_program_comes_twice() -> None:
    assert len(np.unique(small().tokens, axis=0)) == CONFIG.programs


def test_programs_are_unique_even_where_there_are_hardly_enough() -> None:
    data = make_dataset(DataConfig(programs=25, max_length=6, keep="every"))  # of the 30 there are
    assert len(np.unique(data.tokens, axis=0)) == 25


def test_more_programs_than_there_are_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(1000))
    draw = sample_programs

    def patient(*args: object, **options: object) -> object:
        if next(calls, None) is None:
            raise TimeoutError("a thousand batches of five programs, and no end")
        return draw(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(sample, "sample_programs", patient)
    with pytest.raises(ValueError, match="hardly more than 5 programs of at most 5 tokens; 20 can't all be"):
        make_dataset(DataConfig(programs=20, max_length=5, keep="every"))


def test_every_row_is_a_program_of_at_most_max_length_tokens() -> None:
    data = make_dataset(DataConfig(programs=50, max_length=12, keep="every", pool=16, more=0))
    assert data.tokens.shape == (50, 12)
    assert (KAREL.compile(data.tokens).entry >= 0).all()


def test_lengths_count_the_tokens_without_the_padding() -> None:
    data = small()
    assert data.lengths.tolist() == [len(LANGUAGE.decode(row)) for row in data.tokens]


# Complete programs


@cache
def complete() -> Dataset:
    return make_dataset(DataConfig(programs=200, seed=3, pool=100, keep="complete"))


def test_complete_programs_end_by_themselves_and_take_every_branch_in_their_worlds() -> None:
    data = complete()
    assert data.count == 200
    assert (data.outcome == Outcome.HALTED).all()
    taken = together(covered(data.tokens, data.worlds(slice(None)), own=True))
    branches = [
        2 * sum(isinstance(statement, If | IfElse | While) for statement in walk(build(LANGUAGE.decode(row))))
        for row in data.tokens
    ]
    assert [int(bits).bit_count() for bits in taken] == branches
    assert not data.uncovered.any()


def test_complete_programs_are_those_drawn_without_the_incomplete_ones() -> None:
    drawn = [row.tobytes() for row in dataset.unique_programs(DataConfig(programs=400, seed=3, keep="every"))]
    kept = [row.tobytes() for row in complete().tokens]
    places = [drawn.index(row) for row in kept]
    assert places == sorted(places)
    # REPEAT R=0 or an action alone always end: the first programs that do are kept.
    assert 200 < places[-1] < 320


def test_complete_programs_are_shorter_on_average() -> None:
    every = make_dataset(DataConfig(programs=2000, keep="every", pool=100, more=0))
    whole = make_dataset(DataConfig(programs=2000, pool=100, keep="complete"))
    assert whole.lengths.mean() < every.lengths.mean() - 0.5
    assert whole.steps.mean() < every.steps.mean() / 2


def test_the_programs_of_complete_data_are_drawn_again() -> None:
    data = complete()
    assert np.array_equal(dataset.unique_programs(data.config), data.tokens)


# Clean programs


@cache
def clean() -> Dataset:
    return make_dataset(DataConfig(programs=200, seed=3))


def test_no_action_of_clean_programs_fails() -> None:
    data = clean()
    numbers = np.arange(data.count)
    traces = data.traces(numbers)
    assert traces.actions is not None
    worlds = data.worlds(numbers)
    changes = []
    for number, actions in enumerate(traces.actions.reshape(worlds.count, -1)):
        world = World(*(array[number] for array in worlds))
        changes += [apply(world, int(action)) for action in actions[actions != NO_ACTION]]
    assert len(changes) == data.steps.sum() > 1000
    assert FAILED not in changes


def test_clean_programs_are_complete() -> None:
    data = clean()
    assert (data.outcome == Outcome.HALTED).all()
    assert not data.uncovered.any()


def test_half_of_complete_programs_fail_too_often_to_be_clean() -> None:
    drawn = make_dataset(DataConfig(programs=1000, seed=3, keep="complete")).tokens
    kept = {row.tobytes() for row in make_dataset(DataConfig(programs=1000, seed=3)).tokens}
    assert 0.4 < np.mean([row.tobytes() in kept for row in drawn]) < 0.7


# Splits


@pytest.mark.parametrize(("name", "size"), [("train", 140), ("validation", 30), ("test", 30)])
def test_a_split_has_its_share_of_the_programs(name: str, size: int) -> None:
    assert len(small().split(name)) == size


def test_the_papers_50000_programs_are_split_as_in_the_paper() -> None:
    assert DataConfig().bounds == (35_000, 42_500)


@pytest.mark.parametrize("programs", [20, 33, 200])
def test_every_program_is_in_one_split(programs: int) -> None:
    data = make_dataset(DataConfig(programs=programs, keep="every", pool=16, more=0))
    splits = [data.split(name) for name in ("train", "validation", "test")]
    assert np.sort(np.concatenate(splits)).tolist() == list(range(programs))


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of train, validation, test, found 'valid'"):
        small().split("valid")


# Rollouts


def test_the_executor_does_again_what_was_stored() -> None:
    data = small()
    every = np.arange(data.count)
    stored = data.traces(every)
    again = run(KAREL.compile(data.tokens), data.worlds(every), 100, own_worlds=True, want_actions=True)
    assert np.array_equal(again.steps, stored.steps)
    assert np.array_equal(again.outcome, stored.outcome)
    assert again.actions is not None
    assert stored.actions is not None
    assert np.array_equal(again.actions, stored.actions)


def test_the_interpreter_does_what_was_stored() -> None:
    data = small()
    some = np.arange(0, data.count, 10)
    traces, worlds = data.traces(some), data.worlds(some)
    assert traces.actions is not None
    for row, number in enumerate(some):
        program = build(LANGUAGE.decode(data.tokens[number]))
        for rollout in range(CONFIG.rollouts):
            course = play(program, worlds.world(row * CONFIG.rollouts + rollout), CONFIG.horizon)
            actions = [step.action for step in course]
            assert traces.actions[row, rollout, : traces.steps[row, rollout]].tolist() == actions
            assert traces.outcome[row, rollout] == course.outcome


def test_a_shorter_horizon_cuts_rollouts_off() -> None:
    data = make_dataset(DataConfig(programs=50, horizon=7, keep="every", pool=16, more=0))
    assert data.steps.max() == 7
    assert (data.steps[data.outcome == Outcome.CUT_OFF] == 7).all()


def test_programs_may_be_asked_for_in_any_order() -> None:
    data = small()
    some = np.array([150, 3, 3, 77])
    every, asked = data.traces(np.arange(data.count)), data.traces(some)
    assert every.actions is not None
    assert asked.actions is not None
    assert np.array_equal(asked.actions, every.actions[some])
    assert np.array_equal(asked.outcome, every.outcome[some])
    worlds = data.worlds(slice(None))
    first = data.worlds(some).world(CONFIG.rollouts)  # the first of program 3
    assert str(first) == str(worlds.world(3 * CONFIG.rollouts))


def test_the_worlds_are_walled_rooms_with_karel_on_the_floor() -> None:
    worlds = small().worlds(slice(None))
    assert worlds.count == 2000
    assert (worlds.ground[:, [0, -1]] == WALL).all()
    assert (worlds.ground[:, :, [0, -1]] == WALL).all()
    rows = np.arange(worlds.count)
    assert (worlds.ground[rows, worlds.pose[:, 0], worlds.pose[:, 1]] != WALL).all()
    assert (worlds.markers[worlds.ground == WALL] == 0).all()


# Branches


def test_the_worlds_chosen_take_every_branch_that_the_pool_takes() -> None:
    data, chosen = small(), chosen_cover()
    for first in range(0, data.count, CHUNK):
        pool = random_worlds(CONFIG.pool, CONFIG.seed, first=first * CONFIG.pool)
        missed = together(covered(data.tokens[first : first + CHUNK], pool)) & ~chosen[first : first + CHUNK]
        assert not missed.any()


def test_a_branch_that_is_not_rare_is_taken_in_the_worlds_chosen() -> None:
    config = DataConfig(programs=200, seed=5, keep="every", pool=256, more=1024)  # for those that need them
    data = make_dataset(config)
    chosen = together(covered(data.tokens, data.worlds(slice(None)), own=True))
    fresh = covered(data.tokens, random_worlds(2000, seed=99))
    for bit in range(20):
        side = np.uint64(1) << np.uint64(bit)
        often = ((fresh & side) > 0).mean(axis=1) >= 0.01
        assert ((chosen & side) > 0)[often].all()


def test_more_worlds_are_looked_at_for_a_branch_that_is_not_taken() -> None:
    few = make_dataset(DataConfig(programs=200, seed=3, keep="every", pool=10, more=0))
    more = make_dataset(DataConfig(programs=200, seed=3, keep="every", pool=10, more=500))
    assert more.uncovered.sum() < few.uncovered.sum()


def test_uncovered_counts_the_sides_of_conditions_that_were_never_taken() -> None:
    data = small()
    sides = [
        2 * sum(isinstance(statement, If | IfElse | While) for statement in walk(build(LANGUAGE.decode(row))))
        for row in data.tokens
    ]
    taken = [int(bits).bit_count() for bits in chosen_cover()]
    assert data.uncovered.tolist() == [a - b for a, b in zip(sides, taken, strict=True)]
    assert data.uncovered.any()


def choose(masks: list[int], count: int) -> tuple[list[int], int]:
    """The numbers of the worlds chosen by what each covers, and what they cover together."""
    chosen = np.full(count, -1, np.int64)
    cover = int(choose_worlds(np.array(masks, np.uint64), chosen))
    return chosen.tolist(), cover


@pytest.mark.parametrize(
    ("masks", "count", "chosen", "cover"),
    [
        ([0b0001, 0b0011, 0b1100, 0b0100], 2, [1, 2], 0b1111),  # those that add most
        ([0b01, 0b10, 0b01, 0b10], 2, [0, 1], 0b11),  # the earlier ones, if they add alike
        ([0b01, 0b01, 0b01, 0b01, 0b10], 3, [0, 1, 4], 0b11),  # the first ones fill up
        ([0b01, 0b01, 0b11], 2, [0, 2], 0b11),  # ascending
        ([0, 0, 0, 0], 3, [0, 1, 2], 0),
        ([0b0001, 0b0110, 0b1000], 1, [1], 0b0110),  # as many as wanted, no more
        ([0, 1 << 63, 1], 2, [1, 2], 1 << 63 | 1),
        ([0b11, 0b01], 2, [0, 1], 0b11),
    ],
)
def test_worlds_are_chosen_that_add_branches(
    masks: list[int], count: int, chosen: list[int], cover: int
) -> None:
    assert choose(masks, count) == (chosen, cover)


@given(st.lists(st.integers(0, 63), min_size=6, max_size=30))
def test_as_many_worlds_as_branches_cover_all_that_can_be_covered(masks: list[int]) -> None:
    chosen, cover = choose(masks, 6)
    assert cover == np.bitwise_or.reduce(masks)
    assert cover == np.bitwise_or.reduce([masks[world] for world in chosen])
    assert sorted(set(chosen)) == chosen


# The same again


@pytest.mark.usefixtures("_threads_restored")
def test_the_same_configuration_gives_the_same_data_on_any_number_of_threads() -> None:
    made = []
    for threads in (1, 5):
        parallel.set_threads(threads)
        made.append(make_dataset(CONFIG))
    for name in Dataset.ARRAYS:
        assert np.array_equal(getattr(made[0], name), getattr(made[1], name)), name


def test_the_same_data_is_the_same_file(tmp_path: Path) -> None:
    contents = set()
    for number in range(40):
        small().save(tmp_path / str(number))
        contents.add((tmp_path / str(number) / DATA_FILE).read_bytes())
    assert len(contents) == 1


def test_another_seed_gives_other_programs_and_worlds() -> None:
    other = make_dataset(DataConfig(programs=200, seed=4, keep="every", pool=64, more=128))
    assert not np.array_equal(other.tokens, small().tokens)
    assert not np.array_equal(other.walls, small().walls)


def test_progress_is_told_up_to_the_last_program() -> None:
    counts: list[int] = []
    make_dataset(CONFIG, counts.append)
    assert counts == [64, 128, 192, 200]


# Files


def test_a_data_set_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    small().save(tmp_path / "new" / "folder")
    loaded = Dataset.load(tmp_path / "new" / "folder")
    assert loaded.config == CONFIG
    for name in Dataset.ARRAYS:
        before, after = getattr(small(), name), getattr(loaded, name)
        assert before.dtype == after.dtype
        assert np.array_equal(before, after), name


def test_the_manifest_says_what_there_is(tmp_path: Path) -> None:
    data = small()
    data.save(tmp_path)
    manifest = json.loads((tmp_path / MANIFEST_FILE).read_text())
    assert manifest["config"] == asdict(CONFIG)
    assert manifest["programs"] == 200
    assert manifest["rollouts"] == 2000
    assert manifest["mean_length"] == pytest.approx(data.lengths.sum() / 200)
    assert manifest["mean_steps"] == pytest.approx(len(data.actions) / 2000)
    assert manifest["programs_with_an_untaken_branch"] == np.count_nonzero(data.uncovered)


def test_a_folder_without_a_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"{tmp_path} holds no data set: {DATA_FILE} is missing"):
        Dataset.load(tmp_path)


def saved(folder: Path) -> Path:
    small().save(folder)
    return folder / DATA_FILE


@pytest.mark.parametrize("kept", [0, 4, 8, 100, 10_000, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: int) -> None:
    file = saved(tmp_path)
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ValueError, match=f"{file} is damaged, or not a file of LEAPS"):
        Dataset.load(tmp_path)


@pytest.mark.parametrize("seed", range(5))
def test_a_file_of_noise_is_refused(tmp_path: Path, seed: int) -> None:
    (tmp_path / DATA_FILE).write_bytes(np.random.default_rng(seed).bytes(5000))
    with pytest.raises(ValueError, match=f"{DATA_FILE} is damaged, or not a file of LEAPS"):
        Dataset.load(tmp_path)


def test_a_header_that_is_not_an_object_is_refused(tmp_path: Path) -> None:
    (tmp_path / DATA_FILE).write_bytes(struct.pack("<Q", 2) + b"[]")
    with pytest.raises(ValueError, match=f"{DATA_FILE} is damaged, or not a file of LEAPS"):
        Dataset.load(tmp_path)


def rewrite(file: Path, **changes: object) -> None:
    """Change what a file says about itself."""
    about = {"vocabulary": LANGUAGE.tokens, "config": asdict(CONFIG)}
    file.write_bytes(save(load(file.read_bytes()), metadata(about | changes)))


def test_a_rewritten_file_is_still_a_data_set(tmp_path: Path) -> None:
    rewrite(saved(tmp_path))
    assert Dataset.load(tmp_path).config == CONFIG


@pytest.mark.parametrize("tokens", [LANGUAGE.tokens[::-1], LANGUAGE.tokens[:-1], ()])
def test_a_file_of_another_vocabulary_is_refused(tmp_path: Path, tokens: tuple[str, ...]) -> None:
    rewrite(saved(tmp_path), vocabulary=tokens)
    with pytest.raises(ValueError, match=f"{DATA_FILE} was made with another vocabulary"):
        Dataset.load(tmp_path)


@pytest.mark.parametrize("config", ["", [], None, {"colour": "red"}, {"programs": 3}, {"programs": "many"}])
def test_a_file_with_another_kind_of_configuration_is_refused(tmp_path: Path, config: object) -> None:
    rewrite(saved(tmp_path), config=config)
    with pytest.raises(ValueError, match=f"{DATA_FILE} is damaged or no data set"):
        Dataset.load(tmp_path)


def test_a_file_without_some_array_is_refused_by_its_name(tmp_path: Path) -> None:
    file = saved(tmp_path)
    arrays = load(file.read_bytes())
    del arrays["pose"], arrays["steps"]
    file.write_bytes(save(arrays, metadata({"vocabulary": LANGUAGE.tokens, "config": {}})))
    with pytest.raises(ValueError, match="lacks pose, steps"):
        Dataset.load(tmp_path)


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"programs": 19}, "programs must be at least 20, found 19"),
        ({"rollouts": 0}, "rollouts must be from 1 to the pool's 100, found 0"),
        ({"rollouts": 33, "pool": 32}, "rollouts must be from 1 to the pool's 32, found 33"),
        ({"keep": "some"}, "keep must be one of clean, complete, every, found 'some'"),
        ({"more": -1}, "more must be 0 or more, found -1"),
        ({"horizon": 0}, "horizon must be from 1 to 255, found 0"),
        ({"horizon": 256}, "horizon must be from 1 to 255, found 256"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DataConfig(**options)
