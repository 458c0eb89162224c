"""Learning curves of searches: return against evaluations or rollouts, and performance profiles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from leaps.experiments.paper import HC_EVALUATIONS
from leaps.experiments.report.figures import BLUE, CLOUD, COLOURS, GREEN, GREY, INK, WHITE, render
from leaps.experiments.report.statistics import Numbers, Statistic, band, interquartile_mean, mean
from leaps.experiments.table import Entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Entries = Mapping[tuple[str, str], Entry]
"""by method and task; their results hold a `curve`"""
Point = tuple[float, float, float, float]
"""evaluations, rollouts, score on the search's worlds, return on held-out worlds"""
HELD_OUT = 3
"""of a point"""
PER_DECADE = 8
"""points of a curve per factor of ten"""
LINES: dict[str, tuple[str, str]] = {
    "leaps": (COLOURS[0], "-"),
    "leaps+": (COLOURS[1], "--"),
    "hc": (INK, "-"),
    "cebs": (GREEN, "-."),
    "ladder": (BLUE, "-"),
}
"""colour and line style by method"""
WIDTH, HEIGHT = 9.6, 2.05
"""width of a figure and height of a row of panels, in inches"""
TAUS = np.linspace(0, 1, 101)[:-1]
"""thresholds of a performance profile; no return is above 1"""


@dataclass(frozen=True)
class Axis:
    """A measure of search effort, as an axis."""

    name: str
    index: int
    """index within a point"""
    low: float
    high: float

    @property
    def counts(self) -> Numbers:
        decades = round(np.log10(self.high / self.low))
        return np.geomspace(self.low, self.high, PER_DECADE * decades + 1)


EVALUATIONS = Axis("evaluations", 0, 100, 1_000_000)
ROLLOUTS = Axis("rollouts", 1, 1_000, 10_000_000)


def returns_at(curve: Sequence[Point], axis: Axis) -> Numbers:
    """[counts] the held-out return of the best program so far: 0 before the first, constant after the last.

    >>> returns_at([(150, 2400, 0.5, 0.25), (50_000, 800_000, 1.0, 0.75)], EVALUATIONS)[[0, 8, 16, 24, 32]]
    array([0.  , 0.25, 0.25, 0.75, 0.75])
    """
    reached = np.searchsorted([point[axis.index] for point in curve], axis.counts, side="right")
    return np.array([0.0, *(point[HELD_OUT] for point in curve)])[reached]


def curves_of(entry: Entry, axis: Axis) -> Numbers:
    """[runs, counts]"""
    return np.stack([returns_at(result.values["curve"], axis) for result in entry.results])


def complete(entries: Entries) -> tuple[list[str], list[str]]:
    """Methods with results on all tasks of `entries`, as means over tasks need, and the other methods."""
    tasks = {task for _, task in entries}
    methods = [method for method in LINES if any(name == method for name, _ in entries)]
    whole = [method for method in methods if all((method, task) in entries for task in tasks)]
    return whole, [method for method in methods if method not in whole]


@dataclass(frozen=True)
class Line:
    """A curve with its confidence band."""

    method: str
    middle: Numbers
    low: Numbers
    high: Numbers


def line_of(method: str, strata: Sequence[Numbers], statistic: Statistic) -> Line:
    """Aggregate the runs of a method. strata: [runs, points] for each task."""
    low, high = band(strata, statistic)
    return Line(method, statistic(np.concatenate(strata).T), low, high)


def profile_of(entries: Entries, method: str) -> Line:
    """The fraction of a method's runs that end with a return above each of TAUS."""
    strata = []
    for (name, _), entry in entries.items():
        if name == method:
            ends = np.array([result.values["curve"][-1][HELD_OUT] for result in entry.results])
            strata.append((ends[:, None] > TAUS).astype(np.float64))
    return line_of(method, strata, mean)


def means_drawer(entries: Entries, axis: Axis) -> Callable[[], bytes]:
    """Draw the mean return against evaluations or rollouts: a panel per task, a line per method."""
    tasks = list(dict.fromkeys(task for _, task in entries))

    @cache
    def lines(task: str) -> list[Line]:
        found = [method for method in LINES if (method, task) in entries]
        return [line_of(method, [curves_of(entries[method, task], axis)], mean) for method in found]

    def build() -> "Figure":
        marks = {} if axis is not EVALUATIONS else HC_EVALUATIONS
        return _panels(axis, {task: lines(task) for task in tasks}, marks)

    return lambda: render(build, "svg")


