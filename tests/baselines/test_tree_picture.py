"""Pictures of trees: all boxes and labels fit, and none overlap."""

import io
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from leaps.baselines.tree_picture import COLOURS, Leaf, Question, Tree, arrange, draw, picture
from leaps.karel.world import LANGUAGE

SMALL = Question(
    "markersPresent", Leaf("pickMarker"), Question("frontIsClear", Leaf("move"), Leaf("turnLeft"))
)


def full(depth: int = 0) -> Tree:
    """Build a complete tree that tests all perceptions, with 32 leaves."""
    if depth == len(LANGUAGE.perceptions):
        return Leaf("pickMarker")
    return Question("noMarkersPresent", full(depth + 1), full(depth + 1))


def chain(depth: int) -> Tree:
    return Leaf("move") if depth == 0 else Question("frontIsClear", Leaf("turnRight"), chain(depth - 1))


def test_yes_is_above_no_and_questions_are_centred() -> None:
    found = [(box.tree, box.column, box.row, box.parent, box.answer) for box in arrange(SMALL)]
    assert found == [
        (SMALL, 0, 0.75, None, ""),
        (Leaf("pickMarker"), 1, 0.0, 0, "yes"),
        (SMALL.no, 1, 1.5, 0, "no"),
        (Leaf("move"), 2, 1.0, 2, "yes"),
        (Leaf("turnLeft"), 2, 2.0, 2, "no"),
    ]


@pytest.mark.parametrize(
    "tree", [Leaf("move"), SMALL, full(), chain(5)], ids=["leaf", "small", "full", "chain"]
)
def test_boxes_do_not_overlap_and_fit_into_the_picture(tree: Tree) -> None:
    figure = draw(tree, "VIPER on stair-climber, seed 0")
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    axes = figure.axes[0]
    from matplotlib.patches import FancyBboxPatch

    boxes = [p.get_window_extent() for p in axes.patches if isinstance(p, FancyBboxPatch)]
    words = [text.get_window_extent() for text in axes.texts]
    inside = [any(_holds(box, word) for box in boxes) for word in words]
    assert sum(inside) == len(boxes)  # each box contains its label
    apart = boxes + [word for word, is_inside in zip(words, inside, strict=True) if not is_inside]
    assert not any(one.overlaps(other) for one, other in combinations(apart, 2))
    assert all(_holds(figure.bbox, extent) for extent in apart)


def _holds(outer: Any, inner: Any) -> bool:
    return bool(
        outer.x0 <= inner.x0 and inner.x1 <= outer.x1 and outer.y0 <= inner.y0 and inner.y1 <= outer.y1
    )


@pytest.mark.parametrize("tree", [SMALL, full(), chain(5)], ids=["small", "full", "chain"])
def test_lines_join_questions_to_answers_without_crossing_boxes(tree: Tree) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch

    patches = draw(tree).axes[0].patches
    boxes = [p.get_bbox() for p in patches if isinstance(p, FancyBboxPatch)]
    ways = [np.asarray(p.get_path().vertices) for p in patches if type(p) is PathPatch]
    arranged = arrange(tree)
    joined = [
        (boxes[box.parent], drawn)
        for box, drawn in zip(arranged, boxes, strict=True)
        if box.parent is not None
    ]
    assert len(ways) == len(joined)
    for way, (before, after) in zip(ways, joined, strict=True):
        assert tuple(way[0]) == pytest.approx((before.x1, (before.y0 + before.y1) / 2))
        assert tuple(way[-1]) == pytest.approx((after.x0, (after.y0 + after.y1) / 2))
        assert (way[:, 0] >= before.x1 - 1e-9).all()  # between two columns there are no boxes
        assert (way[:, 0] <= after.x0 + 1e-9).all()


def test_picture_shows_perceptions_actions_and_answers() -> None:
    words = [text.get_text() for text in draw(SMALL, "a title").axes[0].texts]
    expected = [
        "a title",
        "markersPresent",
        "yes",
        "pickMarker",
        "no",
        "frontIsClear",
        "yes",
        "move",
        "no",
        "turnLeft",
    ]
    assert words == expected


def test_actions_have_different_colours() -> None:
    assert set(COLOURS) == set(LANGUAGE.actions)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_same_tree_gives_the_same_picture_and_no_figure_stays_open() -> None:
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    one, same, other = picture(SMALL), picture(SMALL), picture(chain(2))
    assert one == same != other
    assert plt.get_fignums() == before
    with Image.open(io.BytesIO(picture(full()))) as large:
        assert large.format == "PNG"
        assert large.height > 32 * 60  # a row is large enough to read
