import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageSequence

from leaps.experiments.report import figures
from leaps.experiments.report.figures import animate_trajectory, check_suffix, draw_lengths, draw_trajectory
from leaps.experiments.trajectory import Iteration, Plane, Trajectory
from leaps.search.solve import SolveConfig


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
def test_unknown_formats_raise(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"saved as \.png or \.svg"):
        check_suffix(tmp_path / name)


def test_histograms_stand_side_by_side_with_their_means() -> None:
    counts = {"programs, one": np.array([0, 0, 0, 0, 0, 1, 3]), "programs, two": np.array([0] * 8 + [2])}
    svg = figures.render(lambda: figures.lengths_figure(counts), "svg").decode()
    for label in ("4 programs, one", "2 programs, two", "mean here, 5.8", "mean here, 8.0"):
        assert f">{label}<" in svg
    assert svg.count(">the paper's mean, 17.9<") == 2


# Searches


def walk(count: int, truth: tuple[float, float] | None = None, converged: bool = True) -> Trajectory:
    """A search that goes from the left to the right while its returns rise from −1 to 1."""
    rng = np.random.default_rng(0)
    iterations = []
    for number in range(1, count + 1):
        share = (number - 1) / max(count - 1, 1)
        centre = np.array([10 * share - 5, 0], np.float32)
        population = (centre + 0.3 * rng.standard_normal((20, 2))).astype(np.float32)
        mean = 2 * share - 1
        iterations.append(Iteration(number, population, centre, mean, min(mean + 0.5, 1), mean / 2, "", ""))
    return Trajectory(
        SolveConfig("maze", "leaps+", 7),
        iterations,
        converged,
        Plane(np.zeros(2, np.float32), np.eye(2, dtype=np.float32), (0.25, 0.125)),
        rng.standard_normal((100, 2)).astype(np.float32),
        None if truth is None else np.array(truth, np.float32),
        None if truth is None else "DEF run m( move m)",
        None if truth is None else 1.0,
    )


def said_in(trajectory: Trajectory, folder: Path) -> str:
    """The words of a search's picture, which stay words in an SVG."""
    draw_trajectory(trajectory, folder / "words.svg")
    return (folder / "words.svg").read_text()


def frames_of(file: Path) -> list[NDArray[np.int64]]:
    with Image.open(file) as film:
        return [np.asarray(frame.convert("RGB"), np.int64) for frame in ImageSequence.Iterator(film)]


def orange(frame: NDArray[np.int64]) -> NDArray[np.bool_]:
    red, green, blue = (frame[..., i] for i in range(3))
    return np.asarray((red > 200) & (green < 150) & (blue < 120))


@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, [1]), (4, [1, 2, 3, 4]), (11, [1, 3, 5, 7, 9, 11]), (1001, [1, 201, 401, 601, 801, 1001])],
)
def test_a_searchs_picture_shows_iterations_from_first_to_last(
    tmp_path: Path, count: int, shown: list[int]
) -> None:
    words = said_in(walk(count), tmp_path)
    assert [i for i in range(1, count + 1) if f">iteration {i:,}<" in words] == shown


def test_a_searchs_picture_says_whose_it_is_and_how_it_ended(tmp_path: Path) -> None:
    assert ">maze, leaps+, seed 7: converged after 3 iterations<" in said_in(walk(3), tmp_path)
    lost = said_in(walk(1, converged=False), tmp_path)
    assert ">maze, leaps+, seed 7: not converged after 1 iteration<" in lost
    assert ">first principal component (25 %)<" in lost
    assert ">mean return −1.00<" in lost


def test_a_summary_is_drawn_as_the_search_itself_is(tmp_path: Path) -> None:
    search = replace(walk(30, (1, 1)), cloud=np.array([[0, 0], [1, 2]], np.float32))
    again = Trajectory.of_summary(search.summary())
    one, other = (
        re.findall(r">([^<\n]+)</text>|<(use|path)", said_in(each, tmp_path)) for each in (search, again)
    )
    assert len(one) > 100
    assert one == other


def test_a_map_shows_the_way_since_the_map_before(tmp_path: Path) -> None:
    ways: list[int] = []

    def look(figure: Figure, stream: Any, **_: object) -> None:
        charts = figure.subfigs[0].axes
        ways.extend(np.size(chart.lines[0].get_xdata()) for chart in charts)
        stream.write(b"")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", look)
        draw_trajectory(walk(11), tmp_path / "ways.png")
    assert ways == [1, 3, 3, 3, 3, 3]


@pytest.mark.parametrize(("count", "pictures"), [(1500, 0), (1501, 1)])
def test_a_small_cloud_is_vectors_and_a_large_one_pixels(tmp_path: Path, count: int, pictures: int) -> None:
    cloud = np.random.default_rng(0).standard_normal((count, 2)).astype(np.float32)
    assert said_in(replace(walk(1), cloud=cloud), tmp_path).count("<image") == pictures


