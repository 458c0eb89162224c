"""A compiled decoder for CPUs, many times faster than `ProgramSpace.decode`, with the same programs.

All that does not change between steps is computed beforehand. The tokens' contribution to the GRU's gates and
to the output layer is computed once, z's contribution once per latent. A step is then two products with the
state. The second is skipped where the syntax leaves no choice. Complete programs take no more time.

The program of a latent depends on neither batch nor threads, see `leaps.embedding.compiled_layers`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.base.parallel import run_sliced
from leaps.dsl.mask import NEED, SHORTEST, Block, State
from leaps.dsl.syntax import MOST_TOKENS
from leaps.dsl.text import PREFIX, PREFIX_IDS
from leaps.embedding.compiled_layers import (
    GROUP,
    PANEL,
    Floats,
    Linear,
    apply,
    contracted,
    dot,
    in_panels,
    in_whole_panels,
    padded,
    sigmoid,
    tanh,
)
from leaps.embedding.model import ProgramSpace

GRAIN = 16
"""minimum number of latents per thread"""

_GATES = 3
_BLOCKS = len(Block)
_FIRST, _END = int(State.FIRST), int(State.END)
_PROGRAM = int(Block.PROGRAM)
_OWED = int(NEED[State.FIRST]) + 1
_WRITTEN = len(PREFIX)


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
    """[rows] number of allowed tokens"""
    change: NDArray[np.int64]
    """[rows, tokens] the change in the number of tokens owed, by token"""
    following: NDArray[np.int64]
    """[rows, tokens] the state after a token"""
    opens: NDArray[np.int64]
    """[states, tokens] the block that a token opens"""
    closes: NDArray[np.int64]
    """[tokens] 1 if the token closes a block"""


@contracted
def _gate(sums: Floats, of_latent: Floats, of_token: Floats) -> None:
    """Convert a panel of sums to a gate's values."""
    for i in range(np.uint64(PANEL)):
        sums[i] = sigmoid(sums[i] + of_latent[i] + of_token[i])


@contracted
def _move(
    state: Floats, reset: Floats, update: Floats, sums: Floats, of_latent: Floats, of_token: Floats
) -> None:
    """Advance a panel of the GRU's state by one step."""
    for i in range(np.uint64(PANEL)):
        new = tanh(of_latent[i] + of_token[i] + reset[i] * sums[i])
        state[i] = new + update[i] * (state[i] - new)


@contracted
def _hide(sums: Floats, of_latent: Floats, of_token: Floats, hidden: Floats) -> None:
    """Write a panel of the output's hidden layer."""
    for i in range(np.uint64(PANEL)):
        hidden[i] = tanh(sums[i] + of_latent[i] + of_token[i])


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
    """Advance the GRU by each row's token."""
    apply(network.gates_of_state, states, rows, count, sums)
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
    """Return the only token that may come next, or -1 if there are several. `room`: tokens left beyond those
    owed.
    """
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
    """Return the most likely of the tokens that may come next; of equals, the lowest."""
    likeliest, highest = np.int64(-1), np.float32(0.0)
    for choice in range(grammar.numbers[line]):
        token = grammar.choices[line, choice]
        if grammar.change[line, token] < room:
            logit = network.logit_bias[token] + dot(network.logit_weight[token], hidden)
            if likeliest < 0 or logit > highest:
                likeliest, highest = token, logit
    return likeliest


