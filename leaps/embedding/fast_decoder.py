"""Decode latent programs on a CPU, as `ProgramSpace.decode` does, but many times faster.

Whatever does not change from step to step is computed beforehand: the tokens' share of the GRU's gates and of
the output layer once, z's share once per latent. A step is then two products with the state, and the second
is skipped where the syntax leaves no choice. Programs drop out of the work as they end.

Every row's sums are taken in the same order whoever its neighbours are, so that a latent's program depends on
neither batch nor threads. (BLAS promises no such thing, and for so few rows is slower: 67 GFLOP/s for 32
rows, against 110 here.)
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from leaps.dsl.mask import NEED, SHORTEST, Block, State
from leaps.dsl.syntax import MAX_NESTING
from leaps.dsl.text import PREFIX
from leaps.embedding.model import VOCABULARY, ProgramSpace
from leaps.jit import OPTIONS, jit
from leaps.karel.world import LANGUAGE
from leaps.parallel import share

F = TypeVar("F", bound=Callable[..., Any])
Floats = NDArray[np.float32]

PANEL = 128
"""columns of a matrix that are worked on together, and kept in the innermost cache with the results"""
QUAD = 4
"""rows, and inputs, that are worked on together: all 16 factors stay in registers"""
GROUP = 32
"""programs that are written together; more would push each other out of the cache"""
GRAIN = 16
"""latents that are worth another thread"""

LONGEST = 4 * MAX_NESTING
"""tokens of the longest program that never nests too deep"""

_PANEL = np.uint64(PANEL)
_QUAD = np.uint64(QUAD)
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_GATES = 3
_BLOCKS = len(Block)
_FIRST, _END = int(State.FIRST), int(State.END)
_PROGRAM = int(Block.PROGRAM)
_OWED = int(NEED[State.FIRST]) + 1
_WRITTEN = len(PREFIX)


class Linear(NamedTuple):
    """A linear layer: the columns of its matrix in panels, filled up with zeros."""

    weight: Floats
    """[panels, inputs / QUAD, QUAD * PANEL]"""
    bias: Floats
    """[panels, PANEL]"""


class Network(NamedTuple):
    """The decoder's weights. A gate, like the output's first layer, has units / PANEL panels."""

    latent_of_point: Linear
    gates_of_state: Linear
    gates_of_latent: Linear
    gates_of_token: Floats
    """[tokens, panels, PANEL]"""
    output_of_state: Linear
    output_of_latent: Linear
    output_of_token: Floats
    """[tokens, panels, PANEL]"""
    logit_weight: Floats
    """[tokens, units]"""
    logit_bias: Floats
    """[tokens]"""


class Grammar(NamedTuple):
    """The syntax as tables; a row is state * blocks + innermost open block."""

    choices: NDArray[np.int64]
    """[rows, tokens] the tokens that the row allows, lowest first"""
    numbers: NDArray[np.int64]
    """[rows] how many they are"""
    change: NDArray[np.int64]
    """[rows, tokens] by how much a token changes the number of tokens owed"""
    following: NDArray[np.int64]
    """[rows, tokens] the state after a token"""
    opens: NDArray[np.int64]
    """[states, tokens] the block that a token opens"""
    closes: NDArray[np.int64]
    """[tokens] 1 if the token closes a block"""


def _contracted(function: F) -> F:
    """Compile `function`, with a sum and a product joined into one instruction."""
    return cast(F, numba.njit(nogil=True, fastmath={"contract"}, **OPTIONS)(function))


def _reordered(function: F) -> F:
    """Compile `function`, with sums in an order that vector instructions like: ever the same one."""
    return cast(F, numba.njit(nogil=True, fastmath={"contract", "reassoc", "nsz"}, **OPTIONS)(function))


@_contracted
def _apply(layer: Linear, states: Floats, rows: NDArray[np.uint64], count: int, out: Floats) -> None:
    """Put the layer's outputs for `states[rows[:count]]` into `out` [panels, GROUP, PANEL].

    A last quad that is not full is computed in full: `rows` must be valid up to there. Four outputs are
    updated from four inputs at a time, in the plain loop that compilers vectorise. Offsets within a quad are
    constants, as the compiler must see that its rows don't overlap.
    """
    quads = (count + QUAD - 1) // QUAD
    for panel in range(len(layer.weight)):
        quadwise = out[panel].reshape(GROUP // QUAD, QUAD * PANEL)
        bias = layer.bias[panel]
        for slot in range(quads * QUAD):
            sums = out[panel, slot]
            for i in range(_PANEL):
                sums[i] = bias[i]
        for block in range(layer.weight.shape[1]):
            weight = layer.weight[panel, block]
            first = np.uint64(block) * _QUAD
            for quad in range(quads):
                sums = quadwise[quad]
                base = np.uint64(quad) * _QUAD
                a, b = states[rows[base]], states[rows[base + _ONE]]
                c, d = states[rows[base + _TWO]], states[rows[base + _THREE]]
                a0, a1, a2, a3 = a[first], a[first + _ONE], a[first + _TWO], a[first + _THREE]
                b0, b1, b2, b3 = b[first], b[first + _ONE], b[first + _TWO], b[first + _THREE]
                c0, c1, c2, c3 = c[first], c[first + _ONE], c[first + _TWO], c[first + _THREE]
                d0, d1, d2, d3 = d[first], d[first + _ONE], d[first + _TWO], d[first + _THREE]
                for i in range(_PANEL):
                    j, k, m = i + _PANEL, i + _TWO * _PANEL, i + _THREE * _PANEL
                    w0, w1, w2, w3 = weight[i], weight[j], weight[k], weight[m]
                    sums[i] = sums[i] + a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3
                    sums[j] = sums[j] + b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3
                    sums[k] = sums[k] + c0 * w0 + c1 * w1 + c2 * w2 + c3 * w3
                    sums[m] = sums[m] + d0 * w0 + d1 * w1 + d2 * w2 + d3 * w3


def _lambert(levels: int) -> tuple[list[np.float32], list[np.float32]]:
    """Lambert's continued fraction, tanh x = x / (1 + y / (3 + y / (5 + …))) with y = x², cut off.

    Returns the coefficients of the polynomials above and below the line, lowest first.
    """
    above, below = [Fraction(2 * levels - 1)], [Fraction(1)]
    for level in range(levels - 1, 0, -1):
        shifted = [Fraction(0), *below]
        width = max(len(above), len(shifted))
        grown = [Fraction(2 * level - 1) * c for c in above] + [Fraction(0)] * (width - len(above))
        shifted += [Fraction(0)] * (width - len(shifted))
        above, below = [a + b for a, b in zip(grown, shifted, strict=True)], above
    scale = 1 / below[0]
    return [np.float32(float(c * scale)) for c in below], [np.float32(float(c * scale)) for c in above]


_ABOVE, _BELOW = (tuple(coefficients) for coefficients in _lambert(12))
_LARGEST = np.float32(8.0)  # tanh of it is 1 in single precision


@_contracted
def _tanh(x: np.float32) -> np.float32:
    """Hyperbolic tangent to 4e-7, without branches, so that loops over it vectorise."""
    x = min(max(x, -_LARGEST), _LARGEST)
    y = x * x
    above = _ABOVE[5] * y + _ABOVE[4]
    above = above * y + _ABOVE[3]
    above = above * y + _ABOVE[2]
    above = above * y + _ABOVE[1]
    above = above * y + _ABOVE[0]
    below = _BELOW[6] * y + _BELOW[5]
    below = below * y + _BELOW[4]
    below = below * y + _BELOW[3]
    below = below * y + _BELOW[2]
    below = below * y + _BELOW[1]
    below = below * y + _BELOW[0]
    return np.float32(x * above / below)


@_contracted
def _sigmoid(x: np.float32) -> np.float32:
    half = np.float32(0.5)
    return np.float32(half * _tanh(half * x) + half)


@_contracted
def _gate(sums: Floats, of_latent: Floats, of_token: Floats) -> None:
    """Turn a panel of sums into a gate's values."""
    for i in range(_PANEL):
        sums[i] = _sigmoid(sums[i] + of_latent[i] + of_token[i])


