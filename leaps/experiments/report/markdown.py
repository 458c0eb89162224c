"""A report as Markdown."""

from collections.abc import Iterable, Sequence

from leaps.experiments.report import costs, effort, wording
from leaps.experiments.report.contents import Contents, Exhibit, Section
from leaps.experiments.report.details import details_of
from leaps.experiments.report.exhibits import parts_of
from leaps.experiments.report.parts import Code, Heading, Listing, Part, Picture, SideBySide, Words


def to_markdown(contents: Contents, figures: str = "figures") -> str:
    """The whole report; its figures are in that folder, beside it."""
    parts = [f"# {wording.TITLE}", wording.INTRODUCTION]
    if contents.quick:
        parts.append(f"**{wording.QUICK}**")
    for section in contents.sections:
        parts += _section(section, details_of(section, contents), figures)
    for exhibit in contents.exhibits:
        parts += _exhibit(exhibit, figures)
    if contents.programs:
        parts += [f"## {wording.PROGRAMS}", wording.PROGRAMS_INTRODUCTION]
        parts += [_part(part, figures) for part in wording.program_parts(contents)]
    if contents.costs:
        parts += [f"## {costs.TITLE}", costs.INTRODUCTION, _part(costs.costs_table(contents.costs), figures)]
    if lines := wording.unexplained_lines(contents):
        parts += [f"## {wording.UNEXPLAINED}", wording.UNEXPLAINED_INTRODUCTION, _bullets(lines)]
    return "\n\n".join(parts) + "\n"


def to_readme(sections: Iterable[Section], details: str) -> str:
    """Some tables, and where the details are: the part of a README that is generated."""
    parts = []
    for section in sections:
        parts += [wording.headline(section), results_table(section, footnotes=False)]
    parts.append(f"{wording.LEGEND} [Why, how sure, and which commands make it]({details}).")
    return "\n\n".join(parts) + "\n"


def to_readme_ladder(sections: Iterable[Section]) -> str:
    """The ladder search on all tasks: the part of a README that comes first."""
    entries = {
        task: one.entry
        for section in sections
        for (method, task), one in section.table.items()
        if method == "ladder" and one.entry
    }
    listing = effort.ladder_of(entries)
    return f"{_table([listing.head, *listing.rows])}\n" if listing else ""


def results_table(section: Section, footnotes: bool = True) -> str:
    """Rows × columns: the result here, and below it the reported one."""
    experiment = section.experiment
    lines = [("", *experiment.tasks)]
    for method in experiment.methods:
        row = [(task, section.table[method, task]) for task in experiment.tasks]
        entries = []
        for task, one in row:
            number = section.explained.get((method, task)) if footnotes else None
            note = f"<sup>{number}</sup>" if number else ""
            mark = f"{one.mark}{note} " if one.mark else ""  # first, so that numbers stay below each other
            entries.append(mark + wording.entry_text(one.entry))
        lines.append((f"**{method}**", *entries))
        if any(one.reported for _, one in row):
            lines.append(("reported", *(wording.reported_text(one.reported) for _, one in row)))
    return _table(lines)


def _section(section: Section, details: Sequence[Part], figures: str) -> list[str]:
    name = section.experiment.name
    summaries = [wording.summary_cells(method, summary) for method, summary in section.summaries.items()]
    parts = [f"## {name}", wording.headline(section), results_table(section), wording.LEGEND]
    if judged := wording.judged_line(section):
        parts.append(judged)
    if section.notes:
        parts.append("\n".join(f"{number}. {note}" for number, note in enumerate(section.notes, 1)))
    parts += [
        f"![{name}: here and as reported]({figures}/{name}.svg)",
        wording.CHART_LEGEND,
        _table([wording.SUMMARY_HEAD, *summaries]),
        wording.SUMMARY_LEGEND,
        *(_part(part, figures) for part in details),
    ]
    if section.effort:
        parts += [f"### {effort.HEAD}", _part(section.effort, figures), section.effort_legend]
    return [*parts, *_origin(section)]


def _origin(section: Section | Exhibit) -> list[str]:
    return [
        "Made by\n\n```\n" + "\n".join(section.origin.commands) + "\n```",
        _bullets(f"{what}: {text}" for what, text in wording.origin_lines(section)),
    ]


def _exhibit(exhibit: Exhibit, figures: str) -> list[str]:
    return [
        f"## {exhibit.experiment.name}",
        wording.headline(exhibit),
        *(_part(part, figures) for part in parts_of(exhibit)),
        *_origin(exhibit),
    ]


def _part(part: Part, figures: str) -> str:
    match part:
        case Heading(text):
            return f"### {text}"
        case Words(text):
            return text
        case Picture(name, label):
            return f"![{label}]({figures}/{name}.svg)"
        case Listing(_, head, rows):
            return _table([head, *rows])
        case SideBySide(entries):
            return "\n\n".join(f"{above}\n\n```\n{text}\n```" for above, text in entries)
        case Code(text):
            return f"```\n{text}\n```"


def _table(lines: Sequence[tuple[str, ...]]) -> str:
    head, *rows = (f"| {' | '.join(cells)} |" for cells in lines)
    # Numbers stand below each other, words begin on the left.
    words = [any(line[i].startswith("`") for line in lines[1:]) for i in range(1, len(lines[0]))]
    rule = "| --- |" + "".join(" --- |" if left else " ---: |" for left in words)
    return "\n".join([head, rule, *rows])


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
