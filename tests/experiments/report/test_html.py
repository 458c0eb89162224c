"""The page is well-formed, whole, and asks nobody for anything."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leaps.experiments.cell import cell
from leaps.experiments.report.charts import PALETTE, draw
from leaps.experiments.report.contents import Contents, gather
from leaps.experiments.report.details import details_of
from leaps.experiments.report.exhibits import parts_of
from leaps.experiments.report.html import DARK, inline_svg, to_html
from leaps.experiments.report.markdown import to_markdown
from leaps.experiments.report.parts import pictures_of
from leaps.experiments.store import Store
from tests.experiments.report.synthetic import all_shown, everything, keep_entry, keep_search, small

EMPTY = {"meta", "br", "img", "link", "hr"}


class Page(HTMLParser):
    """Reads a page; fails where an element is closed that was not opened last."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self.words += data

    def all(self, name: str) -> list[str]:
        return [value for _, found, value in self.attributes if found == name]


def page(contents: Contents) -> str:
    figures = {one.experiment.name: draw(one, "svg") for one in contents.sections}
    for section in contents.sections:
        figures |= {
            picture.name: picture.draw("svg") for picture in pictures_of(details_of(section, contents))
        }
    for exhibit in contents.exhibits:
        figures |= {picture.name: picture.draw("svg") for picture in pictures_of(parts_of(exhibit))}
    return to_html(contents, figures)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    folder = tmp_path_factory.mktemp("results")
    all_shown(folder)
    return gather(everything(folder))


@pytest.fixture(scope="module")
def text(full: Contents) -> str:
    return page(full)


def test_it_is_well_formed_and_every_name_is_there_once(text: str) -> None:
    names = Page(text).all("id")
    assert len(names) > 50
    assert len(names) == len(set(names))


def test_links_lead_to_something(text: str) -> None:
    read = Page(text)
    links = read.all("href")
    assert {"#tasks", "#latent-map", "#rollouts", "#programs", "#unexplained"} <= set(links)
    assert all(link.startswith("#") and link[1:] in read.all("id") for link in links)
    for name in re.findall(r"url\(#([^)]*)\)", text):
        assert name in read.all("id")


def test_nothing_is_loaded_from_anywhere(text: str) -> None:
    assert "http" not in text
    read = Page(text)
    assert read.all("src") == []
    assert not re.search(r"@import|url\((?!#)", text)
    assert not {tag for tag, _, _ in read.attributes} & {"script", "link", "iframe"}


def test_both_forms_name_every_command_and_say_the_same(full: Contents, text: str) -> None:
    words, markdown = Page(text).words, to_markdown(full)
    for section in full.sections:
        for said in (*section.origin.commands, *section.notes, *section.origin.machines):
            assert said.replace("`", "") in words
            assert said in markdown
    for exhibit in full.exhibits:
        for said in (*exhibit.origin.commands, *exhibit.origin.machines):
            assert said in words
            assert said in markdown
    plain = re.sub(r"<[^>]*>", "", markdown)
    for number in re.findall(r"−?\d\.\d\d \(\d\.\d\d\)(?: · \d+)?", plain):
        assert number in words


def test_marks_lead_to_their_notes(tmp_path: Path) -> None:
    text = page(gather(small(tmp_path), {("tasks", "hc", None): "Other `worlds` < these."}))
    mark = '<span class="worse">▼<sup><a href="#note-tasks-1">1</a></sup></span> 0.95 (0.07) · 2'
    assert mark + '<span class="reported">1.00</span>' in text
    assert '<li id="note-tasks-1">Other <code>worlds</code> &lt; these.</li>' in text
    assert '<span class="better">▲</span> 0.92 (0.08) · 5<span class="reported">0.18 (0.14)</span>' in text
    assert "<li>tasks: leaps on clean-house, ▲ 0.92 (0.08) · 5, reported 0.18 (0.14)</li>" in text


def test_what_is_missing_is_shown_as_missing(tmp_path: Path) -> None:
    text = page(gather(small(tmp_path)))
    assert '<tr><th scope="row">drl<span class="reported">reported</span></th><td>–<span' in text
    assert 'id="smoothness"' not in text


