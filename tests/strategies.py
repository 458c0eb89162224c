"""Random programs and worlds for property tests, more extreme than the project's own; and equality."""

import numpy as np
from hypothesis import strategies as st

from leaps.dsl.syntax import Action, Block, Condition, If, IfElse, Program, Repeat, Statement, While
from leaps.karel.world import EXIT, FLOOR, LANGUAGE, WALL, World, Worlds, clear, place_karel

conditions = st.builds(Condition, st.sampled_from(LANGUAGE.perceptions), st.booleans())
actions: st.SearchStrategy[Statement] = st.builds(Action, st.sampled_from(LANGUAGE.actions))


def _block(statements: st.SearchStrategy[Statement]) -> st.SearchStrategy[Block]:
    return st.lists(statements, min_size=1, max_size=3).map(tuple)


def _compound(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
    block = _block(inner)
    return st.one_of(
        st.builds(While, conditions, block),
        st.builds(If, conditions, block),
        st.builds(IfElse, conditions, block, block),
        st.builds(Repeat, st.sampled_from([0, 1, 2, 3, 19]), block),
    )


programs = st.builds(Program, _block(st.recursive(actions, _compound, max_leaves=12)))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw a small world with walls, exits and up to ten markers per cell, anywhere."""
    height, width = draw(st.integers(3, 7)), draw(st.integers(3, 7))
    world = World(
        np.zeros((height, width), np.uint8),
        np.zeros((height, width), np.uint8),
        np.zeros(3, np.int64),
        np.zeros(0, np.int64),
    )
    clear(world)
    inner = (height - 2) * (width - 2)
    ground = draw(
        st.lists(st.sampled_from([FLOOR] * 6 + [WALL] * 3 + [EXIT]), min_size=inner, max_size=inner)
    )
    markers = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 9, 10]), min_size=inner, max_size=inner))
    world.ground[1:-1, 1:-1] = np.reshape(ground, (height - 2, width - 2))
    world.markers[1:-1, 1:-1] = np.reshape(markers, (height - 2, width - 2))
    row, column = draw(st.integers(1, height - 2)), draw(st.integers(1, width - 2))
    world.ground[row, column] = FLOOR
    place_karel(world, row, column, draw(st.integers(0, 3)))
    world.markers[world.ground == WALL] = 0
    return world


def same(one: World | Worlds, other: World | Worlds) -> bool:
    """Whether two worlds, or two batches of them, are equal in all fields."""
    return all(np.array_equal(getattr(one, field), getattr(other, field)) for field in one._fields)
