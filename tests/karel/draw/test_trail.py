from leaps.karel.draw import palette
from leaps.karel.draw.grid import DETAILED_CELL, Cell
from leaps.karel.draw.shapes import Disc, Line, Points
from leaps.karel.draw.trail import SHADES, Trail, trail_shapes


def lines(path: list[Cell], cell: int = 10, fade: int | None = None) -> list[Line]:
    return [shape for shape in trail_shapes(Trail(path), cell, fade) if isinstance(shape, Line)]


def points(path: list[Cell]) -> list[Points]:
    return [line.points for line in lines(path)]


def distance_to_floor(colour: str) -> int:
    pairs = zip(palette.rgb(colour), palette.rgb(palette.FLOOR), strict=True)
    return sum(abs(a - b) for a, b in pairs)


def test_the_path_comes_through_the_centres_of_its_cells() -> None:
    assert points([(3, 1), (3, 2), (3, 3)]) == [((15, 35), (25, 35)), ((25, 35), (35, 35))]


def test_a_path_within_one_cell_is_not_drawn() -> None:
    assert list(trail_shapes(Trail([(1, 1), (1, 1)]), 10)) == []


def test_an_empty_path_is_not_drawn() -> None:
    assert list(trail_shapes(Trail(), 10)) == []


def test_a_step_taken_again_is_drawn_once() -> None:
    assert len(lines([(3, 1), (3, 2)] * 50)) == 1


def test_a_step_taken_again_is_as_new_as_its_last_time() -> None:
    trail = Trail([(1, 1), (1, 2), (1, 3), (1, 2), (1, 1)])
    assert list(trail.steps.values()) == [((1, 3), (1, 2)), ((1, 2), (1, 1))]


def test_an_extended_trail_equals_that_of_the_whole_path() -> None:
    path = [(1, 1), (1, 2), (2, 2), (1, 2), (1, 3)]
    trail = Trail(path[:2])
    for place in path[2:]:
        trail.visit(place)
    assert list(trail_shapes(trail, 10)) == list(trail_shapes(Trail(path), 10))


def test_a_step_taken_again_leaves_a_gap_in_the_old_line() -> None:
    path = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (2, 3), (1, 3), (1, 2)]
    assert [line.points for line in lines(path, fade=1)] == [
        ((15, 15), (25, 15)),
        ((35, 15), (45, 15), (45, 25), (35, 25), (35, 15)),
        ((35, 15), (25, 15)),
    ]


def test_a_straight_line_of_one_shade_has_two_points() -> None:
    path = [(1, column) for column in range(1, 2 * SHADES + 2)]
    assert [len(line) for line in points(path)] == [2] * SHADES


def test_a_path_fades_from_new_to_old() -> None:
    strengths = [distance_to_floor(line.colour) for line in lines([(1, column) for column in range(1, 30)])]
    assert len(strengths) == SHADES
    assert strengths == sorted(strengths)
    assert strengths[0] > 0


def test_steps_older_than_the_fade_are_equally_faint() -> None:
    path = [(1, column) for column in range(1, 200)]
    oldest = lines(path, fade=SHADES)[0]
    assert oldest.points == ((15, 15), (10 * (199 - SHADES + 1) + 5, 15))


def test_a_ring_shows_where_the_path_begins() -> None:
    discs = [shape for shape in trail_shapes(Trail([(1, 1), (1, 2)]), 10) if isinstance(shape, Disc)]
    assert [disc.centre for disc in discs] == [(15, 15), (15, 15)]


def test_small_cells_have_no_ring() -> None:
    shapes = trail_shapes(Trail([(1, 1), (1, 2)]), DETAILED_CELL - 1)
    assert not any(isinstance(shape, Disc) for shape in shapes)
