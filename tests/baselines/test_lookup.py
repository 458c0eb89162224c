"""What is looked up is what the convolutions would say."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from torch import Tensor, nn

from leaps.baselines.lookup import look_up, number
from leaps.karel.simulation import Simulation
from leaps.tasks import get


def convolutions(planes: int = 16) -> tuple[nn.Conv2d, nn.Conv2d]:
    torch.manual_seed(1)
    return nn.Conv2d(planes, 32, 2), nn.Conv2d(32, 32, 4)


def convolved(grids: Tensor, first: nn.Conv2d, second: nn.Conv2d) -> Tensor:
    return torch.relu(second(torch.relu(first(grids.permute(0, 3, 1, 2).float())))).flatten(1)


def worlds(task: str, size: tuple[int, int] | None = None) -> Tensor:
    """Grids of many worlds, in which something has been done."""
    simulation = Simulation(get(task), 40, size)
    everyone = np.ones(40, np.bool_)
    for index in range(40):
        simulation.seed(index, 7, index)
    simulation.renew(everyone)
    rng = np.random.default_rng(3)
    for _ in range(30):
        simulation.advance(rng.integers(5, size=40), everyone)
    return torch.from_numpy(simulation.observe("grid"))


def noise(*shape: int) -> Tensor:
    """Grids in which hardly a square is like another."""
    return torch.randint(2, shape, generator=torch.Generator().manual_seed(2), dtype=torch.uint8)


GRIDS = {
    "maze": worlds("maze"),
    "a wide house": worlds("clean-house"),
    "the smallest": worlds("harvester", (5, 5)),
    "low": worlds("four-corner", (5, 9)),
    "noise": noise(6, 9, 8, 16),
    "few planes": noise(6, 7, 7, 3),
    "one": noise(1, 8, 8, 16),
    "floats": noise(3, 8, 8, 16).float(),
    "not in one piece": noise(16, 3, 8, 8).permute(1, 3, 2, 0),
}


@pytest.mark.parametrize("name", GRIDS)
def test_what_is_looked_up_is_convolved(name: str) -> None:
    grids = GRIDS[name]
    first, second = convolutions(grids.shape[3])
    expected, found = convolved(grids, first, second), look_up(grids, first, second)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    assert (expected > 0).float().mean() > 0.1  # there is something to compare
    upstream = torch.randn(expected.shape, generator=torch.Generator().manual_seed(4))
    parameters = [*first.parameters(), *second.parameters()]
    for ours, theirs in zip(
        torch.autograd.grad(found, parameters, upstream),
        torch.autograd.grad(expected, parameters, upstream),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5 * float(theirs.abs().max()))


def test_what_is_frozen_gets_no_gradient_and_the_rest_does() -> None:
    first, second = convolutions()
    second.requires_grad_(False)
    look_up(GRIDS["maze"], first, second).sum().backward()  # type: ignore[no-untyped-call]
    assert first.weight.grad is not None
    assert second.weight.grad is None
    expected, theirs = convolutions()
    convolved(GRIDS["maze"], expected, theirs).sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(first.weight.grad, expected.weight.grad, rtol=1e-4, atol=1e-3)
    with torch.no_grad():
        assert not look_up(GRIDS["maze"], first, second).requires_grad


def test_of_no_worlds_nothing_is_said() -> None:
    first, second = convolutions()
    found = look_up(noise(0, 8, 8, 16), first, second)
    assert found.shape == convolved(noise(0, 8, 8, 16), first, second).shape == (0, 512)
    found.sum().backward()  # type: ignore[no-untyped-call]
    assert not torch.any(torch.as_tensor(second.weight.grad))


def by_hand(corners: NDArray[Any], step: int) -> tuple[NDArray[Any], list[int]]:
    """The same, slowly."""
    count, height, width = corners.shape
    numbers: list[int] = []
    firsts: list[int] = []
    known: dict[tuple[Any, ...], int] = {}
    for grid in range(count):
        for y in range(height - step):
            for x in range(width - step):
                seen = tuple(corners[grid, y + dy, x + dx] for dy in (0, step) for dx in (0, step))
                if seen not in known:
                    known[seen] = len(known)
                    firsts.append(len(numbers))
                numbers.append(known[seen])
    return np.reshape(numbers, (count, height - step, width - step)), firsts


@settings(max_examples=60)
@given(
    st.integers(1, 2),
    st.tuples(st.integers(1, 4), st.integers(3, 6), st.integers(3, 6)).flatmap(
        lambda shape: arrays(np.int32, shape, elements=st.sampled_from([0, 1, 2, 65_535, 2**31 - 1]))
    ),
)
def test_equal_squares_have_equal_numbers(step: int, corners: NDArray[Any]) -> None:
    numbers, firsts = number(corners, step)
    expected, places = by_hand(corners, step)
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_array_equal(firsts, places)


def test_thousands_of_different_squares_are_told_apart() -> None:
    corners = np.random.default_rng(5).integers(2**31, size=(20, 40, 40)).astype(np.int32)
    numbers, firsts = number(corners, 1)
    assert numbers.size == len(firsts) == 20 * 39 * 39
    np.testing.assert_array_equal(numbers.ravel(), np.arange(numbers.size))


def test_worlds_that_look_alike_cost_one() -> None:
    """What is looked up is made once for each different square, however many worlds there are."""
    corners = np.random.default_rng(6).integers(9, size=(1, 12, 12)).astype(np.int32)
    one, many = number(corners, 1)[1], number(np.repeat(corners, 50, axis=0), 1)[1]
    np.testing.assert_array_equal(many, one)
