from leaps.karel.draw.shapes import corners

SQUARE = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0))


def test_rounding_begins_and_ends_a_radius_away_from_each_corner() -> None:
    assert list(corners(SQUARE, 2.0)) == [
        ((0, 2), (0, 0), (2, 0)),
        ((8, 0), (10, 0), (10, 2)),
        ((10, 8), (10, 10), (8, 10)),
        ((2, 10), (0, 10), (0, 8)),
    ]


def test_corners_without_a_radius_stay_sharp() -> None:
    assert list(corners(SQUARE, 0.0)) == [(point, point, point) for point in SQUARE]
