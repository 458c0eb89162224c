"""The Naïve baseline: valid programs, PPO's loss computed by hand, and exact resumption."""

import io
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from leaps.baselines.naive import (
    PAPER_NAIVE,
    PAPER_NAIVE_TESTS,
    Naive,
    NaiveConfig,
    Score,
    Writer,
    Written,
    behaviour_score,
    task_score,
)
from leaps.embedding.model import previous_tokens
from leaps.evaluate import evaluate
from leaps.experiments.explore import r_mat
from leaps.karel.tasks import PAPER_TASKS
from leaps.karel.world import KAREL, LANGUAGE, World, random_worlds
from leaps.search.reconstruct import TEST_PROGRAMS
from leaps.tasks import get

SMALL = NaiveConfig(batch=16, initial_entropy=0.1, hidden=16, max_length=20, epochs=2, minibatches=2)
Programs = NDArray[np.uint8]


def moves(tokens: Programs) -> tuple[NDArray[np.float64], int]:
    """Score programs without worlds, by their fraction of `move` tokens; each counts as 100 steps."""
    return (tokens == LANGUAGE.ids["move"]).mean(axis=1), 100


def course(naive: Naive, iterations: int = 4) -> list[float]:
    """Return the mean returns of the next iterations, which soon reveal any difference in the weights."""
    return [naive.step().mean_return for _ in range(iterations)]


def weights(naive: Naive) -> torch.Tensor:
    return torch.cat([weight.detach().flatten() for weight in naive.writer.parameters()])


def drawn(count: int, max_length: int = 45, seed: int = 0) -> tuple[Writer, Written]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        writer = Writer(hidden=16)
    return writer, writer.write(count, max_length, torch.Generator().manual_seed(seed))


# Writing


@pytest.mark.parametrize("max_length", [5, 6, 13, 45])
def test_every_program_is_valid_and_fits(max_length: int) -> None:
    _, written = drawn(300, max_length)
    programs = written.programs
    assert programs.shape[1] <= max_length
    for program in programs:
        length = int((program != LANGUAGE.pad).sum())
        assert (program[length:] == LANGUAGE.pad).all()
        KAREL.compile(LANGUAGE.text(program))  # raises ProgramError for an invalid program


def test_programs_of_many_lengths_are_written() -> None:
    lengths = {int(length) for length in drawn(300)[1].mask.sum(dim=1)}
    assert min(lengths) < 8
    assert max(lengths) == 42  # with the prefix, 45


def test_training_uses_the_log_probabilities_of_writing() -> None:
    writer, written = drawn(100)
    log_chances, values, _ = writer(previous_tokens(written.tokens), written.allowed)
    again = log_chances.gather(2, written.tokens[:, :, None])[:, :, 0]
    assert torch.allclose(again, written.log_probabilities, atol=1e-5)
    assert torch.allclose(values, written.values, atol=1e-5)
    assert (written.log_probabilities[written.mask] < -0.1).any()
    assert (written.log_probabilities[~written.mask] == 0).all()


def test_forbidden_tokens_have_probability_zero() -> None:
    writer, written = drawn(50)
    log_chances, _, _ = writer(previous_tokens(written.tokens), written.allowed)
    assert (log_chances.exp()[~written.allowed] == 0).all()
    assert log_chances.exp().sum(dim=2).allclose(torch.ones(()))


def test_tokens_are_drawn_by_their_probabilities() -> None:
    writer, written = drawn(4000, max_length=8)
    first = written.tokens[:, 0]
    log_chances, _, _ = writer(previous_tokens(written.tokens[:1, :1]), written.allowed[:1, :1])
    found = torch.bincount(first, minlength=len(LANGUAGE.tokens)) / len(first)
    assert torch.allclose(found, log_chances[0, 0].exp(), atol=0.03)


# PPO's loss, by hand


def training_of(writer: Writer, **options: Any) -> Naive:
    naive = Naive(replace(SMALL, **options), moves, seed=0)
    naive.writer = writer
    return naive


def test_before_any_update_the_loss_is_minus_the_mean_advantage() -> None:
    writer, written = drawn(20)
    advantages = torch.randn(written.tokens.shape, generator=torch.Generator().manual_seed(1))
    loss = training_of(writer, value_weight=0.0)._loss(written, advantages, torch.zeros(20), 0.0)
    assert loss.item() == pytest.approx(-advantages[written.mask].mean().item(), abs=1e-5)


