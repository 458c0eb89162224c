"""Recurrent layers over packed sequences, with inputs that repeat computed only once.

The input of a step consists of parts: a token's embedding, the latent of its sequence, and the observation. A
part has few different values and many steps. So its contribution to the gates is computed once per value and
looked up. The recurrence itself has handwritten gradients: those of the weights are one product over all
steps, instead of one per step. On a GPU, cuDNN does everything.

Shapes: n steps of all sequences, b sequences, h hidden units, d inputs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from leaps.embedding.compiled_layers import Floats, contracted, sigmoid, tanh


class Part(NamedTuple):
    """A part of every step's input."""

    values: Tensor
    """[m, d] the distinct values"""
    rows: Tensor
    """[n] the row of each step's value"""


class Layout(NamedTuple):
    """The layout of packed sequences: ordered by time step, each with the sequences that are long enough."""

    sequence: Tensor
    """[n] index of the sequence that a step belongs to, in the caller's order"""
    time: Tensor
    """[n] time of the step within its sequence"""
    batch_sizes: Tensor
    """[steps of the longest] on the CPU, as in torch's PackedSequence"""
    order: Tensor
    """[b] the sequences, the longest first"""
    last: Tensor
    """[b] the last step of each sequence, in the caller's order"""

    @staticmethod
    def of(lengths: Tensor) -> "Layout":
        """Return the layout of sequences of these lengths [b], each at least 1."""
        numbers = lengths.cpu().numpy()
        order = np.argsort(-numbers, kind="stable")
        batch_sizes = (numbers[order][None] > np.arange(numbers.max())[:, None]).sum(axis=1)
        first = np.concatenate([[0], np.cumsum(batch_sizes)])
        sequence = np.concatenate([order[:size] for size in batch_sizes])
        time = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        device = lengths.device
        return Layout(
            torch.from_numpy(sequence).to(device),
            torch.from_numpy(time).to(device),
            torch.from_numpy(batch_sizes),
            torch.from_numpy(order).to(device),
            torch.from_numpy(first[numbers - 1] + rank).to(device),
        )


def linear(weight: Tensor, bias: Tensor, parts: Sequence[Part], states: Tensor | None = None) -> Tensor:
    """Apply a linear layer, outputs [n, outputs], to states [n, h], if given, joined with parts."""
    hidden = 0 if states is None else states.shape[1]
    total = bias if states is None else functional.linear(states, weight[:, :hidden], bias).float()
    for part, columns in zip(parts, _columns(weight[:, hidden:], parts), strict=True):
        contributions = functional.linear(part.values, columns).float()
        total = total + functional.embedding(part.rows, contributions)
    return total


class Weights(NamedTuple):
    """The weights of a GRU of one layer; the gates are reset, update and new state."""

    of_inputs: Tensor
    """[3h, d]"""
    of_state: Tensor
    """[3h, h]"""
    input_bias: Tensor
    """[3h]"""
    state_bias: Tensor
    """[3h]"""


def weights_of(gru: nn.GRU) -> Weights:
    """Return the weights of a GRU by name."""
    (weights,) = gru.all_weights
    return Weights(*weights)


def run_gru(gru: nn.GRU, parts: Sequence[Part], state: Tensor, batch_sizes: Tensor) -> Tensor:
    """Return the states [n, h] after each step of packed sequences, starting from `state` [b, h].

    The longest sequence comes first.
    """
    if state.is_cuda:
        inputs = torch.cat([part.values[part.rows] for part in parts], dim=1)
        states, _ = gru(PackedSequence(inputs, batch_sizes), state[None].contiguous())
        return torch.as_tensor(states.data)
    weights = weights_of(gru)
    tables: list[Tensor] = []
    rows: list[Tensor] = []
    count = 0
    for part, columns in zip(parts, _columns(weights.of_inputs, parts), strict=True):
        bias = None if tables else weights.input_bias
        tables.append(functional.linear(part.values, columns, bias).float())
        rows.append(part.rows + count)
        count += len(part.values)
    states = _Recurrence.apply(  # type: ignore[no-untyped-call]
        torch.cat(tables), torch.stack(rows, dim=1), state, weights.of_state, weights.state_bias, batch_sizes
    )
    return torch.as_tensor(states)


def _columns(weight: Tensor, parts: Sequence[Part]) -> tuple[Tensor, ...]:
    """Split a weight [outputs, d] into the columns that each part is multiplied with."""
    return weight.split([part.values.shape[1] for part in parts], dim=1)  # type: ignore[no-any-return, no-untyped-call]


