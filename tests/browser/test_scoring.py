"""Returns on many worlds after each edit."""

import re

from leaps.karel.tasks import PAPER_TASKS
from tests.browser.harness import (
    Page,
    Served,
    Visitor,
    enter,
    example,
    expect,
    expect_return,
    link,
    paste,
    text_of,
    until,
)

WALK = "DEF run m( WHILE c( frontIsClear c) w( pickMarker move w) m)"
NOTHING = "DEF run m( turnLeft m)"
TASK = "harvester"


def test_new_orig_and_best_follow_the_edits(visitor: Visitor, studio: Served) -> None:
    walk, nothing, perfect = (studio.mean(text, TASK) for text in (WALK, NOTHING, example(TASK)))
    assert nothing < walk < perfect == 1
    page = visitor.open(link(WALK, TASK))
    seen = []
    for text, best in ((WALK, walk), (NOTHING, walk), (example(TASK), perfect), (NOTHING, perfect)):
        if text != WALK:
            paste(page, text)
        expect_return(page, "new", studio.mean(text, TASK))
        expect_return(page, "orig", walk)
        expect_return(page, "best", best)
        expect(page.locator(".stale")).to_have_count(0)
        seen.append(page.get_by_test_id("solved").inner_text())
    assert seen[2] == "mean of 100 worlds, 100 solved"
    assert seen[3] == "mean of 100 worlds, 0 solved"
    page.get_by_test_id("restore-best").click()
    until(lambda: text_of(page) == example(TASK), "the best program")
    expect(page.get_by_test_id("restore-best")).to_have_count(0)


def test_latency_of_each_edit_is_recorded(page: Page) -> None:
    score = page.get_by_test_id("score")
    for text in (WALK, NOTHING):
        score.evaluate("panel => delete panel.dataset.latencyMs")
        paste(page, text)
        expect(score).to_have_attribute("data-latency-ms", re.compile(r"^[1-9]\d*\.\d$"))


def test_the_worst_world_is_the_one_with_the_lowest_return(visitor: Visitor, studio: Served) -> None:
    program = next(task["program"] for task in studio.ask("/api/about")["tasks"] if task["name"] == "top-off")
    returns = studio.ask("/api/evaluate", program=program, task="top-off")["returns"]
    worst = returns.index(min(returns))
    assert worst > 3  # not among the worlds that are watched at first
    page = visitor.open(link(program, "top-off"))
    page.get_by_test_id("worst").click()
    expect(page.get_by_test_id("world-number")).to_have_value(str(worst))
    expect(page.get_by_test_id("rollout-0").locator("canvas")).to_have_attribute(
        "aria-label", f"World {worst}, 12 × 12 cells"
    )
    page.get_by_test_id("to-end").click()
    expect(page.get_by_test_id("rollout-0")).to_contain_text(f"{min(returns):.2f}")


def test_every_bar_is_a_world_from_the_worst_to_the_best(visitor: Visitor, studio: Served) -> None:
    returns = studio.ask("/api/evaluate", program=WALK, task=TASK)["returns"]
    order = sorted(range(100), key=lambda world: (returns[world], world))
    page = visitor.open(link(WALK, TASK))
    strip = page.get_by_test_id("strip")
    expect(strip.locator(".bar")).to_have_count(100)
    box = strip.bounding_box()
    assert box is not None
    for rank in (99, 40):
        page.mouse.move(box["x"] + (rank + 0.5) / 100 * box["width"], box["y"] + 20)
        expect(page.get_by_test_id("strip-says")).to_contain_text(f"{returns[order[rank]]:.2f}")
    page.mouse.down()
    page.mouse.up()
    expect(page.get_by_test_id("world-number")).to_have_value(str(order[40]))
    page.mouse.move(5, 5)
    strip.focus()  # the same with keys
    for key in ("End", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    expect(strip).to_have_attribute("aria-valuenow", "98")
    expect(page.get_by_test_id("world-number")).to_have_value(str(order[98]))


def test_all_three_are_measured_on_the_same_worlds(visitor: Visitor, studio: Served) -> None:
    page = visitor.open(link(WALK, "top-off"))
    paste(page, example("top-off"))
    expect_return(page, "best", 1.0)
    paste(page, NOTHING)
    expect_return(page, "new", studio.mean(NOTHING, "top-off"))
    enter(page, "seed", 12345)
    expect_return(page, "new", studio.mean(NOTHING, "top-off", 12345))
    expect_return(page, "orig", studio.mean(WALK, "top-off", 12345))
    expect_return(page, "best", studio.mean(example("top-off"), "top-off", 12345))


def test_example_programs_of_the_six_tasks_are_shown_as_solved(page: Page) -> None:
    for task in PAPER_TASKS:
        page.get_by_test_id("task").select_option(task)
        paste(page, NOTHING)
        expect(page.get_by_test_id("solved")).to_have_text("mean of 100 worlds, 0 solved")
        paste(page, example(task))
        expect_return(page, "new", 1.0)
        expect(page.get_by_test_id("solved")).to_have_text("mean of 100 worlds, 100 solved")
