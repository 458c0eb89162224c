"""What the tests of the language share: real programs, made-up programs, and a language that is not Karel's."""

import json
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from leaps.dsl.language import Language
from leaps.dsl.sample import ProgramDistribution
from leaps.dsl.syntax import Action, Block, Condition, If, IfElse, Program, Repeat, Statement, While
from leaps.karel.world import LANGUAGE

TRACES = Path(__file__).parent.parent / "golden" / "traces.jsonl"
GOLDEN = tuple(json.loads(line)["program"] for line in TRACES.read_text().splitlines())
"""the texts of 1,200 programs that the authors' code ran"""

HOOVER = Language(actions=("forward", "turn", "suck"), perceptions=("dirt", "bump"), max_repeat=3)
"""a second domain: it shares no action and no perception with Karel"""
HOOVER_TRUTH = np.array([[False, True, False], [False, False, True]])
"""of three codes: nothing, dirt, bump"""
HOOVER_PROGRAMS = ProgramDistribution(actions=(0.5, 0.25, 0.25), perceptions=(0.5, 0.5))

_conditions = st.builds(Condition, st.sampled_from(LANGUAGE.perceptions), st.booleans())
_actions: st.SearchStrategy[Statement] = st.builds(Action, st.sampled_from(LANGUAGE.actions))


def _block_of(statements: st.SearchStrategy[Statement], longest: int) -> st.SearchStrategy[Block]:
    return st.lists(statements, min_size=1, max_size=longest).map(tuple)


def _control_flow_over(inner: st.SearchStrategy[Statement]) -> st.SearchStrategy[Statement]:
    block = _block_of(inner, 3)
    return st.one_of(
        st.builds(While, _conditions, block),
        st.builds(Repeat, st.integers(0, LANGUAGE.max_repeat), block),
        st.builds(If, _conditions, block),
        st.builds(IfElse, _conditions, block, block),
    )


programs = st.builds(Program, _block_of(st.recursive(_actions, _control_flow_over, max_leaves=12), 4))
"""any program, small ones first"""
