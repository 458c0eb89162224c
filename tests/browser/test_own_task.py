"""A user task, and stored state of a task that a studio does not have."""

from pathlib import Path

from tests.browser.harness import (
    Browser,
    Served,
    Visitor,
    command,
    expect,
    expect_return,
    kept,
    link,
    paste,
    text_of,
    until,
    wait_for_run,
)
from tests.browser.test_search import search
from tests.karel.tasks.corridor import SOLUTION, corridor_in, edit

PROGRAM = "DEF run m( turnLeft turnLeft m)"


def test_user_task_is_chosen_edited_and_searched(browser: Browser, tmp_path: Path) -> None:
    corridor = corridor_in(tmp_path)
    with command("--task", f"{corridor}:CORRIDOR") as served:
        visitor = Visitor(browser, served.address)
        visitor.excused.append("status of 422")
        page = visitor.open()
        task, issue = page.get_by_test_id("task"), page.get_by_test_id("issue")
        expect(task).to_have_value("corridor")
        expect(page.locator("optgroup[label='Your own'] option")).to_have_text(["Corridor"])
        expect(page.locator("optgroup[label='Tasks of the paper'] option")).to_have_count(6)
        expect(page.get_by_test_id("task-summary")).to_have_text(
            "Leave a marker in the last cell of a corridor."
        )
        expect_return(page, "new", 0.0)
        edit(corridor, "def value(", "def value(:")
        paste(page, PROGRAM)
        expect(issue).to_have_text(f"Issue with code? task: {corridor}, line 15: SyntaxError: invalid syntax")
        edit(corridor, "def value(:", "def value(")
        paste(page, SOLUTION)
        expect_return(page, "new", 1.0)
        expect(issue).to_contain_text("None.")
        task.select_option("maze")
        expect_return(page, "new", served.mean(SOLUTION, "maze"))
        search(page, "corridor", "hc", 20_000)
        expect(page.get_by_test_id("search-state")).to_contain_text("Solved after", timeout=60_000)
        visitor.leave()


def test_link_with_an_unknown_task_loads_its_program(visitor: Visitor, studio: Served) -> None:
    page = visitor.open(link(PROGRAM, "corridor", 4711))
    assert text_of(page) == PROGRAM
    expect(page.get_by_test_id("task")).to_have_value(studio.ask("/api/about")["start"]["task"])
    expect(page.get_by_test_id("seed")).to_have_value("4711")
    expect(page.get_by_test_id("notice")).to_have_text("This studio has no task corridor.")


def test_stored_state_of_a_missing_task_is_ignored(visitor: Visitor) -> None:
    page = visitor.open(link(PROGRAM, "maze"))
    until(lambda: kept(page).get("task") == "maze", "the memory of it")
    page.add_init_script("""
        if (!sessionStorage.gone) {
            sessionStorage.gone = "yes";
            const last = JSON.parse(localStorage["studio.last"]);
            localStorage["studio.last"] = JSON.stringify({ ...last, task: "corridor", mode: "study" });
            const study = { task: "corridor", program: "", budget: 3, edits: [] };
            localStorage["studio.study"] = JSON.stringify(study);
        }
    """)
    page.reload()
    wait_for_run(page)
    expect(page.get_by_test_id("task")).to_have_value("top-off")
    page.get_by_test_id("mode-study").click()
    expect(page.get_by_test_id("study-begin")).to_be_visible()
    assert "corridor" in page.evaluate("localStorage['studio.study']")  # the study stays stored
    page.get_by_test_id("study-begin").click()
    until(lambda: "corridor" not in page.evaluate("localStorage['studio.study']"), "another study")