def overall_drawer(entries: Entries, axis: Axis) -> Callable[[], bytes]:
    """Draw the interquartile mean over all tasks and seeds against evaluations or rollouts."""

    @cache
    def lines() -> list[Line]:
        return [
            line_of(
                method,
                [curves_of(entry, axis) for (name, _), entry in entries.items() if name == method],
                interquartile_mean,
            )
            for method in complete(entries)[0]
        ]

    return lambda: render(lambda: _single(axis.counts, lines(), axis, "interquartile mean"), "svg")


def profiles_drawer(entries: Entries) -> Callable[[], bytes]:
    """Draw the performance profiles."""

    @cache
    def lines() -> list[Line]:
        return [profile_of(entries, method) for method in complete(entries)[0]]

    return lambda: render(lambda: _single(TAUS, lines(), None, "fraction of runs above τ"), "svg")


def _panels(axis: Axis, lines: Mapping[str, Sequence[Line]], marks: Mapping[str, int]) -> "Figure":
    from matplotlib.figure import Figure

    across = min(2, len(lines))
    down = -(-len(lines) // across)
    figure = Figure(figsize=(WIDTH, HEIGHT * down + 0.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06)  # type: ignore[union-attr, call-arg]
    panels = list(figure.subplots(down, across, squeeze=False).flat)
    shown: dict[str, None] = {}
    marked = False
    for number, (axes, (task, found)) in enumerate(zip(panels, lines.items(), strict=False)):
        for line in found:
            shown[line.method] = None
            _draw_line(axes, axis.counts, line)
            if line.method == "hc" and task in marks:
                marked = True
                height = float(np.interp(np.log(marks[task]), np.log(axis.counts), line.middle))
                axes.plot(marks[task], height, "D", ms=6, color=WHITE, mec=INK, mew=1.5, zorder=5)
        _style(axes, axis, min(float(line.low.min()) for line in found))
        axes.set_title(task, loc="left", fontsize=11, fontweight="bold", color=INK)
        if number % across == 0:
            axes.set_ylabel("mean return", color=GREY, fontsize=9)
        if number + across >= len(lines):
            axes.set_xlabel(axis.name, color=GREY, fontsize=9)
    for axes in panels[len(lines) :]:
        axes.set_visible(False)
    handles = _legend(list(shown))
    if marked:
        from matplotlib.lines import Line2D

        mark = Line2D(
            [], [], ls="", marker="D", ms=6, mfc=WHITE, mec=INK, mew=1.5, label="hc, published median"
        )
        handles.append(mark)
    figure.legend(handles=handles, loc="outside upper left", ncols=6, frameon=False, labelcolor=INK)
    return figure


def _single(at: Numbers, lines: Sequence[Line], axis: Axis | None, label: str) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    axes: Any = figure.subplots()
    for line in lines:
        _draw_line(axes, at, line)
    _style(axes, axis, min((float(line.low.min()) for line in lines), default=0.0))
    axes.set_ylabel(label, color=GREY, fontsize=9)
    axes.set_xlabel(axis.name if axis else "τ, return on held-out worlds", color=GREY, fontsize=9)
    handles = _legend([line.method for line in lines])
    figure.legend(handles=handles, loc="outside upper left", ncols=6, frameon=False, labelcolor=INK)
    return figure


def _draw_line(axes: Any, at: Numbers, line: Line) -> None:
    colour, dashes = LINES[line.method]
    axes.fill_between(at, line.low, line.high, color=colour, alpha=0.15, lw=0, zorder=2)
    axes.plot(at, line.middle, color=colour, ls=dashes, lw=1.8, zorder=3)


def _style(axes: Any, axis: Axis | None, lowest: float) -> None:
    if axis is not None:
        axes.set_xscale("log")
        axes.set_xlim(axis.low, axis.high)
        axes.minorticks_off()
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    else:
        axes.set_xlim(0, 1)
    axes.set_ylim(min(0.0, lowest) - 0.03, 1.03)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.3g}".replace("-", "−"))
    axes.grid(color=CLOUD, lw=0.7, zorder=1)
    axes.spines[:].set_visible(False)
    axes.tick_params(which="both", length=0, labelcolor=GREY, labelsize=9)


def _legend(methods: Sequence[str]) -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=LINES[method][0], ls=LINES[method][1], lw=1.8, label=method)
        for method in methods
    ]
