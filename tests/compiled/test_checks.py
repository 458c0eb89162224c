"""Input checks for names, seeds and probabilities."""

import numpy as np
import pytest

from leaps.compiled.checks import (
    SEEDS,
    check_draws,
    check_name,
    check_seed,
    check_weights,
    read_number,
    whole_number,
)


@pytest.mark.parametrize("name", ["", " ", "a/b", "a:b", "a\\b"])
def test_a_name_like_a_path_raises(name: str) -> None:
    with pytest.raises(ValueError, match="a task's name must not be empty"):
        check_name(name)
    check_name("a-b")


@pytest.mark.parametrize("seed", [-1, SEEDS])
def test_a_seed_out_of_range_raises(seed: int) -> None:
    with pytest.raises(ValueError, match="seed must be from 0"):
        check_seed(seed)
    check_seed(SEEDS - 1)


@pytest.mark.parametrize(("count", "first"), [(-1, 0), (1, -1), (1, SEEDS - 1)])
def test_world_numbers_out_of_range_raise(count: int, first: int) -> None:
    with pytest.raises(ValueError, match="world numbers must be from 0"):
        check_draws(count, first)
    check_draws(1, SEEDS - 2)


@pytest.mark.parametrize("weights", [[0.5, 0.4], [1.0, 0.0], [1.5, -0.5]])
def test_probabilities_have_to_sum_to_one(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="mine: listing: expected positive probabilities"):
        check_weights("mine", np.array(weights))
    check_weights("mine", np.array([0.25, 0.75]))


@pytest.mark.parametrize("text", ["", "-1", "1.5", "ten", "１"])
def test_a_whole_number_consists_of_digits(text: str) -> None:
    with pytest.raises(ValueError, match=f"expected a number of actions after ~, found '{text}'"):
        read_number(text, whole_number, "number of actions", "~")
    assert read_number("12", whole_number, "number of actions", "~") == 12
