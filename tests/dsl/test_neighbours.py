"""Neighbours are programs within the limits, and the result of their move; checked on trees, not tokens."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaps.dsl.language import Language
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.dsl.sample import ProgramDistribution, sample_programs
from leaps.dsl.syntax import (
    MAX_NESTING,
    Action,
    Block,
    Condition,
    If,
    IfElse,
    Program,
    Repeat,
    Statement,
    While,
    blocks,
    tokens_of,
    walk,
)
from leaps.dsl.text import parse
from leaps.karel.world import KAREL, LANGUAGE, PROGRAMS
from tests.hoover import HOOVER
from tests.strategies import programs

ROOMY = Limits(length=150, nesting=10, in_a_row=20)
ALL = dict.fromkeys(Move, 1.0)

# Its statements, conditions and blocks are all different, so that each change gives a different program.
MANY_SIDED = (
    "DEF run m( move WHILE c( frontIsClear c) w( turnLeft REPEAT R=3 r( putMarker turnRight r) w) "
    "IFELSE c( not c( leftIsClear c) c) i( pickMarker i) ELSE e( turnLeft move e) m)"
)
OTHER = (
    "DEF run m( REPEAT R=7 r( turnRight r) IF c( markersPresent c) i( move move i) "
    "WHILE c( not c( rightIsClear c) c) w( pickMarker w) m)"
)
SHORTEST = "DEF run m( move m)"


def row_of(program: Program | str, length: int = ROOMY.length) -> NDArray[np.uint8]:
    """Return a program as a row of token ids, padded with `<pad>`."""
    words = program.split() if isinstance(program, str) else tokens_of(program)
    return np.asarray(LANGUAGE.batch([LANGUAGE.encode(words)], length)[0])


def tree_of(row: NDArray[np.uint8], language: Language = LANGUAGE) -> Program:
    return parse(language.text(row), language)


def neighbourhood(
    *moves: Move,
    limits: Limits = ROOMY,
    distribution: ProgramDistribution = PROGRAMS,
    shares: dict[Move, float] | None = None,
    seed: int = 0,
) -> Neighbourhood:
    """Draw by these moves, each with the same share."""
    return Neighbourhood(LANGUAGE, distribution, limits, shares or dict.fromkeys(moves, 1.0), seed)


def drawn(
    program: str, count: int, *moves: Move, others: str | None = None, **options: Any
) -> tuple[set[Program], NDArray[np.uint8]]:
    """The different neighbours among `count`, and the moves."""
    around = neighbourhood(*moves, **options)
    length = around.limits.length
    rows, made = around.draw(
        row_of(program, length)[None], count, None if others is None else row_of(others, length)[None]
    )
    return {tree_of(row) for row in different(rows)}, made


def different(rows: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """Each row once: reading programs takes long."""
    return list({row.tobytes(): row for row in rows}.values())


# How large a program is, from its tree


def nesting(block: Block) -> int:
    return max((1 + nesting(body) for statement in block for _, body, _ in blocks(statement)), default=0)


def longest_row(block: Block) -> int:
    inner = (longest_row(body) for statement in block for _, body, _ in blocks(statement))
    return max(len(block), *inner, 0)


def size_of(program: Program) -> tuple[int, int, int]:
    return len(tokens_of(program)), nesting(program.body), longest_row(program.body)


def keeps(program: Program, limits: Limits) -> bool:
    length, depth, in_a_row = size_of(program)
    return length <= limits.length and depth <= limits.nesting and in_a_row <= limits.in_a_row


# Trees: where a statement stands (in which block, as which one, from the program down), and changes there.

Path = tuple[tuple[str, int], ...]
HOLE = Action("?")


def paths(tree: Program | Statement, above: Path = ()) -> Iterator[Path]:
    """Where the statements of a program stand."""
    for name in ("body", "orelse"):
        for index, statement in enumerate(getattr(tree, name, ())):
            yield (*above, (name, index))
            yield from paths(statement, (*above, (name, index)))


def at(tree: Any, path: Path) -> Any:
    """The statement at a place; of the empty path, the program."""
    for name, index in path:
        tree = getattr(tree, name)[index]
    return tree


def siblings(program: Program, path: Path) -> int:
    block: Block = getattr(at(program, path[:-1]), path[-1][0])
    return len(block)


def spliced(tree: Any, path: Path, new: Block, count: int = 1) -> Any:
    """The tree with `count` statements in a row, from that place on, replaced by new ones."""
    (name, index), rest = path[0], path[1:]
    block = getattr(tree, name)
    if rest:
        changed = (*block[:index], spliced(block[index], rest, new, count), *block[index + 1 :])
    else:
        changed = (*block[:index], *new, *block[index + count :])
    return replace(tree, **{name: changed})


def rows(program: Program) -> Iterator[tuple[Path, int]]:
    """All statements in a row: where they begin, how many they are."""
    for path in paths(program):
        for count in range(1, siblings(program, path) - path[-1][1] + 1):
            yield path, count


def with_holes(program: Program, path: Path) -> Iterator[Program]:
    """The program with a hole for the condition or the count of that statement, if it has one."""
    statement = at(program, path)
    if isinstance(statement, Repeat):
        yield spliced(program, path, (replace(statement, times=-1),))
    elif not isinstance(statement, Action):
        yield spliced(program, path, (replace(statement, condition=Condition("?")),))


def heads() -> list[Callable[[Block], Statement]]:
    """Every loop and IF that can stand around a block."""

    def around(kind: type[While] | type[If], condition: Condition) -> Callable[[Block], Statement]:
        return lambda block: kind(condition, block)

    def repeat(times: int) -> Callable[[Block], Statement]:
        return lambda block: Repeat(times, block)

    conditions = [Condition(name, negated) for name in LANGUAGE.perceptions for negated in (False, True)]
    return [repeat(times) for times in range(LANGUAGE.max_repeat + 1)] + [
        around(kind, condition) for kind in (While, If) for condition in conditions
    ]


# What the moves may make of a program: all there is, from the moves' descriptions


def deleted(program: Program, _: Program) -> set[Program]:
    return {spliced(program, path, ()) for path in paths(program) if siblings(program, path) > 1}


def unwrapped(program: Program, _: Program) -> set[Program]:
    return {
        spliced(program, path, body) for path in paths(program) for _, body, _ in blocks(at(program, path))
    }


def copied(program: Program, _: Program) -> set[Program]:
    statements = list(walk(program))
    out = set()
    for path, statement in product(paths(program), statements):
        out |= {
            spliced(program, path, (statement, at(program, path))),
            spliced(program, path, (at(program, path), statement)),
        }
    return out


def exchanged(program: Program, _: Program) -> set[Program]:
    out = set()
    for one, other in product(paths(program), repeat=2):
        if one != other[: len(one)] and other != one[: len(other)]:  # not within each other
            half = spliced(program, one, (at(program, other),))
            out.add(spliced(half, other, (at(program, one),)))
    return out


def crossed(program: Program, other: Program) -> set[Program]:
    donors = list(walk(other))
    conditions = {d.condition for d in donors if isinstance(d, While | If | IfElse)}
    counts = {d.times for d in donors if isinstance(d, Repeat)}
    out = set()
    for path in paths(program):
        statement = at(program, path)
        out |= {spliced(program, path, (donor,)) for donor in donors}
        if isinstance(statement, Repeat):
            out |= {spliced(program, path, (replace(statement, times=n),)) for n in counts}
        elif not isinstance(statement, Action):
            out |= {spliced(program, path, (replace(statement, condition=c),)) for c in conditions}
    return out


def adjusted(program: Program, _: Program) -> set[Program]:
    out = set()
    for path in paths(program):
        statement = at(program, path)
        changes: list[Statement] = []
        if isinstance(statement, Action):
            changes = [Action(name) for name in LANGUAGE.actions]
        elif isinstance(statement, Repeat):
            changes = [replace(statement, times=n) for n in range(LANGUAGE.max_repeat + 1)]
        else:
            old = statement.condition
            names = [replace(old, perception=name) for name in LANGUAGE.perceptions]
            negation = replace(old, negated=not old.negated)
            changes = [replace(statement, condition=new) for new in (*names, negation)]
        out |= {spliced(program, path, (new,)) for new in changes if new != statement}
    return out


def wrapped(program: Program, _: Program) -> set[Program]:
    out = set()
    for path, count in rows(program):
        block = getattr(at(program, path[:-1]), path[-1][0])
        some = block[path[-1][1] : path[-1][1] + count]
        out |= {spliced(program, path, (head(some),), count) for head in heads()}
    return out


def reheaded(program: Program, _: Program) -> set[Program]:
    return {
        spliced(program, path, (head(body),))
        for path in paths(program)
        for _, body, _ in blocks(at(program, path))
        for head in heads()
    }


LISTED = {
    Move.DELETE: deleted,
    Move.UNWRAP: unwrapped,
    Move.COPY: copied,
    Move.EXCHANGE: exchanged,
    Move.CROSS: crossed,
    Move.ADJUST: adjusted,
    Move.WRAP: wrapped,
    Move.REHEAD: reheaded,
}
"""the moves whose outcomes can be listed; the others make statements of any size up"""


def is_inserted(program: Program, new: Program) -> bool:
    """Whether taking away some statements in a row gives the old program back."""
    return any(
        siblings(new, path) > count and spliced(new, path, (), count) == program for path, count in rows(new)
    )


def is_replaced(program: Program, new: Program) -> bool:
    """Whether the two differ in one node: a condition, a count, a statement, or all from one on."""
    holes = {hole for path in paths(program) for hole in with_holes(program, path)}
    for path, count in rows(program):
        if count == 1 or path[-1][1] + count == siblings(program, path):
            holes.add(spliced(program, path, (HOLE,), count))
    holes_of_new = {hole for path in paths(new) for hole in with_holes(new, path)}
    return not holes.isdisjoint(
        holes_of_new | {spliced(new, path, (HOLE,), count) for path, count in rows(new)}
    )


def is_made_by(move: Move, program: Program, new: Program, other: Program) -> bool:
    if move == Move.INSERT:
        return is_inserted(program, new)
    if move == Move.REPLACE:
        return is_replaced(program, new)
    return new in LISTED[move](program, other)


# Every neighbour is a program within the limits


@pytest.mark.parametrize("move", Move)
@settings(max_examples=25)
@given(program=programs, seed=st.integers(0, 1000))
def test_a_neighbour_is_a_program_within_the_limits(move: Move, program: Program, seed: int) -> None:
    """The limits are the program's own size, or a little more, so that many moves would break them."""
    length, depth, in_a_row = size_of(program)
    for more in (0, 1, 6):
        limits = Limits(length + more, depth + more, in_a_row + more)
        around = neighbourhood(move, limits=limits, seed=seed)
        out, moves = around.draw(row_of(program, limits.length)[None], 12)
        assert (KAREL.compile(out).entry >= 0).all()
        assert all(keeps(tree_of(row), limits) for row in out)
        assert set(moves.tolist()) <= {move, len(Move)}


