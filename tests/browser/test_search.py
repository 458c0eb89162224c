"""Live searches: watch, stop, and load the program."""

import re

from tests.browser.harness import (
    Page,
    Served,
    enter,
    expect,
    expect_return,
    in_a_line,
    is_search,
    text_of,
    until,
)


def search(page: Page, task: str, method: str, budget: int) -> None:
    page.get_by_test_id("mode-search").click()
    page.get_by_test_id("task").select_option(task)
    page.get_by_test_id("method").select_option(method)
    enter(page, "search-budget", budget)
    page.get_by_test_id("search-start").click()


def points(page: Page) -> int:
    return int(page.get_by_test_id("curve").get_attribute("data-points") or 0)


def test_search_is_shown_and_stopped(page: Page, studio: Served) -> None:
    search(page, "one-stroke", "hc", 1_000_000)
    state = page.get_by_test_id("search-state")
    expect(state).to_have_attribute("data-state", "running")
    until(lambda: points(page) >= 3, "a curve")
    expect(state).to_contain_text("programs tried, best")
    expect(page.get_by_test_id("search-program")).to_contain_text("DEF run m(")
    (process,) = studio.searches()
    page.get_by_test_id("search-stop").click()
    expect(state).to_have_attribute("data-state", "stopped")
    expect(state).to_contain_text("Stopped after")
    until(lambda: not is_search(process), "the search's process to end")
    expect(page.get_by_test_id("search-start")).to_be_visible()


def test_search_for_a_program_at_several_sizes(page: Page, studio: Served) -> None:  # noqa: ARG001
    page.get_by_test_id("mode-search").click()
    page.get_by_test_id("search-also").fill("9x9, 14×10")
    search(page, "stair-climber", "ladder", 10_000)
    state = page.get_by_test_id("search-state")
    expect(state).to_contain_text("Solved after", timeout=60_000)
    expect(state).to_contain_text("on unseen worlds, 1.000 at 9x9, 1.000 at 14x10.")
    page.get_by_test_id("search-also").fill("9x9, large")
    page.get_by_test_id("search-start").click()
    expect(state).to_contain_text("Also at: expected sizes such as 16x16, 40x40, found “large”.")
    expect(state).to_have_attribute("data-state", "failed")


def test_search_ends_when_its_page_is_closed(page: Page, studio: Served) -> None:
    search(page, "one-stroke", "hc", 1_000_000)
    (process,) = until(studio.searches, "a search")
    page.close()
    until(lambda: not is_search(process), "the search's process to end")


def test_program_of_a_finished_search_is_loaded_into_the_editor(page: Page, studio: Served) -> None:
    search(page, "stair-climber", "random-64", 3)  # the minimum is used instead
    expect(page.get_by_test_id("search-budget")).to_have_value("64")
    state = page.get_by_test_id("search-state")
    expect(state).to_have_attribute("data-state", "ended")
    expect(state).to_contain_text(re.compile(r"after 6\d programs"))
    expect(state).to_contain_text("on unseen worlds.")
    found = page.get_by_test_id("search-program").inner_text().strip()
    page.get_by_test_id("search-take").click()
    expect(page.get_by_test_id("main")).to_have_attribute("data-mode", "program")
    until(lambda: in_a_line(text_of(page)) == in_a_line(found), "its program in the editor")
    mean = studio.mean(found, "stair-climber")
    expect_return(page, "new", mean)
    expect_return(page, "orig", mean)
