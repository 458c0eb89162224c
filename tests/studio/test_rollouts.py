"""Requests for rollouts: numbered states, drawn worlds, several at once."""

from typing import Any

import pytest

from leaps.studio.requests import Fields, RequestError
from leaps.studio.rollouts import Replayed, rollout_of, rollouts_of
from leaps.studio.tracing import Trace
from tests.studio.harness import OWN, RIGHT, WALK

DRAWN = {"rows": ["#####", "#..1#", "#####"], "karel": [1, 1, 1]}


def asked(**fields: Any) -> Fields:
    return Fields({"program": RIGHT, "task": "corridor"} | fields, OWN)


def test_karel_is_traced_by_compiled_code_and_other_tasks_by_the_interpreter() -> None:
    assert isinstance(rollout_of(asked(program=WALK, task="maze")), Replayed)
    found = rollout_of(asked(index=7, seed=3, size="long"))
    assert isinstance(found, Trace)
    assert (found.index, found.seed, found.size) == (7, 3, "long")


def test_several_rollouts_are_requested_by_their_numbers() -> None:
    found = rollouts_of(asked(indices=[4, 0]), 6)
    assert [one.index for one in found if isinstance(one, Trace)] == [4, 0]


def test_program_is_read_in_the_language_of_the_task() -> None:
    with pytest.raises(RequestError, match="'frontIsClear' is not a token"):
        rollout_of(asked(program=WALK))


def test_drawn_world_is_refused_for_a_domain_without_drawing() -> None:
    assert isinstance(rollout_of(asked(program=WALK, task=None, world=DRAWN)), Replayed)
    with pytest.raises(RequestError, match="a task whose worlds can be drawn, found one of corridor"):
        rollout_of(asked(world=DRAWN))


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        ({"rows": ["####", "#.1#", "####"], "karel": [0, 0, 0]}, "inside a wall"),
        ({"rows": ["####", "#.1#", "####"], "karel": [50, 0, 0]}, "outside"),
        ({"rows": ["###", "#.#", "#.#"], "karel": [1, 1, 0]}, "border must be wall"),
        ({"rows": ["####", "#x1#", "####"], "karel": [1, 1, 0]}, "expected '#'"),
        ({"rows": ["####", "#1#", "####"], "karel": [1, 1, 0]}, "equally long"),
    ],
)
def test_invalid_drawn_world_raises(drawn: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=f"world: .*{message}"):
        rollout_of(asked(program=WALK, task=None, world=drawn))


def test_drawn_world_smaller_than_the_task_allows_raises() -> None:
    small = {"rows": ["#####", "#...#", "#####"], "karel": [1, 2, 1]}
    with pytest.raises(RequestError, match="needs at least 6x6"):
        rollout_of(asked(program=WALK, task="door-key", world=small))  # it would open doors outside
