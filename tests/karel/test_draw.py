"""Pictures say what the world says."""

import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageSequence
from rich.console import Console

from leaps.dsl.compiler import Compiled
from leaps.karel import draw
from leaps.karel.executor import NO_ACTION, compile_karel
from leaps.karel.world import (
    EAST,
    EXIT,
    LANGUAGE,
    MOVE,
    NORTH,
    PICK_MARKER,
    PUT_MARKER,
    SOUTH,
    TURN_LEFT,
    WEST,
    World,
    random_worlds,
)
from leaps.tasks import TASKS

ROOM = """
######
#.2..#
#.#..#
#..>.#
######"""
CORRIDOR = """
#######
#>....#
#######"""
SVG = "{http://www.w3.org/2000/svg}"


def room() -> World:
    return World.parse(ROOM)


def empty_room(height: int, width: int) -> World:
    return World.of(["#" * width, *["#" + "." * (width - 2) + "#"] * (height - 2), "#" * width], 1, 1, EAST)


def layer(svg: str, name: str) -> ElementTree.Element:
    found = ElementTree.fromstring(svg).find(f"{SVG}g[@class='{name}']")
    assert found is not None
    return found


def words(svg: str, name: str) -> list[str]:
    return [text.text or "" for text in layer(svg, name).iter(f"{SVG}text")]


def pixels(image: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(image.convert("RGB"))


def has_colour(part: NDArray[np.uint8], colour: str) -> bool:
    return bool((part == ImageColor.getrgb(colour)).all(axis=-1).any())


def cell_of(image: Image.Image, row: int, column: int, cell: int) -> NDArray[np.uint8]:
    return pixels(image)[row * cell : (row + 1) * cell, column * cell : (column + 1) * cell]


def compiled(text: str) -> Compiled:
    return compile_karel(LANGUAGE.batch([LANGUAGE.encode(text.split())]))


def film(
    frames: list[World], file: Path, *, milliseconds: int = 120, captions: list[str] | None = None
) -> Image.Image:
    draw.save_gif(frames, file, milliseconds=milliseconds, captions=captions)
    return Image.open(io.BytesIO(file.read_bytes()))


def durations(gif: Image.Image) -> list[int]:
    return [frame.info["duration"] for frame in ImageSequence.Iterator(gif)]


# Text.


def test_text_has_a_line_per_row_and_two_columns_per_cell() -> None:
    assert [len(line) for line in draw.to_text(room()).plain.split("\n")] == [12] * 5


def test_text_shows_walls_floor_markers_and_karel() -> None:
    assert draw.to_text(room()).plain.split("\n")[1:4] == ["██· 2 · · ██", "██· ██· · ██", "██· · ► · ██"]


def test_text_says_how_many_markers_karel_stands_on() -> None:
    world = room()
    world.markers[3, 3] = 3
    assert "►3" in draw.to_text(world).plain


def test_text_writes_ten_markers_as_ten() -> None:
    assert draw.to_text(World.parse(ROOM.replace("2", "A"))).plain.split("\n")[1] == "██· 10· · ██"


@pytest.mark.parametrize(("heading", "arrow"), [(NORTH, "▲"), (EAST, "►"), (SOUTH, "▼"), (WEST, "◄")])
def test_text_points_where_karel_looks(heading: int, arrow: str) -> None:
    world = room()
    world.pose[2] = heading
    assert arrow in draw.to_text(world).plain


def test_text_in_a_terminal_has_colours() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80)
    with console.capture() as capture:
        console.print(draw.to_text(room()))
    assert "38;2;226;87;30m►" in capture.get()


# Pixels.


@pytest.mark.parametrize("size", [(3, 3), (8, 8), (14, 22), (100, 100), (100, 12)])
def test_a_picture_stays_below_a_thousand_pixels(size: tuple[int, int]) -> None:
    assert max(draw.to_image(empty_room(*size), caption="A caption").size) <= 1000


def test_the_size_of_a_cell_can_be_asked_for() -> None:
    assert draw.to_image(room(), cell=17).size == (6 * 17, 5 * 17)


