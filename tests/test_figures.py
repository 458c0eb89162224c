from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from leaps.figures import check_suffix, draw_lengths


def test_a_histogram_is_drawn_as_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "new" / "lengths.png"
    draw_lengths(np.array([5, 6, 6, 20, 44]), file)
    with Image.open(file) as picture:
        assert picture.width > 500


def test_other_lengths_look_different(tmp_path: Path) -> None:
    draw_lengths(np.array([5, 6, 6]), tmp_path / "a.png")
    draw_lengths(np.array([5, 6, 30]), tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("name", ["figure.pdf", "figure", "figure.gif"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"saved as \.png or \.svg"):
        check_suffix(tmp_path / name)
