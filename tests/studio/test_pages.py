"""The page's files are read once, and nothing else is."""

import gzip
from pathlib import Path

import pytest

from leaps.studio.pages import FOREVER, load_pages, page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html>" + " " * 1000)
    (static / "assets" / "app-1a2b.js").write_text("let x = 1;" * 200)
    (static / "assets" / "tiny.css").write_text("a{}")
    (static / "favicon.svg").write_text("<svg/>")
    (static / ".secret").write_text("no")
    (tmp_path / "outside.txt").write_text("no")
    return static


def test_files_are_found_by_the_path_of_a_request(folder: Path) -> None:
    assert sorted(load_pages(folder)) == ["/", "/assets/app-1a2b.js", "/assets/tiny.css", "/favicon.svg"]


def test_what_has_a_hash_in_its_name_is_kept_for_ever(folder: Path) -> None:
    pages = load_pages(folder)
    assert pages["/assets/app-1a2b.js"].cache == FOREVER
    assert pages["/"].cache == "no-cache"
    assert pages["/assets/app-1a2b.js"].kind == "text/javascript; charset=utf-8"


def test_files_are_compressed_beforehand_where_it_helps(folder: Path) -> None:
    pages = load_pages(folder)
    packed = pages["/assets/app-1a2b.js"].packed
    assert packed is not None
    assert gzip.decompress(packed) == pages["/assets/app-1a2b.js"].content
    assert pages["/assets/tiny.css"].packed is None


def test_a_missing_build_is_explained(tmp_path: Path) -> None:
    pages = load_pages(tmp_path / "nothing")
    assert list(pages) == ["/"]
    assert b"make studio-page" in pages["/"].content
    assert pages["/"].kind.startswith("text/html")


def test_a_tag_changes_with_the_content() -> None:
    assert page("a.js", b"1").tag != page("a.js", b"2").tag
    assert page("a.js", b"1").tag == page("b.js", b"1").tag
