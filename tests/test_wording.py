"""No word of a small list, which readers have to decode, is in the code or the documents."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORDS = re.compile(
    r"\b(said|told|heard|known again|anew|go(es|ing)? on|so many|one's own|amiss|whoever|as it were)\b",
    re.IGNORECASE,
)
ENDINGS = (".py", ".md", ".ts", ".tsx", ".toml", "Makefile")
QUOTES = {
    # The paper's claims in its own words, and what searches found.
    "docs/claims.md",
    "docs/reproduction.md",
    "leaps/experiments/report/claims.py",
    # A word that is not a token.
    "tests/dsl/test_language.py",
    # This list.
    "tests/test_wording.py",
}


def hard_words(text: str) -> list[str]:
    return [found[0] for found in WORDS.finditer(text)]


def test_plain_words_are_used() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs the list of files that git tracks")
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = {}
    for name in done.stdout.splitlines():
        file = ROOT / name
        if not name.endswith(ENDINGS) or name in QUOTES or not file.is_file():
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if words := hard_words(line):
                found[f"{name}:{number}"] = words
    assert found == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [("a search is told the scores", ["told"]), ("it goes on", ["goes on"]), ("resumes", []), ("saids", [])],
)
def test_words_are_found(text: str, words: list[str]) -> None:
    assert hard_words(text) == words
