"""How far two programs are apart, in statements, as the paper's study of human debugging counts.

Appendix "Interpretability: Human Debugging": adding, removing or changing an action, or an IF, WHILE, IFELSE,
REPEAT or ELSE with its condition or count, is one edit: the Levenshtein distance of the two lists of
statements. Where a block ends doesn't count there, so wrapping ten statements into a loop is one edit; but
programs that differ are never 0 apart.
"""

from collections.abc import Sequence

from leaps.dsl.syntax import Block, IfElse, Program, blocks, head_tokens


def statement_list(program: Program) -> list[str]:
    """A program as the study counts it: one item per statement, ELSE being one.

    >>> from leaps.dsl.text import parse
    >>> from leaps.karel import LANGUAGE
    >>> statement_list(parse("DEF run m( WHILE c( frontIsClear c) w( move w) turnLeft m)", LANGUAGE))
    ['WHILE c( frontIsClear c)', 'move', 'turnLeft']
    """
    items: list[str] = []

    def visit(block: Block) -> None:
        for statement in block:
            items.append(" ".join(head_tokens(statement)))
            for number, (_, body, _) in enumerate(blocks(statement)):
                if isinstance(statement, IfElse) and number == 1:
                    items.append("ELSE")
                visit(body)

    visit(program.body)
    return items


def levenshtein(a: Sequence[str], b: Sequence[str]) -> int:
    """The fewest insertions, removals and changes that turn one list into the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def edit_distance(a: Program, b: Program) -> int:
    """How many statements were edited."""
    return max(levenshtein(statement_list(a), statement_list(b)), int(a != b))
