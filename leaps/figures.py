"""Figures of data and spaces, in one style. matplotlib is imported when the first is drawn."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leaps.files import write_atomically

if TYPE_CHECKING:
    from leaps.explore import LatentMap

BLUE, GREEN, GREY = "#2b6cb0", "#7a9a3a", "#525e73"
COLOURS = ("#e2571e", "#6b21a8", "#0f766e", "#b91c1c")


def check_suffix(file: Path) -> str:
    """Say whether a figure can be saved under this name: png or svg."""
    suffix = file.suffix.lower().lstrip(".")
    if suffix not in ("png", "svg"):
        raise ValueError(f"a figure is saved as .png or .svg, found {str(file)!r}")
    return suffix


def _axes(width: float, height: float) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
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
