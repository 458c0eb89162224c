"""Figures of data, spaces and searches in one style. matplotlib is imported on first use."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leaps.base.files import write_atomically
from leaps.experiments.paper import LONGEST_PROGRAM, MEAN_LENGTH
from leaps.experiments.trajectory import SNAPSHOTS, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from leaps.experiments.explore import SpaceChart
    from leaps.experiments.trajectory import Trajectory

BLUE, GREEN, GREY = "#2b6cb0", "#7a9a3a", "#525e73"
COLOURS = ("#e2571e", "#6b21a8", "#0f766e", "#b91c1c")
CLOUD, INK, WHITE = "#c3cad5", "#1a202c", "#ffffff"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # part of matplotlib
    "font.size": 10,
    "svg.fonttype": "none",  # keep text as text, for search, copying and screen readers
    "svg.hashsalt": "leaps",  # fixed, so that SVGs are reproducible
}
MOST_DOTS = 1500
"""most points of a cloud that are drawn as vectors"""
MOST_FRAMES = 60
"""most frames in an animation of a search"""
MILLISECONDS, HOLD = 150, 2500
"""duration of a frame and of the last frame, in milliseconds"""
FILM_COLOURS = 127
_CURVES = (
    ("mean of the population", COLOURS[0], "-", "mean"),
    ("next centre's program", BLUE, "-", "centre_return"),
    ("best of the population", INK, ":", "best"),
)
"""returns drawn for a search: label, colour, line style and field"""


def check_suffix(file: Path) -> str:
    """Return the format of a file name, png or svg; ValueError for any other."""
    suffix = file.suffix.lower().lstrip(".")
    if suffix not in ("png", "svg"):
        raise ValueError(f"a figure is saved as .png or .svg, found {str(file)!r}")
    return suffix


def render(build: "Callable[[], Figure]", format: str) -> bytes:
    """Draw a figure in the common style, as png or svg; equal figures give equal SVGs."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    with rc_context(STYLE):
        build().savefig(
            buffer,
            format=format,
            dpi=160,
            facecolor=WHITE,
            metadata={"Date": None, "Creator": None} if format == "svg" else None,
        )
    return buffer.getvalue()


def _save(build: "Callable[[], Figure]", file: Path) -> None:
    write_atomically(file, render(build, check_suffix(file)))


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _axes(width: float, height: float) -> tuple["Figure", Any]:
    figure = _figure(width, height)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _dots(axes: Any, points: NDArray[np.float32], size: float, colour: str, alpha: float) -> None:
    """Draw a cloud. A small one is a single path, which makes the SVG much smaller."""
    if len(points) > MOST_DOTS:
        axes.scatter(points[:, 0], points[:, 1], size**2, colour, alpha=alpha, linewidths=0, rasterized=True)
        return
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    # A dot is a very short line with round ends; some viewers don't draw lines of length 0.
    short = np.array([1e-4 * max(float(np.ptp(points)) if len(points) else 0.0, 1e-6), 0], np.float32)
    ends = np.stack([points, points + short], axis=1).reshape(-1, 2)
    codes = np.tile([Outline.MOVETO, Outline.LINETO], len(points))
    dots = PathPatch(
        Outline(ends, codes), fill=False, edgecolor=colour, alpha=alpha, linewidth=size, capstyle="round"
    )
    dots.set_snap(False)  # snapping to pixels would give the lines length 0
    axes.add_patch(dots)