def test_a_cell_without_pixels_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 pixel wide, found 0"):
        draw.to_image(room(), cell=0)


@pytest.mark.parametrize("cell", [5, 28])
def test_a_wall_covers_its_cells_and_no_more(cell: int) -> None:
    wall = ImageColor.getrgb(draw.WALL_COLOUR)
    is_wall = (pixels(draw.to_image(empty_room(6, 9), cell=cell)) == wall).all(axis=-1)
    across, down = is_wall[3 * cell + cell // 2], is_wall[:, 3 * cell + cell // 2]
    assert across.tolist() == [x < cell or x >= 8 * cell for x in range(9 * cell)]
    assert down.tolist() == [y < cell or y >= 5 * cell for y in range(6 * cell)]


def test_walls_that_touch_in_a_corner_are_joined() -> None:
    world = World.parse("######\n#....#\n#.#..#\n#..#.#\n#>...#\n######")
    assert has_colour(pixels(draw.to_image(world, cell=28))[84:85, 84:85], draw.WALL_COLOUR)


def test_walls_that_touch_along_a_side_have_no_seam() -> None:
    world = World.parse("######\n#....#\n#.##.#\n#.##.#\n#>...#\n######")
    inside = pixels(draw.to_image(world, cell=28))[2 * 28 + 6 : 4 * 28 - 6, 2 * 28 + 6 : 4 * 28 - 6]
    assert (inside == ImageColor.getrgb(draw.WALL_COLOUR)).all()


def test_an_exit_looks_like_floor() -> None:
    world = room()
    world.ground[1, 1] = EXIT
    assert draw.to_svg(world) == draw.to_svg(room())


@pytest.mark.parametrize("cell", [3, 8, 28])
def test_the_four_headings_are_four_pictures(cell: int) -> None:
    pictures = set()
    for heading in range(4):
        world = room()
        world.pose[2] = heading
        pictures.add(draw.to_image(world, cell=cell).tobytes())
    assert len(pictures) == 4


def test_karel_points_north_as_a_triangle_does() -> None:
    world = room()
    world.pose[2] = NORTH
    karel = ImageColor.getrgb(draw.KAREL_COLOUR)
    breadth = (cell_of(draw.to_image(world, cell=40), 3, 3, 40) == karel).all(axis=-1).sum(axis=1)
    assert 0 < breadth[8] < breadth[16] < breadth[24]


def test_karel_can_be_seen_on_a_marker() -> None:
    world = room()
    world.markers[3, 3] = 1
    assert has_colour(cell_of(draw.to_image(world, cell=28), 3, 3, 28), draw.KAREL_COLOUR)


def test_a_marker_can_be_seen_under_karel() -> None:
    world = room()
    world.markers[3, 3] = 1
    assert has_colour(cell_of(draw.to_image(world, cell=28), 3, 3, 28), draw.MARKER_COLOUR)


def test_karel_can_be_seen_in_the_largest_world() -> None:
    assert has_colour(pixels(draw.to_image(empty_room(1000, 1000))), draw.KAREL_COLOUR)


def test_small_cells_have_no_grid() -> None:
    svg = draw.to_svg(empty_room(9, 9), cell=draw.DETAILED_CELL - 1)
    assert layer(svg, "room").findall(f"{SVG}polyline") == []


def test_a_caption_is_below_the_world() -> None:
    plain, captioned = draw.to_image(room()), draw.to_image(room(), caption="Here")
    assert (pixels(captioned)[: plain.height - 1] == pixels(plain)[:-1]).all()
    assert pixels(captioned)[plain.height :].min() < 100


def test_a_path_fades_from_new_to_old() -> None:
    world = World.parse(CORRIDOR.replace(">....", "....>"))
    image = pixels(draw.to_image(world, cell=28, path=[(1, column) for column in range(1, 6)]))
    old, new = image[42, 2 * 28], image[42, 4 * 28]
    floor = np.array(ImageColor.getrgb(draw.FLOOR_COLOUR))
    assert 0 < np.abs(floor - old).sum() < np.abs(floor - new).sum()


# Vectors.


def test_an_svg_scales() -> None:
    assert ElementTree.fromstring(draw.to_svg(room(), cell=10)).get("viewBox") == "0 0 60 50"


def test_an_svg_has_its_caption_as_title() -> None:
    svg = draw.to_svg(room(), caption="A & B < C")
    assert ElementTree.fromstring(svg).findtext(f"{SVG}title") == "A & B < C"


def test_an_svg_without_a_caption_has_a_title_too() -> None:
    title = ElementTree.fromstring(draw.to_svg(room())).findtext(f"{SVG}title")
    assert title == "Karel in a world of 5 by 6 cells"


def test_what_xml_can_not_hold_is_left_out_of_an_svg() -> None:
    assert words(draw.to_svg(room(), caption="a\x00\x1bb"), "caption") == ["ab"]


def test_all_walls_are_one_shape_with_an_outline_per_boundary() -> None:
    walls = [path.get("d", "") for path in layer(draw.to_svg(room()), "room").iter(f"{SVG}path")][1:]
    assert [path.count("Z") for path in walls] == [3]  # the border's two sides, and the pillar


def test_there_is_one_karel() -> None:
    assert len(layer(draw.to_svg(room()), "karel").findall(f"{SVG}path")) == 1


def test_several_markers_are_one_disc_with_their_count() -> None:
    svg = draw.to_svg(room())
    assert (len(layer(svg, "markers").findall(f"{SVG}circle")), words(svg, "markers")) == (1, ["2"])


def test_a_single_marker_has_no_count() -> None:
    assert words(draw.to_svg(World.parse(ROOM.replace("2", "1"))), "markers") == []


def test_the_count_of_markers_under_karel_is_shown_on_top() -> None:
    world = room()
    world.markers[3, 3] = 10
    assert words(draw.to_svg(world), "karel") == ["10"]


def test_the_path_comes_through_the_centres_of_its_cells() -> None:
    svg = draw.to_svg(room(), cell=10, path=[(3, 1), (3, 2), (3, 3)])
    lines = [line.get("points") for line in layer(svg, "path").iter(f"{SVG}polyline")]
    assert lines == ["15,35 25,35", "25,35 35,35"]


def test_a_step_taken_again_is_drawn_once() -> None:
    svg = draw.to_svg(room(), path=[(3, 1), (3, 2)] * 50)
    assert len(layer(svg, "path").findall(f"{SVG}polyline")) == 1


def test_a_long_caption_is_broken_at_spaces() -> None:
    caption = "the quick brown fox jumps over the lazy dog and comes home late in the evening"
    lines = words(draw.to_svg(room(), cell=28, caption=caption), "caption")
    assert len(lines) > 1
    assert " ".join(lines) == caption


def test_all_lines_of_a_caption_are_inside_the_picture() -> None:
    root = ElementTree.fromstring(draw.to_svg(room(), caption="one\ntwo\nthree"))
    last = list(root.iter(f"{SVG}text"))[-1]
    assert float(last.get("y", "inf")) < float(root.get("height", "0"))


# Files.


@pytest.mark.parametrize("name", ["world.png", "world.PNG", "world.svg"])
def test_a_picture_is_saved_by_its_suffix_into_folders_made_for_it(tmp_path: Path, name: str) -> None:
    file = tmp_path / "deep" / "down" / name
    draw.save(room(), file)
    assert file.read_bytes()[:4] == (b"<svg" if name.endswith("svg") else b"\x89PNG")


def test_a_picture_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"as \.png or \.svg, found '\.jpg'"):
        draw.save(room(), tmp_path / "world.jpg")


