"""Compiled layers: results of plain products, independent of the other rows."""

import numpy as np
import pytest

from leaps.embedding.compiled_layers import (
    GROUP,
    PANEL,
    Floats,
    apply,
    dot,
    in_panels,
    in_whole_panels,
    padded,
    sigmoid,
    tanh,
)

ACCURACY = 4e-7


def drawn(*shape: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def applied(weight: Floats, bias: Floats, states: Floats, rows: list[int]) -> Floats:
    """The layer's outputs [rows, gates, outputs], taken out of the panels again."""
    gates, outputs, _ = weight.shape
    units = in_whole_panels(max(weight.shape[1:]))
    out = np.full((gates * units // PANEL, GROUP, PANEL), np.nan, np.float32)
    chosen = np.zeros(GROUP, np.uint64)
    chosen[: len(rows)] = rows
    apply(in_panels(weight, bias, units), padded(states, len(states), units), chosen, len(rows), out)
    return out[:, : len(rows)].transpose(1, 0, 2).reshape(len(rows), gates, units)[:, :, :outputs]


@pytest.mark.parametrize(("gates", "outputs", "inputs"), [(1, 5, 5), (3, 128, 128), (4, 150, 20)])
@pytest.mark.parametrize("count", [0, 1, 4, 7, GROUP])
def test_a_layer_is_a_product_and_a_bias(gates: int, outputs: int, inputs: int, count: int) -> None:
    weight, bias, states = drawn(gates, outputs, inputs), drawn(gates, outputs, seed=1), drawn(GROUP, inputs)
    rows = np.random.default_rng(2).permutation(GROUP)[:count].tolist()
    expected = np.einsum("goi,ri->rgo", weight.astype(np.float64), states[rows]) + bias
    np.testing.assert_allclose(applied(weight, bias, states, rows), expected, atol=1e-4)


def test_a_row_of_a_layer_does_not_depend_on_the_others() -> None:
    weight, bias, states = drawn(3, 150, 150), drawn(3, 150, seed=1), drawn(GROUP, 150, seed=2)
    together = applied(weight, bias, states, list(range(GROUP)))
    for row in range(GROUP):
        np.testing.assert_array_equal(applied(weight, bias, states, [row])[0], together[row])


def test_padded_units_are_zero() -> None:
    layer = in_panels(drawn(2, 5, 5), drawn(2, 5), PANEL)
    out = np.full((2, GROUP, PANEL), np.nan, np.float32)
    apply(layer, padded(drawn(4, 5), 4, PANEL), np.arange(4, dtype=np.uint64), 4, out)
    assert (out[:, :4, 5:] == 0).all()
    assert (out[:, :4, :5] != 0).all()


def test_units_are_padded_to_whole_panels() -> None:
    assert [in_whole_panels(units) for units in (1, PANEL, PANEL + 1)] == [PANEL, PANEL, 2 * PANEL]


def test_padding_is_at_the_end() -> None:
    assert padded(np.ones((1, 2), np.float32), 2, 3).tolist() == [[1, 1, 0], [0, 0, 0]]


def test_tanh_and_sigmoid_are_accurate_everywhere() -> None:
    numbers = np.concatenate([np.linspace(-20, 20, 4001), [-1e30, -1e-30, 0, 1e-30, 1e30]]).astype(np.float32)
    exact = numbers.astype(np.float64)
    np.testing.assert_allclose([tanh(x) for x in numbers], np.tanh(exact), rtol=0, atol=ACCURACY)
    expected = 0.5 + 0.5 * np.tanh(exact / 2)
    np.testing.assert_allclose([sigmoid(x) for x in numbers], expected, rtol=0, atol=ACCURACY)


@pytest.mark.parametrize("length", [0, 1, 7, PANEL, 3 * PANEL])
def test_dot_is_the_sum_of_the_products(length: int) -> None:
    a, b = drawn(length), drawn(length, seed=1)
    assert dot(a, b) == pytest.approx(float(a.astype(np.float64) @ b.astype(np.float64)), abs=1e-4)