def _square(points: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The corners of a square around points; both axes need the same scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = 0.55 * max(float((high - low).max()), 1e-6)
    return (low + high) / 2 - reach, (low + high) / 2 + reach


def _blank(axes: Any, low: NDArray[np.float32], high: NDArray[np.float32]) -> None:
    """Prepare the axes of a map: a square without tick labels."""
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    axes.set_aspect("equal")
    axes.spines[:].set_color(CLOUD)


def _label_plane(axes: Any, shares: tuple[float, float], x: bool = True, y: bool = True) -> None:
    """Label the axes of a map with their fractions of the programs' variance."""
    first, second = (f"{share:.0%}".replace("%", " %") for share in shares)
    if x:
        axes.set_xlabel(f"first principal component ({first})", fontsize=9, color=GREY)
    if y:
        axes.set_ylabel(f"second principal component ({second})", fontsize=9, color=GREY)


def _mark(colour: str, label: str, marker: str, size: float, line: str = "") -> Any:
    """An entry of a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], marker=marker, ls=line, lw=1, ms=size, color=colour, mec=WHITE, label=label)


def draw_lengths(lengths: NDArray[np.int64], file: Path) -> None:
    """Draw the histogram of program lengths with the paper's mean and maximum."""
    _save(lambda: lengths_figure({"programs": np.bincount(lengths)}), file)


def lengths_figure(counts: "Mapping[str, NDArray[np.int64]]") -> "Figure":
    """Histograms side by side. counts: by name, the number of programs with 0, 1, … tokens."""
    figure = _figure(6.4 if len(counts) == 1 else 9.6, 3.4)
    for axes, (name, programs) in zip(
        figure.subplots(1, len(counts), squeeze=False).flat, counts.items(), strict=True
    ):
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(CLOUD)
        tokens = np.arange(len(programs))
        mean = float((tokens * programs).sum() / programs.sum())
        axes.bar(tokens, programs, width=0.85, color=BLUE, linewidth=0)
        axes.axvline(mean, color=INK, lw=1.4, label=f"mean here, {mean:.1f}")
        axes.axvline(MEAN_LENGTH, color=COLOURS[0], lw=1.4, ls="--", label=f"the paper's mean, {MEAN_LENGTH}")
        axes.axvline(
            LONGEST_PROGRAM, color=COLOURS[0], lw=1.4, ls=":", label=f"the paper's longest, {LONGEST_PROGRAM}"
        )
        axes.set_xlim(3.5, max(len(programs) - 0.5, LONGEST_PROGRAM + 1))
        axes.set_xlabel("tokens", color=GREY, fontsize=9)
        axes.set_ylabel("programs", color=GREY, fontsize=9)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.tick_params(color=CLOUD, labelcolor=GREY, labelsize=9)
        axes.set_title(f"{programs.sum():,} {name}", loc="left", fontsize=11, fontweight="bold", color=INK)
        axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(0.97, 1), fontsize=9, labelcolor=INK)
    return figure


def draw_map(chart: "SpaceChart", file: Path, title: str) -> None:
    """Draw a space in two dimensions: the paper's figure of the learned embedding space."""
    _save(lambda: maps_figure({title: chart}), file)


def maps_figure(charts: "Mapping[str, SpaceChart]") -> "Figure":
    """Maps of spaces side by side, each with its own principal components."""
    across = min(len(charts), 2)
    down = -(-len(charts) // across)
    figure = _figure(4.8 * across if across > 1 else 6.4, 4.85 * down + 0.75 if across > 1 else 6.9)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr, call-arg]
    panels = list(figure.subplots(down, across, squeeze=False).flat)
    for axes, (name, chart) in zip(panels, charts.items(), strict=False):
        _draw_map(axes, chart)
        axes.set_title(name, loc="left", fontsize=11, fontweight="bold", color=INK)
    for axes in panels[len(charts) :]:
        axes.set_visible(False)
    tests = [
        _mark(colour, name, "s", 8)
        for colour, name in zip(COLOURS, next(iter(charts.values())).truth, strict=True)
    ]
    clouds = [
        _mark(BLUE, "training programs", "o", 6),
        _mark(GREEN, "samples of N(0, I)", "o", 6),
        _mark(GREY, "test program", "P", 10),
        _mark(GREY, "found for its behaviour", "X", 9),
    ]
    # Filled column by column: meanings of marks above, test programs below.
    handles = [one for pair in zip(clouds, tests, strict=True) for one in pair]
    columns = 4 if across > 1 else 2
    figure.legend(
        handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=9, labelcolor=INK
    )
    return figure


def _draw_map(axes: Any, chart: "SpaceChart") -> None:
    marks = np.stack([*chart.truth.values(), *chart.found.values()])
    # Outliers would make the rest small.
    clouds = [np.percentile(chart.training, [0, 100], axis=0), np.percentile(chart.normal, [2, 98], axis=0)]
    _blank(axes, *_square(np.concatenate([*clouds, marks])))
    _label_plane(axes, chart.shares)
    _dots(axes, chart.training, 2.2, BLUE, 0.5)
    _dots(axes, chart.normal, 2.2, GREEN, 0.9)
    for colour, (name, point) in zip(COLOURS, chart.truth.items(), strict=True):
        found = chart.found[name]
        axes.plot([point[0], found[0]], [point[1], found[1]], color=colour, lw=1.4)
        axes.plot(found[0], found[1], marker="X", ms=10, color=colour, mec=WHITE, mew=1)
        axes.plot(point[0], point[1], marker="P", ms=10, color=colour, mec=WHITE, mew=1, zorder=3)


