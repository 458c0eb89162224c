import numpy as np
import pytest

from leaps.base.randomness import below, draw, scramble, seed_stream, uniform

GOLDEN = [9166278936093105116, 12392298826975316085, 9470705290659023416]


def stream(seed: int, index: int) -> np.ndarray:
    state = np.zeros(1, np.uint64)
    seed_stream(state, seed, index)
    return state


def test_a_stream_is_reproducible_on_every_machine() -> None:
    state = stream(0, 0)
    first = [int(draw(state)) for _ in range(3)]
    assert first == [int(draw(state)) for state in [stream(0, 0)] for _ in range(3)]
    assert first == GOLDEN


def test_neighbouring_streams_and_seeds_draw_different_numbers() -> None:
    values = {int(draw(stream(seed, index))) for seed in range(100) for index in range(100)}
    assert len(values) == 10_000


def test_uniform_numbers_fill_the_unit_interval_evenly() -> None:
    state = stream(3, 1)
    numbers = np.array([uniform(state) for _ in range(50_000)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts, _ = np.histogram(numbers, 20, (0, 1))
    assert counts == pytest.approx([2500] * 20, abs=250)


def test_whole_numbers_below_n_are_drawn_evenly() -> None:
    state = stream(4, 0)
    counts = np.bincount([below(state, 7) for _ in range(70_000)], minlength=7)
    assert len(counts) == 7
    assert counts == pytest.approx([10_000] * 7, abs=500)


def test_scrambling_is_one_to_one() -> None:
    assert len({int(scramble(np.uint64(i))) for i in range(100_000)}) == 100_000
