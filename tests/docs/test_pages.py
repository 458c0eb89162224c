"""The pages for newcomers: short sentences, all words of the language, files that exist."""

import re

import pytest

from leaps.dsl.language import Kind
from leaps.karel.world import LANGUAGE
from tests.docs.snippets import ROOT

PAGES = ["README.md", "docs/glossary.md", "docs/language.md", "docs/troubleshooting.md", "docs/tutorial.md"]
MOST_WORDS = 25

_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_QUOTED = re.compile(r"`[^`]*`")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*[-|#*] )|\|")
_SENTENCE = re.compile(r"(?<=[.!?])\**\s+")


def sentences_of(text: str) -> list[str]:
    """The sentences of a page, without code; quoted code counts as one word."""
    text = _LINK.sub(r"\1", _COMMENT.sub("", _CODE.sub("\n", text)))
    text = _QUOTED.sub("code", text)
    return [s.strip() for part in _PARAGRAPH.split(text) for s in _SENTENCE.split(part) if s.strip()]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page: str) -> None:
    sentences = sentences_of((ROOT / page).read_text())
    assert len(sentences) > 20
    assert [sentence for sentence in sentences if len(sentence.split()) > MOST_WORDS] == []


def test_the_language_page_has_every_word() -> None:
    sheet = (ROOT / "docs" / "language.md").read_text().split("## Cheat sheet")[1].split("\n## ")[0]
    words = {
        token
        for token, kind in zip(LANGUAGE.tokens, LANGUAGE.kinds.tolist(), strict=True)
        if kind not in (Kind.COUNT, Kind.PAD)
    }
    assert words <= set(re.sub("[`,|]", " ", sheet).split())
    assert f"R={LANGUAGE.max_repeat}" in sheet


@pytest.mark.parametrize("page", PAGES)
def test_files_of_the_package_that_a_page_names_exist(page: str) -> None:
    named = re.findall(r"\bleaps/[\w/]+\.py\b", (ROOT / page).read_text())
    assert [file for file in named if not (ROOT / file).is_file()] == []


def test_sentences_are_found() -> None:
    page = "# One `a b`\n\nThree. **Four.** Six\nseven\n\n- eight\n- nine\n\n```\nten.\n```\n| a | b c |\n"
    assert sentences_of(page) == [
        "# One code", "Three.", "**Four.", "Six\nseven", "- eight", "- nine", "a", "b c"
    ]  # fmt: skip