def test_neighbours_of_neighbours_stay_programs_within_the_limits() -> None:
    """A long walk by all moves, from many programs, reaches programs that are hardly ever drawn."""
    limits = Limits(length=30, nesting=3, in_a_row=4)
    around = neighbourhood(shares=ALL, limits=limits)
    walkers = around.fresh(60)
    for _ in range(40):
        walkers, moves = around.draw(walkers, len(walkers), walkers)
        assert (KAREL.compile(walkers).entry >= 0).all()
        assert (moves < len(Move)).all()
    trees = [tree_of(row) for row in walkers]
    assert all(keeps(tree, limits) for tree in trees)
    largest = [max(sizes) for sizes in zip(*map(size_of, trees), strict=True)]
    assert largest == [limits.length, limits.nesting, limits.in_a_row]  # they get there, too


def test_a_programs_padding_stands_at_its_end() -> None:
    out, _ = neighbourhood(shares=ALL, limits=Limits(45, 4, 6)).draw(row_of(MANY_SIDED, 45)[None], 500)
    lengths = (out != LANGUAGE.pad).sum(axis=1)
    np.testing.assert_array_equal(np.arange(45) >= lengths[:, None], out == LANGUAGE.pad)


def test_drawing_changes_no_program_that_was_given() -> None:
    given_rows, others = row_of(MANY_SIDED)[None], row_of(OTHER)[None]
    before = given_rows.copy(), others.copy()
    neighbourhood(shares=ALL).draw(given_rows, 300, others)
    np.testing.assert_array_equal(given_rows, before[0])
    np.testing.assert_array_equal(others, before[1])


