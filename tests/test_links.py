"""Links between the project's documents have targets."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub names them, and its explicit anchors."""
    text = FENCE.sub("", text)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    own = re.findall(r'<a (?:id|name)="([^"]+)"', text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in plain} | {*own}


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_have_targets(file: Path) -> None:
    broken = []
    for link in LINK.findall(FENCE.sub("", file.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(link)
    assert not broken


def test_anchors_of_headings_equal_githubs() -> None:
    assert anchors("# A `Title`, two\n\n```\n# no heading\n```\n## [Link](x.md) here\n") == {
        "a-title-two",
        "link-here",
    }
