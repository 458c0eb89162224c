"""Figures of data and spaces, in one style. matplotlib is imported when the first is drawn."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leaps.files import write_atomically

if TYPE_CHECKING:
    from leaps.explore import LatentMap
    from leaps.trajectory import Trajectory

BLUE, GREEN, GREY = "#2b6cb0", "#7a9a3a", "#525e73"
COLOURS = ("#e2571e", "#6b21a8", "#0f766e", "#b91c1c")
CLOUD, INK = "#c3cad5", "#1a202c"
SNAPSHOTS = 6
"""of a search, in one picture"""
MOST_FRAMES = 60
"""of a search, in a film"""
MILLISECONDS, HOLD = 150, 2500
"""that a film's frames are shown, and its last one"""
FILM_COLOURS = 127
_CURVES = (
    ("mean of the population", COLOURS[0], "-", "mean"),
    ("next centre's program", BLUE, "-", "centre_return"),
    ("best of the population", INK, ":", "best"),
)
"""the returns that are drawn of a search: label, colour, line and field"""


def check_suffix(file: Path) -> str:
    """Say whether a figure can be saved under this name: png or svg."""
    suffix = file.suffix.lower().lstrip(".")
    if suffix not in ("png", "svg"):
        raise ValueError(f"a figure is saved as .png or .svg, found {str(file)!r}")
    return suffix


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _axes(width: float, height: float) -> tuple[Any, Any]:
    figure, axes = _pyplot().subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, file: Path) -> None:
    from matplotlib import pyplot, rc_context

    buffer = io.BytesIO()
    suffix = check_suffix(file)
    try:
        with rc_context({"svg.hashsalt": "leaps"}):  # else an SVG differs every time
            figure.savefig(
                buffer, format=suffix, dpi=160, metadata={"Date": None} if suffix == "svg" else None
            )
    finally:
        pyplot.close(figure)
    write_atomically(file, buffer.getvalue())


def draw_lengths(lengths: NDArray[np.int64], file: Path) -> None:
    """Draw the histogram of program lengths beside the paper's facts."""
    check_suffix(file)
    figure, axes = _axes(6.4, 3.6)
    axes.hist(lengths, bins=np.arange(4.5, lengths.max() + 1.5), color=BLUE, rwidth=0.9)
    axes.axvline(lengths.mean(), color=COLOURS[0], label=f"mean here, {lengths.mean():.1f}")
    axes.axvline(17.9, color=GREY, ls="--", label="mean in the paper, 17.9")
    axes.axvline(44, color=GREY, ls=":", label="longest in the paper, 44")
    axes.set(xlabel="tokens", ylabel="programs", title=f"Lengths of {len(lengths):,} programs")
    axes.legend(framealpha=1, edgecolor="none", loc="upper left", bbox_to_anchor=(0.55, 1))
    _save(figure, file)


def draw_map(chart: "LatentMap", file: Path, title: str) -> None:
    """Draw a space in two dimensions: the paper's figure of the learned embedding space."""
    check_suffix(file)
    figure, axes = _axes(6.4, 5.6)
    from matplotlib.lines import Line2D

    def dot(colour: str, label: str, marker: str = "o", size: float = 5) -> Line2D:
        return Line2D([], [], marker=marker, ls="", ms=size, color=colour, label=label)

    for points, size, colour, alpha in ((chart.training, 2, BLUE, 0.15), (chart.normal, 3, GREEN, 0.35)):
        axes.scatter(points[:, 0], points[:, 1], size, colour, alpha=alpha, linewidths=0, rasterized=True)
    handles = [dot(BLUE, f"{len(chart.training):,} training programs"), dot(GREEN, "samples of N(0, I)")]
    for colour, (name, point) in zip(COLOURS, chart.truth.items(), strict=True):
        found = chart.found[name]
        axes.plot([point[0], found[0]], [point[1], found[1]], color=colour, lw=1, alpha=0.7)
        axes.plot(point[0], point[1], marker="P", ms=10, color=colour, mec="white", mew=1)
        axes.plot(found[0], found[1], marker="X", ms=9, color=colour, mec="white", mew=1)
        handles.append(dot(colour, f"{name}: + given, × found (R_mat {chart.r_mat[name]:.2f})", "P", 8))
    axes.set(title=title, xlabel="first principal component", ylabel="second principal component")
    axes.legend(handles=handles, fontsize=8, loc="upper right", framealpha=0.9)
    _save(figure, file)


