"""Numbers and sentences as all forms of a report write them."""

from leaps.experiments.paper import Reported
from leaps.experiments.table import Entry
from leaps.report.comparison import BETTER, WORSE, Summary
from leaps.report.contents import Contents, Exhibit, Section
from leaps.report.programs import Found

NOTHING = "–"
TITLE = "The reproduction"
INTRODUCTION = (
    "Ours beside what was reported, experiment by experiment. `leaps report` writes this page from stored "
    "results; nothing in it is typed by hand but the notes. A number is a mean over seeds; on a task it is "
    "of returns in worlds that nothing was learned or searched in."
)
QUICK = "Quick runs are among these numbers: miniatures, which are to be compared with nothing."
LEGEND = (
    f"Mean (standard deviation) · seeds; below it, what was reported. {BETTER} better and {WORSE} worse by "
    f"more than the reported deviation, and than rounding; {NOTHING} no result."
)
SUMMARY_LEGEND = (
    "Interquartile mean over all runs of a row (seeds × columns), with its 95 % interval by bootstrap, "
    "stratified by column. Beside it, the two means over the columns that have both numbers."
)
SUMMARY_HEAD = ("", "interquartile mean", "95 % interval", "runs", "mean", "reported", "entry by entry")
CHART_LABEL = "ours and what was reported; the same numbers are in the table"
CHART_LEGEND = (
    "Dots are our means with 95 % intervals over seeds, diamonds the reported means with their standard "
    "deviations."
)
PROGRAMS = "Programs found"
PROGRAMS_INTRODUCTION = "Per task one of the paper's search and one of ours: the shortest of the best."
UNEXPLAINED = "Not explained yet"
UNEXPLAINED_INTRODUCTION = "Entries that differ from what was reported, and no note says why:"


def number(value: float) -> str:
    """Two digits; a minus that is one, and none before zero."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def spread(mean: float, deviation: float | None) -> str:
    return number(mean) + ("" if deviation is None else f" ({number(deviation)})")


def entry_text(entry: Entry | None) -> str:
    if entry is None:
        return NOTHING
    seeds = len(entry.results)
    return f"{spread(entry.mean, entry.deviation if seeds > 1 else None)} · {seeds}"


def reported_text(reported: Reported | None) -> str:
    return spread(*reported) if reported else NOTHING


def headline(section: Section | Exhibit) -> str:
    summary = section.experiment.summary
    return f"{summary[0].upper()}{summary[1:]}."


def summary_cells(method: str, summary: Summary) -> tuple[str, ...]:
    """A row's line, under SUMMARY_HEAD."""
    between = " to ".join(number(end) for end in summary.interval) if summary.interval else NOTHING
    means = [number(mean) for mean in summary.means] if summary.means else [NOTHING, NOTHING]
    counts = (
        (summary.better, f"{BETTER} better"),
        (summary.worse, f"{WORSE} worse"),
        (summary.alike, "as reported"),
    )
    said = ", ".join(f"{count} {words}" for count, words in counts if count)
    return (
        method,
        number(summary.interquartile_mean),
        between,
        str(summary.runs),
        *means,
        said or "nothing was reported",
    )


def program_line(found: Found) -> str:
    """What stands above a program."""
    return f"`{found.method}`: return {number(found.mean_return)}, {found.tokens} tokens, seed {found.seed}"


def duration(seconds: float) -> str:
    for unit, length in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


def origin_lines(section: Section | Exhibit) -> list[tuple[str, str]]:
    """Where results come from, but for the commands: what it is, and what is said."""
    origin = section.origin
    lines = [("Versions", ", ".join(origin.versions)), ("Machines", "; ".join(origin.machines))]
    return [line for line in lines if line[1]] + [("Computing", f"{duration(origin.seconds)} in all")]


def unexplained_lines(contents: Contents) -> list[str]:
    lines = []
    for section in contents.sections:
        for method, task in section.unexplained:
            one = section.table[method, task]
            lines.append(
                f"{section.experiment.name}: {method} on {task}, {one.mark} {entry_text(one.entry)}, "
                f"reported {reported_text(one.reported)}"
            )
    return lines