@_contracted
def _move(
    state: Floats, reset: Floats, update: Floats, sums: Floats, of_latent: Floats, of_token: Floats
) -> None:
    """Take a panel of the GRU's state one step further."""
    for i in range(_PANEL):
        new = _tanh(of_latent[i] + of_token[i] + reset[i] * sums[i])
        state[i] = new + update[i] * (state[i] - new)


@_contracted
def _hide(sums: Floats, of_latent: Floats, of_token: Floats, hidden: Floats) -> None:
    """Write a panel of the output's hidden layer."""
    for i in range(_PANEL):
        hidden[i] = _tanh(sums[i] + of_latent[i] + of_token[i])


@_reordered
def _dot(a: Floats, b: Floats) -> np.float32:
    total = np.float32(0.0)
    for i in range(np.uint64(len(a))):
        total += a[i] * b[i]
    return total


@jit
def _read(
    network: Network,
    states: Floats,
    rows: NDArray[np.uint64],
    count: int,
    tokens: NDArray[np.int64],
    of_latent: Floats,
    sums: Floats,
) -> None:
    """Let the GRU read each row's token."""
    _apply(network.gates_of_state, states, rows, count, sums)
    panels = len(sums) // _GATES
    for slot in range(count):
        row = rows[slot]
        of_token = network.gates_of_token[tokens[row]]
        for reset in range(panels):
            update, new = panels + reset, 2 * panels + reset  # torch's order
            _gate(sums[reset, slot], of_latent[reset, row], of_token[reset])
            _gate(sums[update, slot], of_latent[update, row], of_token[update])
            _move(
                states[row, reset * PANEL : (reset + 1) * PANEL],
                sums[reset, slot],
                sums[update, slot],
                sums[new, slot],
                of_latent[new, row],
                of_token[new],
            )


