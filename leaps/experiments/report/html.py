"""A report as one page of HTML that needs nothing else: styles and figures are in it, light and dark."""

import re
from collections.abc import Iterable, Mapping
from html import escape

from leaps.experiments.report import costs, effort, wording
from leaps.experiments.report.charts import PALETTE
from leaps.experiments.report.comparison import BETTER
from leaps.experiments.report.contents import Contents, Exhibit, Section
from leaps.experiments.report.details import details_of
from leaps.experiments.report.exhibits import parts_of
from leaps.experiments.report.parts import Code, Heading, Listing, Part, Picture, Programs, Words

DARK = {
    "here": "#6cb0f5",
    "reported": "#ff9161",
    "ink": "#e8ecf2",
    "muted": "#a3aec0",
    "line": "#3a4456",
    "band": "#1b212c",
    "paper": "#12161d",
    "second": "#c79bf2",
    "third": "#4fc3b5",
    "fourth": "#f58585",
    "cloud": "#a9c46c",
}
"""the colours of PALETTE in the dark theme"""

_STYLE = """
* { box-sizing: border-box }
html { color-scheme: light dark; scroll-behavior: smooth; -webkit-text-size-adjust: 100% }
body { margin: 0 auto; max-width: 70rem; padding: 1.5rem 1rem 4rem;
  background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem }
h2 { font-size: 1.4rem; margin: 3.5rem 0 .25rem; padding-top: 1rem; border-top: 1px solid var(--line) }
h3 { font-size: 1.05rem; margin: 2rem 0 .5rem }
p { max-width: 44rem; margin: .5rem 0 }
a { color: var(--here) }
a:focus-visible, .scroll:focus-visible { outline: 2px solid var(--here); outline-offset: 2px }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: 1rem 0 }
nav a { padding: .35rem 0 }
.small, dl { color: var(--muted); font-size: .875rem }
.warning { border-left: .3rem solid var(--reported); padding: .25rem .75rem; font-weight: 600 }
.scroll { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; min-width: 100% }
th, td { padding: .45rem .7rem; text-align: right; vertical-align: top; white-space: nowrap }
th { font-weight: 600 }
thead th:first-child { text-align: left }
thead > tr > * { border-bottom: 2px solid var(--line) }
tbody tr:nth-child(odd) > * { background: var(--band) }
tbody th, thead td { text-align: left; position: sticky; left: 0; background: var(--paper) }
th.words, td.words { text-align: left; white-space: normal; min-width: 22rem }
.better, .worse { font-weight: 700 }
.better { color: var(--here) }
.worse { color: var(--reported) }
.better a, .worse a { color: var(--ink) }
.reported { color: var(--muted); display: block; font-weight: 400 }
sup { line-height: 0 }
ol { max-width: 44rem; padding-left: 1.4rem; font-size: .875rem }
li:target { background: var(--band) }
pre { background: var(--band); padding: .75rem 1rem; overflow-x: auto; border-radius: .4rem; margin: .5rem 0;
  font: .85rem/1.5 ui-monospace, monospace }
code { font: .9em ui-monospace, monospace }
svg { display: block; width: 100%; min-width: 48rem; height: auto }
svg text { font-family: inherit !important }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .75rem 0 }
dd { margin: 0 }
.programs { display: grid; gap: 0 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)) }
.programs > div { min-width: 0 }
@media print { nav { display: none } .scroll { overflow: visible } }
"""


