"""Assemble the sources of the site in one folder, so that every link of a page has a target in the site.

Pages in docs/ are written for readers of the repository: they link to source files and to pages in the root.
Here the pages of the root are copied beside them, source files become pages that show them, and links are
rewritten to match.
"""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

SOURCES = Path("out/site-source")
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
"""files of the root, and the page of the site that has their place; README.md is replaced by docs/index.md"""
LANGUAGES = {".py": "python", ".toml": "toml", ".cff": "yaml", ".ts": "typescript", ".tsx": "typescript"}
"""how source files are coloured; others are plain text"""
SHOWN = 100_000
"""bytes of the longest source file that is shown"""

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"(^```.*?^```\s*?$)", re.DOTALL | re.MULTILINE)
HIDDEN = re.compile(r"<!-- (:::.*?) -->", re.DOTALL)
"""API blocks of mkdocstrings, hidden from readers of the repository"""


def assemble(root: Path, target: Path) -> None:
    """Write all sources of the site into a folder, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root / "docs", target)
    pages = {path: target / path.relative_to(root / "docs") for path in (root / "docs").rglob("*.md")}
    pages |= {root / name: target / page for name, page in ROOT_PAGES.items() if page != "index.md"}
    shown: set[Path] = set()
    for source, page in pages.items():
        text = HIDDEN.sub(r"\1", source.read_text(encoding="utf-8"))
        page.write_text(rewritten(text, source, page, root, target, shown), encoding="utf-8")
    done: set[Path] = set()
    while left := shown - done:  # a folder shows its files
        for path in sorted(left):
            write_source(path, root, target, shown)
            done.add(path)


def rewritten(text: str, source: Path, page: Path, root: Path, target: Path, shown: set[Path]) -> str:
    """Rewrite the links of a page that lead out of docs/, and add their source files to `shown`."""

    def link(match: re.Match[str]) -> str:
        address = match[2]
        path, mark, anchor = address.partition("#")
        if re.match(r"[a-z]+:", address) or not path:
            return match[0]
        file = (source.parent / path).resolve()
        place = place_of(file, root, target, shown)
        if place is None:
            return match[0]  # Zensical reports it
        kept = "" if file == root / "README.md" or file in shown else mark + anchor
        return match[1] + Path(os.path.relpath(place, page.parent)).as_posix() + kept + match[3]

    return outside_fences(text, lambda part: LINK.sub(link, part))


def place_of(file: Path, root: Path, target: Path, shown: set[Path]) -> Path | None:
    """Return where the site has a file of the repository; None if there is no such file."""
    if not file.exists() or not file.is_relative_to(root):
        return None
    if file.is_relative_to(root / "docs"):
        return target / file.relative_to(root / "docs")
    if file.parent == root and file.name in ROOT_PAGES:
        return target / ROOT_PAGES[file.name]
    shown.add(file)
    return source_page(file, root, target)


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Change a Markdown text outside of its fenced code."""
    return "".join(part if part.startswith("```") else change(part) for part in FENCE.split(text))


def source_page(file: Path, root: Path, target: Path) -> Path:
    """Return the page that shows a source file or the files of a folder."""
    return target / "source" / f"{file.relative_to(root).as_posix()}.md"


def write_source(file: Path, root: Path, target: Path, shown: set[Path]) -> None:
    """Write the page of a source file, or of a folder with links to the files in it."""
    page = source_page(file, root, target)
    page.parent.mkdir(parents=True, exist_ok=True)
    title = file.relative_to(root).as_posix()
    if file.is_dir():
        files = sorted(each for each in file.iterdir() if each.is_file() and is_shown(each))
        shown.update(files)
        places = {each.name: source_page(each, root, target) for each in files}
        lines = [
            f"- [{name}]({Path(os.path.relpath(place, page.parent)).as_posix()})"
            for name, place in places.items()
        ]
        body = "\n".join(lines)
    elif is_shown(file):
        body = f"``` {LANGUAGES.get(file.suffix, 'text')}\n{file.read_text(encoding='utf-8').rstrip()}\n```"
    else:
        body = "This file is part of the repository and not of this site."
    page.write_text(f"---\nsearch:\n  exclude: true\n---\n\n# {title}\n\n{body}\n", encoding="utf-8")


def is_shown(file: Path) -> bool:
    """Whether a file is text of a size that people read."""
    data = file.read_bytes()
    return len(data) <= SHOWN and b"\0" not in data