@pytest.mark.parametrize(
    ("old", "advantage", "gain"),
    [(-1.0, 2.0, 1.2 * 2), (-1.0, -2.0, math.e * -2), (1.0, 2.0, 2 / math.e), (1.0, -2.0, 0.8 * -2)],
)
def test_ratio_beyond_the_clip_range_gains_nothing_more(old: float, advantage: float, gain: float) -> None:
    writer, written = drawn(20)
    before = written._replace(log_probabilities=written.log_probabilities + old)
    naive = training_of(writer, value_weight=0.0)
    loss = naive._loss(before, torch.full(written.tokens.shape, advantage), torch.zeros(20), 0.0)
    assert loss.item() == pytest.approx(-gain, abs=1e-4)


def test_entropy_is_over_the_allowed_tokens() -> None:
    writer, written = drawn(20)
    for parameter in writer.policy[-1].parameters():
        torch.nn.init.zeros_(parameter)  # all allowed tokens are equally likely
    nothing = torch.zeros(written.tokens.shape)
    loss = training_of(writer, value_weight=0.0)._loss(written, nothing, torch.zeros(20), 3.0)
    entropy = written.allowed.sum(dim=2)[written.mask].float().log().mean()
    assert loss.item() == pytest.approx(-3.0 * entropy.item(), abs=1e-5)


def test_value_loss_uses_the_return_at_every_token() -> None:
    writer, written = drawn(20)
    returns = torch.arange(20.0)
    nothing = torch.zeros(written.tokens.shape)
    loss = training_of(writer, value_weight=0.25)._loss(written, nothing, returns, 0.0)
    errors = ((written.values - returns[:, None]) ** 2)[written.mask]
    assert loss.item() == pytest.approx(0.25 * errors.mean().item(), rel=1e-5)


def test_padding_does_not_affect_the_loss() -> None:
    writer, written = drawn(20)
    assert not written.mask.all()
    naive = training_of(writer)
    advantages = torch.randn(written.tokens.shape, generator=torch.Generator().manual_seed(1))
    other = torch.where(written.mask, advantages, 1000.0)
    losses = [naive._loss(written, each, torch.ones(20), 0.1).item() for each in (advantages, other)]
    assert losses[0] == losses[1]


def test_values_of_padding_do_not_affect_the_update() -> None:
    written = drawn(16)[1]
    learned = []
    returns = torch.arange(16.0) / 16
    for padding in (0.0, 1000.0):
        naive = Naive(SMALL, moves, seed=0)
        values = torch.where(written.mask, written.values, padding)
        generator = torch.Generator().manual_seed(2)
        naive._learn(written._replace(values=values), returns, 0.1, generator)
        learned.append(weights(naive))
    assert torch.equal(*learned)


# Learning


def test_training_learns_the_behaviour_of_a_short_program() -> None:
    score = behaviour_score("DEF run m( move m)", random_worlds(10, seed=0))
    naive = Naive(NaiveConfig(64, 0.1, hidden=32, max_length=20, steps=150_000), score, seed=0)
    first = naive.step()
    last = first
    while not naive.finished:
        last = naive.step()
    assert first.mean_return < 0.3
    assert last.mean_return > 0.9
    program, answer = naive.answer()
    assert answer > 0.9
    assert score(program[None])[0].tolist() == [answer]


def test_large_entropy_weight_prevents_convergence() -> None:
    def mean_return(entropy: float) -> float:
        config = replace(SMALL, initial_entropy=entropy, final_entropy=entropy, learning_rate=0.005)
        return course(Naive(config, moves, seed=0), 40)[-1]

    assert mean_return(0.01) > 0.5
    assert mean_return(10.0) < 0.2


# The entropy's weight, and the end


@pytest.mark.parametrize(
    ("steps", "weight"), [(0, 1.0), (250, 10**-0.5), (500, 0.1), (1000, 0.01), (1300, 0.01)]
)
def test_entropy_weight_falls_exponentially_over_the_steps(steps: int, weight: float) -> None:
    naive = Naive(replace(SMALL, initial_entropy=1.0, final_entropy=0.01, steps=1000), moves, seed=0)
    naive.environment_steps = steps
    assert naive.entropy_weight == pytest.approx(weight)


def test_training_finishes_at_its_step_budget() -> None:
    naive = Naive(replace(SMALL, steps=250), moves, seed=0)
    reports = []
    while not naive.finished:
        reports.append(naive.step())
    assert [report.environment_steps for report in reports] == [100, 200, 300]
    assert [report.iteration for report in reports] == [1, 2, 3]
    assert [report.entropy_weight for report in reports] == pytest.approx(
        [0.1, 0.1 * 0.1**0.4, 0.1 * 0.1**0.8]
    )