@pytest.mark.parametrize("broken", ["write_bytes", "replace"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def half(path: Path, content: bytes) -> int:
        with path.open("wb") as stream:
            stream.write(content[:10])
        raise OSError("disk full")

    def fail(*_: object) -> None:
        raise OSError("not allowed")

    file = tmp_path / "film.gif"
    file.write_bytes(b"old")
    if broken == "write_bytes":
        monkeypatch.setattr(Path, "write_bytes", half)
    else:
        monkeypatch.setattr("leaps.karel.draw.os.replace", fail)
    with pytest.raises(OSError, match=r"disk full|not allowed"):
        draw.save_gif([room()], file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"film.gif": b"old"}


# Films.


def walk(steps: int) -> list[World]:
    """Walk to and fro in the corridor."""
    actions = ([MOVE] * 4 + [TURN_LEFT] * 2) * steps
    return draw.frames_of_actions(World.parse(CORRIDOR), actions[:steps])


def test_a_film_has_a_frame_per_state(tmp_path: Path) -> None:
    gif = film(walk(20), tmp_path / "film.gif")
    assert getattr(gif, "n_frames", 1) == 21


def test_a_film_loops_forever(tmp_path: Path) -> None:
    assert film(walk(3), tmp_path / "film.gif").info["loop"] == 0


def test_a_film_holds_its_last_frame(tmp_path: Path) -> None:
    gif = film(walk(3), tmp_path / "film.gif", milliseconds=90)
    assert durations(gif) == [90, 90, 90, draw.HOLD_MILLISECONDS]


def test_a_frame_that_shows_nothing_new_is_shown_for_longer(tmp_path: Path) -> None:
    first, second = walk(1)
    assert durations(film([first, first, second], tmp_path / "film.gif")) == [240, draw.HOLD_MILLISECONDS]


def test_a_film_of_one_frame_is_a_film(tmp_path: Path) -> None:
    cell = draw.LARGEST_FILM_CELL
    assert film([room()], tmp_path / "film.gif").size == (6 * cell, 5 * cell)


def test_a_long_film_is_thinned_between_its_first_and_last_frame(tmp_path: Path) -> None:
    states = walk(1000)
    gif = film(states, tmp_path / "long.gif", captions=[str(number) for number in range(1001)])
    ends = film([states[0], states[-1]], tmp_path / "ends.gif", captions=["0", "1000"])
    captions = []
    for shown in (gif, ends):
        frames = [pixels(frame)[3 * draw.LARGEST_FILM_CELL :] for frame in ImageSequence.Iterator(shown)]
        captions.append((frames[0].tolist(), frames[-1].tolist()))
    assert captions[0] == captions[1]


def test_a_long_film_has_as_many_frames_as_it_may(tmp_path: Path) -> None:
    captions = [str(number) for number in range(1001)]
    gif = film(walk(1000), tmp_path / "film.gif", captions=captions)
    assert getattr(gif, "n_frames", 1) == draw.MOST_FRAMES


def test_the_colours_of_a_film_are_those_of_a_picture(tmp_path: Path) -> None:
    gif = film([World.parse(ROOM)], tmp_path / "film.gif")
    seen = pixels(gif)
    colours = [draw.FLOOR_COLOUR, draw.WALL_COLOUR, draw.MARKER_COLOUR, draw.KAREL_COLOUR]
    assert [colour for colour in colours if not has_colour(seen, colour)] == []


def test_what_does_not_change_does_not_flicker(tmp_path: Path) -> None:
    gif = film(walk(20), tmp_path / "film.gif")
    frames = np.stack([pixels(frame) for frame in ImageSequence.Iterator(gif)])
    wall = draw.LARGEST_FILM_CELL
    assert (frames[:, :wall] == frames[0, :wall]).all()


def test_the_path_so_far_is_in_a_film(tmp_path: Path) -> None:
    gif = film(walk(4), tmp_path / "film.gif")
    gif.seek(4)
    cell = draw.LARGEST_FILM_CELL
    assert pixels(gif)[cell + cell // 2, 3 * cell].tolist() != [*ImageColor.getrgb(draw.FLOOR_COLOUR)]


def test_captions_of_different_lengths_make_frames_of_one_size(tmp_path: Path) -> None:
    long = "a caption that is so long that it needs more than one line below the corridor"
    gif = film(walk(2), tmp_path / "film.gif", captions=["", long, "short"])
    longest = draw.to_image(World.parse(CORRIDOR), cell=draw.LARGEST_FILM_CELL, caption=long)
    assert gif.size == longest.size


def test_a_film_of_fifty_steps_is_small(tmp_path: Path) -> None:
    world = random_worlds(1, seed=3).world(0)
    actions = np.random.default_rng(0).choice([MOVE, MOVE, MOVE, TURN_LEFT, PUT_MARKER], 50).tolist()
    frames = draw.frames_of_actions(world, actions)
    draw.save_gif(frames, tmp_path / "film.gif", captions=[f"step {number}" for number in range(51)])
    assert (tmp_path / "film.gif").stat().st_size < 100_000


def test_a_film_without_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        draw.save_gif([], tmp_path / "film.gif")


def test_a_film_with_too_few_captions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="found 1 for 3 frames"):
        draw.save_gif(walk(2), tmp_path / "film.gif", captions=["one"])


def test_a_film_of_worlds_of_different_sizes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="found 5x6 and 3x7"):
        draw.save_gif([room(), *walk(0)], tmp_path / "film.gif")


def test_a_film_too_fast_for_browsers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 20 milliseconds, found 5"):
        draw.save_gif([room()], tmp_path / "film.gif", milliseconds=5)


# Rollouts.


def test_frames_are_all_states_from_the_first_to_the_last() -> None:
    frames = draw.frames_of_actions(World.parse(CORRIDOR), [MOVE, PUT_MARKER, MOVE])
    assert [str(frame).split("\n")[1] for frame in frames] == ["#>....#", "#.>...#", "#.>...#", "#.1>..#"]


def test_frames_end_with_the_actions() -> None:
    actions = np.array([MOVE, NO_ACTION, NO_ACTION], np.uint8)
    assert len(draw.frames_of_actions(World.parse(CORRIDOR), actions)) == 2


def test_frames_of_a_long_rollout_go_on_where_they_were() -> None:
    assert draw.path_of(walk(1000)) == [(1, abs((column + 4) % 8 - 4) + 1) for column in range(669)]


def test_frames_leave_the_world_as_it_is() -> None:
    world = World.parse(CORRIDOR)
    draw.frames_of_actions(world, [MOVE, PUT_MARKER])
    assert str(world) == CORRIDOR.strip()


def test_frames_refuse_an_action_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="a number below 5, found 7"):
        draw.frames_of_actions(World.parse(CORRIDOR), [MOVE, 7])