def test_programs_of_another_language_have_neighbours_too() -> None:
    around = Neighbourhood(HOOVER.language, HOOVER.programs, Limits(), ALL, seed=0)
    out, moves = around.draw(around.fresh(50), 1000)
    assert {tree_of(row, HOOVER.language) for row in out}
    assert set(moves.tolist()) >= set(Move)


# Every move does what it says


@pytest.mark.parametrize("move", Move)
@settings(max_examples=25)
@given(program=programs, other=programs, seed=st.integers(0, 1000))
def test_a_move_makes_its_documented_change(move: Move, program: Program, other: Program, seed: int) -> None:
    length = max(len(tokens_of(program)), len(tokens_of(other))) + 40
    around = neighbourhood(move, limits=Limits(length, MAX_NESTING, 100), seed=seed)
    out, moves = around.draw(row_of(program, length)[None], 4, row_of(other, length)[None])
    for row, made in zip(out, moves.tolist(), strict=True):
        if made == len(Move):
            assert tree_of(row) == program
        else:
            assert is_made_by(Move(made), program, tree_of(row), other)


def test_the_returned_move_is_the_one_that_was_made() -> None:
    program, other = parse(MANY_SIDED, LANGUAGE), parse(OTHER, LANGUAGE)
    out, moves = neighbourhood(shares=ALL).draw(row_of(MANY_SIDED)[None], 300, row_of(OTHER)[None])
    for row, move in zip(out, moves.tolist(), strict=True):
        assert is_made_by(Move(move), program, tree_of(row), other)
    assert set(moves.tolist()) == set(Move)


