"""Wording of a report: formatted numbers and generated sentences."""

from leaps.experiments.paper import Reported
from leaps.experiments.report.comparison import BETTER, WORSE, Summary
from leaps.experiments.report.contents import Contents, Exhibit, Section
from leaps.experiments.report.parts import Heading, Part, SideBySide
from leaps.experiments.report.programs import Found
from leaps.experiments.table import Entry

NOTHING = "–"
TITLE = "The reproduction"
INTRODUCTION = (
    "Results of this project beside the reported ones, one section per experiment. `leaps report` generates "
    "this page from stored results; only the numbered notes are written by hand. Every section names the "
    "command that computes its numbers. A separate page lists "
    "[which of the paper's claims hold](claims.md)."
)
QUICK = "Some of these numbers are from quick runs. Do not compare them with anything."
READING = "How to read the tables"
LEGENDS = (
    "An entry is the mean over seeds, the standard deviation in parentheses, and the number of seeds. The "
    "reported number is below it.",
    "Returns are on held-out worlds, whose seeds no training and no search used. Where all initial states "
    "can be listed, returns are exact means over them. Each section names its columns of each kind.",
    f"{BETTER} is better and {WORSE} worse than reported, by more than the reported standard deviation and "
    f"the rounding error. A raised number refers to a note below the table. {NOTHING} means no result.",
    "In the charts, dots are means with 95 % intervals over seeds. Diamonds are reported means with their "
    "standard deviations.",
    "Details begin with one line per method: the interquartile mean over all its runs (seeds × columns) with "
    "a 95 % bootstrap interval, stratified by column. The two means in that line are over the columns with "
    "both a result and a reported number.",
)
OVERVIEW = "Experiments"
DETAILS = "Details"
SUMMARY_HEAD = ("", "interquartile mean", "95 % interval", "runs", "mean", "reported", "entry by entry")
README_ROWS = (
    ("as-run", "leaps", "LEAPS"),
    ("tasks", "drl", "DRL"),
    ("tasks", "leaps+", "`leaps+`"),
    ("tasks", "hc", "Hill climbing (HC)"),
    ("tasks", "ladder", "Ladder"),
)
"""experiment, method and row label"""
README_LEGEND = (
    "Mean return (standard deviation) · seeds. LEAPS is run and evaluated as in its authors' code. All other "
    "rows are evaluated on held-out worlds."
)
PROGRAMS = "Programs found"
PROGRAMS_INTRODUCTION = (
    "For each task one program found by `leaps`, the paper's search, and one by `ladder`, this project's "
    "search: the shortest program among those with the highest return."
)
UNEXPLAINED = "Not explained yet"
UNEXPLAINED_INTRODUCTION = "Entries that differ from the reported number and have no note:"

DRAWS = "1,000 fresh draws"
"""evaluation of results that store no `judged`"""
EXACT = "exact, "
JUDGED = (
    "tasks",
    "steps",
    "depends",
    "budget",
    "held-out",
    "short",
    "unseen",
    "debugging",
    "length",
    "karel-hard",
)
"""experiments whose columns are tasks at their default size"""


def number(value: float) -> str:
    """Format with two decimals, a real minus sign and no negative zero."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def percent(value: float) -> str:
    """Format a percent change with its sign.

    >>> percent(-46.81), percent(200.0), percent(0.01)
    ('−46.8 %', '+200.0 %', '0.0 %')
    """
    rounded = round(value, 1)
    return f"{rounded:+.1f} %".replace("-", "−") if rounded else "0.0 %"


def spread(mean: float, std: float | None) -> str:
    return number(mean) + ("" if std is None else f" ({number(std)})")


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


def overview_lines(contents: Contents) -> list[str]:
    """One line per section, with a link to it."""
    sections, exhibits = contents.sections, contents.exhibits
    experiments = [*(one.experiment for one in sections), *(one.experiment for one in exhibits)]
    return [f"[{one.name}](#{one.name}): {one.summary}" for one in experiments]


def judged_line(section: Section) -> str:
    """Name the columns with exact means over all initial states and those with draws; "" if unknown."""
    experiment = section.experiment
    if experiment.name not in JUDGED:
        return ""
    found: dict[str, dict[str, set[str]]] = {}
    for (method, task), one in section.table.items():
        for result in one.entry.results if one.entry else ():
            judged = result.values.get("judged", DRAWS if experiment.name != "budget" else None)
            if judged is not None:
                found.setdefault(task, {}).setdefault(method, set()).add(str(judged))
    if not found:
        return ""
    exact, drawn, counts = [], [], set()
    exceptions: dict[str, list[str]] = {}
    for task in (task for task in experiment.tasks if task in found):
        texts = set[str]().union(*found[task].values())
        counts |= {text for text in texts if not text.startswith(EXACT)}
        states = [text.removeprefix(EXACT) for text in sorted(texts) if text.startswith(EXACT)]
        if not states:
            drawn.append(task)
            continue
        exact.append(f"{task} ({states[0]})")
        for method, own in found[task].items():
            if not all(text.startswith(EXACT) for text in own):
                exceptions.setdefault(method, []).append(task)
    draws = f"means over {' or '.join(sorted(counts))}"
    if not exact:
        return f"All returns are {draws}."
    sentences = [f"Returns are exact means over all initial states on {', '.join(exact)}."]
    if drawn:
        sentences.append(f"On {', '.join(drawn)} they are {draws}.")
    if exceptions:
        rows = [
            method
            if len(tasks) == sum(method in found[task] for task in found if task not in drawn)
            else f"{method} (on {', '.join(tasks)})"
            for method, tasks in exceptions.items()
        ]
        where = "in all columns" if drawn else "nevertheless"
        sentences.append(f"Rows with {draws} {where}: {', '.join(rows)}.")
    return " ".join(sentences)


def summary_cells(method: str, summary: Summary) -> tuple[str, ...]:
    """The cells of a row's summary line, in the columns of SUMMARY_HEAD."""
    between = " to ".join(number(end) for end in summary.interval) if summary.interval else NOTHING
    means = [number(mean) for mean in summary.means] if summary.means else [NOTHING, NOTHING]
    counts = (
        (summary.better, f"{BETTER} better"),
        (summary.worse, f"{WORSE} worse"),
        (summary.alike, "as reported"),
    )
    marks = ", ".join(f"{count} {words}" for count, words in counts if count)
    return (
        method,
        number(summary.interquartile_mean),
        between,
        str(summary.runs),
        *means,
        marks or "nothing was reported",
    )


def program_line(found: Found) -> str:
    """The caption above a program."""
    return f"`{found.method}`: return {number(found.mean_return)}, {found.tokens} tokens, seed {found.seed}"


def program_parts(contents: Contents) -> list[Part]:
    """The sections of found programs, one per task."""
    parts: list[Part] = []
    for task in dict.fromkeys(found.task for found in contents.programs):
        own = [found for found in contents.programs if found.task == task]
        parts += [Heading(task), SideBySide(tuple((program_line(found), found.text) for found in own))]
    return parts


def duration(seconds: float) -> str:
    for unit, length in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


def origin_lines(section: Section | Exhibit) -> list[tuple[str, str]]:
    """Versions, machines and computing time of results, as label and text."""
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
