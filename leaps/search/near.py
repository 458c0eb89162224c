"""Neighbours within a number of edits of a given program, for program repair.

Somebody has written or read the program to repair, and should recognize the result.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.domain import Domain
from leaps.dsl.edit import edit_distances
from leaps.dsl.language import Language
from leaps.dsl.neighbours import Limits, Move, Neighbourhood
from leaps.dsl.syntax import MAX_NESTING
from leaps.search.objective import Objective
from leaps.search.search import Candidates
from leaps.search.simplify import BATCH, PATIENCE

TOKENS_PER_EDIT = 9
"""maximum tokens of a statement without its blocks: the most that one edit can add to a program"""
TRIES = 10
"""rounds of drawing; a program without a neighbour close enough after these rounds is left unchanged"""
AT_ONCE = 8
"""candidates drawn in each round for every neighbour still missing"""
RETURNING = {
    Move.CROSS: 6.0,
    Move.DELETE: 3.0,
    Move.UNWRAP: 3.0,
    Move.REPLACE: 2.0,
    Move.INSERT: 1.0,
    Move.REHEAD: 1.0,
    Move.ADJUST: 1.0,
}
"""relative frequency of moves on the way back to the origin; CROSS takes pieces of it"""


class Near(Neighbourhood):
    """A neighbourhood of programs at most `edits` edits from `origin` [length]."""

    def __init__(
        self, domain: Domain, origin: NDArray[np.uint8], edits: int, shares: dict[Move, float], seed: int
    ) -> None:
        if edits < 1:
            raise ValueError(f"edits must be at least 1, found {edits}")
        self.origin, self.edits = origin[origin != domain.language.pad], edits
        longest = len(self.origin) + TOKENS_PER_EDIT * edits
        # The number of edits limits the search, so blocks may be as deep and as long as the origin's.
        limits = Limits(longest, MAX_NESTING, in_a_row=longest)
        super().__init__(domain.language, domain.programs, limits, shares, seed)

    def begin(self, count: int) -> Candidates:
        """Draw programs [count, length] to start from: the origin, and programs a few moves from it."""
        programs = self.fitted(np.tile(self.origin, (count, 1)))
        changed = count - 1
        while changed:
            programs[-changed:], _ = self.draw(programs[-changed:], changed)
            changed //= 2
        return programs

    def reword(self, language: Language, tokens: NDArray[np.uint8]) -> None:
        super().reword(language, tokens)
        self.origin = tokens[self.origin]

    def distances(self, programs: Candidates) -> NDArray[np.int64]:
        """Compute the distances [n] of programs from the origin, in edits."""
        return edit_distances(self.origin, programs, self.language)

    def draw(
        self, programs: NDArray[np.uint8], count: int, others: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        parents = self.fitted(programs)[np.arange(count) % len(programs)]
        out, moves = parents.copy(), np.full(count, len(Move), np.uint8)
        missing = np.arange(count)
        for _ in range(TRIES):
            if len(missing) == 0:
                break
            again = np.repeat(missing, AT_ONCE)
            drawn, made = super().draw(parents[again], len(again), others)
            close = (self.distances(drawn) <= self.edits) & (drawn != parents[again]).any(axis=1)
            found, first = np.unique(again[close], return_index=True)
            out[found], moves[found] = drawn[close][first], made[close][first]
            missing = np.setdiff1d(missing, found)
        return out, moves


def return_to_origin(
    program: NDArray[np.uint8], objective: Objective, origin: NDArray[np.uint8], seed: int
) -> NDArray[np.uint8]:
    """Take back edits that make no difference on the objective's worlds, and shorten the remaining edits."""
    domain = objective.task.domain
    language = domain.language

    def costs(programs: Candidates) -> NDArray[np.int64]:
        edits = edit_distances(origin, programs, language)
        return np.asarray(edits * programs.shape[1] + (programs != language.pad).sum(axis=1))

    score = float(objective.scores(program[None])[0])
    allowed = int(edit_distances(origin, program[None], language)[0])
    if allowed == 0:
        return program
    near, patience = Near(domain, origin, allowed, RETURNING, seed), PATIENCE
    program = near.fitted(program[None])[0]
    while patience > 0 and not np.array_equal(program[program != language.pad], near.origin):
        patience -= 1
        drawn, _ = near.draw(program[None], BATCH, origin[None])
        cheaper = drawn[costs(drawn) < costs(program[None])]
        if len(cheaper) == 0:
            continue
        scores = objective.scores(cheaper, program)
        kept = cheaper[scores >= score - 1e-9]
        if len(kept):
            program, patience = kept[int(costs(kept).argmin())], PATIENCE
            near.edits = max(1, int(near.distances(program[None])[0]))
    return program
