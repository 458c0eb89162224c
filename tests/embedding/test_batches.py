"""Batches of programs and rollouts, in the order of torch's PackedSequence."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from leaps.domain import Outcome
from leaps.dsl.mask import SyntaxMask
from leaps.dsl.text import PREFIX, build
from leaps.embedding import batches
from leaps.embedding.batches import ProgramTable, RolloutBatch, RolloutTable
from leaps.karel.dataset import DataConfig, Dataset, make_dataset
from leaps.karel.interpreter import play
from leaps.karel.observe import planes
from leaps.karel.world import LANGUAGE, World, Worlds
from tests.embedding.helpers import CPU, END, GRID, long_programs

LIMIT = 45
SOME = np.array([41, 7, 30, 8, 59])


def programs() -> ProgramTable:
    return ProgramTable(LANGUAGE, long_programs().tokens, LIMIT, CPU)


# Programs


def test_a_batch_of_programs_leaves_out_their_prefix_and_the_padding_of_the_longest() -> None:
    batch = programs().batch(torch.from_numpy(SOME))
    for row, number in enumerate(SOME):
        whole = LANGUAGE.decode(long_programs().tokens[number])
        assert (*PREFIX, *LANGUAGE.decode(batch.tokens[row].tolist())) == tuple(whole)
        assert int(batch.lengths[row]) == len(whole) - len(PREFIX)
    assert batch.tokens.shape == (len(SOME), int(batch.lengths.max()))


def test_previous_tokens_are_shifted_by_one() -> None:
    batch = programs().batch(torch.from_numpy(SOME))
    assert (batch.previous[:, 0] == LANGUAGE.ids["m("]).all()
    assert torch.equal(batch.previous[:, 1:], batch.tokens[:, :-1])


def test_allowed_tokens_are_those_of_the_mask() -> None:
    batch = programs().batch(torch.from_numpy(SOME))
    for row, number in enumerate(SOME):
        mask = SyntaxMask(LANGUAGE, 1, LIMIT)
        for place, token in enumerate(long_programs().tokens[number]):
            if len(PREFIX) <= place < len(PREFIX) + batch.tokens.shape[1]:
                expected = mask.allowed()[0]
                np.testing.assert_array_equal(batch.allowed[row, place - len(PREFIX)].numpy(), expected)
            mask.advance(np.array([token]))


def test_allowed_tokens_depend_on_the_maximum_length() -> None:
    tokens = LANGUAGE.batch([LANGUAGE.encode(["DEF", "run", "m(", "move", "m)"])])
    tight, wide = (ProgramTable(LANGUAGE, tokens, limit, CPU).allowed[0, 0] for limit in (5, 45))
    assert not tight[LANGUAGE.ids["WHILE"]]
    assert wide[LANGUAGE.ids["WHILE"]]


def test_programs_too_long_for_the_space_raise() -> None:
    with pytest.raises(ValueError, match="can't continue with"):
        ProgramTable(LANGUAGE, long_programs().tokens, 10, CPU)


# Rollouts


def states_and_actions(data: Dataset, program: int, rollout: int) -> tuple[list[bytes], list[int]]:
    """The grid of every state that the interpreter passes, and the actions; END if it ended."""
    world = data.worlds(np.array([program])).world(rollout).clone()
    course = play(build(LANGUAGE.decode(data.tokens[program])), world, data.config.horizon)
    states, actions = [grid_of(world)], []
    for step in course:
        actions.append(step.action)
        states.append(grid_of(world))
    if course.outcome == Outcome.CUT_OFF:
        return states[:-1], actions
    return states, [*actions, END]


def grid_of(world: World) -> bytes:
    return planes(Worlds.stack([world.clone()])).tobytes()


def grid_at(rollouts: RolloutTable, step: int) -> bytes:
    """Return the observation of a step."""
    grid = rollouts.observations(rollouts.shown[[step]])
    assert grid.shape == (1, *GRID)
    return bytes(grid.to(torch.uint8).numpy().tobytes())


@pytest.mark.parametrize("chunk", [1000, 2])
def test_states_and_actions_are_those_of_the_interpreter(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_CHUNK", chunk)
    data = long_programs()
    rollouts = RolloutTable(data, SOME, CPU)
    for row, program in enumerate(SOME):
        for rollout in range(data.config.rollouts):
            number = row * data.config.rollouts + rollout
            steps = range(rollouts.first[number], rollouts.first[number + 1])
            states, actions = states_and_actions(data, int(program), rollout)
            assert rollouts.action[steps.start : steps.stop].tolist() == actions
            assert [grid_at(rollouts, step) for step in steps] == states


def test_the_first_previous_action_is_the_end() -> None:
    rollouts = RolloutTable(long_programs(), SOME, CPU)
    for first, last in zip(rollouts.first[:-1], rollouts.first[1:], strict=True):
        expected = [END, *rollouts.action[first : last - 1].tolist()]
        assert rollouts.previous[first:last].tolist() == expected


def test_only_rollouts_that_ended_have_an_end_action() -> None:
    data = make_dataset(
        DataConfig(programs=200, seed=2, keep="every", pool=32, more=0, horizon=30, rollouts=4)
    )
    every = np.arange(data.count)
    rollouts = RolloutTable(data, every, CPU)
    ends = np.array(
        [
            (rollouts.action[first:last] == END).sum().item()
            for first, last in zip(rollouts.first[:-1], rollouts.first[1:], strict=True)
        ]
    )
    outcomes = data.outcome.reshape(-1)
    assert set(outcomes.tolist()) == {Outcome.HALTED, Outcome.STUCK, Outcome.CUT_OFF}
    assert (ends[outcomes == Outcome.CUT_OFF] == 0).all()
    assert (ends[outcomes != Outcome.CUT_OFF] == 1).all()


# Packing


def unpacked(values: Tensor, batch: RolloutBatch) -> tuple[Tensor, list[int]]:
    padded, lengths = pad_packed_sequence(PackedSequence(values, batch.batch_sizes), batch_first=True)
    return padded, lengths.tolist()


def pack(rollouts: RolloutTable) -> tuple[RolloutBatch, NDArray[np.int64], NDArray[np.int64]]:
    chosen, which = np.array([3, 0, 4]), np.array([[0, 2], [1, 0], [2, 1]])
    return rollouts.batch(chosen, which), chosen, which


def test_steps_of_a_rollout_with_the_same_observation_share_one_row() -> None:
    rollouts = RolloutTable(long_programs(), SOME, CPU)
    shared = 0
    for number in range(len(rollouts.lengths)):
        rows: dict[bytes, int] = {}
        for step in range(rollouts.first[number], rollouts.first[number + 1]):
            row = int(rollouts.shown[step])
            shared += grid_at(rollouts, step) in rows
            assert rows.setdefault(grid_at(rollouts, step), row) == row
        assert len(set(rows.values())) == len(rows)
    assert shared > 10


def test_unpacking_restores_the_rollouts_longest_first() -> None:
    rollouts = RolloutTable(long_programs(), SOME, CPU)
    batch, chosen, which = pack(rollouts)
    actions, lengths = unpacked(rollouts.action[batch.step], batch)
    numbers = (chosen[:, None] * 3 + which).reshape(-1)
    spans = [rollouts.action[rollouts.first[n] : rollouts.first[n + 1]].tolist() for n in numbers]
    assert [row[:length] for row, length in zip(actions.tolist(), lengths, strict=True)] == sorted(
        spans, key=len, reverse=True
    )


def test_steps_are_assigned_to_their_rollouts_and_programs() -> None:
    rollouts = RolloutTable(long_programs(), SOME, CPU)
    batch, chosen, _ = pack(rollouts)
    sequence, lengths = unpacked(batch.sequence, batch)
    for row, length in enumerate(lengths):
        assert (sequence[row, :length] == row).all()
    owners = np.repeat(np.arange(len(rollouts.lengths)), rollouts.lengths)
    of_data = torch.from_numpy(owners)[batch.step] // rollouts.per_program
    assert torch.equal(torch.from_numpy(chosen)[batch.program[batch.sequence]], of_data)


def test_every_step_occurs_exactly_once() -> None:
    rollouts = RolloutTable(long_programs(), SOME, CPU)
    every = np.tile(np.arange(3), (len(SOME), 1))
    batch = rollouts.batch(np.arange(len(SOME)), every)
    assert torch.equal(batch.step.sort().values, torch.arange(len(rollouts.action)))
