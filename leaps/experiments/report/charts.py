"""One figure per experiment: a panel per column, with results and reported numbers per row."""

from typing import TYPE_CHECKING, Any

from leaps.experiments.report.comparison import Comparison
from leaps.experiments.report.contents import Section
from leaps.experiments.report.figures import BLUE, CLOUD, COLOURS, GREY, INK, WHITE, render
from leaps.experiments.report.statistics import interval, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE, REPORTED, BAND = BLUE, COLOURS[0], "#f1f4f8"
MOST_ACROSS = 3
"""most panels side by side"""
WIDTH, LINE_HEIGHT = 9.6, 0.3
"""width of the figure and height of a row, in inches"""
APART = 0.19
"""fraction of a row: offset of the result above its middle, and of the reported number below"""
LEAST_FILLED = 0.7
"""least fraction of its width that each panel must fill for a common scale"""


def draw(section: Section) -> bytes:
    """Draw an experiment as SVG; equal results give equal bytes."""
    return render(lambda: chart_of(section), "svg")


def chart_of(section: Section) -> "Figure":
    """Build the figure of an experiment: a panel per column."""
    from matplotlib.figure import Figure

    experiment = section.experiment
    methods = [method for method in experiment.methods if method in section.summaries]
    tasks = [
        task for task in experiment.tasks if any(section.table[method, task].entry for method in methods)
    ]
    shown = [section.table[method, task] for method in methods for task in tasks]
    reported = any(one.entry and one.reported for one in shown)
    # No incomplete rows if possible: four panels are two and two, not three and one.
    across = next((n for n in (MOST_ACROSS, 2) if len(tasks) % n == 0), min(len(tasks), MOST_ACROSS))
    down = -(-len(tasks) // across)
    height = down * (LINE_HEIGHT * len(methods) + 0.75) + 0.5
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08, wspace=0.02, hspace=0.02)  # type: ignore[union-attr, call-arg]
    panels = list(figure.subplots(down, across, squeeze=False).flat)
    rows = [{method: section.table[method, task] for method in methods} for task in tasks]
    scales = _scales([_reach(row) for row in rows])
    for index, (axes, task, row, scale) in enumerate(zip(panels, tasks, rows, scales, strict=False)):
        _panel(axes, row, scale)
        axes.set_title(task, loc="left", fontsize=11, fontweight="bold", color=INK)
        axes.tick_params(labelleft=index % across == 0)
    for axes in panels[len(tasks) :]:
        axes.set_visible(False)
    figure.legend(handles=_legend(reported), loc="outside upper left", ncols=2, frameon=False, labelcolor=INK)
    return figure


Scale = tuple[float, float]


def _reach(row: dict[str, Comparison]) -> Scale:
    """The range of a panel's marks."""
    reach = [0.0]
    for one in row.values():
        if one.entry is None:
            continue
        reach += [*interval([one.entry.returns], mean), one.entry.mean]
        if one.reported is not None:
            std = one.reported.deviation or 0.0
            reach += [one.reported.mean - std, one.reported.mean + std]
    if max(reach) > 0.5:  # include 1 if it is near
        reach.append(1.0)
    return min(reach), max(reach)


def _scales(reaches: list[Scale]) -> list[Scale]:
    """A common scale for all panels, unless one of them would fill too little of it.

    >>> _scales([(0.0, 1.0), (-0.1, 1.0)]), _scales([(0.0, 1.0), (-0.7, 1.0)])
    ([(-0.1, 1.0), (-0.1, 1.0)], [(0.0, 1.0), (-0.7, 1.0)])
    """
    left, right = min(low for low, _ in reaches), max(high for _, high in reaches)
    common = all(high - low >= LEAST_FILLED * (right - left) for low, high in reaches)
    return [(left, right)] * len(reaches) if common else reaches


def _panel(axes: Any, row: dict[str, Comparison], scale: Scale) -> None:
    for line, one in enumerate(row.values()):
        if line % 2 == 0:
            axes.axhspan(line - 0.5, line + 0.5, color=BAND, lw=0, zorder=0)
        if one.entry is None:
            continue
        low, high = interval([one.entry.returns], mean)
        above = line - APART if one.reported else line
        _bar(axes, above, low, high, HERE)
        axes.plot(one.entry.mean, above, "o", ms=6.5, color=HERE, mew=0, zorder=4)
        if one.reported is not None:
            below, std = line + APART, one.reported.deviation or 0.0
            _bar(axes, below, one.reported.mean - std, one.reported.mean + std, REPORTED)
            axes.plot(one.reported.mean, below, "D", ms=5.5, color=WHITE, mec=REPORTED, mew=1.5, zorder=4)
    left, right = scale
    axes.set_xlim(left - 0.05 * (right - left), right + 0.05 * (right - left))
    axes.set_ylim(len(row) - 0.5, -0.5)
    axes.set_yticks(range(len(row)), list(row))
    axes.xaxis.get_major_locator().set_params(nbins=6, steps=[1, 2, 2.5, 5, 10])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.3g}".replace("-", "−"))
    axes.grid(axis="x", color=CLOUD, lw=0.7, zorder=1)
    axes.axvline(0, color=GREY, lw=0.9, zorder=2)
    axes.tick_params(length=0, labelcolor=INK, pad=5)
    axes.tick_params(axis="x", labelcolor=GREY, labelsize=9)
    axes.spines[:].set_visible(False)


def _bar(axes: Any, height: float, low: float, high: float, colour: str) -> None:
    """Draw an interval, unless its width is 0."""
    if high > low:
        axes.plot([low, high], [height, height], color=colour, lw=2.2, solid_capstyle="round", zorder=3)


def _legend(reported: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    here = Line2D([], [], color=HERE, lw=2.2, marker="o", ms=6.5, mew=0, label="here: mean, 95 % interval")
    reported_mark = Line2D([], [], color=REPORTED, lw=2.2, marker="D", ms=5.5, mfc=WHITE, mew=1.5)
    reported_mark.set_label("reported: mean, standard deviation")
    return [here, reported_mark] if reported else [here]
