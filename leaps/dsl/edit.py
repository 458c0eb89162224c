"""Edit distance of programs, counted in statements as in the paper's study of human debugging.

Appendix "Interpretability: Human Debugging": one edit adds, removes or changes an action, or an IF, WHILE,
IFELSE, REPEAT or ELSE with its condition or count. This is the Levenshtein distance of the two lists of
statements. The ends of blocks are not in these lists, so wrapping ten statements into a loop is one edit.
Programs that differ only there have distance 1.
"""

import numpy as np
from numpy.typing import NDArray

from leaps.base.jit import jit
from leaps.dsl.language import Kind, Language
from leaps.dsl.nodes import BEGIN, length_of
from leaps.dsl.syntax import Program, tokens_of


@jit
def _list_statements(
    tokens: NDArray[np.uint8], length: int, kinds: NDArray[np.uint8], items: NDArray[np.int64]
) -> int:
    """Write a number for each statement (ELSE counts as one), and return how many there are."""
    count = 0
    for at in range(BEGIN, length - 1):
        kind = kinds[tokens[at]]
        if kind in (Kind.ACTION, Kind.WHILE, Kind.REPEAT, Kind.IF, Kind.IFELSE, Kind.ELSE):
            items[count] = tokens[at]
            count += 1
        elif kind in (Kind.NOT, Kind.PERCEPTION, Kind.COUNT):  # its condition or count
            items[count - 1] = items[count - 1] * 256 + tokens[at]
    return count


@jit
def levenshtein(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    """Count the fewest insertions, removals and changes that turn one list into the other."""
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        diagonal, row[0] = row[0], i + 1
        for j in range(len(b)):
            changed = diagonal + (a[i] != b[j])
            diagonal = row[j + 1]
            row[j + 1] = min(row[j + 1] + 1, row[j] + 1, changed)
    return int(row[len(b)])


@jit
def _distances(
    origin: NDArray[np.uint8],
    programs: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    pad: int,
    out: NDArray[np.int64],
) -> None:
    of_origin, of_program = np.empty(len(origin), np.int64), np.empty(programs.shape[1], np.int64)
    origin_length = length_of(origin, pad)
    listed = of_origin[: _list_statements(origin, origin_length, kinds, of_origin)]
    for row in range(len(programs)):
        length = length_of(programs[row], pad)
        count = _list_statements(programs[row], length, kinds, of_program)
        out[row] = levenshtein(listed, of_program[:count])
        if out[row] == 0:
            same = length == origin_length and (programs[row, :length] == origin[:length]).all()
            out[row] = 0 if same else 1


def edit_distances(
    origin: NDArray[np.uint8], programs: NDArray[np.uint8], language: Language
) -> NDArray[np.int64]:
    """[n] edit distances from a program [length] to programs [n, length]."""
    out = np.empty(len(programs), np.int64)
    _distances(origin, programs, language.kinds, language.pad, out)
    return out


def edit_distance(a: Program, b: Program, language: Language) -> int:
    """Return the edit distance of two programs.

    >>> from leaps.dsl.text import parse
    >>> from leaps.karel.world import LANGUAGE
    >>> walk = parse("DEF run m( move move m)", LANGUAGE)
    >>> edit_distance(walk, parse("DEF run m( WHILE c( frontIsClear c) w( move w) m)", LANGUAGE), LANGUAGE)
    1
    """
    origin, other = (language.encode(tokens_of(program)) for program in (a, b))
    return int(edit_distances(origin, other[None], language)[0])