def test_best_program_so_far_is_kept() -> None:
    naive = Naive(SMALL, moves, seed=0)
    reports = [naive.step() for _ in range(15)]
    best = [report.best_return for report in reports]
    assert best == sorted(best)
    assert best[-1] > best[0]
    for report in reports:
        assert moves(report.best_program[None])[0][0] == report.best_return


def test_answer_is_the_best_of_the_written_programs() -> None:
    asked: list[Programs] = []

    def score(tokens: Programs) -> tuple[NDArray[np.float64], int]:
        asked.append(tokens)
        return moves(tokens)

    program, best = Naive(SMALL, score, seed=0).answer()
    assert len(asked) == 1
    assert len(asked[0]) == 64
    scores, _ = moves(asked[0])
    assert best == scores.max()
    assert np.array_equal(program, asked[0][scores.argmax()])


# Determinism and resumption


def test_same_seed_gives_the_same_training() -> None:
    one, other = Naive(SMALL, moves, seed=3), Naive(SMALL, moves, seed=3)
    assert course(one) == course(other)
    assert torch.equal(weights(one), weights(other))
    assert np.array_equal(one.answer()[0], other.answer()[0])


def test_other_seed_gives_another_training() -> None:
    assert course(Naive(SMALL, moves, seed=3)) != course(Naive(SMALL, moves, seed=4))


def test_answer_does_not_change_the_training() -> None:
    straight, asked = Naive(SMALL, moves, seed=3), Naive(SMALL, moves, seed=3)
    expected = course(straight)
    found = []
    for _ in range(4):
        asked.answer()
        found += course(asked, 1)
    assert found == expected
    assert asked.environment_steps == straight.environment_steps


def test_training_does_not_touch_global_random_states() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.rand(7)  # a global random state that no seed alone gives
        before = torch.random.get_rng_state()
        course(Naive(SMALL, moves, seed=3), 1)
        assert torch.equal(torch.random.get_rng_state(), before)


def test_resumed_training_gives_the_same_results() -> None:
    naive = Naive(SMALL, moves, seed=3)
    course(naive)
    file = io.BytesIO()
    torch.save(naive.state(), file)
    file.seek(0)
    again = Naive(SMALL, moves, seed=99)
    again.restore(torch.load(file, weights_only=True))
    assert again.iteration == 4
    assert again.environment_steps == naive.environment_steps
    assert again.best_return == naive.best_return
    assert np.array_equal(again.best_program, naive.best_program)
    assert course(again) == course(naive)
    assert torch.equal(weights(again), weights(naive))
    assert np.array_equal(again.answer()[0], naive.answer()[0])


def test_state_is_a_copy() -> None:
    naive = Naive(SMALL, moves, seed=3)
    course(naive)
    state = naive.state()
    expected = course(naive)
    for _ in range(2):  # neither further training nor restoring changes it
        again = Naive(SMALL, moves, seed=3)
        again.restore(state)
        assert course(again) == expected
        assert torch.equal(weights(again), weights(naive))


def test_state_of_another_configuration_raises() -> None:
    state = Naive(replace(SMALL, batch=32), moves, seed=0).state()
    with pytest.raises(ValueError, match="the state is of a training with batch=32, not 16"):
        Naive(SMALL, moves, seed=0).restore(state)


# Scores


PROGRAMS = (
    "DEF run m( WHILE c( frontIsClear c) w( move w) m)",
    "DEF run m( putMarker move turnLeft m)",
    "DEF run m( WHILE c( markersPresent c) w( pickMarker w) m)",
)


@pytest.mark.parametrize("name", ["top-off", "stair-climber"])
def test_task_score_is_the_mean_return_and_counts_every_action(name: str) -> None:
    tokens = LANGUAGE.batch([KAREL.read(program) for program in PROGRAMS])
    scores, steps = task_score(get(name), get(name).worlds(10, seed=4))(tokens)
    judged = evaluate(tokens, name, episodes=10, seed=4)
    assert scores.tolist() == judged.mean_return.tolist()
    assert (judged.rollouts.steps == 0).any()
    assert steps == judged.rollouts.steps.sum() + (judged.rollouts.steps == 0).sum()


def worth_too_much(world: World, start: World) -> float:  # noqa: ARG001
    return 2.0


def test_task_score_checks_the_tasks_values() -> None:
    task = replace(get("maze"), name="rich", value=worth_too_much)
    tokens = LANGUAGE.batch([KAREL.read(program) for program in PROGRAMS])
    with pytest.raises(ValueError, match="rich: a state's value must be at most 1"):
        task_score(task, get("maze").worlds(10, seed=4))(tokens)


