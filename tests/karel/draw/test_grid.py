import pytest

from leaps.karel.draw.grid import LARGEST_CELL, MOST_PIXELS, cell_size, centre
from tests.karel.draw.looking import empty_room, room


def test_a_small_world_has_the_largest_cells() -> None:
    assert cell_size(room(), None) == LARGEST_CELL


@pytest.mark.parametrize("size", [(100, 100), (100, 12), (7, 100)])
def test_the_cells_of_a_large_world_fill_the_picture(size: tuple[int, int]) -> None:
    assert MOST_PIXELS - 100 < 100 * cell_size(empty_room(*size), None) <= MOST_PIXELS


def test_a_cell_is_never_without_pixels() -> None:
    assert cell_size(empty_room(1000, 1000), None) == 1


def test_the_size_of_a_cell_can_be_given() -> None:
    assert cell_size(room(), 17) == 17


def test_a_cell_without_pixels_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 pixel wide, found 0"):
        cell_size(room(), 0)


def test_rows_go_down_and_columns_to_the_right() -> None:
    assert centre((1, 3), 10) == (35, 15)