def to_html(contents: Contents, figures: dict[str, bytes]) -> str:
    """The whole report. figures: the SVG of each table, and of each picture by its name."""
    links = [(name, name) for name in contents.experiments]
    parts = [f"<h1>{wording.TITLE}</h1>", _paragraph(wording.INTRODUCTION)]
    if contents.quick:
        parts.append(_paragraph(wording.QUICK, "warning"))
    body = [_section(section, details_of(section, contents), figures) for section in contents.sections]
    body += [_exhibit(exhibit, figures) for exhibit in contents.exhibits]
    if contents.programs:
        links.append(("programs", wording.PROGRAMS))
        body.append(_programs(contents))
    if contents.costs:
        links.append(("costs", costs.TITLE))
        body.append(
            f'<section id="costs"><h2>{costs.TITLE}</h2>\n{_paragraph(costs.INTRODUCTION)}\n'
            f"{_part(costs.costs_table(contents.costs), {})}</section>"
        )
    if lines := wording.unexplained_lines(contents):
        links.append(("unexplained", wording.UNEXPLAINED))
        listed = "".join(f"<li>{escape(line)}</li>" for line in lines)
        body.append(
            f'<section id="unexplained"><h2>{wording.UNEXPLAINED}</h2>\n'
            f"{_paragraph(wording.UNEXPLAINED_INTRODUCTION)}\n<ul>{listed}</ul></section>"
        )
    navigation = "".join(f'<a href="#{to}">{escape(text)}</a>' for to, text in links)
    parts += [f"<nav>{navigation}</nav>", "<main>", *body, "</main>"]
    return _page("\n".join(parts))


