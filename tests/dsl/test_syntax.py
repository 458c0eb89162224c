"""A program is a tree, and the tree knows its tokens."""

import dataclasses

import pytest
from hypothesis import given

from leaps.dsl.syntax import (
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
    condition_tokens,
    head_tokens,
    tokens_of,
    walk,
)
from leaps.karel.world import LANGUAGE
from tests.strategies import programs

MOVE, LEFT, PICK = Action("move"), Action("turnLeft"), Action("pickMarker")
FRONT = Condition("frontIsClear")


def test_a_condition_stands_in_brackets() -> None:
    assert condition_tokens(FRONT) == ["c(", "frontIsClear", "c)"]


def test_a_negated_condition_has_brackets_within_brackets() -> None:
    negated = Condition("frontIsClear", negated=True)
    assert condition_tokens(negated) == ["c(", "not", "c(", "frontIsClear", "c)", "c)"]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (MOVE, "move"),
        (While(FRONT, (MOVE, LEFT)), "WHILE c( frontIsClear c) w( move turnLeft w)"),
        (Repeat(7, (MOVE,)), "REPEAT R=7 r( move r)"),
        (If(FRONT, (MOVE,)), "IF c( frontIsClear c) i( move i)"),
        (IfElse(FRONT, (MOVE,), (LEFT,)), "IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e)"),
    ],
)
def test_a_statement_is_written_with_its_brackets(statement: Statement, text: str) -> None:
    assert " ".join(tokens_of(Program((statement,)))) == f"DEF run m( {text} m)"


@pytest.mark.parametrize(
    ("statement", "head"),
    [
        (MOVE, "move"),
        (While(FRONT, (MOVE,)), "WHILE c( frontIsClear c)"),
        (Repeat(7, (MOVE,)), "REPEAT R=7"),
        (If(FRONT, (MOVE,)), "IF c( frontIsClear c)"),
        (IfElse(FRONT, (MOVE,), (LEFT,)), "IFELSE c( frontIsClear c)"),
    ],
)
def test_a_statements_head_is_without_its_blocks(statement: Statement, head: str) -> None:
    assert " ".join(head_tokens(statement)) == head


def test_an_action_has_no_block() -> None:
    assert blocks(MOVE) == []


def test_an_ifelse_has_two_blocks() -> None:
    assert [body for _, body, _ in blocks(IfElse(FRONT, (MOVE,), (LEFT,)))] == [(MOVE,), (LEFT,)]


def test_walking_meets_the_statements_in_the_order_of_the_text() -> None:
    inner = IfElse(FRONT, (MOVE,), (LEFT,))
    outer = While(FRONT, (inner, PICK))
    assert list(walk(Program((outer, MOVE)))) == [outer, inner, MOVE, LEFT, PICK, MOVE]


@given(programs)
def test_walking_meets_as_many_actions_as_the_text_has(program: Program) -> None:
    actions = [statement.name for statement in walk(program) if isinstance(statement, Action)]
    assert actions == [token for token in tokens_of(program) if token in LANGUAGE.actions]


def test_a_statement_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        MOVE.name = "turnLeft"  # type: ignore[misc]


def test_equal_programs_are_one_member_of_a_set() -> None:
    def program() -> Program:
        body: Block = (Repeat(2, (Action("move"),)),)
        return Program(body)

    assert len({program(), program()}) == 1


def test_a_negated_condition_differs_from_the_plain_one() -> None:
    assert Condition("frontIsClear", negated=True) != FRONT