class _Scene:
    """What the pictures of a search have in common: the map of one iteration, the curves, the legends."""

    def __init__(self, trajectory: "Trajectory") -> None:
        self.trajectory, self.iterations = trajectory, trajectory.iterations
        self.centres = np.stack([iteration.centre for iteration in self.iterations])
        # The few programs far from all others would make the rest small; the search is shown whole.
        seen = [np.percentile(trajectory.cloud, [0.5, 99.5], axis=0), self.centres]
        seen += [iteration.population for iteration in self.iterations]
        if trajectory.truth is not None:
            seen.append(trajectory.truth[None])
        places = np.concatenate(seen)
        low, high = places.min(axis=0), places.max(axis=0)
        reach = 0.55 * max(float((high - low).max()), 1e-6)  # a square, as distances are alike both ways
        self.low, self.high = (low + high) / 2 - reach, (low + high) / 2 + reach

    @property
    def title(self) -> str:
        config, count = self.trajectory.config, len(self.iterations)
        word = "converged" if self.trajectory.converged else "not converged"
        iterations = "1 iteration" if count == 1 else f"{count:,} iterations"
        return f"{config.task}, {config.method}, seed {config.seed}: {word} after {iterations}"

    def draw_map(self, axes: Any, index: int) -> None:
        """Draw where the search is in one iteration, and which way its centre came."""
        axes.clear()
        axes.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]), xticks=[], yticks=[])
        axes.set_aspect("equal")
        axes.spines[:].set_color(CLOUD)
        cloud, iteration = self.trajectory.cloud, self.iterations[index]
        axes.scatter(cloud[:, 0], cloud[:, 1], 3, CLOUD, alpha=0.7, linewidths=0, rasterized=True)
        population, way = iteration.population, self.centres[: index + 1]
        axes.plot(way[:, 0], way[:, 1], color=BLUE, lw=1, alpha=0.6)
        axes.scatter(population[:, 0], population[:, 1], 14, COLOURS[0], alpha=0.75, linewidths=0, zorder=2)
        if self.trajectory.truth is not None:
            axes.plot(*self.trajectory.truth, marker="*", ms=16, color=INK, mec="white", mew=1)
        axes.plot(*iteration.centre, marker="X", ms=10, color=BLUE, mec="white", mew=1.2)
        mean = f"{iteration.mean:.2f}".replace("-", "−")
        axes.set_title(f"iteration {iteration.number:,}", loc="left", fontsize=10, color=INK)
        axes.set_title(f"mean return {mean}", loc="right", fontsize=9, color=GREY)

    def label_map(self, axes: Any, x: bool = True, y: bool = True) -> None:
        """Name the axes of a map, with their shares of the programs' variance."""
        first, second = (f"{share:.0%}".replace("%", " %") for share in self.trajectory.plane.shares)
        if x:
            axes.set_xlabel(f"first principal component ({first})", fontsize=9, color=GREY)
        if y:
            axes.set_ylabel(f"second principal component ({second})", fontsize=9, color=GREY)

    def draw_curves(self, axes: Any, shown: int) -> None:
        """Draw the returns of so many iterations, with room for all."""
        axes.clear()
        axes.spines[["top", "right"]].set_visible(False)
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
        axes.set(xlabel="iteration", ylabel="return")
        axes.set_xlim(0.5, len(numbers) + 0.5)
        low, high = min(*returns, 0), max(*returns, 1)
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        axes.xaxis.get_major_locator().set_params(integer=True)

    def map_legend(self) -> list[Any]:
        from matplotlib.lines import Line2D

        def dot(colour: str, label: str, marker: str, size: float, line: str = "") -> Line2D:
            return Line2D(
                [], [], marker=marker, ls=line, lw=1, ms=size, color=colour, mec="white", label=label
            )

        handles = [
            dot(CLOUD, "random programs", "o", 7),
            dot(COLOURS[0], "population", "o", 7),
            dot(BLUE, "next centre, and its way", "X", 10, "-"),
        ]
        if self.trajectory.truth is not None:
            handles.append(dot(INK, "ground truth", "*", 14))
        return handles

    def curve_legend(self) -> list[Any]:
        from matplotlib.lines import Line2D

        return [
            Line2D([], [], color=colour, ls=style, lw=1.8, label=label) for label, colour, style, _ in _CURVES
        ]