def step_gru(gates: Tensor, state: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return the state [b, h] after one step. gates [b, 3h]: the contribution of the inputs."""
    reset, update, new = gates.chunk(3, dim=1)
    own_reset, own_update, own_new = functional.linear(state, weight, bias).chunk(3, dim=1)
    reset, update = torch.sigmoid(reset + own_reset), torch.sigmoid(update + own_update)
    new = torch.tanh(new + reset * own_new)
    return new + update * (state - new)


class _Recurrence(Function):
    """The GRU's recurrence on a CPU.

    table [m, 3h]: contributions to the gates; rows [n, parts]: the rows of the table that a step adds up;
    state [b, h]; weight [3h, h]; bias [3h] → states [n, h]. Under autocast, products are computed in its
    precision, sums in single precision.
    """

    @staticmethod
    def forward(
        ctx: Any,
        table: Tensor,
        rows: Tensor,
        state: Tensor,
        weight: Tensor,
        bias: Tensor,
        batch_sizes: Tensor,
    ) -> Tensor:
        ctx.precision = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else torch.float32
        count, hidden = len(rows), state.shape[1]
        before, after = torch.empty(count, hidden), torch.empty(count, hidden)
        kept = torch.empty(count, 4 * hidden)
        before[: len(state)] = state
        given, own_bias = table.detach().numpy(), bias.detach().numpy()
        with torch.autocast("cpu", enabled=False):
            turned = weight.to(ctx.precision).t()
            start, sizes = 0, batch_sizes.tolist()
            for size, following in zip(sizes, [*sizes[1:], 0], strict=True):
                products = before[start : start + size].to(ctx.precision) @ turned
                _advance(
                    given,
                    rows.numpy(),
                    before.numpy(),
                    after.numpy(),
                    kept.numpy(),
                    products.float().numpy(),
                    own_bias,
                    start,
                    following,
                )
                start += size
        ctx.save_for_backward(table, rows, weight, before, kept)
        ctx.sizes = sizes
        return after

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        table, rows, weight, before, kept = ctx.saved_tensors
        of_table, of_weight, of_bias = (torch.zeros_like(like) for like in (table, weight, weight[:, 0]))
        carried = torch.zeros(ctx.sizes[0], before.shape[1])
        came = gradient.contiguous().numpy()
        cast = weight.to(ctx.precision)
        start = len(before)
        for size in reversed(ctx.sizes):
            start -= size
            products = torch.empty(size, len(weight))
            _return(
                came,
                rows.numpy(),
                before.numpy(),
                kept.numpy(),
                carried.numpy(),
                of_table.numpy(),
                products.numpy(),
                start,
            )
            lowered = products.to(ctx.precision)
            carried[:size] += lowered @ cast
            of_weight += lowered.t() @ before[start : start + size].to(ctx.precision)
            of_bias += products.sum(dim=0)
        return of_table, None, carried, of_weight, of_bias, None


@contracted
def _advance(
    table: Floats,
    rows: NDArray[np.int64],
    before: Floats,
    after: Floats,
    kept: Floats,
    products: Floats,
    bias: Floats,
    start: int,
    following: int,
) -> None:
    """Advance the sequences by one step, and keep the values that the gradients need."""
    size, hidden = len(products), np.uint64(before.shape[1])
    two = hidden + hidden
    given = np.empty(3 * hidden, np.float32)
    for row in range(size):
        step = start + row
        given[:] = table[rows[step, 0]]
        for part in range(1, rows.shape[1]):
            contribution = table[rows[step, part]]
            for i in range(hidden + two):
                given[i] += contribution[i]
        own, old, new, keep = products[row], before[step], after[step], kept[step]
        for i in range(hidden):
            reset = sigmoid(given[i] + own[i] + bias[i])
            update = sigmoid(given[i + hidden] + own[i + hidden] + bias[i + hidden])
            own_fresh = own[i + two] + bias[i + two]
            fresh = tanh(given[i + two] + reset * own_fresh)
            keep[i], keep[i + hidden], keep[i + two], keep[i + two + hidden] = reset, update, fresh, own_fresh
            new[i] = fresh + update * (old[i] - fresh)
        if row < following:
            before[start + size + row] = new


@contracted
def _return(
    gradient: Floats,
    rows: NDArray[np.int64],
    before: Floats,
    kept: Floats,
    carried: Floats,
    of_table: Floats,
    products: Floats,
    start: int,
) -> None:
    """Propagate the gradients of one step back to its gates and to the table of contributions.

    `carried` holds the gradients of the states from later steps. It is overwritten with the part that
    bypasses the gates.
    """
    size, hidden = len(products), np.uint64(before.shape[1])
    two = hidden + hidden
    one = np.float32(1.0)
    of_given = np.empty(3 * hidden, np.float32)
    for row in range(size):
        step = start + row
        came, passed, old, keep, of_own = (
            gradient[step],
            carried[row],
            before[step],
            kept[step],
            products[row],
        )
        for i in range(hidden):
            reset, update, fresh, own_fresh = keep[i], keep[i + hidden], keep[i + two], keep[i + two + hidden]
            total = came[i] + passed[i]
            of_fresh = total * (one - update) * (one - fresh * fresh)
            of_given[i] = of_fresh * own_fresh * reset * (one - reset)
            of_given[i + hidden] = total * (old[i] - fresh) * update * (one - update)
            of_given[i + two] = of_fresh
            of_own[i], of_own[i + hidden], of_own[i + two] = (
                of_given[i],
                of_given[i + hidden],
                of_fresh * reset,
            )
            passed[i] = total * update
        for part in range(rows.shape[1]):
            contribution = of_table[rows[step, part]]
            for i in range(hidden + two):
                contribution[i] += of_given[i]
