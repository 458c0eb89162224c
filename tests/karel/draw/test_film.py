import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor, ImageSequence

from leaps.karel.draw import frames_of_actions, palette, to_image
from leaps.karel.draw.film import HOLD_MILLISECONDS, LARGEST_CELL, MOST_FRAMES, save_gif
from leaps.karel.world import MOVE, PUT_MARKER, TURN_LEFT, World, random_worlds
from tests.karel.draw.looking import corridor, has_colour, pixels, room, walk


def film(
    frames: list[World], file: Path, *, milliseconds: int = 120, captions: list[str] | None = None
) -> Image.Image:
    save_gif(frames, file, milliseconds=milliseconds, captions=captions)
    return Image.open(io.BytesIO(file.read_bytes()))


def durations(gif: Image.Image) -> list[int]:
    return [frame.info["duration"] for frame in ImageSequence.Iterator(gif)]


def test_a_film_has_a_frame_per_state(tmp_path: Path) -> None:
    gif = film(walk(20), tmp_path / "film.gif")
    assert getattr(gif, "n_frames", 1) == 21


def test_a_film_loops_forever(tmp_path: Path) -> None:
    assert film(walk(3), tmp_path / "film.gif").info["loop"] == 0


def test_a_film_holds_its_last_frame(tmp_path: Path) -> None:
    gif = film(walk(3), tmp_path / "film.gif", milliseconds=90)
    assert durations(gif) == [90, 90, 90, HOLD_MILLISECONDS]


def test_identical_frames_are_merged(tmp_path: Path) -> None:
    first, second = walk(1)
    assert durations(film([first, first, second], tmp_path / "film.gif")) == [240, HOLD_MILLISECONDS]


def test_a_film_of_one_frame_is_a_film(tmp_path: Path) -> None:
    cell = LARGEST_CELL
    assert film([room()], tmp_path / "film.gif").size == (6 * cell, 5 * cell)


def test_a_long_film_is_thinned_between_its_first_and_last_frame(tmp_path: Path) -> None:
    states = walk(1000)
    gif = film(states, tmp_path / "long.gif", captions=[str(number) for number in range(1001)])
    ends = film([states[0], states[-1]], tmp_path / "ends.gif", captions=["0", "1000"])
    captions = []
    for shown in (gif, ends):
        frames = [pixels(frame)[3 * LARGEST_CELL :] for frame in ImageSequence.Iterator(shown)]
        captions.append((frames[0].tolist(), frames[-1].tolist()))
    assert captions[0] == captions[1]


def test_a_long_film_has_as_many_frames_as_it_may(tmp_path: Path) -> None:
    captions = [str(number) for number in range(1001)]
    gif = film(walk(1000), tmp_path / "film.gif", captions=captions)
    assert getattr(gif, "n_frames", 1) == MOST_FRAMES


def test_the_colours_of_a_film_are_those_of_a_picture(tmp_path: Path) -> None:
    gif = film([room()], tmp_path / "film.gif")
    seen = pixels(gif)
    colours = [palette.FLOOR, palette.WALL, palette.MARKER, palette.KAREL]
    assert [colour for colour in colours if not has_colour(seen, colour)] == []


def test_unchanged_pixels_do_not_flicker(tmp_path: Path) -> None:
    gif = film(walk(20), tmp_path / "film.gif")
    frames = np.stack([pixels(frame) for frame in ImageSequence.Iterator(gif)])
    wall = LARGEST_CELL
    assert (frames[:, :wall] == frames[0, :wall]).all()


def test_the_path_so_far_is_in_a_film(tmp_path: Path) -> None:
    gif = film(walk(4), tmp_path / "film.gif")
    gif.seek(4)
    cell = LARGEST_CELL
    assert pixels(gif)[cell + cell // 2, 3 * cell].tolist() != [*ImageColor.getrgb(palette.FLOOR)]


def test_captions_of_different_lengths_make_frames_of_one_size(tmp_path: Path) -> None:
    long = "a caption that is so long that it needs more than one line below the corridor"
    gif = film(walk(2), tmp_path / "film.gif", captions=["", long, "short"])
    longest = to_image(corridor(), cell=LARGEST_CELL, caption=long)
    assert gif.size == longest.size


def test_a_film_of_fifty_steps_is_small(tmp_path: Path) -> None:
    world = random_worlds(1, seed=3).world(0)
    actions = np.random.default_rng(0).choice([MOVE, MOVE, MOVE, TURN_LEFT, PUT_MARKER], 50).tolist()
    frames = frames_of_actions(world, actions)
    save_gif(frames, tmp_path / "film.gif", captions=[f"step {number}" for number in range(51)])
    assert (tmp_path / "film.gif").stat().st_size < 100_000


def test_a_film_without_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        save_gif([], tmp_path / "film.gif")


def test_a_film_with_too_few_captions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="found 1 for 3 frames"):
        save_gif(walk(2), tmp_path / "film.gif", captions=["one"])


def test_a_film_of_worlds_of_different_sizes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="found 5x6 and 3x7"):
        save_gif([room(), *walk(0)], tmp_path / "film.gif")


def test_a_film_too_fast_for_browsers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 20 milliseconds, found 5"):
        save_gif([room()], tmp_path / "film.gif", milliseconds=5)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("not allowed")

    file = tmp_path / "film.gif"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="not allowed"):
        save_gif([room()], file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"film.gif": b"old"}