@pytest.mark.parametrize("move", LISTED)
def test_a_move_makes_all_of_its_possible_changes(move: Move) -> None:
    even = replace(PROGRAMS, perceptions=(0.2,) * 5, negation=0.5)  # or some conditions would be too rare
    expected = LISTED[move](parse(MANY_SIDED, LANGUAGE), parse(OTHER, LANGUAGE))
    around = neighbourhood(move, limits=Limits(70, 10, 20), distribution=even)
    out, moves = around.draw(row_of(MANY_SIDED, 70)[None], 40_000, row_of(OTHER, 70)[None])
    assert {tree_of(row) for row in different(out[moves == move])} == expected
    assert (moves == move).mean() > 0.999  # a move may be unlucky 30 times in a row


def test_a_fresh_statement_is_inserted_before_and_after_every_statement() -> None:
    """Fresh statements are made to be a single putMarker here, which can be found again."""
    program = parse(MANY_SIDED.replace("putMarker", "move"), LANGUAGE)
    found, _ = drawn(" ".join(tokens_of(program)), 5000, Move.INSERT, distribution=only_put_marker())
    fresh = Action("putMarker")
    assert found == {
        spliced(program, path, row)
        for path in paths(program)
        for row in ((fresh, at(program, path)), (at(program, path), fresh))
    }


def test_pieces_come_from_the_program_itself_without_other_programs() -> None:
    found, _ = drawn(MANY_SIDED, 20_000, Move.CROSS)
    program = parse(MANY_SIDED, LANGUAGE)
    assert found == crossed(program, program)


def test_a_piece_may_come_from_any_other_program() -> None:
    others = np.stack([row_of(f"DEF run m( {name} m)") for name in LANGUAGE.actions[1:]])
    out, _ = neighbourhood(Move.CROSS).draw(row_of(SHORTEST)[None], 400, others)
    np.testing.assert_array_equal(np.unique(out, axis=0), np.unique(others, axis=0))


def test_several_programs_have_neighbours_in_turn() -> None:
    given_rows = np.stack([row_of(MANY_SIDED), row_of(OTHER)])
    out, _ = neighbourhood(Move.DELETE).draw(given_rows, 40)
    for index, text in enumerate((MANY_SIDED, OTHER)):
        program = parse(text, LANGUAGE)
        assert {tree_of(row) for row in out[index::2]} <= deleted(program, program)


# Shares


