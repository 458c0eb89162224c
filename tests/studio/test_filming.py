"""Films are GIFs, and not too long."""

import io
from typing import Any

import pytest
from PIL import Image

from leaps.studio.filming import FRAMES, check_film, film
from leaps.studio.requests import Fields, RequestError
from leaps.studio.tracing import Rollout
from tests.studio.harness import WALK


def rollout(**fields: Any) -> Rollout:
    return Rollout.of(Fields({"program": WALK, "task": "top-off"} | fields))


def frames_of(content: bytes) -> int:
    image = Image.open(io.BytesIO(content))
    assert image.format == "GIF"
    return int(getattr(image, "n_frames", 1))


def test_a_rollout_is_filmed_from_its_first_state_to_its_last() -> None:
    assert frames_of(film(rollout())) == 10
    assert frames_of(film(rollout(program="DEF run m( move m)"))) == 2


def test_a_long_rollout_is_filmed_at_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaps.studio.filming.FRAMES", 5)
    assert frames_of(film(rollout())) == 5
    assert FRAMES == 400


def test_a_large_world_is_not_filmed() -> None:
    check_film(rollout(size=[40, 40]))
    with pytest.raises(RequestError, match="at most 40 cells a side, found 8x41"):
        check_film(rollout(size=[8, 41]))


def test_a_drawn_world_is_filmed() -> None:
    drawn = {"rows": ["#####", "#..1#", "#####"], "karel": [1, 1, 1]}
    assert frames_of(film(rollout(task=None, world=drawn))) == 3