@jit
def _only(grammar: Grammar, line: int, room: int) -> np.int64:
    """Say which token may come next, or -1 if there is a choice. `room`: tokens left beyond those owed."""
    only = np.int64(-1)
    for choice in range(grammar.numbers[line]):
        token = grammar.choices[line, choice]
        if grammar.change[line, token] < room:
            if only >= 0:
                return np.int64(-1)
            only = token
    return only


@jit
def _likeliest(network: Network, hidden: Floats, grammar: Grammar, line: int, room: int) -> np.int64:
    """Say which of the tokens that may come next is most likely; the lowest of equals."""
    likeliest, highest = np.int64(-1), np.float32(0.0)
    for choice in range(grammar.numbers[line]):
        token = grammar.choices[line, choice]
        if grammar.change[line, token] < room:
            logit = network.logit_bias[token] + _dot(network.logit_weight[token], hidden)
            if likeliest < 0 or logit > highest:
                likeliest, highest = token, logit
    return likeliest


@jit
def _decode_range(
    network: Network, grammar: Grammar, points: Floats, programs: NDArray[np.uint8], start: int, stop: int
) -> None:
    """Write the programs of points [b, units] from `start` to `stop`, after the prefix that is there."""
    units, max_length = points.shape[1], programs.shape[1]
    panels = units // PANEL
    gate_sums = np.empty((_GATES * panels, GROUP, PANEL), np.float32)
    gates_of_latent = np.empty_like(gate_sums)
    output_sums = np.empty((panels, GROUP, PANEL), np.float32)
    output_of_latent = np.empty_like(output_sums)
    states = np.empty((GROUP, units), np.float32)
    hidden = np.empty(units, np.float32)
    tokens = np.empty(GROUP, np.int64)
    # The rows of the programs that are unfinished, and of those that have a choice.
    rows, asking = np.empty(GROUP, np.uint64), np.empty(GROUP, np.uint64)
    # The automaton of each program, as in `leaps.embedding.syntax`.
    state, depth, owed = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    stack = np.empty((GROUP, max_length), np.int64)

    for first in range(start, stop, GROUP):
        count = min(GROUP, stop - first)
        asking[:] = 0  # here and below: what stands behind the last row is computed, too, if never used
        rows[:] = 0
        for row in range(count):
            rows[row] = row
            states[row] = points[first + row]
            tokens[row] = programs[first + row, _WRITTEN - 1]
            state[row], depth[row], owed[row] = _FIRST, 1, _OWED
            stack[row, 1] = _PROGRAM
        _apply(network.latent_of_point, states, rows, count, output_sums)
        for row in range(count):
            for panel in range(panels):
                states[row, panel * PANEL : (panel + 1) * PANEL] = output_sums[panel, row]
        _apply(network.gates_of_latent, states, rows, count, gates_of_latent)
        _apply(network.output_of_latent, states, rows, count, output_of_latent)

        for place in range(_WRITTEN, max_length):
            left = max_length - place
            _read(network, states, rows, count, tokens, gates_of_latent, gate_sums)

            undecided = 0
            for slot in range(count):
                row = rows[slot]
                only = _only(grammar, state[row] * _BLOCKS + stack[row, depth[row]], left - owed[row])
                if only >= 0:
                    tokens[row] = only
                else:
                    asking[undecided] = row
                    undecided += 1

            _apply(network.output_of_state, states, asking, undecided, output_sums)
            for slot in range(undecided):
                row = asking[slot]
                for panel in range(panels):
                    _hide(
                        output_sums[panel, slot],
                        output_of_latent[panel, row],
                        network.output_of_token[tokens[row], panel],
                        hidden[panel * PANEL : (panel + 1) * PANEL],
                    )
                line = state[row] * _BLOCKS + stack[row, depth[row]]
                tokens[row] = _likeliest(network, hidden, grammar, line, left - owed[row])

            unfinished = 0
            for slot in range(count):
                row = rows[slot]
                token = tokens[row]
                programs[first + np.int64(row), place] = token
                line = state[row] * _BLOCKS + stack[row, depth[row]]
                opened = grammar.opens[state[row], token]
                owed[row] += grammar.change[line, token]
                depth[row] += np.int64(opened > 0) - grammar.closes[token]
                if opened > 0:
                    stack[row, depth[row]] = opened
                state[row] = grammar.following[line, token]
                if state[row] != _END:
                    rows[unfinished] = row
                    unfinished += 1
            count = unfinished
            if count == 0:
                break


