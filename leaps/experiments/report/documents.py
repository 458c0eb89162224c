"""Files of a report: generate, compare and write them."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from leaps.base.files import write_atomically
from leaps.experiments import environments, published_seeds
from leaps.experiments.catalogue import get_experiment
from leaps.experiments.report.charts import draw
from leaps.experiments.report.claims import claims_page
from leaps.experiments.report.contents import Contents
from leaps.experiments.report.details import details_of
from leaps.experiments.report.exhibits import parts_of
from leaps.experiments.report.markdown import to_ladder_table, to_markdown, to_readme
from leaps.experiments.report.parts import pictures_of
from leaps.experiments.store import Store

NAME, CLAIMS, FIGURES = "reproduction", "claims", "figures"
PAGE = "your-own-environment.md"
"""the page with the tables of environments"""
RESULTS, LADDER = "results", "ladder"
"""generated parts of a README and of the page on searches, each between two marker lines"""
SEARCHES = Path("methods", "search.md")
"""the page with a table of Ladder on all tasks"""
IN_README = "tasks"
"""the experiment that a README's table needs"""


@dataclass(frozen=True)
class Document:
    file: Path
    content: bytes

    @property
    def up_to_date(self) -> bool:
        return self.file.is_file() and self.file.read_bytes() == self.content


def documents_of(contents: Contents, folder: Path, readme: Path | None = None) -> list[Document]:
    """All files of a report in a folder, and an existing README with its table replaced."""
    drawn: dict[str, Callable[[], bytes]] = {
        section.experiment.name: partial(draw, section) for section in contents.sections
    }
    for section in contents.sections:
        drawn |= {picture.name: picture.draw for picture in pictures_of(details_of(section, contents))}
    for exhibit in contents.exhibits:
        drawn |= {picture.name: picture.draw for picture in pictures_of(parts_of(exhibit))}
    found = [
        Document(folder / f"{NAME}.md", to_markdown(contents, FIGURES).encode()),
        Document(folder / f"{CLAIMS}.md", claims_page(contents).encode()),
    ]
    found += [Document(folder / FIGURES / f"{name}.svg", draw_one()) for name, draw_one in drawn.items()]
    if readme is not None:
        found.append(_readme(contents, folder, readme))
    if (folder / SEARCHES).is_file():
        found.append(_inserted(folder / SEARCHES, LADDER, to_ladder_table(contents.sections)))
    return found


def environments_document(store: Store, file: Path) -> Document:
    """The page of known environments with tables of stored results inserted."""
    text = file.read_bytes().decode()
    for table in (environments, published_seeds):
        cells = get_experiment(table.NAME).cells()
        found = [result for cell in cells if (result := store.read(cell)) is not None]
        if found:
            text = insert(text, table.NAME, table.markdown(found), str(file))
    return Document(file, text.encode())


def write(documents: Sequence[Document]) -> None:
    for document in documents:
        write_atomically(document.file, document.content)


def _readme(contents: Contents, folder: Path, file: Path) -> Document:
    if IN_README not in (section.experiment.name for section in contents.sections):
        raise ValueError(f"no results of {IN_README} for the table in {file}")
    details = Path(os.path.relpath(folder / f"{NAME}.md", file.parent)).as_posix()
    return _inserted(file, RESULTS, to_readme(contents.sections, details))


def _inserted(file: Path, what: str, results: str) -> Document:
    """A page with results inserted between its marker lines."""
    return Document(file, insert(file.read_bytes().decode(), what, results, str(file)).encode())


def insert(text: str, what: str, results: str, name: str) -> str:
    """Replace the text between two marker lines."""
    lines = text.splitlines(keepends=True)
    marks = [f"<!-- {what}: {end} -->" for end in ("begin", "end")]
    positions = [[i for i, line in enumerate(lines) if line.strip() == mark] for mark in marks]
    if [len(found) for found in positions] != [1, 1] or positions[0] > positions[1]:
        raise ValueError(
            f"{name}: expected exactly one line {marks[0]!r} and below it exactly one line {marks[1]!r}; "
            "results are inserted between them"
        )
    (begin,), (end,) = positions
    return "".join([*lines[: begin + 1], "\n", results, "\n", *lines[end:]])