def inline_svg(svg: bytes, name: str, label: str, palette: Mapping[str, str] = PALETTE) -> str:
    """A figure as part of a page: in the page's colours, with names that no other figure has."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    begin = text[: text.index(">") + 1]
    kept = re.sub(r'\s(?:xmlns(?::\w+)?|width|height|version|role)="[^"]*"', "", begin)
    label = escape(f"{name}: {label}", quote=True)
    text = kept.replace("<svg", f'<svg role="img" aria-label="{label}"', 1) + text[len(begin) :]
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'xlink:href="#', f'href="#{name}-', text)
    text = text.replace("url(#", f"url(#{name}-")
    for use, colour in palette.items():
        text = text.replace(colour, f"var(--{use})")
    return text.strip()


def _page(body: str) -> str:
    light, dark = (
        "; ".join(f"--{use}: {colour}" for use, colour in colours.items()) for colours in (PALETTE, DARK)
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{wording.TITLE} · leaps</title>
<style>
:root {{ {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}{_STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _section(section: Section, details: list[Part], figures: dict[str, bytes]) -> str:
    name = section.experiment.name
    notes = "".join(
        f'<li id="note-{name}-{number}">{_inline(note)}</li>' for number, note in enumerate(section.notes, 1)
    )
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in wording.SUMMARY_HEAD[1:])
    rows = "".join(
        _row(method, (escape(cell) for cell in wording.summary_cells(method, row)[1:]))
        for method, row in section.summaries.items()
    )
    return "\n".join(
        [
            f'<section id="{name}"><h2>{name}</h2>',
            _paragraph(wording.headline(section)),
            _scroll(_results(section), f"{name}, results"),
            _paragraph(wording.LEGEND, "small"),
            _paragraph(judged, "small") if (judged := wording.judged_line(section)) else "",
            f"<ol>{notes}</ol>" if notes else "",
            _scroll(inline_svg(figures[name], name, wording.CHART_LABEL), f"{name}, figure"),
            _paragraph(wording.CHART_LEGEND, "small"),
            _scroll(
                f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table>",
                f"{name}, rows",
            ),
            _paragraph(wording.SUMMARY_LEGEND, "small"),
            *(_part(part, figures) for part in details),
            _effort(section),
            _origin(section),
            "</section>",
        ]
    )


def _effort(section: Section) -> str:
    if section.effort is None:
        return ""
    return "\n".join(
        [f"<h3>{effort.HEAD}</h3>", _part(section.effort, {}), _paragraph(section.effort_legend, "small")]
    )


def _origin(section: Section | Exhibit) -> str:
    lines = "".join(f"<dt>{what}</dt><dd>{escape(text)}</dd>" for what, text in wording.origin_lines(section))
    commands = escape("\n".join(section.origin.commands))
    return f"{_paragraph('Made by')}\n<pre>{commands}</pre>\n<dl>{lines}</dl>"


def _exhibit(exhibit: Exhibit, figures: dict[str, bytes]) -> str:
    name = exhibit.experiment.name
    parts = [_part(part, figures) for part in parts_of(exhibit)]
    head = [f'<section id="{name}"><h2>{name}</h2>', _paragraph(wording.headline(exhibit))]
    return "\n".join([*head, *parts, _origin(exhibit), "</section>"])


def _part(part: Part, figures: dict[str, bytes]) -> str:
    match part:
        case Heading(text):
            return f"<h3>{escape(text)}</h3>"
        case Words(text, small):
            return _paragraph(text, "small" if small else "")
        case Picture(name, label, _, palette):
            return _scroll(inline_svg(figures[name], name, label, palette), f"{name}, figure")
        case Listing(label, head, rows):
            first = f'<th scope="col">{_inline(head[0])}</th>' if head[0] else "<td></td>"
            names = "".join(
                f'<th scope="col"{_kind(below)}>{_inline(name)}</th>'
                for name, below in zip(head[1:], rows[0][1:], strict=True)
            )
            body = "\n".join(
                f'<tr><th scope="row">{_inline(row[0].strip("*"))}</th>'
                + "".join(f"<td{_kind(cell)}>{_inline(cell)}</td>" for cell in row[1:])
                + "</tr>"
                for row in rows
            )
            return _scroll(
                f"<table><thead><tr>{first}{names}</tr></thead>\n<tbody>{body}</tbody></table>", label
            )
        case Programs(entries):
            columns = "\n".join(
                f"<div>{_paragraph(above, 'small')}<pre>{escape(text)}</pre></div>" for above, text in entries
            )
            return f'<div class="programs">{columns}</div>'
        case Code(text):
            return f"<pre>{escape(text)}</pre>"


def _kind(cell: str) -> str:
    """Words begin on the left; numbers stand below each other."""
    return ' class="words"' if cell.startswith("`") else ""


def _results(section: Section) -> str:
    experiment = section.experiment
    head = "".join(f'<th scope="col">{escape(task)}</th>' for task in experiment.tasks)
    rows = []
    for method in experiment.methods:
        has_reported = any(section.table[method, task].reported for task in experiment.tasks)
        cells = []
        for task in experiment.tasks:
            one = section.table[method, task]
            text = _mark(section, method, task) + wording.entry_text(one.entry)
            if has_reported:
                text += f'<span class="reported">{wording.reported_text(one.reported)}</span>'
            cells.append(text)
        rows.append(_row(method, cells, '<span class="reported">reported</span>' if has_reported else ""))
    return f"<table><thead><tr><td></td>{head}</tr></thead>\n<tbody>{chr(10).join(rows)}</tbody></table>"


def _mark(section: Section, method: str, task: str) -> str:
    """Before a number, so that numbers stay below each other."""
    name, mark = section.experiment.name, section.table[method, task].mark
    if not mark:
        return ""
    number = section.explained.get((method, task))
    link = f'<sup><a href="#note-{name}-{number}">{number}</a></sup>' if number else ""
    return f'<span class="{"better" if mark == BETTER else "worse"}">{mark}{link}</span> '


def _row(method: str, cells: Iterable[str], below: str = "") -> str:
    return (
        f'<tr><th scope="row">{escape(method)}{below}</th>'
        + "".join(f"<td>{c}</td>" for c in cells)
        + "</tr>"
    )


def _programs(contents: Contents) -> str:
    parts = [_part(part, {}) for part in wording.program_parts(contents)]
    head = [f'<section id="programs"><h2>{wording.PROGRAMS}</h2>', _paragraph(wording.PROGRAMS_INTRODUCTION)]
    return "\n".join([*head, *parts, "</section>"])


def _scroll(inside: str, label: str) -> str:
    """What is wider than a phone; those who use a keyboard can scroll it, too."""
    label = escape(label, quote=True)
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{inside}</div>'


def _paragraph(text: str, kind: str = "") -> str:
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{_inline(text)}</p>"


def _inline(text: str) -> str:
    """Text with `code` in it."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
