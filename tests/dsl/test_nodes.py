"""The nodes found among tokens are those of the parser's tree: what they are, where they stand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.dsl.language import Language
from leaps.dsl.nodes import (
    BEGIN,
    CONDITION,
    COUNT,
    STATEMENT,
    Nodes,
    begins_block_of,
    empty_nodes,
    find_nodes,
    last_of_block,
    length_of,
    next_in_block,
    siblings,
    within,
)
from leaps.dsl.sample import ProgramDistribution, sample_programs
from leaps.dsl.syntax import (
    Action,
    Block,
    Program,
    Repeat,
    blocks,
    condition_tokens,
    head_tokens,
    tokens_of,
    walk,
)
from leaps.dsl.text import parse
from leaps.karel.world import LANGUAGE, PROGRAMS
from tests.dsl.helpers import GOLDEN
from tests.hoover import HOOVER
from tests.strategies import programs

Node = tuple[int, int, int, int, int]
"""start, end, kind, nesting, parent"""
SHORTEST = "DEF run m( move m)"
UNTOUCHED = -9


def row_of(program: Program | str, length: int | None = None) -> NDArray[np.uint8]:
    """A program as a row of token ids, filled up with `<pad>` if it is to be longer."""
    words = program.split() if isinstance(program, str) else tokens_of(program)
    return np.asarray(LANGUAGE.batch([LANGUAGE.encode(words)], length or len(words))[0])


def found_in(row: NDArray[np.uint8], language: Language = LANGUAGE) -> tuple[Nodes, int]:
    """The nodes of a program, and how many they are."""
    room = len(row)
    nodes = Nodes(*(np.full(room, UNTOUCHED, np.int64) for _ in Nodes._fields))
    stacks = np.empty(room, np.int64), np.empty(room, np.int64)
    return nodes, find_nodes(row, length_of(row, language.pad), language.kinds, nodes, *stacks)


def nodes_of(row: NDArray[np.uint8], language: Language = LANGUAGE) -> list[Node]:
    nodes, count = found_in(row, language)
    assert all((field[count:] == UNTOUCHED).all() for field in nodes)
    return list(zip(*(field[:count].tolist() for field in nodes), strict=True))


def nodes_of_tree(program: Program) -> list[Node]:
    """The same from the tree, counting the tokens that each part of it is written with."""
    found: list[Node] = []

    def visit(block: Block, begin: int, depth: int) -> int:
        position = begin
        for statement in block:
            start, mine = position, len(found)
            position += len(head_tokens(statement))
            found.append((start, position, STATEMENT, depth, begin))
            if isinstance(statement, Repeat):
                found.append((start + 1, position, COUNT, depth + 1, -1))
            elif not isinstance(statement, Action):
                assert position - start - 1 == len(condition_tokens(statement.condition))
                found.append((start + 1, position, CONDITION, depth + 1, -1))
            for opening, body, _ in blocks(statement):
                position = visit(body, position + len(opening), depth + 1) + 1
            found[mine] = (start, position, STATEMENT, depth, begin)
        return position

    assert visit(program.body, 3, 0) == len(tokens_of(program)) - 1
    return found


def blocks_of_tree(program: Program) -> list[tuple[int, list[int]]]:
    """Every block: the node it is a block of (-1: the program), and the nodes that are its statements."""
    found: list[tuple[int, list[int]]] = []
    count = 0

    def visit(block: Block, outer: int) -> None:
        nonlocal count
        members: list[int] = []
        found.append((outer, members))
        for statement in block:
            mine = count
            members.append(mine)
            count += 1 if isinstance(statement, Action) else 2  # a condition or a count follows its statement
            for _, body, _ in blocks(statement):
                visit(body, mine)

    visit(program.body, -1)
    return found


# What the nodes are


@settings(max_examples=150)
@given(programs)
def test_the_nodes_are_those_of_the_tree(program: Program) -> None:
    assert nodes_of(row_of(program)) == nodes_of_tree(program)


def test_the_nodes_of_real_programs_are_those_of_their_trees() -> None:
    for text in GOLDEN[::4]:
        assert nodes_of(row_of(text, 150)) == nodes_of_tree(parse(text, LANGUAGE))


@pytest.mark.parametrize(
    ("language", "distribution"), [(LANGUAGE, PROGRAMS), (HOOVER.language, HOOVER.programs)]
)
def test_the_nodes_of_random_programs_are_those_of_their_trees(
    language: Language, distribution: ProgramDistribution
) -> None:
    """Of any language: as a search draws them, with padding."""
    for row in sample_programs(language, distribution, 300, seed=2):
        assert nodes_of(row, language) == nodes_of_tree(parse(language.text(row), language))


def test_the_nodes_of_a_program_by_hand() -> None:
    row = row_of("DEF run m( WHILE c( not c( frontIsClear c) c) w( REPEAT R=3 r( move r) w) turnLeft m)", 30)
    assert nodes_of(row) == [
        (3, 17, STATEMENT, 0, 3),  # WHILE … w)
        (4, 10, CONDITION, 1, -1),
        (11, 16, STATEMENT, 1, 11),  # REPEAT … r)
        (12, 13, COUNT, 2, -1),
        (14, 15, STATEMENT, 2, 14),  # move
        (17, 18, STATEMENT, 0, 3),  # turnLeft
    ]


@settings(max_examples=100)
@given(programs)
def test_the_text_of_a_node_parses_as_its_kind(program: Program) -> None:
    """Put alone into the smallest program that has a place for it, and read by the parser."""
    around = {
        STATEMENT: "DEF run m( {} m)",
        CONDITION: "DEF run m( WHILE {} w( move w) m)",
        COUNT: "DEF run m( REPEAT {} r( move r) m)",
    }
    words = tokens_of(program)
    read = [
        (kind, parse(around[kind].format(" ".join(words[start:end])), LANGUAGE))
        for start, end, kind, _, _ in nodes_of(row_of(program))
    ]
    statements = list(walk(program))
    assert [tree for kind, tree in read if kind == STATEMENT] == [Program((one,)) for one in statements]
    assert [head_tokens(tree.body[0])[1:] for kind, tree in read if kind != STATEMENT] == [
        head_tokens(one)[1:] for one in statements if not isinstance(one, Action)
    ]


@settings(max_examples=100)
@given(programs)
def test_nodes_stand_in_the_order_of_the_text_apart_or_within_each_other(program: Program) -> None:
    spans = [(start, end) for start, end, *_ in nodes_of(row_of(program))]
    assert all(one < other for (one, _), (other, _) in pairwise(spans))
    for index, (_, end) in enumerate(spans):
        assert all(start >= end or stop <= end for start, stop in spans[index + 1 :])


@settings(max_examples=100)
@given(programs, st.integers(0, 9))
def test_padding_has_no_nodes(program: Program, more: int) -> None:
    row = row_of(program)
    assert nodes_of(row_of(program, len(row) + more)) == nodes_of(row)


def test_finding_nodes_leaves_the_program_as_it_is() -> None:
    for text in GOLDEN[:20]:
        row = row_of(text)
        before = row.copy()
        found_in(row)
        np.testing.assert_array_equal(row, before)


def test_the_first_node_is_where_a_program_begins() -> None:
    assert nodes_of(row_of(SHORTEST)) == [(BEGIN, BEGIN + 1, STATEMENT, 0, BEGIN)]


def test_there_is_room_for_the_nodes_of_the_longest_program() -> None:
    """Even if every token were one."""
    nodes = empty_nodes(45)
    assert isinstance(nodes, Nodes)
    assert all(field.shape == (45,) and field.dtype == np.int64 for field in nodes)
    assert len({field.ctypes.data for field in nodes}) == len(Nodes._fields)  # no two share it


# How they stand to each other


@settings(max_examples=100)
@given(programs)
def test_the_statements_of_a_block_are_siblings_in_a_row(program: Program) -> None:
    nodes, count = found_in(row_of(program))
    for _, members in blocks_of_tree(program):
        assert [siblings(nodes, count, node) for node in members] == [len(members)] * len(members)
        assert [next_in_block(nodes, count, node) for node in members] == [*members[1:], -1]
        assert [last_of_block(nodes, count, node) for node in members] == [members[-1]] * len(members)


@settings(max_examples=100)
@given(programs)
def test_a_condition_or_a_count_is_last_by_itself(program: Program) -> None:
    nodes, count = found_in(row_of(program))
    for node in np.flatnonzero(nodes.kind[:count] != STATEMENT).tolist():
        assert last_of_block(nodes, count, node) == node


@settings(max_examples=100)
@given(programs)
def test_a_block_begins_with_its_first_statement(program: Program) -> None:
    nodes, count = found_in(row_of(program))
    found = {
        (outer, node)
        for outer in range(count)
        for node in range(outer + 1, count)
        if nodes.kind[outer] == STATEMENT and begins_block_of(nodes, node, outer)
    }
    assert found == {(outer, members[0]) for outer, members in blocks_of_tree(program) if outer >= 0}


# How large a program is


@settings(max_examples=100)
@given(programs, st.integers(0, 4), st.integers(1, 4))
def test_a_program_is_within_limits_if_its_tree_is(program: Program, nesting: int, in_a_row: int) -> None:
    row = row_of(program)
    deepest = max(node[3] for node in nodes_of_tree(program))
    longest = max(len(members) for _, members in blocks_of_tree(program))
    expected = deepest <= nesting and longest <= in_a_row
    assert within(row, len(row), LANGUAGE.kinds, nesting, in_a_row) == expected


def test_the_length_of_a_program_is_without_its_padding() -> None:
    assert length_of(row_of(SHORTEST, 5), LANGUAGE.pad) == 5
    assert length_of(row_of(SHORTEST, 9), LANGUAGE.pad) == 5
    assert length_of(np.full(4, LANGUAGE.pad, np.uint8), LANGUAGE.pad) == 0