def only_put_marker() -> ProgramDistribution:
    """All that is fresh is a putMarker, or the condition noMarkersPresent, or a count."""
    return ProgramDistribution(
        actions=(0.0, 0.0, 0.0, 0.0, 1.0),
        perceptions=(0.0, 0.0, 0.0, 0.0, 1.0),
        while_=0.0,
        repeat=0.0,
        sequence=0.0,
        action=1.0,
        if_=0.0,
        if_else=0.0,
        negation=0.0,
    )


def test_replace_chooses_evenly_among_nodes_and_rows() -> None:
    """New pieces are recognisable, so a neighbour shows which node was chosen. The seed is fixed."""
    program = parse(MANY_SIDED.replace("putMarker", "move"), LANGUAGE)
    fresh = (Action("putMarker"),)
    node_of: dict[Program, str] = {}
    for path in paths(program):
        statement = at(program, path)
        node_of[spliced(program, path, fresh)] = f"statement {path}"
        rest = siblings(program, path) - path[-1][1]
        if rest > 1:
            node_of[spliced(program, path, fresh, rest)] = f"row {path}"
        if isinstance(statement, Repeat):
            for n in range(LANGUAGE.max_repeat + 1):
                node_of[spliced(program, path, (replace(statement, times=n),))] = f"count {path}"
        elif not isinstance(statement, Action):
            new = replace(statement, condition=Condition("noMarkersPresent"))
            node_of[spliced(program, path, (new,))] = f"condition {path}"
    draws = 18_000
    out, _ = neighbourhood(Move.REPLACE, distribution=only_put_marker()).draw(row_of(program)[None], draws)
    how_often = Counter(row.tobytes() for row in out)
    hits = Counter(dict.fromkeys(node_of.values(), 0))
    found = {tree_of(row): how_often[row.tobytes()] for row in different(out)}
    assert found.keys() == node_of.keys()  # every count, too
    for neighbour, number in found.items():
        hits[node_of[neighbour]] += number
    nodes = 10 + 2 + 1 + 5  # statements, conditions, counts; rows: two in the main block, one in three others
    assert len(hits) == nodes
    expected = draws / nodes
    assert sum((n - expected) ** 2 / expected for n in hits.values()) < 41  # exceeded once in 1,000 seeds


def test_moves_have_their_shares() -> None:
    _, moves = drawn(MANY_SIDED, 8000, shares={Move.REPLACE: 3.0, Move.CROSS: 1.0})  # both always fit
    assert (moves == Move.REPLACE).mean() == pytest.approx(0.75, abs=0.03)


def test_a_move_of_share_0_is_never_made() -> None:
    _, moves = drawn(MANY_SIDED, 1000, shares={**ALL, Move.REPLACE: 0.0, Move.REHEAD: 0.0})
    assert set(moves.tolist()) == set(Move) - {Move.REPLACE, Move.REHEAD}


# What doesn't fit


@pytest.mark.parametrize("move", [Move.DELETE, Move.UNWRAP, Move.EXCHANGE, Move.REHEAD])
def test_a_program_for_which_no_move_succeeds_is_unchanged(move: Move) -> None:
    found, moves = drawn(SHORTEST, 20, move)
    assert found == {parse(SHORTEST, LANGUAGE)}
    assert set(moves.tolist()) == {len(Move)}


@pytest.mark.parametrize("move", [Move.INSERT, Move.WRAP, Move.COPY])
@pytest.mark.parametrize("limits", [Limits(5, 4, 6), Limits(45, 0, 1)])
def test_a_program_at_its_limits_is_unchanged(move: Move, limits: Limits) -> None:
    found, moves = drawn(SHORTEST, 20, move, limits=limits)
    assert found == {parse(SHORTEST, LANGUAGE)}
    assert set(moves.tolist()) == {len(Move)}


@pytest.mark.parametrize("move", Move)
def test_the_shortest_program_takes_every_move(move: Move) -> None:
    program = parse(SHORTEST, LANGUAGE)
    fits = move not in (Move.DELETE, Move.UNWRAP, Move.EXCHANGE, Move.REHEAD)
    for limits in (ROOMY, Limits(5, 0, 1)):
        found, moves = drawn(SHORTEST, 200, move, others=SHORTEST, limits=limits)
        assert all(tree == program or is_made_by(move, program, tree, program) for tree in found)
        assert all(keeps(tree, limits) for tree in found)
        if limits == ROOMY:
            assert set(moves.tolist()) == {move if fits else len(Move)}