def draw_trajectory(trajectory: "Trajectory", file: Path) -> None:
    """Draw a search: where its populations were in some iterations, and its returns in all of them."""
    check_suffix(file)
    from leaps.trajectory import spread

    scene = _Scene(trajectory)
    chosen = spread(len(trajectory.iterations), SNAPSHOTS)
    columns = min(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    figure = _pyplot().figure(figsize=(9.6, 1.2 + 2.95 * rows + 2.8), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06)
    upper, lower = figure.subfigures(2, 1, height_ratios=(1.2 + 2.95 * rows, 2.8))
    upper.suptitle(scene.title, fontsize=13)
    maps = list(upper.subplots(rows, columns, squeeze=False).flat)
    for place, (axes, index) in enumerate(zip(maps, chosen, strict=False)):
        scene.draw_map(axes, index)
        scene.label_map(axes, place + columns >= len(chosen), place % columns == 0)
    for axes in maps[len(chosen) :]:
        axes.set_visible(False)
    upper.legend(handles=scene.map_legend(), loc="outside lower center", ncols=4, frameon=False)
    curves = lower.subplots()
    scene.draw_curves(curves, len(trajectory.iterations))
    for index in chosen:
        curves.axvline(trajectory.iterations[index].number, color=CLOUD, lw=0.8, zorder=0)
    lower.legend(handles=scene.curve_legend(), loc="outside upper center", ncols=3, frameon=False)
    _save(figure, file)


def animate_trajectory(trajectory: "Trajectory", file: Path) -> None:
    """Show a search as a film (GIF): its map, and beside it its returns as they come."""
    if file.suffix.lower() != ".gif":
        raise ValueError(f"a film is saved as .gif, found {str(file)!r}")
    from PIL import Image

    from leaps.trajectory import spread

    pyplot, scene = _pyplot(), _Scene(trajectory)
    figure = pyplot.figure(figsize=(9, 4.8), dpi=100, layout="constrained")
    pictures = []
    try:
        figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
        figure.suptitle(scene.title, fontsize=12)
        left, right = figure.subfigures(1, 2, width_ratios=(1, 1))
        left.legend(
            handles=scene.map_legend(), loc="outside lower center", ncols=2, frameon=False, fontsize=9
        )
        right.legend(
            handles=scene.curve_legend(), loc="outside lower center", ncols=2, frameon=False, fontsize=9
        )
        chart, curves = left.subplots(), right.subplots()
        for index in spread(len(trajectory.iterations), MOST_FRAMES):
            scene.draw_map(chart, index)
            scene.label_map(chart)
            scene.draw_curves(curves, index + 1)
            figure.canvas.draw()
            figure.set_layout_engine("none")  # what the first frame laid out stays where it is
            pictures.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()))
    finally:
        pyplot.close(figure)
    _save_film(pictures, file)


def _save_film(pictures: list[Any], file: Path) -> None:
    from PIL import Image

    # All frames share white and the colours of the last, which has everything.
    mixed = pictures[-1].quantize(FILM_COLOURS, dither=Image.Dither.NONE).getpalette() or []
    palette = bytes([255, 255, 255, *mixed[: 3 * FILM_COLOURS]])
    colours = Image.new("P", (1, 1))
    colours.putpalette(palette)
    frames = []
    for picture in pictures:
        numbers = np.array(picture.quantize(palette=colours, dither=Image.Dither.NONE))
        numbers[(np.asarray(picture) == 255).all(axis=2)] = 0  # Pillow's nearest colour may be a light grey
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
        palette=palette,  # without it each frame gets one of its own
        optimize=True,
    )
    write_atomically(file, buffer.getvalue())


def draw_learning_curve(points: list[tuple[int, float]], title: str, file: Path) -> None:
    """Draw returns over environment steps."""
    figure, axes = _axes(6.0, 3.2)
    steps, returns = ([point[i] for point in points] for i in (0, 1))
    axes.plot(steps, returns, color=BLUE, linewidth=1.4)
    axes.set_xlabel("environment steps")
    axes.set_ylabel("mean return while training")
    axes.set_ylim(min(0.0, *returns, 0.0) - 0.03, 1.03)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M" if value >= 1e6 else f"{value:,.0f}")
    axes.set_title(title, loc="left", color=INK)
    _save(figure, file)
