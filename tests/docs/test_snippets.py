"""The code blocks of the documents run, and print what the pages show.

`tests/docs/snippets.py` documents the comments that a page can put before a block.
"""

from pathlib import Path

import pytest

from tests.docs.snippets import ROOT, Runner, SnippetError, agrees, parse_leaps, read_blocks, read_page

PAGES = sorted(str(file.relative_to(ROOT)) for file in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

CLUSTER = "needs a cluster"
COMPUTES = "computes for minutes or longer"
INSTALLS = "installs packages"
MISSING = "uses a file that the page does not make"
SERVES = "a server that runs until Ctrl-C"
NOT_RUN: dict[str, dict[str, str]] = {
    "README.md": {"make": INSTALLS},
    "docs/experiments.md": {
        "leaps experiment tasks": COMPUTES,
        "leaps experiment latent-map": COMPUTES,
        "leaps report": "writes into the documents",
        "import leaps\nimport pandas": "LEAPS does not need pandas",
        "dask": CLUSTER,
        "ray": CLUSTER,
        "from dask_jobqueue": CLUSTER,
        "leaps experiment karel-hard": CLUSTER,
        "leaps solve door-key": CLUSTER,
    },
    "docs/methods/baselines.md": {
        "pip": INSTALLS,
        "leaps baseline": COMPUTES,
        "leaps run --policy": MISSING,
        "leaps experiment": COMPUTES,
    },
    "docs/methods/embedding.md": {
        "leaps encode FILE": MISSING,
        "leaps interpolate A.karel": MISSING,
        "leaps data": "makes the whole data set",
        "leaps latent-map": COMPUTES,
        "leaps smoothness": COMPUTES,
        "leaps train": COMPUTES,
        "leaps solve": MISSING,
    },
    "docs/methods/search.md": {
        "leaps solve maze --method leaps": COMPUTES,
        "leaps solve harvester": COMPUTES,
        "leaps repair FILE": MISSING,
        "leaps imitate FILE": MISSING,
        "leaps trajectory": COMPUTES,
        "leaps experiment": COMPUTES,
    },
    "docs/reproduction.md": {"leaps experiment": COMPUTES},
    "docs/studio.md": {"leaps studio": SERVES},
    "docs/tasks.md": {"leaps studio": SERVES, "leaps run my.karel": MISSING},
    "docs/your-own-environment.md": {
        "def perceive_speed": "an excerpt of a file",
        "leaps train": COMPUTES,
        "leaps solve CartPole-v1 --space": MISSING,
    },
    "docs/your-own-domain.md": {"leaps studio": SERVES},
    "docs/your-own-search.md": {
        "leaps solve maze --method my_search.py:MySearch --seeds": COMPUTES,
        "leaps experiment": COMPUTES,
        "leaps report": "reports on results that are not computed here",
    },
}
"""By page: the beginnings of commands and Python blocks that are not run, each with the reason. Such commands
are still parsed. Make this list shorter: run a block, or give the reason in a comment in the page."""


@pytest.mark.parametrize("page", [page for page in PAGES if read_page(page)])
def test_blocks_do_what_the_page_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(tmp_path, monkeypatch)
    failures = []
    for block in read_page(page):
        try:
            runner.run_block(block, list(NOT_RUN.get(page, {})))
        except Exception as error:
            failures.append(str(error) if isinstance(error, SnippetError) else f"{block.place}: {error!r}")
    assert not failures, "\n\n".join(failures)


def test_every_entry_of_the_list_is_used() -> None:
    unused = []
    for page, starts in NOT_RUN.items():
        blocks = [block for block in read_page(page) if block.checked]
        code = [command.text for block in blocks for command in block.commands]
        code += [block.text for block in blocks if block.language == "python"]
        unused += [f"{page}: {start}" for start in starts if not any(each.startswith(start) for each in code)]
    assert not unused


def test_every_block_that_is_not_run_has_a_reason() -> None:
    blocks = [block for page in PAGES for block in read_page(page)]
    assert all(reason.strip() for block in blocks for reason in block.notes.get("not run", []))


PAGE = """\
<!-- run: leaps check -e "DEF run m( move m)" -->
```console
$ leaps solve maze \\
    --seed 1
anything
$ leaps check -e "DEF
run m( move m)"
```

<!-- not run: it is
long -->
<!-- file: notes.txt -->
```text
leaps
```
"""


def test_a_page_is_read_into_blocks_with_their_comments() -> None:
    first, second = read_blocks(PAGE, "page.md")
    assert [command.text for command in first.reduced] == ['leaps check -e "DEF run m( move m)"']
    assert first.commands[0].words == ["leaps", "solve", "maze", "--seed", "1"]
    assert first.commands[0].shown == "anything"
    assert first.commands[1].words == ["leaps", "check", "-e", "DEF\nrun m( move m)"]
    assert (second.line, second.file, second.commands) == (13, "notes.txt", [])


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("one\ntwo", "one  \ntwo\n\n", True),
        ("one", "two", False),
        ("one\n...\nfour", "one\ntwo\nthree\nfour", True),
        ("one\n...", "one", True),
        ("...\nfour", "one\nfive", False),
        ("kept in ... folder", "kept in that folder", True),
        ("search 10 evaluations, 0.3 s", "search 10 evaluations, 12.0 s", True),
        ("search 10 evaluations, 0.3 s", "search 11 evaluations, 0.3 s", False),
        ("a (b", "a (b", True),
    ],
)
def test_shown_output_is_compared_with_the_printed_one(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same


@pytest.mark.parametrize("words", [["slove", "maze"], ["solve", "maze", "--sizes", "8x8"], ["run", "--task"]])
def test_a_command_that_does_not_exist_is_found(words: list[str]) -> None:
    with pytest.raises(SnippetError, match="leaps"):
        parse_leaps(words, "page.md:1")


def test_wrong_output_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(tmp_path, monkeypatch)
    page = '```console\n$ leaps check -e "DEF run m( move m)"\na program: 6 tokens\n```\n'
    (block,) = read_blocks(page, "page.md")
    with pytest.raises(SnippetError, match="5 tokens"):
        runner.run_block(block)
    (block,) = read_blocks('```bash\nleaps check -e "DEF run m)"\n```\n', "page.md")
    with pytest.raises(SnippetError, match="exit code 2"):
        runner.run_block(block)
    (block,) = read_blocks("```python\nprint(1 + 1)  # 3\n```\n", "page.md")
    with pytest.raises(SnippetError, match="expected to print '3'"):
        runner.run_block(block)