def test_another_move_is_tried_after_one_that_fails() -> None:
    _, moves = drawn(SHORTEST, 500, Move.DELETE, Move.UNWRAP, Move.WRAP)
    assert (moves == Move.WRAP).mean() > 0.99  # it would take 30 misses in a row


# Fresh programs


def test_fresh_programs_are_programs_within_the_limits() -> None:
    limits = Limits(length=20, nesting=1, in_a_row=3)
    out = neighbourhood(Move.REPLACE, limits=limits).fresh(1000)
    assert out.shape == (1000, 20)
    assert (KAREL.compile(out).entry >= 0).all()
    sizes = [size_of(tree_of(row)) for row in different(out)]
    assert [max(column) for column in zip(*sizes, strict=True)] == [20, 1, 3]


def test_fresh_programs_are_those_of_the_distribution() -> None:
    out = neighbourhood(Move.REPLACE, distribution=only_put_marker()).fresh(10)
    assert {tree_of(row) for row in out} == {Program((Action("putMarker"),))}


# Streams


@pytest.mark.parametrize("move", Move)
def test_the_same_seed_draws_the_same_neighbours(move: Move) -> None:
    one, other = (neighbourhood(move, seed=7).draw(row_of(MANY_SIDED)[None], 100) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("move", Move)
def test_another_seed_draws_others(move: Move) -> None:
    one, other = (neighbourhood(move, seed=seed).draw(row_of(MANY_SIDED)[None], 100)[0] for seed in (7, 8))
    assert not np.array_equal(one, other)


def test_a_second_draw_gives_other_neighbours() -> None:
    around = neighbourhood(shares=ALL)
    one, other = (around.draw(row_of(MANY_SIDED)[None], 100)[0] for _ in range(2))
    assert not np.array_equal(one, other)
    assert not np.array_equal(around.fresh(100), around.fresh(100))


def test_drawing_in_parts_equals_drawing_at_once() -> None:
    whole, parts = neighbourhood(shares=ALL, seed=3), neighbourhood(shares=ALL, seed=3)
    start = row_of(MANY_SIDED)[None]
    np.testing.assert_array_equal(
        whole.draw(start, 60)[0], np.concatenate([parts.draw(start, 20)[0] for _ in range(3)])
    )


# Refusals


@pytest.mark.parametrize(
    ("length", "nesting_limit", "in_a_row"), [(4, 4, 6), (45, -1, 6), (45, MAX_NESTING + 1, 6), (45, 4, 0)]
)
def test_limits_that_no_program_keeps_are_refused(length: int, nesting_limit: int, in_a_row: int) -> None:
    message = (
        "expected a length of 5 or more, 1 or more statements in a row and a nesting from 0 to "
        f"{MAX_NESTING}, found {length}, {in_a_row} and {nesting_limit}"
    )
    with pytest.raises(ValueError, match=message):
        Limits(length, nesting_limit, in_a_row)


@pytest.mark.parametrize(
    "shares", [{}, {Move.WRAP: 0.0}, {Move.WRAP: -1.0}, {Move.WRAP: 2.0, Move.COPY: -0.5}]
)
def test_invalid_shares_of_moves_are_refused(shares: dict[Move, float]) -> None:
    with pytest.raises(ValueError, match="the moves' shares must be 0 or more, and some more than 0, found"):
        Neighbourhood(LANGUAGE, PROGRAMS, Limits(), shares, seed=0)


def test_random_programs_have_neighbours_by_every_move() -> None:
    """As a search uses it: programs of the paper's distribution, the usual limits, all moves."""
    start = sample_programs(LANGUAGE, PROGRAMS, 500, seed=5, max_length=Limits().length)
    out, moves = neighbourhood(shares=ALL, limits=Limits()).draw(start, 5000)
    assert (KAREL.compile(out).entry >= 0).all()
    assert np.bincount(moves, minlength=len(Move))[: len(Move)].min() > 50
