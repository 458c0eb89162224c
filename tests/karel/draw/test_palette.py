import pytest

from leaps.karel.draw.palette import COLOURS, mix, rgb


@pytest.mark.parametrize(("share", "mixed"), [(0.0, "#102030"), (0.25, "#142434"), (1.0, "#203040")])
def test_a_mix_goes_from_the_old_colour_to_the_new_one(share: float, mixed: str) -> None:
    assert mix("#102030", "#203040", share) == mixed


def test_a_colour_is_red_green_and_blue() -> None:
    assert [*rgb("#ff8001")] == [255, 128, 1]


def test_all_colours_are_different() -> None:
    assert len(set(COLOURS)) == len(COLOURS)