def _padded(array: Floats, *shape: int) -> Floats:
    """Fill up with zeros: units that are not there stay 0."""
    out = np.zeros(shape, np.float32)
    out[tuple(slice(size) for size in array.shape)] = array
    return out


def _linear(weight: Floats, bias: Floats, units: int) -> Linear:
    """Bring a layer into panels: weight [gates, outputs, inputs], bias [gates, outputs]."""
    gates = len(weight)
    columns = _padded(weight, gates, units, units).reshape(-1, PANEL, units)
    return Linear(
        np.ascontiguousarray(columns.transpose(0, 2, 1)).reshape(-1, units // QUAD, QUAD * PANEL),
        _padded(bias, gates, units).reshape(-1, PANEL),
    )


def _network(space: ProgramSpace, units: int) -> Network:
    size = space.config.hidden
    weights = {
        name: tensor.cpu().numpy().astype(np.float32) for name, tensor in space.decoder.state_dict().items()
    }
    gates_of_state = weights["gru.weight_hh_l0"].reshape(_GATES, size, size)
    of_token, of_latent = np.split(weights["gru.weight_ih_l0"].reshape(_GATES, size, 2 * size), 2, axis=2)
    output_of_state, output_of_token, output_of_latent = np.split(weights["output.0.weight"][None], 3, axis=2)

    def table(weight: Floats) -> Floats:
        shares = np.einsum("goi,ti->tgo", weight, weights["embedding.weight"])
        return _padded(shares, VOCABULARY, len(weight), units).reshape(VOCABULARY, -1, PANEL)

    axes, centre = (
        tensor.cpu().numpy().astype(np.float32)
        for tensor in (space.coordinates.axes, space.coordinates.centre)
    )
    return Network(
        latent_of_point=_linear(axes.T[None], centre[None], units),
        # The biases are apart, as the reset gate scales the state's share of the new state with its bias.
        gates_of_state=_linear(gates_of_state, weights["gru.bias_hh_l0"].reshape(_GATES, size), units),
        gates_of_latent=_linear(of_latent, weights["gru.bias_ih_l0"].reshape(_GATES, size), units),
        gates_of_token=table(of_token),
        output_of_state=_linear(output_of_state, np.zeros((1, size), np.float32), units),
        output_of_latent=_linear(output_of_latent, weights["output.0.bias"][None], units),
        output_of_token=table(output_of_token),
        logit_weight=_padded(weights["output.2.weight"], VOCABULARY, units),
        logit_bias=weights["output.2.bias"],
    )


def _grammar(space: ProgramSpace) -> Grammar:
    syntax = space.syntax
    legal = syntax.legal.cpu().numpy()
    return Grammar(
        choices=np.argsort(~legal, axis=1, kind="stable"),
        numbers=legal.sum(axis=1),
        change=syntax.change.cpu().numpy(),
        following=syntax.following.cpu().numpy(),
        opens=syntax.opens.cpu().numpy(),
        closes=syntax.closes.cpu().numpy(),
    )


class FastDecoder:
    """Decode latent programs with a copy of the weights that a program space has now."""

    def __init__(self, space: ProgramSpace) -> None:
        self.config = space.config
        self._units = -(-self.config.hidden // PANEL) * PANEL
        self._network = _network(space, self._units)
        self._grammar = _grammar(space)

    def decode(self, points: Floats, *, max_length: int | None = None) -> NDArray[np.uint8]:
        """The most likely programs of points [b, l]: whole, [b, max_length], filled up with `<pad>`."""
        length = self.config.max_length if max_length is None else max_length
        if not SHORTEST <= length <= LONGEST:
            raise ValueError(f"max_length={length}: {SHORTEST} to {LONGEST} tokens can be decoded")
        if points.ndim != 2 or points.shape[1] != self.config.latent:
            raise ValueError(f"points should be [programs, {self.config.latent}], found {list(points.shape)}")
        programs = np.full((len(points), length), LANGUAGE.pad, np.uint8)
        programs[:, :_WRITTEN] = [LANGUAGE.ids[name] for name in PREFIX]
        padded = _padded(points, len(points), self._units)
        share(
            lambda first, last: _decode_range(self._network, self._grammar, padded, programs, first, last),
            len(points),
            grain=GRAIN,
        )
        return programs
