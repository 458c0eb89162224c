"""The shipped page: built from the current source, small, and without requests to other hosts."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import leaps.studio

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "web"
STATIC = Path(leaps.studio.__file__).parent / "static"
MOST_BYTES = 400_000
NAMESPACE = re.compile(r"https?://www\.w3\.org/[\w/.]*")


def source_hash(folder: Path) -> str:
    """Hash the page's source as `web/source-hash.js` does."""
    lines = []
    for path in sorted(source_files(folder)):
        contents = hashlib.sha256((folder / path).read_bytes()).hexdigest()
        lines.append(f"{contents}  {path}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def source_files(folder: Path, prefix: str = "") -> Iterator[str]:
    """List the files below a folder, without installed and built files."""
    for entry in folder.iterdir():
        if entry.name.startswith(".") or entry.name in ("node_modules", "dist"):
            continue
        if entry.is_dir():
            yield from source_files(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name


class Addresses(HTMLParser):
    """The addresses in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.found += [value for name, value in attrs if name in ("src", "href") and value]


def built_files() -> list[Path]:
    return sorted(path for path in STATIC.rglob("*") if path.is_file())


@pytest.mark.skipif(not SOURCE.is_dir(), reason="the page's source is not installed with the package")
def test_shipped_page_is_built_from_the_current_source() -> None:
    built = json.loads((STATIC / "source.json").read_text(encoding="utf-8"))["sha256"]
    assert built == source_hash(SOURCE), "the source of the page has changed: run `make studio-page`"


def test_the_page_is_small() -> None:
    compressed = {path.name: len(gzip.compress(path.read_bytes())) for path in built_files()}
    assert sum(compressed.values()) <= MOST_BYTES, compressed


def test_page_refers_only_to_existing_files() -> None:
    addresses = Addresses()
    addresses.feed((STATIC / "index.html").read_text(encoding="utf-8"))
    assert len(addresses.found) >= 3  # an icon, a style sheet, a script
    for address in addresses.found:
        assert (STATIC / address.removeprefix("./")).is_file(), address


def test_every_shipped_file_is_used() -> None:
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    unused = [path.name for path in (STATIC / "assets").iterdir() if path.name not in index]
    assert unused == []


def test_page_sends_no_request_to_other_hosts() -> None:
    for path in built_files():
        if path.suffix in (".html", ".css", ".svg"):
            text = NAMESPACE.sub("", path.read_text(encoding="utf-8"))
            assert not re.search(r"https?://|[\"'(]//", text), path.name


def test_the_page_needs_no_inline_script() -> None:
    """The server's Content-Security-Policy forbids them."""
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", index))
    assert not re.search(r"\son\w+=", index)


def test_names_of_assets_contain_a_hash_of_their_contents() -> None:
    """Assets are cached forever, so new contents need a new name."""
    assert all(re.search(r"-[\w-]{8}\.\w+$", path.name) for path in (STATIC / "assets").iterdir())
