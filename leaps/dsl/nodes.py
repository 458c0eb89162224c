"""Find the nodes of a program: the pieces that can be replaced, and their relations.

Programs stay arrays of token ids here, since building trees would be too slow: a search needs a program's
nodes for every neighbour that it draws, tens of thousands of times a second. This module only reads programs;
`neighbours.py` writes them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.dsl.language import Kind
from leaps.dsl.text import PREFIX

BEGIN = len(PREFIX)
"""position of a program's first statement"""

STATEMENT, CONDITION, COUNT = range(3)
"""kinds of nodes"""


class Nodes(NamedTuple):
    """Replaceable pieces of a program, in the order of the text. Only the first `count` entries are valid."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    """one past the last token"""
    kind: NDArray[np.int64]
    """STATEMENT, CONDITION or COUNT"""
    nesting: NDArray[np.int64]
    """number of enclosing loops and conditionals; a condition or count is inside its own statement"""
    parent: NDArray[np.int64]
    """position where the block around a statement begins: the same for all siblings"""


@jit
def empty_nodes(room: int) -> Nodes:
    """Allocate arrays for the nodes of programs of up to `room` tokens."""
    return Nodes(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )


@jit
def length_of(tokens: NDArray[np.uint8], pad: int) -> int:
    """Count the tokens of a program without its padding."""
    length = len(tokens)
    while length > 0 and tokens[length - 1] == pad:
        length -= 1
    return length


@jit
def find_nodes(
    tokens: NDArray[np.uint8],
    length: int,
    kinds: NDArray[np.uint8],
    nodes: Nodes,
    opened: NDArray[np.int64],
    blocks: NDArray[np.int64],
) -> int:
    """List the nodes of a program and return how many there are.

    `opened` and `blocks` are stacks: the open statements, and the position where each block begins.
    """
    count = depth = 0
    blocks[0] = BEGIN
    for at in range(BEGIN, length - 1):
        kind = kinds[tokens[at]]
        if kind in (Kind.ACTION, Kind.WHILE, Kind.REPEAT, Kind.IF, Kind.IFELSE):
            nodes.start[count], nodes.end[count] = at, at + 1
            nodes.kind[count], nodes.nesting[count], nodes.parent[count] = STATEMENT, depth, blocks[depth]
            if kind != Kind.ACTION:
                opened[depth] = count
                depth += 1
            count += 1
        elif kind == Kind.COUNT:
            nodes.start[count], nodes.end[count] = at, at + 1
            nodes.kind[count], nodes.nesting[count], nodes.parent[count] = COUNT, depth, -1
            count += 1
        elif kind == Kind.OPEN_C and kinds[tokens[at - 1]] != Kind.NOT:
            end = at + 3 if kinds[tokens[at + 1]] != Kind.NOT else at + 6
            nodes.start[count], nodes.end[count] = at, end
            nodes.kind[count], nodes.nesting[count], nodes.parent[count] = CONDITION, depth, -1
            count += 1
        elif kind in (Kind.OPEN_W, Kind.OPEN_R, Kind.OPEN_I, Kind.OPEN_E):
            blocks[depth] = at + 1
        elif kind in (Kind.CLOSE_W, Kind.CLOSE_R, Kind.CLOSE_E) or (
            kind == Kind.CLOSE_I and kinds[tokens[at + 1]] != Kind.ELSE
        ):
            depth -= 1
            nodes.end[opened[depth]] = at + 1
    return count


@jit
def within(
    tokens: NDArray[np.uint8], length: int, kinds: NDArray[np.uint8], nesting: int, in_a_row: int
) -> bool:
    """Check a program against limits of its nesting and of the number of statements in a block."""
    depth = 0
    rows = np.zeros(nesting + 2, np.int64)
    for at in range(BEGIN, length - 1):
        kind = kinds[tokens[at]]
        if kind in (Kind.ACTION, Kind.WHILE, Kind.REPEAT, Kind.IF, Kind.IFELSE):
            rows[depth] += 1
            if rows[depth] > in_a_row:
                return False
        elif kind in (Kind.OPEN_W, Kind.OPEN_R, Kind.OPEN_I, Kind.OPEN_E):
            depth += 1
            if depth > nesting:
                return False
            rows[depth] = 0
        elif kind in (Kind.CLOSE_W, Kind.CLOSE_R, Kind.CLOSE_I, Kind.CLOSE_E):
            depth -= 1
    return True


@jit
def siblings(nodes: Nodes, count: int, node: int) -> int:
    """Count the statements in the same block as a statement, itself included."""
    number = 0
    for other in range(count):
        number += nodes.kind[other] == STATEMENT and nodes.parent[other] == nodes.parent[node]
    return number


@jit
def next_in_block(nodes: Nodes, count: int, node: int) -> int:
    """Return the statement that follows a statement in its block; -1 if it is the last."""
    for other in range(node + 1, count):
        if nodes.kind[other] == STATEMENT and nodes.start[other] == nodes.end[node]:
            return other
    return -1


@jit
def last_of_block(nodes: Nodes, count: int, node: int) -> int:
    """Return the last statement of a node's block; the node itself if it is not a statement."""
    last = node
    if nodes.kind[node] == STATEMENT:
        for other in range(node + 1, count):
            if nodes.kind[other] == STATEMENT and nodes.parent[other] == nodes.parent[node]:
                last = other
    return last


@jit
def begins_block_of(nodes: Nodes, node: int, outer: int) -> bool:
    """Check whether a node after `outer` is the first statement in a block of `outer`."""
    return bool(
        nodes.kind[node] == STATEMENT
        and nodes.end[node] < nodes.end[outer]
        and nodes.nesting[node] == nodes.nesting[outer] + 1
        and nodes.start[node] == nodes.parent[node]
    )
