"""The definition of what a program means: walk the tree, look, act.

Slow and readable. The compiled tables of `leaps.dsl.compiler` are its fast twin, and property tests hold the
two equal. What is looked at and acted on is a domain's matter: its `Stage`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from leaps.dsl.syntax import Action, Block, Condition, If, IfElse, Program, Repeat, Statement, While


class Outcome(IntEnum):
    """Why a run came to its end."""

    HALTED = 0
    """the program came to its own end"""
    ENDED = 1
    """the world ended it: it was decided there"""
    CUT_OFF = 2
    """the horizon, or the limit of calls, was reached"""
    STUCK = 3
    """a loop can never act again, nor end"""


Conditional = While | If | IfElse


class Stage(Protocol):
    """An initial state, and what a program makes of it: it can be looked at and acted on."""

    def holds(self, condition: Condition) -> bool:
        """Look whether a condition holds now."""

    def act(self, action: int) -> Outcome | None:
        """Do one action; say how the run ended, if that ended it."""


@dataclass(frozen=True)
class Step:
    """One action, and how the program came to it."""

    statement: Action
    path: tuple[Statement, ...]
    """the statements around it, outermost first"""
    tests: tuple[tuple[Conditional, bool], ...]
    """the statements that looked at a condition since the action before, and what it came to"""
    action: int


class StuckError(Exception):
    """A WHILE went round without acting: nothing can change any more."""


class CallLimitError(Exception):
    """The limit of calls was passed."""


class Calls:
    """Count the internal function calls that the paper authors' interpreter would make.

    A program is 1 call, an action 1, any other statement 2. A block of k statements adds 2 (k - 1), before
    its first statement runs: the authors' parser nests a sequence in pairs from the left, and their
    interpreter enters all pairs first. Each round of a loop costs what its body costs; a condition is free.

    Actions and final worlds are exactly the authors'. One outcome has another name: their interpreter does
    not check its count after a REPEAT of no rounds. If that ends the program one call past the limit, they
    say that it halted; here it is cut off.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.spent = 1  # the program itself

    def spend(self, calls: int) -> None:
        """Add calls, and raise a `CallLimitError` if they are too many."""
        self.spent += calls
        if self.limit is not None and self.spent > self.limit:
            raise CallLimitError


Look = Callable[[Conditional], bool]
"""look whether the condition of a statement holds, now"""


def actions_of(
    block: Block, look: Look, calls: Calls, path: tuple[Statement, ...] = ()
) -> Iterator[tuple[Action, tuple[Statement, ...]]]:
    """The actions that a block comes to, in order, each with the statements around it.

    Each is done before the next is asked for, as what is seen then decides how it goes on.
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
                    if not acted:  # so it never will: going round again only spends calls
                        calls.spend(rounds_left * (calls.spent - before))
                        break


class Course:
    """One run of a program on a stage, which it changes: iterate over its steps, then ask for the outcome."""

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
        """actions: the language's, in order. calls: the limit of calls (see `Calls`), if there is one.
        repeats: a program that has come to its end starts over, unless it would end again without an action.
        """
        self.program, self.horizon, self.calls = program, horizon, calls
        self.stage: Any = stage
        """of whatever kind the domain has"""
        self.steps = 0
        self.outcome = Outcome.HALTED
        self.tests: list[tuple[Conditional, bool]] = []
        """the conditions looked at since the last action; at the end, those that led there"""
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
            # With a limit of calls, the loop goes round until that is passed.
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
