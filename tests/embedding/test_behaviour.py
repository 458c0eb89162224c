"""R_mat, as defined in the paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaps.domain import NO_ACTION, Outcome, Rollouts
from leaps.embedding.behaviour import match
from leaps.experiments.explore import r_mat
from leaps.karel.dataset import HORIZON
from leaps.karel.world import KAREL, World, Worlds, random_worlds

LONGEST = 12
ACTIONS = "mrlPp"
traces = st.text(alphabet="ml", max_size=LONGEST)


def rollouts(*programs: list[str]) -> Rollouts:
    """The actions of each program in each world, one letter per action."""
    actions = np.full((len(programs), len(programs[0]), LONGEST), NO_ACTION, np.uint8)
    for row, worlds in enumerate(programs):
        for column, trace in enumerate(worlds):
            actions[row, column, : len(trace)] = [ACTIONS.index(letter) for letter in trace]
    steps = np.array([[len(trace) for trace in worlds] for worlds in programs], np.int32)
    return Rollouts(np.full(steps.shape, Outcome.HALTED, np.uint8), steps, actions=actions)


def matched(one: str, other: str) -> float:
    return float(match(rollouts([one]), rollouts([other]))[0, 0])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("mlr", "mlr", 1),
        ("mlr", "mlp", 2 / 3),
        ("mlrm", "mrrm", 1 / 4),  # what agrees again later doesn't count
        ("ml", "rl", 0),
        ("ml", "mlrp", 1 / 2),
        ("mlrpP", "m", 1 / 5),
        ("", "m", 0),
        ("", "", 1),
    ],
)
def test_r_mat_is_the_common_prefix_over_the_longer_trace(one: str, other: str, expected: float) -> None:
    assert matched(one, other) == pytest.approx(expected)


@given(traces, traces)
def test_r_mat_is_the_papers_sum(one: str, other: str) -> None:
    longer = max(len(one), len(other))
    agree = [len(one) >= t and len(other) >= t and one[:t] == other[:t] for t in range(1, longer + 1)]
    assert matched(one, other) == pytest.approx(sum(agree) / longer if longer else 1)


@given(traces, traces)
def test_r_mat_is_symmetric(one: str, other: str) -> None:
    assert matched(one, other) == matched(other, one)


@given(traces)
def test_a_trace_has_r_mat_1_with_itself(trace: str) -> None:
    assert matched(trace, trace) == 1


def test_every_program_and_world_is_compared_separately() -> None:
    first = rollouts(["m", "ml", "mm"], ["", "l", "ll"])
    second = rollouts(["m", "mr", "ll"], ["", "l", "l"])
    assert match(first, second).tolist() == [[1, 0.5, 0], [1, 1, 0.5]]


def test_traces_recorded_with_different_horizons_can_be_compared() -> None:
    short, long = rollouts(["ml"]), rollouts(["ml"])
    assert short.actions is not None
    shorter = Rollouts(short.outcome, short.steps, actions=np.ascontiguousarray(short.actions[..., :2]))
    assert match(shorter, long).tolist() == [[1]]


def test_rollouts_without_actions_raise() -> None:
    whole = rollouts(["m"])
    bare = Rollouts(whole.outcome, whole.steps)
    for pair in ((whole, bare), (bare, whole)):
        with pytest.raises(ValueError, match="want_actions=True"):
            match(*pair)


def test_rollouts_of_different_shapes_raise() -> None:
    with pytest.raises(ValueError, match=r"found \(1, 2\) and \(2, 1\)"):
        match(rollouts(["m", "m"]), rollouts(["m"], ["m"]))


CLEAR = World.parse("####\n#>.#\n####")
BLOCKED = World.parse("####\n#.>#\n####")


def test_r_mat_is_the_mean_over_the_worlds() -> None:
    always = KAREL.compile("DEF run m( move m)")
    sometimes = KAREL.compile("DEF run m( IF c( frontIsClear c) i( move i) m)")
    assert r_mat(always, sometimes, Worlds.stack([CLEAR, BLOCKED])).tolist() == [0.5]


def test_different_programs_may_behave_identically() -> None:
    twice = KAREL.compile("DEF run m( REPEAT R=2 r( move r) m)")
    written_out = KAREL.compile("DEF run m( move move m)")
    assert r_mat(twice, written_out, random_worlds(20, seed=1)).tolist() == [1]


def test_only_the_first_actions_count() -> None:
    text = "DEF run m( REPEAT R=10 r( REPEAT R=10 r( turnLeft r) r) {} m)"
    plain, longer = KAREL.compile(text.format("")), KAREL.compile(text.format("move"))
    assert HORIZON == 100
    assert r_mat(plain, longer, Worlds.stack([CLEAR])).tolist() == [1]


def test_each_program_can_be_compared_in_its_own_worlds() -> None:
    always = KAREL.compile(["DEF run m( move m)"] * 2)
    sometimes = KAREL.compile(["DEF run m( IF c( frontIsClear c) i( move i) m)"] * 2)
    assert r_mat(always, sometimes, Worlds.stack([CLEAR, BLOCKED]), own_worlds=True).tolist() == [1, 0]
