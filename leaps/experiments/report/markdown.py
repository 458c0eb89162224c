"""A report as Markdown."""

from collections.abc import Iterable, Sequence

from leaps.experiments.report import costs, effort, wording
from leaps.experiments.report.conclusions import conclusion_of
from leaps.experiments.report.contents import Contents, Exhibit, Section
from leaps.experiments.report.details import details_of
from leaps.experiments.report.exhibits import parts_of
from leaps.experiments.report.parts import Code, Heading, Listing, Part, Picture, SideBySide, Words


def to_markdown(contents: Contents, figures: str = "figures") -> str:
    """The whole report. figures: folder of its figures, relative to the report."""
    parts = [f"# {wording.TITLE}", wording.INTRODUCTION]
    if contents.quick:
        parts.append(f"**{wording.QUICK}**")
    if contents.sections:
        parts += [f"## {wording.READING}", _bullets(wording.LEGENDS)]
    parts += [f"## {wording.OVERVIEW}", _bullets(wording.overview_lines(contents))]
    for section in contents.sections:
        parts += _section(section, details_of(section, contents), figures)
    for exhibit in contents.exhibits:
        parts += _exhibit(exhibit, figures)
    if contents.programs:
        parts += [f"## {wording.PROGRAMS}", wording.PROGRAMS_INTRODUCTION]
        parts += _folded(
            wording.PROGRAMS.lower(), [_part(part, figures) for part in wording.program_parts(contents)]
        )
    if contents.costs:
        parts += [f"## {costs.TITLE}", costs.INTRODUCTION, _part(costs.costs_table(contents.costs), figures)]
    if lines := wording.unexplained_lines(contents):
        parts += [f"## {wording.UNEXPLAINED}", wording.UNEXPLAINED_INTRODUCTION, _bullets(lines)]
    return "\n\n".join(parts) + "\n"


def to_readme(sections: Sequence[Section], details: str) -> str:
    """The small table of results in a README, with a link to the details."""
    tables = {section.experiment.name: section for section in sections}
    tasks = tables["tasks"]
    columns = tasks.experiment.tasks
    lines = [("", *columns)]
    for experiment, method, label in wording.README_ROWS:
        if experiment not in tables:
            continue
        row = [tables[experiment].table[method, task] for task in columns]
        if all(one.entry is None for one in row):
            continue
        if any(one.reported for one in row):
            lines.append((f"{label}, reported", *(wording.reported_text(one.reported) for one in row)))
        lines.append((f"{label}, here", *(wording.entry_text(one.entry) for one in row)))
    return f"{_table(lines)}\n\n{wording.README_LEGEND} [All tables and their commands]({details}).\n"


def to_ladder_table(sections: Iterable[Section]) -> str:
    """The table of Ladder on all tasks."""
    entries = {
        task: one.entry
        for section in sections
        for (method, task), one in section.table.items()
        if method == "ladder" and one.entry
    }
    listing = effort.ladder_of(entries)
    return f"{_table([listing.head, *listing.rows])}\n" if listing else ""


def results_table(section: Section, footnotes: bool = True) -> str:
    """The main table, with reported numbers below the results."""
    experiment = section.experiment
    lines = [("", *experiment.tasks)]
    for method in experiment.methods:
        row = [(task, section.table[method, task]) for task in experiment.tasks]
        entries = []
        for task, one in row:
            number = section.explained.get((method, task)) if footnotes else None
            note = f"<sup>{number}</sup>" if number else ""
            mark = f"{one.mark}{note} " if one.mark else ""  # first, so that numbers stay aligned
            entries.append(mark + wording.entry_text(one.entry))
        lines.append((f"**{method}**", *entries))
        if any(one.reported for _, one in row):
            lines.append(("reported", *(wording.reported_text(one.reported) for _, one in row)))
    return _table(lines)


def _section(section: Section, details: Sequence[Part], figures: str) -> list[str]:
    name = section.experiment.name
    summaries = [wording.summary_cells(method, summary) for method, summary in section.summaries.items()]
    parts = [f"## {name}", wording.headline(section), conclusion_of(section), results_table(section)]
    if judged := wording.judged_line(section):
        parts.append(judged)
    if section.notes:
        parts.append("\n".join(f"{number}. {note}" for number, note in enumerate(section.notes, 1)))
    parts.append(f"![{name}: here and as reported]({figures}/{name}.svg)")
    folded = [_table([wording.SUMMARY_HEAD, *summaries]), *(_part(part, figures) for part in details)]
    if section.effort:
        folded += [f"### {effort.HEAD}", _part(section.effort, figures), section.effort_legend]
    return [*parts, *_folded(name, [*folded, *_origin(section)])]


def _folded(name: str, parts: Sequence[str]) -> list[str]:
    """A folded block that opens with a click, on GitHub and on the site."""
    return [
        f'<details markdown="1">\n<summary>{wording.DETAILS}: {name}</summary>',
        *parts,
        "</details>",
    ]


def _origin(section: Section | Exhibit) -> list[str]:
    return [
        "Commands\n\n```\n" + "\n".join(section.origin.commands) + "\n```",
        _bullets(f"{what}: {text}" for what, text in wording.origin_lines(section)),
    ]


def _exhibit(exhibit: Exhibit, figures: str) -> list[str]:
    parts = parts_of(exhibit)
    pictures = [index for index, part in enumerate(parts) if isinstance(part, Picture)]
    shown = pictures[0] + 1 if pictures else 0  # the rest is folded
    return [
        f"## {exhibit.experiment.name}",
        wording.headline(exhibit),
        *(_part(part, figures) for part in parts[:shown]),
        *_folded(
            exhibit.experiment.name,
            [*(_part(part, figures) for part in parts[shown:]), *_origin(exhibit)],
        ),
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
    # Columns of numbers are right-aligned, columns of code left-aligned.
    words = [any(line[i].startswith("`") for line in lines[1:]) for i in range(1, len(lines[0]))]
    rule = "| --- |" + "".join(" --- |" if left else " ---: |" for left in words)
    return "\n".join([head, rule, *rows])


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
