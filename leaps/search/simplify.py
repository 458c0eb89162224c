"""Shorten a program without making it worse: the programs that searches find have many idle statements.

The algorithm is a walk among neighbours that are no longer and no worse, on many worlds. Shorter programs are
easier to read, and generalize more often to worlds of other sizes.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.dsl.language import Language
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.search.objective import Objective

MOVES = {
    Move.DELETE: 3.0,
    Move.UNWRAP: 3.0,
    Move.REHEAD: 3.0,
    Move.REPLACE: 3.0,
    Move.ADJUST: 1.0,
    Move.EXCHANGE: 0.5,
}
BATCH = 64
PATIENCE = 40
"""batches without a simpler program, after which the walk ends"""


REPEAT_COST = 4
"""extra cost of a REPEAT in tokens: its count fits one size of world, whereas a WHILE tests a condition"""


def costs(programs: NDArray[np.uint8], language: Language) -> NDArray[np.int64]:
    """Compute the costs [n] of programs: their tokens, plus REPEAT_COST for each REPEAT."""
    repeats = (programs == language.ids["REPEAT"]).sum(axis=1)
    return np.asarray((programs != language.pad).sum(axis=1) + REPEAT_COST * repeats)


def simplify(program: NDArray[np.uint8], objective: Objective, seed: int) -> NDArray[np.uint8]:
    """Look for a simpler program that is no worse on the objective's worlds."""
    limits = Limits(length=len(program), in_a_row=len(program))
    domain = objective.task.domain
    language = domain.language
    neighbourhood = Neighbourhood(language, domain.programs, limits, MOVES, seed)
    score = float(objective.scores(program[None])[0])
    cost = lowest = int(costs(program[None], language)[0])
    simplest, patience = program, PATIENCE
    while patience > 0:
        patience -= 1
        drawn, _ = neighbourhood.draw(program[None], BATCH)
        drawn = drawn[(costs(drawn, language) <= cost) & (drawn != program).any(axis=1)]
        if len(drawn) == 0:
            continue
        scores = objective.scores(drawn, program)
        kept = drawn[scores >= score - 1e-9]
        if len(kept) == 0:
            continue
        program = kept[int(costs(kept, language).argmin())]
        cost = int(costs(program[None], language)[0])
        if cost < lowest:
            simplest, lowest, patience = program, cost, PATIENCE
    return simplest