def test_behaviour_score_is_r_mat() -> None:
    worlds = random_worlds(10, seed=4)
    wanted = TEST_PROGRAMS["WHILE"]
    tokens = LANGUAGE.batch([KAREL.read(program) for program in (wanted, *PROGRAMS)])
    scores, steps = behaviour_score(wanted, worlds)(tokens)
    assert scores.tolist() == r_mat(KAREL.compile(tokens), KAREL.compile([wanted] * 4), worlds).tolist()
    assert scores[0] == 1.0
    assert scores[1:].max() < 1.0
    assert steps > 40


def test_a_rollout_without_an_action_counts_as_a_step() -> None:
    """Otherwise the training of a network that does nothing would never end."""
    idle = LANGUAGE.batch([KAREL.read("DEF run m( WHILE c( markersPresent c) w( pickMarker w) m)")])
    worlds = get("stair-climber").worlds(10, seed=0)
    assert task_score(get("stair-climber"), worlds)(idle)[1] == 10


# The paper's settings


def test_paper_settings_equal_its_tables() -> None:
    assert {name: (config.batch, config.initial_entropy) for name, config in PAPER_NAIVE.items()} == {
        "clean-house": (128, 0.1),
        "four-corner": (128, 1.0),
        "harvester": (128, 1.0),
        "maze": (256, 1.0),
        "stair-climber": (128, 1.0),
        "top-off": (128, 1.0),
    }
    assert {name: (config.batch, config.initial_entropy) for name, config in PAPER_NAIVE_TESTS.items()} == {
        "WHILE": (128, 0.1),
        "IFELSE+WHILE": (256, 1.0),
        "2IF+IFELSE": (256, 0.1),
        "WHILE+2IF+IFELSE": (128, 0.1),
    }
    assert PAPER_NAIVE.keys() == PAPER_TASKS.keys()
    assert PAPER_NAIVE_TESTS.keys() == TEST_PROGRAMS.keys()


def test_settings_that_the_paper_keeps_fixed_are_the_same_everywhere() -> None:
    for config in (*PAPER_NAIVE.values(), *PAPER_NAIVE_TESTS.values()):
        assert (config.final_entropy, config.learning_rate, config.hidden) == (0.01, 0.0005, 64)
        assert (config.steps, config.max_length, config.clip) == (2_000_000, 45, 0.2)


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0}, "batch must be at least 1, found 0"),
        ({"hidden": 0}, "hidden must be at least 1, found 0"),
        ({"steps": 0}, "steps must be at least 1, found 0"),
        ({"epochs": 0}, "epochs must be at least 1, found 0"),
        ({"minibatches": 0}, "minibatches must be at least 1, found 0"),
        ({"initial_entropy": 0.0}, "initial_entropy must be above 0, found 0.0"),
        ({"final_entropy": -0.1}, "final_entropy must be above 0, found -0.1"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, found 0.0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number, found nan"),
        ({"value_weight": float("inf")}, "value_weight must be a finite number, found inf"),
        ({"clip": 0.0}, "clip must be above 0, found 0.0"),
        ({"gradient_norm": 0.0}, "gradient_norm must be above 0, found 0.0"),
        ({"value_weight": -0.5}, "value_weight must be 0 or more, found -0.5"),
        ({"batch": 3}, "minibatches must be at most batch, found minibatches=4 and batch=3"),
        ({"max_length": 4}, "max_length=4 is too short; the shortest program has 5 tokens"),
    ],
)
def test_settings_out_of_range_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        NaiveConfig(**options)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_invalid_score_raises_before_an_update(wrong: float) -> None:
    score: Score = lambda tokens: (np.full(len(tokens), wrong), 1)  # noqa: E731
    naive = Naive(SMALL, score, seed=0)
    before = weights(naive)
    with pytest.raises(ValueError, match="expected 16 scores that are finite numbers"):
        naive.step()
    assert torch.equal(weights(naive), before)
    assert naive.iteration == 0


def test_scores_of_another_shape_raise() -> None:
    naive = Naive(SMALL, lambda tokens: (np.zeros((len(tokens), 10)), 1), seed=0)
    with pytest.raises(ValueError, match=r"expected 16 scores .*shape \(16, 10\)"):
        naive.step()


def test_answer_of_zero_programs_raises() -> None:
    with pytest.raises(ValueError, match="count must be at least 1, found 0"):
        Naive(SMALL, moves, seed=0).answer(0)