def test_frames_show_what_a_task_does_to_the_world() -> None:
    task = TASKS["door-key"]
    world = task.prepare(World.parse("######\n#>.#.#\n#..#.#\n#..#1#\n#..#.#\n######"))
    world.markers[1, 1] = 1
    _, after = draw.frames_of_actions(world, [PICK_MARKER], task.hooks)
    assert (after.ground[2:4, 3] == world.ground[1, 1]).all()


def test_frames_of_a_program_are_those_of_its_actions() -> None:
    program = compiled("DEF run m( WHILE c( frontIsClear c) w( move putMarker w) m)")
    frames = draw.frames_of_program(World.parse(CORRIDOR), program, horizon=100)
    assert [str(frame) for frame in frames] == [
        str(frame) for frame in draw.frames_of_actions(World.parse(CORRIDOR), [MOVE, PUT_MARKER] * 4)
    ]


def test_frames_of_a_program_end_at_the_horizon() -> None:
    program = compiled("DEF run m( WHILE c( noMarkersPresent c) w( turnLeft w) m)")
    assert len(draw.frames_of_program(World.parse(CORRIDOR), program, horizon=7)) == 8


def test_a_path_has_a_cell_once_however_long_karel_stays() -> None:
    frames = draw.frames_of_actions(World.parse(CORRIDOR), [TURN_LEFT, TURN_LEFT, TURN_LEFT, TURN_LEFT, MOVE])
    assert draw.path_of(frames) == [(1, 1), (1, 2)]