@jit
def _decode_range(
    network: Network, grammar: Grammar, points: Floats, programs: NDArray[np.uint8], start: int, stop: int
) -> None:
    """Decode points [b, units] from `start` to `stop` into programs that already have the prefix."""
    units, max_length = points.shape[1], programs.shape[1]
    panels = units // PANEL
    gate_sums = np.empty((_GATES * panels, GROUP, PANEL), np.float32)
    gates_of_latent = np.empty_like(gate_sums)
    output_sums = np.empty((panels, GROUP, PANEL), np.float32)
    output_of_latent = np.empty_like(output_sums)
    states = np.empty((GROUP, units), np.float32)
    hidden = np.empty(units, np.float32)
    tokens = np.empty(GROUP, np.int64)
    # The rows of unfinished programs, and of those with a choice of tokens.
    rows, asking = np.empty(GROUP, np.uint64), np.empty(GROUP, np.uint64)
    # The automaton of each program, as in `leaps.embedding.syntax`.
    state, depth, owed = np.empty(GROUP, np.int64), np.empty(GROUP, np.int64), np.empty(GROUP, np.int64)
    stack = np.empty((GROUP, max_length), np.int64)

    for first in range(start, stop, GROUP):
        count = min(GROUP, stop - first)
        asking[:] = 0  # padding rows are computed, too, here and below, but never used
        rows[:] = 0
        for row in range(count):
            rows[row] = row
            states[row] = points[first + row]
            tokens[row] = programs[first + row, _WRITTEN - 1]
            state[row], depth[row], owed[row] = _FIRST, 1, _OWED
            stack[row, 1] = _PROGRAM
        apply(network.latent_of_point, states, rows, count, output_sums)
        for row in range(count):
            for panel in range(panels):
                states[row, panel * PANEL : (panel + 1) * PANEL] = output_sums[panel, row]
        apply(network.gates_of_latent, states, rows, count, gates_of_latent)
        apply(network.output_of_latent, states, rows, count, output_of_latent)

        for position in range(_WRITTEN, max_length):
            left = max_length - position
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

            apply(network.output_of_state, states, asking, undecided, output_sums)
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
                programs[first + np.int64(row), position] = token
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


def _network(space: ProgramSpace, units: int) -> Network:
    size, vocabulary = space.config.hidden, len(space.language.tokens)
    weights = {
        name: tensor.cpu().numpy().astype(np.float32) for name, tensor in space.decoder.state_dict().items()
    }
    gates_of_state = weights["gru.weight_hh_l0"].reshape(_GATES, size, size)
    token = space.config.embedding
    of_token, of_latent = np.split(
        weights["gru.weight_ih_l0"].reshape(_GATES, size, token + size), [token], axis=2
    )
    output_of_state, output_of_token, output_of_latent = np.split(
        weights["output.0.weight"][None], [size, size + token], axis=2
    )

    def table(weight: Floats) -> Floats:
        shares = np.einsum("goi,ti->tgo", weight, weights["embedding.weight"])
        return padded(shares, vocabulary, len(weight), units).reshape(vocabulary, -1, PANEL)

    axes, centre = (
        tensor.cpu().numpy().astype(np.float32)
        for tensor in (space.coordinates.axes, space.coordinates.centre)
    )
    return Network(
        latent_of_point=in_panels(axes.T[None], centre[None], units),
        # Separate biases, since the reset gate scales the state's contribution together with its bias.
        gates_of_state=in_panels(gates_of_state, weights["gru.bias_hh_l0"].reshape(_GATES, size), units),
        gates_of_latent=in_panels(of_latent, weights["gru.bias_ih_l0"].reshape(_GATES, size), units),
        gates_of_token=table(of_token),
        output_of_state=in_panels(output_of_state, np.zeros((1, size), np.float32), units),
        output_of_latent=in_panels(output_of_latent, weights["output.0.bias"][None], units),
        output_of_token=table(output_of_token),
        logit_weight=padded(weights["output.2.weight"], vocabulary, units),
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
    """A compiled decoder with a copy of the present weights of a program space."""

    def __init__(self, space: ProgramSpace) -> None:
        self.config, self._pad = space.config, space.language.pad
        self._units = in_whole_panels(self.config.hidden)
        self._network = _network(space, self._units)
        self._grammar = _grammar(space)

    def decode(self, points: Floats, *, max_length: int | None = None) -> NDArray[np.uint8]:
        """Decode points [b, l] to their most likely whole programs [b, max_length], padded with `<pad>`."""
        length = self.config.max_length if max_length is None else max_length
        if not SHORTEST <= length <= MOST_TOKENS:
            raise ValueError(f"max_length={length}: {SHORTEST} to {MOST_TOKENS} tokens can be decoded")
        if points.ndim != 2 or points.shape[1] != self.config.latent:
            raise ValueError(f"points should be [programs, {self.config.latent}], found {list(points.shape)}")
        programs = np.full((len(points), length), self._pad, np.uint8)
        programs[:, :_WRITTEN] = PREFIX_IDS
        inputs = padded(points, len(points), self._units)
        run_sliced(
            lambda first, last: _decode_range(self._network, self._grammar, inputs, programs, first, last),
            len(points),
            grain=GRAIN,
        )
        return programs
