"""The data set of a task: its rollouts, and files that are not data sets."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaps.domain import NO_ACTION, Outcome, Task
from leaps.dsl.language import Language
from leaps.dsl.syntax import Condition
from leaps.embedding.dataset import DATA_FILE, TaskData, TaskDataConfig, make_task_data
from leaps.embedding.losses import likeness_to
from leaps.karel.dataset import Dataset
from leaps.tasks import get
from tests.gym.corridor import corridor
from tests.hoover import HOOVER, CleanCorridor

TASKS: dict[str, Task] = {"hoover": CleanCorridor(), "gym": corridor(), "karel": get("maze")}
CONFIG = TaskDataConfig(
    "clean-corridor", programs=60, seed=2, rollouts=3, states=13, horizon=15, max_length=20
)


@cache
def data_of(name: str) -> TaskData:
    return make_task_data(replace(CONFIG, task=TASKS[name].name), TASKS[name])


def same(one: TaskData, other: TaskData) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in TaskData.ARRAYS)


@pytest.mark.parametrize("name", TASKS)
def test_all_programs_differ_fit_and_act(name: str) -> None:
    data = data_of(name)
    assert data.tokens.shape == (60, 20)
    assert len(np.unique(data.tokens, axis=0)) == 60
    assert (data.task.compile(data.tokens).entry >= 0).all()
    assert (data.steps.max(axis=1) > 0).all()
    assert data.steps.max() <= 15


@pytest.mark.parametrize("name", TASKS)
def test_programs_have_the_initial_states_of_their_group(name: str) -> None:
    data = data_of(name)
    assert [group.count for group in data.groups] == [3] * 4
    assert set(data.group.tolist()) == {0, 1, 2, 3}
    for number in (0, 7, 23):
        states = data.groups[data.group[number]]
        found = data.task.run(data.task.compile(data.tokens[[number]]), states, horizon=15, want_actions=True)
        assert found.actions is not None
        assert np.array_equal(found.actions[0], data.actions[number])
        assert np.array_equal(found.outcome[0], data.outcome[number])


@pytest.mark.parametrize("name", TASKS)
def test_the_interpreter_sees_what_was_observed_on_the_way(name: str) -> None:
    data = data_of(name)
    numbers = np.arange(12)
    observed = iter(data.observe(numbers))
    senses = data.language.senses
    for number in numbers:
        program = data.task.domain.parse(data.language.text(data.tokens[number]))
        for rollout in range(data.rollouts):
            states = data.groups[data.group[number]].take(np.array([rollout]))
            course = data.task.course(program, states, horizon=15)
            actions = data.actions[number, rollout]
            seen = [look(course.stage, senses)]
            for step in course:
                assert step.action == actions[len(seen) - 1]
                seen.append(look(course.stage, senses))
            assert len(seen) == data.steps[number, rollout] + 1
            assert [next(observed).tolist() for _ in seen] == seen
    assert next(observed, None) is None


def look(stage: Any, senses: tuple[str, ...]) -> list[int]:
    bits = [stage.holds(Condition(name)) for name in senses]
    return [int(byte) for byte in np.packbits(bits)]


@pytest.mark.parametrize("name", TASKS)
def test_r_mat_distinguishes_equal_from_different_behaviour(name: str) -> None:
    data = data_of(name)
    every = np.arange(data.count)
    assert (likeness_to(data, every)(data.tokens) == 1).all()
    assert 0 < likeness_to(data, every)(data.tokens[::-1].copy()).mean() < 0.9


def test_a_program_with_too_many_perceptions_matches_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_of("hoover")
    compile_all = data.task.compile

    def too_much(tokens: Any) -> Any:
        compiled = compile_all(tokens)
        if len(tokens) == 4:  # of the whole batch
            compiled.entry[1] = -2
        return compiled

    monkeypatch.setattr(CleanCorridor, "compile", staticmethod(too_much))
    assert likeness_to(data, np.arange(4))(data.tokens[:4]).tolist() == [1, 0, 1, 1]


def test_the_same_configuration_gives_the_same_data_and_another_seed_does_not() -> None:
    data = data_of("hoover")
    assert same(data, make_task_data(CONFIG, TASKS["hoover"]))
    other = make_task_data(replace(CONFIG, seed=3), TASKS["hoover"])
    assert not np.array_equal(data.tokens, other.tokens)
    assert not np.array_equal(data.groups[0].cell, other.groups[0].cell)


def test_progress_reaches_the_number_of_programs() -> None:
    counts: list[int] = []
    make_task_data(CONFIG, TASKS["hoover"], counts.append)
    assert counts == sorted(counts)
    assert counts[-1] == 60


def test_rollouts_that_end_have_that_outcome() -> None:
    data = data_of("hoover")
    assert (data.outcome == Outcome.HALTED).mean() > 0.5
    ended = np.arange(15) >= data.steps[..., None]
    assert (data.actions[ended] == NO_ACTION).all()
    assert (data.actions[~ended] != NO_ACTION).all()


# Files


def test_a_data_set_survives_a_round_trip(tmp_path: Path) -> None:
    data_of("gym").save(tmp_path)
    again = TaskData.load(tmp_path, corridor())
    assert again.config == data_of("gym").config
    assert same(again, data_of("gym"))
    assert np.array_equal(again.observe(np.arange(5)), data_of("gym").observe(np.arange(5)))


def test_a_task_is_looked_up_by_its_name(tmp_path: Path) -> None:
    data_of("karel").save(tmp_path)
    assert TaskData.load(tmp_path).task is get("maze")


def test_a_task_whose_words_changed_raises(tmp_path: Path) -> None:
    data_of("gym").save(tmp_path)
    with pytest.raises(ValueError, match=r"was made with another vocabulary: .*; they differ in left, west"):
        TaskData.load(tmp_path, corridor(actions={"west": 0, "right": 1}))


def test_a_damaged_file_raises(tmp_path: Path) -> None:
    data_of("hoover").save(tmp_path)
    whole = (tmp_path / DATA_FILE).read_bytes()
    (tmp_path / DATA_FILE).write_bytes(whole[:-10])
    with pytest.raises(ValueError, match="is damaged"):
        TaskData.load(tmp_path, TASKS["hoover"])


def test_karels_data_set_is_not_accepted_as_a_tasks(tmp_path: Path) -> None:
    data_of("karel").save(tmp_path)
    with pytest.raises(ValueError, match="holds a data set of the task maze; expected one of Karel's random"):
        Dataset.load(tmp_path)


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"programs": 19}, "programs must be at least 20, found 19"),
        ({"rollouts": 0}, "rollouts must be from 1 to the 13 states, found 0"),
        ({"rollouts": 14}, "rollouts must be from 1 to the 13 states, found 14"),
        ({"horizon": 0}, "horizon must be at least 1, found 0"),
    ],
)
def test_an_invalid_configuration_raises(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **options)


def test_a_domain_whose_programs_do_not_act_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CleanCorridor, "horizon", lambda *_: 0)
    with pytest.raises(ValueError, match="clean-corridor: expected random programs that act, found none"):
        make_task_data(CONFIG, CleanCorridor())


def test_observations_are_the_senses() -> None:
    assert data_of("hoover").observation == (2,)
    assert data_of("gym").observation == (2,)  # the light and the end; that it is dark is an opposite
    assert isinstance(HOOVER.language, Language)
