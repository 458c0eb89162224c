"""Which rollout a request asks for."""

from typing import Any

import pytest

from leaps.studio.karel import KarelTrace
from leaps.studio.requests import Fields, RequestError
from leaps.studio.rollouts import rollout_of, rollouts_of
from leaps.studio.tracing import Trace
from tests.studio.harness import OWN, RIGHT, WALK

DRAWN = {"rows": ["#####", "#..1#", "#####"], "karel": [1, 1, 1]}


def asked(**fields: Any) -> Fields:
    return Fields({"program": RIGHT, "task": "corridor"} | fields, OWN)


def test_karel_is_traced_by_compiled_code_and_other_tasks_by_the_interpreter() -> None:
    assert isinstance(rollout_of(asked(program=WALK, task="maze")), KarelTrace)
    found = rollout_of(asked(index=7, seed=3, size="long"))
    assert isinstance(found, Trace)
    assert (found.index, found.seed, found.size) == (7, 3, "long")


def test_several_are_asked_for_by_their_numbers() -> None:
    found = rollouts_of(asked(indices=[4, 0]), 6)
    assert [one.index for one in found if isinstance(one, Trace)] == [4, 0]


def test_the_program_is_in_the_words_of_the_task() -> None:
    with pytest.raises(RequestError, match="'frontIsClear' is not a token"):
        rollout_of(asked(program=WALK))


def test_only_karel_has_drawn_worlds() -> None:
    assert isinstance(rollout_of(asked(program=WALK, task=None, world=DRAWN)), KarelTrace)
    with pytest.raises(RequestError, match="expected a task of Karel for a drawn world, found corridor"):
        rollout_of(asked(world=DRAWN))
