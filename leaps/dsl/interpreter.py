"""The reference interpreter, which defines the meaning of programs: walk the tree, test conditions, act.

Slow and readable. The compiled tables of `leaps.dsl.compiler` do the same fast, and property tests check that
both agree. A domain supplies the `Stage` on which conditions are tested and actions are taken.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from leaps.dsl.syntax import Action, Block, Condition, If, IfElse, Program, Repeat, Statement, While


class Outcome(IntEnum):
    """Why a run ended."""

    HALTED = 0
    """the program reached its end"""
    ENDED = 1
    """the task or the world ended the run"""
    CUT_OFF = 2
    """the horizon or the limit of calls was reached"""
    STUCK = 3
    """a loop can neither act again nor end"""


Conditional = While | If | IfElse


class Stage(Protocol):
    """A state that a program tests and acts on."""

    def holds(self, condition: Condition) -> bool:
        """Test whether a condition holds now."""

    def act(self, action: int) -> Outcome | None:
        """Take one action; return the outcome of the run if the action ended it."""


@dataclass(frozen=True)
class Step:
    """One action, with the statements and tests that led to it."""

    statement: Action
    path: tuple[Statement, ...]
    """the enclosing statements, outermost first"""
    tests: tuple[tuple[Conditional, bool], ...]
    """the statements that tested a condition since the previous action, with the results"""
    action: int


class StuckError(Exception):
    """A round of a WHILE took no action, so nothing can change any more."""


class CallLimitError(Exception):
    """The limit of calls was exceeded."""


class Calls:
    """Count the internal function calls that the paper authors' interpreter would make.

    A program is 1 call, an action 1, any other statement 2. A block of k statements adds 2 (k - 1), before
    its first statement runs: the authors' parser nests a sequence in pairs from the left, and their
    interpreter enters all pairs first. Each round of a loop costs as much as its body; a condition is free.

    Actions and final worlds are exactly the authors'. One outcome differs: their interpreter does not check
    its count after a REPEAT of no rounds. If that ends the program one call past the limit, their outcome is
    "halted"; here it is "cut off".
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.spent = 1  # the program itself

    def spend(self, calls: int) -> None:
        """Add calls; raise a `CallLimitError` if the limit is exceeded."""
        self.spent += calls
        if self.limit is not None and self.spent > self.limit:
            raise CallLimitError


Look = Callable[[Conditional], bool]
"""tests whether the condition of a statement holds now"""


def actions_of(
    block: Block, look: Look, calls: Calls, path: tuple[Statement, ...] = ()
) -> Iterator[tuple[Action, tuple[Statement, ...]]]:
    """Yield the actions of a block in order, each with its enclosing statements.

    The caller takes each action before it asks for the next, which depends on the state after the action.
    """
    calls.spend(2 * (len(block) - 1))
    for statement in block:
        calls.spend(1 if isinstance(statement, Action) else 2)
        inside = (*path, statement)
        match statement:
            case Action():
                yield statement, path
            case If(body=body):
                if look(statement):
                    yield from actions_of(body, look, calls, inside)
            case IfElse(body=body, orelse=orelse):
                yield from actions_of(body if look(statement) else orelse, look, calls, inside)
            case While(body=body):
                while look(statement):
                    acted = False
                    for action in actions_of(body, look, calls, inside):
                        acted = True
                        yield action
                    if not acted:
                        raise StuckError
            case Repeat(times, body):
                for rounds_left in reversed(range(times)):
                    acted, before = False, calls.spent
                    for action in actions_of(body, look, calls, inside):
                        acted = True
                        yield action
                    if not acted:  # no later round will act either; they only spend calls
                        calls.spend(rounds_left * (calls.spent - before))
                        break


class Course:
    """One run of a program, which changes the stage: iterate over its steps, then read `outcome`."""

    def __init__(
        self,
        program: Program,
        stage: Stage,
        actions: Sequence[str],
        horizon: int,
        *,
        calls: int | None = None,
        repeats: bool = False,
    ) -> None:
        """actions: actions of the language, in order. calls: limit of calls (see `Calls`), if any. repeats:
        whether a program starts over at its end, unless it would end again without an action.
        """
        self.program, self.horizon, self.calls = program, horizon, calls
        self.stage: Any = stage
        """the domain's own class of `Stage`"""
        self.steps = 0
        self.outcome = Outcome.HALTED
        self.tests: list[tuple[Conditional, bool]] = []
        """conditions tested since the last action; after the run, the tests after its last action"""
        self._actions, self._repeats = actions, repeats

    def __iter__(self) -> Iterator[Step]:
        try:
            for statement, path in self._statements():
                if self.steps == self.horizon:
                    self.outcome = Outcome.CUT_OFF
                    return
                action = self._actions.index(statement.name)
                self.steps += 1
                end = self.stage.act(action)
                yield Step(statement, path, tuple(self.tests), action)
                self.tests.clear()
                if end is not None:
                    self.outcome = end
                    return
        except CallLimitError:
            self.outcome = Outcome.CUT_OFF
        except StuckError:
            # With a limit of calls, the loop runs until the limit is exceeded.
            self.outcome = Outcome.STUCK if self.calls is None else Outcome.CUT_OFF

    def _statements(self) -> Iterator[tuple[Action, tuple[Statement, ...]]]:
        calls, acted = Calls(self.calls), True
        while acted:
            acted = False
            for action in actions_of(self.program.body, self._look, calls):
                acted = self._repeats
                yield action

    def _look(self, statement: Conditional) -> bool:
        result: bool = self.stage.holds(statement.condition)
        self.tests.append((statement, result))
        return result
