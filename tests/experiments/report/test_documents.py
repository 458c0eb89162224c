"""Files: which, what is in them, whether they are up to date."""

from pathlib import Path

import pytest

from leaps.experiments.cell import cell
from leaps.experiments.report.contents import gather
from leaps.experiments.report.documents import PAGE, documents_of, environments_document, insert, write
from leaps.experiments.store import Store
from tests.experiments.report.synthetic import all_shown, keep, keep_entry, keep_search, keep_shown, small

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
LADDER = "<!-- ladder: begin -->\n<!-- ladder: end -->\n"


def test_all_files_are_written_and_then_up_to_date(tmp_path: Path) -> None:
    documents = documents_of(gather(small(tmp_path / "r")), tmp_path / "new" / "docs")
    names = {str(one.file.relative_to(tmp_path / "new" / "docs")) for one in documents}
    assert names == {
        "reproduction.md", "claims.md", "figures/tasks.svg", "figures/karel-hard.svg",
    }  # fmt: skip
    assert not any(one.up_to_date for one in documents)
    write(documents)
    assert all(one.up_to_date for one in documents)
    assert {file.name for file in (tmp_path / "new" / "docs").iterdir()} == {
        "reproduction.md", "claims.md", "figures",
    }  # fmt: skip


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (documents_of(gather(small(tmp_path / name)), tmp_path / "docs") for name in "ab")
    assert [one.content for one in first] == [one.content for one in second]


def test_another_result_is_another_report(tmp_path: Path) -> None:
    store = small(tmp_path / "r")
    write(documents_of(gather(store), tmp_path))
    keep(store, cell("tasks", "hc", "maze", 2), 0.1)
    outdated = [one.file.name for one in documents_of(gather(store), tmp_path) if not one.up_to_date]
    assert outdated == ["reproduction.md", "tasks.svg"]


def test_a_figure_that_is_missing_or_different_is_not_up_to_date(tmp_path: Path) -> None:
    documents = documents_of(gather(small(tmp_path / "r")), tmp_path)
    write(documents)
    picture = tmp_path / "figures" / "tasks.svg"
    picture.write_bytes(picture.read_bytes() + b" ")
    assert [one.file for one in documents if not one.up_to_date] == [picture]
    picture.unlink()
    assert [one.file for one in documents if not one.up_to_date] == [picture]


def test_results_go_between_their_lines_and_nowhere_else() -> None:
    text = f"# Title\r\nabove\n  {BEGIN}  \nold\nolder\n{END}\nbelow"
    expected = f"# Title\r\nabove\n  {BEGIN}  \n\nnew\n\n{END}\nbelow"
    assert insert(text, "results", "new\n", "README.md") == expected
    assert insert(expected, "results", "new\n", "README.md") == expected


@pytest.mark.parametrize(
    "text", ["", "# Title\n", f"{BEGIN}\n", f"{END}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{BEGIN}\n{END}\n",
             f"{BEGIN}\n{END}\n{END}\n", f"text {BEGIN}\n{END}\n"],
)  # fmt: skip
def test_missing_marker_lines_raise(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"README\.md: expected exactly one line '<!-- results: begin -->' and below"
    ):
        insert(text, "results", "new", "README.md")


def test_a_readme_gets_a_table_and_a_link_from_where_it_is(tmp_path: Path) -> None:
    readme = tmp_path / "project" / "README.md"
    readme.parent.mkdir()
    readme.write_text(f"# Title\n{BEGIN}\n{END}\nend\n")
    write(documents_of(gather(small(tmp_path / "r")), tmp_path / "project" / "docs", readme))
    text = readme.read_text()
    assert text.startswith(f"# Title\n{BEGIN}\n\n|  | stair-climber |")
    assert text.endswith(f"(docs/reproduction.md).\n\n{END}\nend\n")
    assert "| Ladder, here |" in text


def test_the_page_on_searches_has_ladder_on_all_tasks(tmp_path: Path) -> None:
    store = Store(tmp_path / "r")
    for seed, search in enumerate([(True, 100, 0.5), (True, 3000, 2.0), (False, 900, 1.0)]):
        keep_search(store, cell("tasks", "ladder", "maze", seed), *search)
    keep_search(store, cell("karel-hard", "ladder", "snake", 0), True, 77, 9.0)
    page = tmp_path / "methods" / "search.md"
    page.parent.mkdir()
    page.write_text(LADDER)
    write(documents_of(gather(store), tmp_path))
    assert (
        "|  | maze | snake |\n| --- | ---: | ---: |\n"
        "| return | 0.667 | 1.000 |\n| seeds solved | 2/3 | 1/1 |\n"
        "| evaluations until found | 895 | 72 |\n"
        "| evaluations in all | 900 | 77 |\n| rollouts in all | 14k | 1.2k |\n"
        "| seconds on one core | 1.0 | 9.0 |\n"
    ) in page.read_text()


def test_readme_without_results_is_unchanged(tmp_path: Path) -> None:
    store = Store(tmp_path / "r")
    keep_entry(store, "smoothness", "leaps", "train", [0.3])
    readme = tmp_path / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    with pytest.raises(ValueError, match="no results of tasks for the table in"):
        documents_of(gather(store), tmp_path, readme)


def test_a_figure_is_a_file_that_the_report_shows(tmp_path: Path) -> None:
    store = all_shown(tmp_path / "r")
    documents = documents_of(gather(store), tmp_path)
    names = {one.file.name for one in documents}
    for name in (
        "latent-map",
        "cem-trajectory-leaps+-four-corner",
        "data-histogram",
        "rollouts-ladder-snake",
    ):
        assert f"{name}.svg" in names
    assert not any(name.startswith(("evolution", "interpolation")) for name in names)
    (page,) = (one.content.decode() for one in documents if one.file.name == "reproduction.md")
    assert "![states of a rollout of ladder on snake](figures/rollouts-ladder-snake.svg)" in page
    write(documents)
    assert all(one.up_to_date for one in documents_of(gather(store), tmp_path))


def test_another_result_of_a_figure_is_another_picture(tmp_path: Path) -> None:
    drawn = []
    for seed in (0, 1):
        store = Store(tmp_path / str(seed))
        keep_shown(store, cell("latent-map", "leaps", "test-programs"), seed)
        drawn.append({one.file.name: one.content for one in documents_of(gather(store), tmp_path)})
    assert drawn[0]["latent-map.svg"] != drawn[1]["latent-map.svg"]


def test_stored_documents_are_up_to_date() -> None:
    """Pictures may differ from machine to machine, words and numbers don't: was `make report` forgotten?"""
    project = Path(__file__).parents[3]
    store = Store(project / "results", only_read=True)
    documents = documents_of(gather(store), project / "docs", project / "README.md")
    documents.append(environments_document(store, project / "docs" / PAGE))
    words = [one for one in documents if one.file.suffix == ".md"]
    assert {one.file.name for one in words} == {
        "reproduction.md",
        "claims.md",
        "README.md",
        "search.md",
        PAGE,
    }
    assert [one.file.name for one in words if not one.up_to_date] == []
