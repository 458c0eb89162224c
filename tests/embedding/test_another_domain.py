"""A program space of a domain other than Karel: training and searches."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from leaps.base.tensors import read_about
from leaps.domain import Task
from leaps.embedding.dataset import TaskData, TaskDataConfig, make_task_data
from leaps.embedding.judge import same_programs
from leaps.embedding.model import ModelConfig
from leaps.embedding.space import Space
from leaps.embedding.train import CHECKPOINT_FILE, WEIGHTS_FILE, TrainConfig, train
from leaps.karel.world import LANGUAGE
from leaps.search.solve import solve
from tests.embedding.helpers import CPU
from tests.hoover import HOOVER, CleanCorridor

TASK: Task = CleanCorridor()
DATA = TaskDataConfig("clean-corridor", programs=2000, rollouts=2, states=20, horizon=12, max_length=12)
LEARNS = TrainConfig(
    "pl",
    epochs=20,
    batch=32,
    rollouts=2,
    learning_rate=0.006,
    beta=0.003,
    validation_programs=50,
    model=ModelConfig(48, 48, 20),
)
TINY = replace(
    LEARNS, variant="leaps", epochs=2, programs=60, samples=2, rl_from=0.0, model=ModelConfig(8, 8, 20)
)


@pytest.fixture(scope="module")
def data() -> TaskData:
    return make_task_data(DATA, TASK)


@pytest.fixture(scope="module")
def trained(data: TaskData, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """The folder of a training of some seconds, and its metrics."""
    folder = tmp_path_factory.mktemp("hoover")
    return folder, train(LEARNS, data, folder, CPU)


def test_most_held_out_programs_are_decoded_exactly(
    data: TaskData, trained: tuple[Path, dict[str, float]]
) -> None:
    space, programs = Space.load(trained[0]), data.tokens[data.split("test")]
    same = same_programs(space.decode(space.encode(programs)), programs, HOOVER.language.pad)
    assert same.mean() > 0.7
    assert same.mean() == pytest.approx(trained[1]["test_exact"], abs=0.02)


def test_the_policy_predicts_most_actions_of_held_out_programs(
    trained: tuple[Path, dict[str, float]],
) -> None:
    # Always to say the most common action would be right in less than half of the steps.
    assert trained[1]["test_action_accuracy"] > 0.9


def test_programs_of_the_domain_survive_a_round_trip_through_points(
    trained: tuple[Path, dict[str, float]],
) -> None:
    space = Space.load(trained[0], language=HOOVER.language)
    texts = ["DEF run m( suck m)", "DEF run m( WHILE c( dirt c) w( suck w) m)"]
    assert [space.text(tokens) for tokens in space.decode(space.encode(texts))] == texts


@pytest.mark.parametrize("method", ["leaps+", "ladder"])
def test_a_search_in_the_space_solves_the_task(trained: tuple[Path, dict[str, float]], method: str) -> None:
    found = solve(TASK, method, seed=1, budget=5000, worlds=16, max_length=30, space=str(trained[0]))
    assert found.solved
    assert found.unseen_return == 10.0


@pytest.mark.parametrize("method", ["leaps", "cebs", "random-8"])
def test_searches_among_points_run_in_the_space(trained: tuple[Path, dict[str, float]], method: str) -> None:
    found = solve(TASK, method, budget=200, worlds=4, space=str(trained[0]))
    assert found.unseen_return > 0.0
    HOOVER.parse(found.program)


def test_the_same_seed_trains_the_same_weights(data: TaskData, tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        best = train(replace(TINY, seed=seed), data, tmp_path / name, CPU)
        assert 0 <= best["reward"] <= 1
    one, same, other = (load_file(tmp_path / name / WEIGHTS_FILE) for name in ("one", "same", "other"))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_a_training_of_other_data_is_not_resumed(data: TaskData, tmp_path: Path) -> None:
    train(replace(TINY, variant="p"), data, tmp_path, CPU)
    assert (tmp_path / CHECKPOINT_FILE).exists()
    other = replace(data, config=replace(DATA, task="elsewhere"))
    with pytest.raises(ValueError, match=r"holds a training with data=.*'clean-corridor'"):
        train(replace(TINY, variant="p"), other, tmp_path, CPU)


def test_the_weights_name_the_language_and_the_data(trained: tuple[Path, dict[str, float]]) -> None:
    about = read_about(trained[0] / WEIGHTS_FILE)
    assert about["vocabulary"] == list(HOOVER.language.tokens)
    assert (about["opposites"], about["observation"]) == ([], [2])
    assert about["data"]["task"] == "clean-corridor"


def test_a_space_of_another_language_raises_with_the_words_that_differ(
    trained: tuple[Path, dict[str, float]],
) -> None:
    message = "weights.safetensors is a program space of another language: it has forward, turn, suck"
    with pytest.raises(ValueError, match=message):
        Space.load(trained[0], language=LANGUAGE)
    with pytest.raises(ValueError, match=message):
        solve("maze", "leaps", space=str(trained[0]))


def test_points_far_out_decode_to_programs_of_the_domain(trained: tuple[Path, dict[str, float]]) -> None:
    space = Space.load(trained[0])
    points = 3 * np.random.default_rng(0).standard_normal((200, space.dimensions))
    assert (HOOVER.compile(space.decode(points, 30)).entry >= 0).all()
