"""The paper's experiment: the budget of edits, the history, and the result."""

import json
from pathlib import Path

import pytest

from tests.browser.harness import (
    Page,
    Served,
    Visitor,
    choose,
    copied,
    example,
    expect,
    expect_return,
    paste,
    until,
    value_of,
    wait_for_run,
)

TASK = "four-corner"
# The first program of the study turns many times, and puts one marker.
CLOSING = "  turnRight\n  turnRight\nm)"


def start_of(studio: Served) -> str:
    return next(
        str(item["program"]).strip() for item in studio.ask("/api/about")["study"] if item["task"] == TASK
    )


def begin(page: Page, budget: int = 3) -> None:
    page.get_by_test_id("mode-study").click()
    page.get_by_test_id("study-program").select_option(f"study:{TASK}")
    choose(page, f"budget-{budget}")
    page.get_by_test_id("study-begin").click()
    expect(page.locator(".history-item")).to_have_count(1)
    wait_for_run(page)


def edited(program: str, edits: int) -> str:
    """Append a number of statements to the program."""
    assert program.endswith(CLOSING)
    return program.removesuffix("m)") + "  putMarker\n" * edits + "m)"


def expect_used(page: Page, used: int, over: bool) -> None:
    state = page.get_by_test_id("budget-state")
    expect(state).to_have_attribute("data-used", str(used))
    expect(state).to_have_attribute("data-over", str(over).lower())


@pytest.fixture
def study(visitor: Visitor) -> Page:
    page = visitor.open()
    begin(page)
    return page


def test_study_starts_with_the_program_of_the_paper_and_locks_the_worlds(study: Page, studio: Served) -> None:
    assert copied(study).strip() == start_of(studio)
    expect(study.get_by_test_id("budget-state")).to_contain_text("0 of 3 statements edited, 3 left.")
    for name in ("task", "height", "width", "seed", "new-worlds"):
        expect(study.get_by_test_id(name)).to_be_disabled()
    expect_return(study, "new", studio.mean(start_of(studio), TASK))


def test_more_edits_than_the_budget_do_not_count(study: Page, studio: Served) -> None:
    start = studio.mean(start_of(studio), TASK)
    paste(study, edited(start_of(studio), 3))
    expect_used(study, 3, over=False)
    expect(study.get_by_test_id("budget-state")).to_contain_text("3 of 3 statements edited, 0 left.")
    expect(study.get_by_test_id("score-new")).not_to_contain_class("struck")
    paste(study, example(TASK))  # a perfect program, but too many edits away
    expect_return(study, "new", 1.0)
    used = studio.ask("/api/evaluate", program=example(TASK), task=TASK, original=start_of(studio))[
        "distance"
    ]
    expect_used(study, used, over=True)
    expect(study.get_by_test_id("budget-state")).to_contain_text(
        f"{used} statements edited, {used - 3} too many. This program's return does not count. Undo an edit, "
        "or restore a program from the history."
    )
    expect(study.get_by_test_id("score-new")).to_contain_class("struck")
    expect(study.locator(".history-item").first).to_contain_text("over")
    assert value_of(study.get_by_test_id("score-best")) == pytest.approx(start)


def test_four_edits_are_within_a_budget_of_five(page: Page, studio: Served) -> None:
    begin(page, 5)
    paste(page, edited(start_of(studio), 5))
    expect_used(page, 5, over=False)
    paste(page, edited(start_of(studio), 6))
    expect_used(page, 6, over=True)


def test_fourth_edit_exceeds_the_budget_and_the_history_restores_the_first(
    study: Page, studio: Served
) -> None:
    paste(study, edited(start_of(studio), 1))
    items = study.locator(".history-item")
    expect(items).to_have_count(2)
    expect(items.first).to_contain_text("1 edit")
    paste(study, edited(start_of(studio), 4))
    expect(items).to_have_count(3)
    expect(items.first).to_contain_text("4 edits")
    expect(items.first).to_contain_text("over")
    expect(study.get_by_test_id("budget-state")).to_contain_text("4 statements edited, 1 too many.")
    items.nth(1).click()
    expect_used(study, 1, over=False)
    assert copied(study) == edited(start_of(studio), 1)


def test_result_is_shown_and_exported(study: Page, studio: Served, tmp_path: Path) -> None:
    start = start_of(studio)
    improved = start.replace("  move\n", "  WHILE c( frontIsClear c) w(\n    move\n  w)\n")
    means = {text: studio.mean(text, TASK) for text in (start, improved, example(TASK))}
    for number, text in enumerate((improved, example(TASK)), start=2):
        paste(study, text)
        expect(study.locator(".history-item")).to_have_count(number)
    study.get_by_test_id("study-finish").click()
    summary = study.get_by_test_id("study-summary")
    best = max((start, improved), key=lambda text: means[text])
    rows = summary.locator("tbody tr")
    expect(rows.nth(0)).to_have_text(f"0{means[start]:.3f}0.250")
    expect(rows.nth(1)).to_have_text(f"3{means[best]:.3f}0.750")
    expect(rows.nth(2)).to_have_text("5–0.920")
    with study.expect_download() as download:
        study.get_by_test_id("study-export").click()
    assert download.value.suggested_filename == "study-four-corner-3.json"
    download.value.save_as(tmp_path / "study.json")
    result = json.loads((tmp_path / "study.json").read_text())
    assert (result["kind"], result["task"], result["budget"], result["seed"]) == ("leaps-study", TASK, 3, 0)
    assert result["start"].strip() == start
    assert result["reported"] == {"0": 0.25, "3": 0.75, "5": 0.92}
    assert [edit["counted"] for edit in result["edits"]] == [True, True, False]
    assert [edit["program"].strip() for edit in result["edits"]] == [start, improved, example(TASK)]
    assert [edit["return"] for edit in result["edits"]] == pytest.approx(list(means.values()))
    assert result["best"]["program"].strip() == best
    assert result["best"]["return"] == pytest.approx(means[best])


def test_study_resumes_after_a_reload(study: Page, studio: Served) -> None:
    paste(study, edited(start_of(studio), 2))
    expect(study.locator(".history-item")).to_have_count(2)
    until(
        lambda: "putMarker\\n  putMarker\\nm)" in study.evaluate("localStorage['studio.last'] ?? ''"),
        "the program to be kept",
    )
    study.reload()
    wait_for_run(study)
    expect(study.locator(".history-item")).to_have_count(2)
    expect_used(study, 2, over=False)
    assert copied(study) == edited(start_of(studio), 2)