class _Scene:
    """Common parts of a search's pictures: the map of one iteration, the curves and the legends."""

    def __init__(self, trajectory: "Trajectory") -> None:
        self.trajectory, self.iterations = trajectory, trajectory.iterations
        self.centres = np.stack([iteration.centre for iteration in self.iterations])
        # Outlying random programs would make the rest small; the search itself is shown completely.
        seen = [np.percentile(trajectory.cloud, [0.5, 99.5], axis=0), self.centres]
        seen += [iteration.population for iteration in self.iterations]
        if trajectory.truth is not None:
            seen.append(trajectory.truth[None])
        self.low, self.high = _square(np.concatenate(seen))

    @property
    def title(self) -> str:
        config, count = self.trajectory.config, len(self.iterations)
        word = "converged" if self.trajectory.converged else "not converged"
        iterations = "1 iteration" if count == 1 else f"{count:,} iterations"
        return f"{config.task}, {config.method}, seed {config.seed}: {word} after {iterations}"

    def draw_map(self, axes: Any, index: int, since: int = 0) -> None:
        """Draw the population of an iteration, and the path of its centre since an earlier one."""
        axes.clear()
        _blank(axes, self.low, self.high)
        iteration = self.iterations[index]
        _dots(axes, self.trajectory.cloud, 1.8, CLOUD, 0.9)
        population, way = iteration.population, self.centres[since : index + 1]
        axes.plot(way[:, 0], way[:, 1], color=BLUE, lw=1, alpha=0.6)
        axes.scatter(population[:, 0], population[:, 1], 14, COLOURS[0], alpha=0.75, linewidths=0, zorder=2)
        if self.trajectory.truth is not None:
            axes.plot(*self.trajectory.truth, marker="*", ms=16, color=INK, mec="white", mew=1)
        axes.plot(*iteration.centre, marker="X", ms=10, color=BLUE, mec="white", mew=1.2)
        mean = f"{iteration.mean:.2f}".replace("-", "−")
        axes.set_title(f"iteration {iteration.number:,}", loc="left", fontsize=10, color=INK)
        axes.set_title(f"mean return {mean}", loc="right", fontsize=9, color=GREY)

    def label_map(self, axes: Any, x: bool = True, y: bool = True) -> None:
        _label_plane(axes, self.trajectory.plane.shares, x, y)

    def draw_curves(self, axes: Any, shown: int) -> None:
        """Draw the returns of the first `shown` iterations, on axes for all iterations."""
        axes.clear()
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(CLOUD)
        axes.tick_params(color=CLOUD, labelcolor=GREY, labelsize=9)
        numbers = [iteration.number for iteration in self.iterations]
        few = len(numbers) <= 60
        returns = []
        for _, colour, style, name in _CURVES:
            values = [getattr(iteration, name) for iteration in self.iterations]
            returns += values
            axes.plot(
                numbers[:shown],
                values[:shown],
                color=colour,
                ls=style,
                lw=1.6 if few else 1.1,
                marker="o" if few else "",
                ms=3,
            )
        axes.set_xlabel("iteration", color=GREY, fontsize=9)
        axes.set_ylabel("return", color=GREY, fontsize=9)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.3g}".replace("-", "−"))
        axes.set_xlim(0.5, len(numbers) + 0.5)
        low, high = min(*returns, 0), max(*returns, 1)
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        axes.xaxis.get_major_locator().set_params(integer=True)

    def map_legend(self) -> list[Any]:
        handles = [
            _mark(CLOUD, "random programs", "o", 7),
            _mark(COLOURS[0], "population", "o", 7),
            _mark(BLUE, "next centre, and its way", "X", 10, "-"),
        ]
        if self.trajectory.truth is not None:
            handles.append(_mark(INK, "ground truth", "*", 14))
        return handles

    def curve_legend(self) -> list[Any]:
        from matplotlib.lines import Line2D

        return [
            Line2D([], [], color=colour, ls=style, lw=1.8, label=label) for label, colour, style, _ in _CURVES
        ]


def draw_trajectory(trajectory: "Trajectory", file: Path) -> None:
    """Draw a search: populations of some iterations on maps, and the returns of all iterations."""
    _save(lambda: trajectory_figure(trajectory), file)


