"""The definition of what a program means: walk the tree, look, act.

Slow and readable. `leaps.karel.executor` is its fast twin, and a property test holds the two equal.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from leaps.domain import Outcome
from leaps.dsl.syntax import Action, Block, Condition, If, IfElse, Program, Repeat, Statement, While
from leaps.karel.physics import MOVED, TRUTH, act, perceive, strides
from leaps.karel.world import EXIT, LANGUAGE, World, flat_pose, set_pose

Reaction = Callable[[World, int, int, int], bool]
"""what a task does after an action: (world, what changed, row and column that Karel acted from) → end it?"""


Conditional = While | If | IfElse


@dataclass(frozen=True)
class Step:
    """One action, and how the program came to it."""

    statement: Action
    path: tuple[Statement, ...]
    """the statements around it, outermost first"""
    tests: tuple[tuple[Conditional, bool], ...]
    """the statements that looked at a condition since the action before, and what it came to"""
    action: int
    world: World
    """the world after it"""


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


def perceived(world: World) -> int:
    """The code of what Karel perceives."""
    position, heading = flat_pose(world)
    return int(
        perceive(
            world.ground.reshape(-1), world.markers.reshape(-1), strides(world.size[1]), position, heading
        )
    )


def holds(condition: Condition, world: World) -> bool:
    """Look whether a condition holds."""
    perception = LANGUAGE.perceptions.index(condition.perception)
    return bool(TRUTH[perception, perceived(world)]) != condition.negated


def apply(world: World, action: int) -> int:
    """Do one action in a world, and return what changed."""
    position, heading = flat_pose(world)
    position, heading, change = act(
        world.ground.reshape(-1), world.markers.reshape(-1), strides(world.size[1]), position, heading, action
    )
    set_pose(world, position, heading)
    return change


class Run:
    r"""One run of a program in a world (which it changes): iterate over its steps, then ask for the outcome.

    >>> from leaps.dsl.text import parse
    >>> world = World.parse("#####\n#>..#\n#####")
    >>> run = Run(parse("DEF run m( WHILE c( frontIsClear c) w( move w) m)", LANGUAGE), world, horizon=10)
    >>> len(list(run)), run.outcome.name
    (2, 'HALTED')
    """

    def __init__(
        self,
        program: Program,
        world: World,
        horizon: int,
        react: Reaction | None = None,
        events: int = 0,
        *,
        calls: int | None = None,
    ) -> None:
        self.program = program
        self.world = world
        self.horizon = horizon
        self.calls = calls
        """the limit of calls (see `Calls`), if there is one"""
        self.react = react
        self.events = events
        self.steps = 0
        self.outcome = Outcome.HALTED
        self.tests: list[tuple[Conditional, bool]] = []
        """the conditions looked at since the last action; at the end, those that led there"""

    def __iter__(self) -> Iterator[Step]:
        try:
            for statement, path in actions_of(self.program.body, self.look, Calls(self.calls)):
                if self.steps == self.horizon:
                    self.outcome = Outcome.CUT_OFF
                    return
                action = LANGUAGE.actions.index(statement.name)
                row, column, _ = self.world.place
                change = apply(self.world, action)
                self.steps += 1
                ended = False
                if self.react is not None and change & self.events:
                    ended = self.react(self.world, change, row, column)
                # Only now: the task may have moved Karel, or made an exit where Karel stands.
                if change & (MOVED | self.events):
                    ended |= self.world.ground[self.world.place[:2]] == EXIT
                yield Step(statement, path, tuple(self.tests), action, self.world)
                self.tests.clear()
                if ended:
                    self.outcome = Outcome.ENDED
                    return
        except CallLimitError:
            self.outcome = Outcome.CUT_OFF
        except StuckError:
            # With a limit of calls, the loop goes round until that is passed.
            self.outcome = Outcome.STUCK if self.calls is None else Outcome.CUT_OFF

    def look(self, statement: Conditional) -> bool:
        result = holds(statement.condition, self.world)
        self.tests.append((statement, result))
        return result
