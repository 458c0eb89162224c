"""Every program is in exactly one split, and most are for training."""

import numpy as np
import pytest

from leaps.base.splits import SPLITS, split


@pytest.mark.parametrize("count", [20, 21, 99, 50_000])
def test_every_program_is_in_exactly_one_split(count: int) -> None:
    numbers = np.concatenate([split(name, count) for name in SPLITS])
    assert np.array_equal(numbers, np.arange(count))


def test_splits_have_70_15_and_15_percent() -> None:
    assert [len(split(name, 200)) for name in SPLITS] == [140, 30, 30]


def test_an_unknown_split_raises() -> None:
    with pytest.raises(ValueError, match="expected one of train, validation, test, found 'all'"):
        split("all", 20)
