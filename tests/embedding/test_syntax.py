"""The mask on tensors agrees with `leaps.dsl.mask.SyntaxMask`."""

import numpy as np
import pytest
import torch

from leaps.dsl.language import Language
from leaps.dsl.mask import SyntaxMask
from leaps.dsl.text import PREFIX
from leaps.embedding.syntax import SyntaxTables, TensorMask
from leaps.karel.world import LANGUAGE
from tests.hoover import HOOVER


def assert_masks_agree(language: Language, max_length: int, batch: int, *, nest: float = 0.0) -> None:
    """Walk at random through both masks; `nest` is how often a loop is preferred to all else."""
    rng = np.random.default_rng(max_length)
    slow, fast = (
        SyntaxMask(language, batch, max_length),
        TensorMask(SyntaxTables(language), batch, max_length),
    )
    for name in PREFIX:
        slow.advance(np.full(batch, language.ids[name]))
    for _ in range(len(PREFIX), max_length):
        allowed = slow.allowed()
        np.testing.assert_array_equal(fast.allowed().numpy(), allowed)
        np.testing.assert_array_equal(fast.done.numpy(), slow.done)
        wanted = rng.random(allowed.shape)
        wanted[:, language.ids["REPEAT"]] += rng.random(batch) < nest
        tokens = (wanted * allowed).argmax(axis=1)
        slow.advance(tokens)
        fast.advance(torch.from_numpy(tokens))
    assert fast.done.all()
    assert fast.left == 0


@pytest.mark.parametrize("max_length", range(5, 61))
def test_both_masks_allow_the_same_tokens_on_random_walks(max_length: int) -> None:
    assert_masks_agree(LANGUAGE, max_length, batch=40)


@pytest.mark.parametrize("max_length", [12, 45, 403])
def test_both_masks_allow_the_same_tokens_in_deeply_nested_blocks(max_length: int) -> None:
    assert_masks_agree(LANGUAGE, max_length, batch=10, nest=0.95)


def test_the_tables_are_those_of_the_language_given() -> None:
    assert_masks_agree(HOOVER.language, 30, batch=40)


def test_the_mask_of_a_program_does_not_depend_on_the_batch() -> None:
    tables = SyntaxTables(LANGUAGE)
    together, alone = TensorMask(tables, 2, 20), TensorMask(tables, 1, 20)
    for other, token in zip(["move", "m)", "<pad>"], ["WHILE", "c(", "not"], strict=True):
        together.advance(torch.tensor([LANGUAGE.ids[other], LANGUAGE.ids[token]]))
        alone.advance(torch.tensor([LANGUAGE.ids[token]]))
        assert torch.equal(together.allowed()[1], alone.allowed()[0])


def test_a_limit_beyond_the_maximum_nesting_raises() -> None:
    with pytest.raises(ValueError, match="max_length=404: at most 403 tokens"):
        TensorMask(SyntaxTables(LANGUAGE), 1, 404)


def test_a_limit_below_the_shortest_program_raises() -> None:
    with pytest.raises(ValueError, match="max_length=4 is too short"):
        TensorMask(SyntaxTables(LANGUAGE), 1, 4)


def test_the_tables_are_not_saved_as_weights() -> None:
    assert SyntaxTables(LANGUAGE).state_dict() == {}