@pytest.mark.parametrize("count", [5, 400, 1200])
def test_every_dot_of_a_cloud_is_seen(count: int) -> None:
    """So few points that none covers another, on a lattice."""
    side = int(np.ceil(np.sqrt(count)))
    places = np.stack(np.divmod(np.arange(count), side), axis=1).astype(np.float32)

    def build() -> Figure:
        figure = Figure(figsize=(6, 6), dpi=100)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-1, side), ylim=(-1, side))
        axes.axis("off")
        figures._dots(axes, places, 3, "#000000", 1.0)
        return figure

    with Image.open(io.BytesIO(figures.render(build, "png"))) as picture:
        dark = np.asarray(picture.convert("L")) < 128
    size = len(dark)
    columns, rows = ((places + 1) / (side + 1) * size).round().astype(int).T
    assert dark[size - rows, columns].all()
    assert figures.render(build, "svg").decode().count("M ") >= count


def test_a_ground_truth_is_in_the_legend_only_if_there_is_one(tmp_path: Path) -> None:
    assert ">ground truth<" in said_in(walk(2, (1, 1)), tmp_path)
    assert ">ground truth<" not in said_in(walk(2), tmp_path)


def test_a_searchs_picture_is_drawn_as_png_and_nothing_is_left_over(tmp_path: Path) -> None:
    before = plt.get_fignums()
    for name in ("one.png", "other.png"):
        draw_trajectory(walk(8, (0, 3)), tmp_path / "new" / name)
    assert plt.get_fignums() == before
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["one.png", "other.png"]
    assert (tmp_path / "new" / "one.png").read_bytes() == (tmp_path / "new" / "other.png").read_bytes()
    with Image.open(tmp_path / "new" / "one.png") as picture:
        assert picture.width == 1536


def test_distant_points_are_on_the_map(tmp_path: Path) -> None:
    """All of a map is in view: its axes reach from the leftmost to what is farthest up."""
    seen = []

    def look(figure: Figure, stream: Any, **_: object) -> None:
        chart = figure.subfigs[0].axes[0]
        seen.append((*chart.get_xlim(), *chart.get_ylim()))
        stream.write(b"")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", look)
        draw_trajectory(walk(3, (0, 40)), tmp_path / "far.png")
    left, right, bottom, top = seen[0]
    assert left < -5
    assert right > 5
    assert bottom < -1
    assert top > 40
    assert right - left == pytest.approx(top - bottom)  # distances are alike both ways


@pytest.mark.parametrize(("count", "frames"), [(1, 1), (5, 5), (8, 8), (9, 8), (100, 8)])
def test_a_film_has_a_frame_per_iteration_but_not_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, frames: int
) -> None:
    monkeypatch.setattr(figures, "MOST_FRAMES", 8)
    before = plt.get_fignums()
    animate_trajectory(walk(count), tmp_path / "film.gif")
    assert len(frames_of(tmp_path / "film.gif")) == frames
    assert plt.get_fignums() == before


def test_a_film_is_short_and_small(tmp_path: Path) -> None:
    assert figures.MOST_FRAMES <= 60
    animate_trajectory(walk(3), tmp_path / "film.gif")
    assert (tmp_path / "film.gif").stat().st_size < 3 / 60 * 3_000_000


def test_a_film_shows_the_population_go_and_the_curve_grow(tmp_path: Path) -> None:
    animate_trajectory(walk(5), tmp_path / "film.gif")
    frames = frames_of(tmp_path / "film.gif")
    height, width = frames[0].shape[:2]
    # Without the legend below: the map is on the left, the curves are on the right.
    parts = [orange(frame[: int(0.83 * height)]) for frame in frames]
    places = [np.nonzero(part[:, : width // 2])[1].mean() for part in parts]
    assert (np.diff(places) > 20).all()
    ends = [np.nonzero(part[:, width // 2 :])[1].max() for part in parts]
    assert (np.diff(ends) > 20).all()


def test_a_film_stays_where_it_is_and_holds_its_end(tmp_path: Path) -> None:
    animate_trajectory(walk(3), tmp_path / "film.gif")
    first, *_, last = frames_of(tmp_path / "film.gif")
    assert (first[0, 0] == 255).all()
    title = slice(0, 30)
    assert np.array_equal(first[title], last[title])
    with Image.open(tmp_path / "film.gif") as film:
        durations = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
    assert durations == [150, 150, 2500]


def test_the_paper_of_a_film_is_white(tmp_path: Path) -> None:
    search = walk(3)
    many = np.random.default_rng(1).standard_normal((3000, 2)).astype(np.float32)
    animate_trajectory(replace(search, cloud=many), tmp_path / "film.gif")
    for frame in frames_of(tmp_path / "film.gif"):
        assert (frame == 255).all(axis=2).mean() > 0.7


@pytest.mark.parametrize("name", ["film.png", "film", "film.gif.txt"])
def test_animation_in_another_format_raises(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"an animation is saved as \.gif"):
        animate_trajectory(walk(2), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