def trajectory_figure(trajectory: "Trajectory") -> Any:
    """A figure of a search: populations of some iterations on maps, and the returns of all."""
    scene = _Scene(trajectory)
    chosen = spread(len(trajectory.iterations), SNAPSHOTS)
    columns = min(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    figure: Any = _figure(9.6, 1.2 + 2.95 * rows + 2.8)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06)
    upper, lower = figure.subfigures(2, 1, height_ratios=(1.2 + 2.95 * rows, 2.8))
    upper.suptitle(scene.title, x=0.012, ha="left", fontsize=12, fontweight="bold", color=INK)
    maps = list(upper.subplots(rows, columns, squeeze=False).flat)
    for number, (axes, since, index) in enumerate(zip(maps, [0, *chosen], chosen, strict=False)):
        scene.draw_map(axes, index, since)
        scene.label_map(axes, number + columns >= len(chosen), number % columns == 0)
    for axes in maps[len(chosen) :]:
        axes.set_visible(False)
    upper.legend(
        handles=scene.map_legend(), loc="outside lower center", ncols=4, frameon=False, labelcolor=INK
    )
    curves = lower.subplots()
    scene.draw_curves(curves, len(trajectory.iterations))
    for index in chosen:
        curves.axvline(trajectory.iterations[index].number, color=CLOUD, lw=0.8, zorder=0)
    lower.legend(
        handles=scene.curve_legend(), loc="outside upper center", ncols=3, frameon=False, labelcolor=INK
    )
    return figure


def animate_trajectory(trajectory: "Trajectory", file: Path) -> None:
    """Save an animation (GIF) of a search: its map, with the returns so far beside it."""
    if file.suffix.lower() != ".gif":
        raise ValueError(f"an animation is saved as .gif, found {str(file)!r}")
    from matplotlib import rc_context

    with rc_context(STYLE):
        pictures = _film(_Scene(trajectory))
    _save_film(pictures, file)


def _film(scene: _Scene) -> list[Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure: Any = _figure(9, 4.8)
    figure.set_dpi(100)
    canvas: Any = FigureCanvasAgg(figure)
    pictures = []
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    figure.suptitle(scene.title, fontsize=12)
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1))
    left.legend(handles=scene.map_legend(), loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    right.legend(handles=scene.curve_legend(), loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    chart, curves = left.subplots(), right.subplots()
    for index in spread(len(scene.iterations), MOST_FRAMES):
        scene.draw_map(chart, index)
        scene.label_map(chart)
        scene.draw_curves(curves, index + 1)
        canvas.draw()
        figure.set_layout_engine("none")  # keep the layout of the first frame
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
    return pictures


def _save_film(pictures: list[Any], file: Path) -> None:
    from PIL import Image

    # All frames use white and the colours of the last frame, which has all of them.
    mixed = pictures[-1].quantize(FILM_COLOURS, dither=Image.Dither.NONE).getpalette() or []
    palette = bytes([255, 255, 255, *mixed[: 3 * FILM_COLOURS]])
    colours = Image.new("P", (1, 1))
    colours.putpalette(palette)
    frames = []
    for picture in pictures:
        numbers = np.array(picture.quantize(palette=colours, dither=Image.Dither.NONE))
        numbers[(np.asarray(picture) == 255).all(axis=2)] = 0  # Pillow may map white to a light grey
        frame = Image.fromarray(numbers)
        frame.putpalette(palette)
        frames.append(frame)
    buffer = io.BytesIO()
    frames[0].save(
        buffer,
        "GIF",
        save_all=True,
        append_images=frames[1:],
        duration=[MILLISECONDS] * (len(frames) - 1) + [HOLD],
        loop=0,
        palette=palette,  # otherwise each frame gets a separate palette
        optimize=True,
    )
    write_atomically(file, buffer.getvalue())


def draw_learning_curve(points: list[tuple[int, float]], title: str, file: Path) -> None:
    """Draw returns over environment steps."""

    def build() -> "Figure":
        figure, axes = _axes(6.0, 3.2)
        steps, returns = ([point[i] for point in points] for i in (0, 1))
        axes.plot(steps, returns, color=BLUE, linewidth=1.4)
        axes.set_xlabel("environment steps")
        axes.set_ylabel("mean return while training")
        axes.set_ylim(min(0.0, *returns, 0.0) - 0.03, 1.03)
        axes.xaxis.set_major_formatter(
            lambda value, _: f"{value / 1e6:g} M" if value >= 1e6 else f"{value:,.0f}"
        )
        axes.set_title(title, loc="left", color=INK)
        return figure

    _save(build, file)