def test_words_of_others_are_no_markup(tmp_path: Path) -> None:
    store = small(tmp_path)
    for file in tmp_path.rglob("*.json"):
        file.write_text(file.read_text().replace("Imagined(R)", "<script>"))
    text = page(gather(store))
    assert "&lt;script&gt;" in text
    assert "<script>" not in text


def test_a_page_with_quick_runs_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep_entry(store, "tasks", "leaps", "maze", [0.25], budget=2_000)
    assert "miniatures" in page(gather(store, quick=True))
    keep_entry(store, "tasks", "leaps", "maze", [0.25])
    assert "miniatures" not in page(gather(store))


def test_it_fits_a_phone_and_the_dark(text: str) -> None:
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert "@media (prefers-color-scheme: dark)" in text
    tables = text.count("<table>") + text.count("<svg")
    assert text.count('<div class="scroll"') == tables


def test_figures_take_the_pages_colours_and_keep_their_names_apart() -> None:
    svg = b'<?xml version="1.0"?><svg width="9pt" xmlns="http://x" viewBox="0 0 9 9"><metadata>a</metadata>'
    svg += b'<g id="m"/><use xlink:href="#m" style="fill: #2b6cb0"/><g clip-path="url(#m)"/></svg>'
    inline = inline_svg(svg, "tasks", "here")
    assert re.match(r'<svg role="img" aria-label="tasks: here" viewBox="0 0 9 9"><g id="tasks-m"/>', inline)
    assert inline.endswith(
        '<use href="#tasks-m" style="fill: var(--here)"/><g clip-path="url(#tasks-m)"/></svg>'
    )


def test_a_picture_keeps_what_its_shapes_rely_on_and_the_colours_that_are_not_the_pages() -> None:
    svg = b'<svg xmlns="http://x" width="9" height="9" viewBox="0 0 9 9" role="img" text-anchor="middle">'
    svg += b'<path fill="#2b6cb0"/><path fill="#ffffff"/></svg>'
    inline = inline_svg(svg, "rollouts-maze", 'a "b"', {"paper": "#ffffff"})
    assert inline == (
        '<svg role="img" aria-label="rollouts-maze: a &quot;b&quot;" viewBox="0 0 9 9" text-anchor="middle">'
        '<path fill="#2b6cb0"/><path fill="var(--paper)"/></svg>'
    )


def test_programs_in_tables_begin_on_the_left_below_their_head(text: str) -> None:
    evolution = text[text.index('<section id="evolution">') : text.index('<section id="interpolation">')]
    assert '<th scope="col">iteration</th><th scope="col">return</th>' in evolution
    assert '<th scope="col" class="words">best program of the population</th>' in evolution
    assert '<td>0.50</td><td>0.44</td><td class="words"><code>DEF run m( move m)</code></td>' in evolution


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colours", [PALETTE, DARK], ids=["light", "dark"])
def test_contrast_is_real(colours: dict[str, str]) -> None:
    """As WCAG asks: 4.5 for words, 3 for marks."""
    assert colours.keys() == PALETTE.keys()
    for back in ("paper", "band"):
        for front, least in (
            ("ink", 4.5),
            ("muted", 4.5),
            ("here", 4.5),
            ("reported", 3.0),
            ("second", 3.0),
            ("third", 3.0),
            ("fourth", 3.0),
        ):
            high, low = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= least, (front, back)


def test_what_searches_took_and_what_all_costs_are_tables_of_the_page(tmp_path: Path) -> None:
    store = small(tmp_path)
    keep_search(store, cell("tasks", "cebs", "maze", 0), True, 77, 2.0)
    contents = gather(store)
    page = to_html(contents, dict.fromkeys(contents.experiments, b"<svg></svg>"))
    assert "<h3>Searches</h3>" in page
    assert "<td>1/1 · 72 · 77 · 1.2k · 2.0 s</td>" in page
    assert '<a href="#costs">What it costs</a>' in page
    assert '<section id="costs">' in page
