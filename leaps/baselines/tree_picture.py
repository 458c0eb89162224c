"""Pictures of decision trees, independent of policies.

The root is on the left and every leaf has its own row, so lines never cross other lines or boxes.
matplotlib is imported when the first tree is drawn.
"""

import io
from dataclasses import dataclass
from typing import Any

from leaps.karel.world import LANGUAGE

INK, LINE, PALE = "#1a202c", "#8a94a6", "#edf2f9"
COLOURS = dict(zip(LANGUAGE.actions, ("#2b6cb0", "#6b21a8", "#0f766e", "#c2410c", "#be185d"), strict=True))
"""colours of the actions; a leaf also shows the name of its action"""

# In inches; a box fits a name of 16 letters.
ROW, BOX_HEIGHT, BOX_WIDTH, GAP, MARGIN, TITLE = 0.44, 0.29, 1.62, 0.85, 0.22, 0.42


@dataclass(frozen=True)
class Leaf:
    """A leaf with its action."""

    action: str


@dataclass(frozen=True)
class Question:
    """An inner node, which tests a perception."""

    perception: str
    yes: "Tree"
    no: "Tree"


Tree = Leaf | Question


@dataclass(frozen=True)
class Box:
    """The position of a node: its depth from the root as column, and its row, possibly between two rows."""

    tree: Tree
    column: int
    row: float
    parent: int | None
    """index of the parent question's box"""
    answer: str = ""
    """answer to the parent question"""


def arrange(tree: Tree) -> list[Box]:
    """Give every leaf a row, from the top, and centre every question between its two answers.

    In the list, a question comes before its answers.
    """
    boxes: list[Box] = []
    rows = 0

    def add(tree: Tree, column: int, parent: int | None, answer: str) -> float:
        nonlocal rows
        index = len(boxes)
        boxes.append(Box(tree, column, 0.0, parent, answer))
        if isinstance(tree, Leaf):
            row = float(rows)
            rows += 1
        else:
            row = (add(tree.yes, column + 1, index, "yes") + add(tree.no, column + 1, index, "no")) / 2
        boxes[index] = Box(tree, column, row, parent, answer)
        return row

    add(tree, 0, None, "")
    return boxes


def draw(tree: Tree, title: str = "") -> Any:
    """Draw a tree as a matplotlib figure, large enough to be readable."""
    from matplotlib.figure import Figure

    boxes = arrange(tree)
    columns = max(box.column for box in boxes) + 1
    rows = sum(isinstance(box.tree, Leaf) for box in boxes)
    # The title of a small tree may be wider than the tree.
    width = max(columns * BOX_WIDTH + (columns - 1) * GAP, 0.105 * len(title)) + 2 * MARGIN
    height = rows * ROW + 2 * MARGIN + (TITLE if title else 0.0)
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()
    if title:
        axes.text(MARGIN, height - MARGIN, title, fontsize=12, color=INK, va="top", weight="bold")
    top = rows * ROW + MARGIN
    for box in boxes:
        left, middle = MARGIN + box.column * (BOX_WIDTH + GAP), top - (box.row + 0.5) * ROW
        if box.parent is not None:
            _draw_line(axes, left, middle, top - (boxes[box.parent].row + 0.5) * ROW, box.answer)
        _draw_box(axes, left, middle, box.tree)
    return figure


def _draw_box(axes: Any, left: float, middle: float, tree: Tree) -> None:
    from matplotlib.patches import FancyBboxPatch

    if isinstance(tree, Leaf):
        name, weight, fill, edge, colour = tree.action, "bold", COLOURS[tree.action], "none", "white"
        corner = BOX_HEIGHT / 2
    else:
        name, weight, fill, edge, colour = tree.perception, "normal", PALE, LINE, INK
        corner = 0.06
    axes.add_patch(
        FancyBboxPatch(
            (left, middle - BOX_HEIGHT / 2),
            BOX_WIDTH,
            BOX_HEIGHT,
            boxstyle=f"round,pad=0,rounding_size={corner}",
            facecolor=fill,
            edgecolor=edge,
            linewidth=0.9,
            zorder=2,
        )
    )
    axes.text(
        left + BOX_WIDTH / 2,
        middle,
        name,
        ha="center",
        va="center_baseline",
        fontsize=10,
        weight=weight,
        color=colour,
        zorder=3,
    )


def _draw_line(axes: Any, left: float, middle: float, before: float, answer: str) -> None:
    """Draw the line to a box at `left` from its parent question, whose box ends GAP before it."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start, word = left - GAP, left - 0.26
    curved = [(start, before), (start + 0.3, before), (word - 0.42, middle), (word - 0.14, middle)]
    way = Path([*curved, (left, middle)], [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO])
    axes.add_patch(PathPatch(way, facecolor="none", edgecolor=LINE, linewidth=1.2, zorder=1))
    axes.text(
        word,
        middle,
        answer,
        ha="center",
        va="center_baseline",
        fontsize=8.5,
        color=INK,
        zorder=2,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
    )


def picture(tree: Tree, title: str = "") -> bytes:
    """Draw a tree as a PNG."""
    buffer = io.BytesIO()
    draw(tree, title).savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()
