"""The documentation site: complete navigation, a strict build, and an up-to-date page of commands."""

import doctest
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import leaps
from docs_tools.assemble import ROOT_PAGES, SOURCES, assemble
from docs_tools.commands import COMMANDS, EXAMPLES, commands_page, description, parameter_row

ROOT = Path(__file__).parents[2]
CONFIG: dict[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]
NOT_IN_NAVIGATION: set[str] = set()
"""pages of docs/ that no reader has to find by the navigation"""


def navigated(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from navigated(target)


def test_every_page_is_in_the_navigation_once() -> None:
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    expected = pages | {*ROOT_PAGES.values()}
    found = sorted(navigated(CONFIG["nav"]))
    assert found == sorted(expected - NOT_IN_NAVIGATION), "nav in zensical.toml and docs/ differ"


def test_commands_page_is_up_to_date() -> None:
    written = (ROOT / COMMANDS).read_text(encoding="utf-8")
    assert written == commands_page(), f"{COMMANDS} is out of date; regenerate it: python -m docs_tools"


def test_public_names_are_on_the_api_page() -> None:
    page = (ROOT / "docs/api.md").read_text()
    own = {
        name
        for name, value in vars(leaps).items()
        if callable(value) and getattr(value, "__module__", "") == "leaps" and not name.startswith("_")
    }
    missing = {name for name in own | {*leaps._LAZY} if f"<!-- ::: leaps.{name}" not in page}
    assert not missing


def test_citation_has_the_version() -> None:
    assert f"\nversion: {leaps.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"version = {{{leaps.__version__}}}" in (ROOT / "docs/cite.md").read_text()


def test_options_show_names_default_and_bounds() -> None:
    row = parameter_row("-n, --edits <int range>", "Maximum number of edits.  [default: 3; 1<=x<=9]")
    assert row == "| `-n`, `--edits N` | `3` | Maximum number of edits. From 1 to 9. |"


def test_marks_in_help_texts_are_not_markup() -> None:
    assert parameter_row("--set", "A|B_C of [b]--task[/b], --task.") == (
        "| `--set` |  | A\\|`B_C` of `--task`, `--task`. |"
    )


def test_indented_lines_of_help_become_code() -> None:
    assert description("Solve.\n\n  leaps solve maze\n") == [
        *("Solve.", "", EXAMPLES, "```", "leaps solve maze", "```")
    ]


@pytest.mark.parametrize("module", ["docs_tools.commands", "docs_tools.doctests"])
def test_examples_in_docstrings_hold(module: str) -> None:
    if module == "docs_tools.doctests":
        pytest.importorskip("griffe", reason="needs the extra `docs`")
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted
    assert not result.failed


def test_links_out_of_docs_lead_to_pages_of_the_site(tmp_path: Path) -> None:
    root, target = tmp_path / "repository", tmp_path / "site"
    (root / "docs" / "methods").mkdir(parents=True)
    (root / "examples").mkdir()
    (root / "examples" / "a.py").write_text("print(1)\n")
    for name in ROOT_PAGES:
        (root / name).write_text(f"# {name}\n\n[page](docs/page.md#here)\n")
    (root / "docs" / "methods" / "page.md").write_text(
        "[a](../../examples/a.py) [all](../../examples) [how](../../CONTRIBUTING.md#title) "
        "[home](../../README.md)\n\n```\n[code](../../examples/a.py)\n```\n<!-- ::: leaps.solve -->\n"
    )
    (root / "docs" / "page.md").write_text("# Here\n")
    assemble(root, target)
    assert (target / "methods/page.md").read_text() == (
        "[a](../source/examples/a.py.md) [all](../source/examples.md) [how](../contributing.md#title) "
        "[home](../index.md)\n\n```\n[code](../../examples/a.py)\n```\n::: leaps.solve\n"
    )
    assert "``` python\nprint(1)\n```" in (target / "source/examples/a.py.md").read_text()
    assert "[a.py](examples/a.py.md)" in (target / "source/examples.md").read_text()
    assert "[page](page.md#here)" in (target / "contributing.md").read_text()


@pytest.mark.skipif(importlib.util.find_spec("zensical") is None, reason="needs the extra `docs`")
def test_site_builds_without_warnings(tmp_path: Path) -> None:
    assemble(ROOT, tmp_path / SOURCES)
    (tmp_path / "zensical.toml").write_text((ROOT / "zensical.toml").read_text())
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / CONFIG["site_dir"] / "api.html").read_text()
    assert 'id="leaps.solve"' in page
    assert not re.search(r'(?:src|rel="stylesheet" href)="https?:', page), (
        "the site loads files from the network"
    )
