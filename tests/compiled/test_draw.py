"""The default drawing of worlds: rows of digits."""

import numpy as np

from leaps.compiled.draw import EMPTY, PAPER, to_image, to_text
from leaps.compiled.plain import World


def test_planes_stand_side_by_side_above_the_numbers() -> None:
    cells = np.zeros((2, 2, 3), np.uint8)
    cells[0, 0], cells[1, 1, 2] = (1, 11, 200), 9
    assert to_text(World(cells, np.array([4, -1]))) == f"1b#  {EMPTY * 3}\n{EMPTY * 3}  ..9\n4 -1"


def test_a_picture_shows_the_characters_of_the_text() -> None:
    image = np.asarray(to_image("a \n b"))
    height, width = image.shape[0] // 2, image.shape[1] // 2
    inked = [
        [bool((image[y * height :][:height, x * width :][:, :width] != PAPER).any()) for x in range(2)]
        for y in range(2)
    ]
    assert inked == [[True, False], [False, True]]
    assert max(to_image("x" * 200).size) == 200 * 6
