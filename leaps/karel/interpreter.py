"""Interpret programs in Karel's world, in plain Python; see `leaps.dsl.interpreter`.

Slow and readable. `leaps.karel.executor` does the same fast, and a property test checks that both agree.
"""

from collections.abc import Callable

from leaps.dsl.interpreter import Course, Outcome
from leaps.dsl.syntax import Condition, Program
from leaps.karel.physics import MOVED, TRUTH, act, flatten, layout_of, load, perceive, store
from leaps.karel.world import EXIT, LANGUAGE, World

Reaction = Callable[[World, int, int, int], bool]
"""a task's reaction to an action: (world, change, row and column before the action) → whether the run ends"""


def perceived(world: World) -> int:
    """Return the code of Karel's perceptions."""
    flat, layout = flatten(world), layout_of(world)
    return int(perceive(flat, layout, load(flat, 0, layout)))


def holds(condition: Condition, world: World) -> bool:
    """Test whether a condition holds."""
    perception = LANGUAGE.perceptions.index(condition.perception)
    return bool(TRUTH[perception, perceived(world)]) != condition.negated


def apply(world: World, action: int) -> int:
    """Take one action in a world, and return the kind of change."""
    flat, layout = flatten(world), layout_of(world)
    registers, change = act(flat, layout, load(flat, 0, layout), action)
    store(flat, 0, layout, registers)
    return change


class KarelStage:
    """A world that a program acts in, with a task's reaction to the actions."""

    def __init__(self, world: World, react: Reaction | None = None, events: int = 0) -> None:
        self.world, self.react, self.events = world, react, events

    def holds(self, condition: Condition) -> bool:
        return holds(condition, self.world)

    def act(self, action: int) -> Outcome | None:
        row, column, _ = self.world.place
        change = apply(self.world, action)
        over = False
        if self.react is not None and change & self.events:
            over = self.react(self.world, change, row, column)
        # Check for an exit after the reaction, which may move Karel or put an exit under it.
        if change & (MOVED | self.events):
            over |= bool(self.world.ground[self.world.place[:2]] == EXIT)
        return Outcome.ENDED if over else None


def play(
    program: Program,
    world: World,
    horizon: int,
    react: Reaction | None = None,
    events: int = 0,
    *,
    calls: int | None = None,
) -> Course:
    r"""Run a program in a world, which it changes: iterate over the steps, then read `outcome`.

    >>> from leaps.dsl.text import parse
    >>> world = World.parse("#####\n#>..#\n#####")
    >>> course = play(parse("DEF run m( WHILE c( frontIsClear c) w( move w) m)", LANGUAGE), world, horizon=10)
    >>> len(list(course)), course.outcome.name
    (2, 'HALTED')
    """
    return Course(program, KarelStage(world, react, events), LANGUAGE.actions, horizon, calls=calls)
