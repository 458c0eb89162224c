"""Rollouts, step by step: the running statement is marked, with the reasons for it."""

import pytest

from tests.browser.harness import (
    Page,
    Served,
    Visitor,
    choose,
    enter,
    expect,
    expect_return,
    link,
    paste,
    picture,
    text_of,
    until,
    value_of,
    wait_for_run,
)

PROGRAM = """DEF run m(
  WHILE c( frontIsClear c) w(
    move
  w)
  IFELSE c( leftIsClear c) i(
    turnLeft
  i)
  ELSE e(
    putMarker
  e)
  move
m)"""
CORRIDOR = {"rows": ["#####", "#...#", "#####"], "karel": [1, 1, 1]}
# Expected after each step: the marked line, the tests and their values, the perceptions before it.
STEPS = [
    ("move", 2, {1: "true"}, {"frontIsClear": True, "noMarkersPresent": True}),
    ("move", 2, {1: "true"}, {"frontIsClear": True, "leftIsClear": False}),
    ("putMarker", 8, {1: "false", 4: "false"}, {"frontIsClear": False, "markersPresent": False}),
    ("move", 10, {}, {"frontIsClear": False, "markersPresent": True}),
]


@pytest.fixture
def corridor(visitor: Visitor) -> Page:
    """A run of four steps with known results."""
    page = visitor.open(link(PROGRAM, world=CORRIDOR))
    expect(page.get_by_test_id("position")).to_have_text("0 / 4")
    return page


def expect_step(page: Page, step: int) -> None:
    """Check everything that the page shows about a step of the corridor."""
    expect(page.get_by_test_id("position")).to_have_attribute("data-position", str(step))
    expect(page.get_by_test_id("rollout-0")).to_have_attribute("data-step", str(step))
    running = page.get_by_test_id("running")
    if step == 0:
        expect(running).to_have_count(0)
        expect(page.get_by_test_id("why-action")).to_have_count(0)
        return
    action, line, verdicts, perceived = STEPS[step - 1]
    expect(running).to_have_text(action)
    expect(page.locator(".cm-line").nth(line)).to_contain_class("running-line")
    expect(page.get_by_test_id("why-action")).to_have_text(action)
    numbers = page.locator(".cm-lineNumbers .cm-gutterElement:visible")
    expect(numbers).to_have_text([verdicts.get(line, str(line + 1)) for line in range(12)])
    for name, holds in perceived.items():
        chip = page.get_by_test_id(f"perception-{name}")
        expect(chip).to_have_text(f"{name} {'true' if holds else 'false'}")


def test_each_step_marks_its_statement_and_shows_the_reasons(corridor: Page) -> None:
    expect_step(corridor, 0)
    pictures = [picture(corridor, "rollout-0")]
    for step in range(1, 5):
        corridor.get_by_test_id("step-forward").click()
        expect_step(corridor, step)
        pictures.append(picture(corridor, "rollout-0"))
    assert len(set(pictures)) == 5
    expect(corridor.get_by_test_id("why-ending")).to_have_text("The program ended.")
    expect(corridor.get_by_test_id("why")).to_contain_text("A wall was ahead, so Karel turned around.")
    for step in (3, 2, 1, 0):
        corridor.get_by_test_id("step-back").click()
        expect_step(corridor, step)
        assert picture(corridor, "rollout-0") == pictures[step]


def test_scrubbing_to_any_step_and_playing_to_the_end(corridor: Page) -> None:
    scrub = corridor.get_by_test_id("scrub")
    for step in (3, 1, 4):
        scrub.fill(str(step))
        expect_step(corridor, step)
    scrub.press("ArrowLeft")
    expect_step(corridor, 3)
    corridor.get_by_test_id("to-end").click()
    expect_step(corridor, 4)
    corridor.get_by_test_id("to-start").click()
    expect_step(corridor, 0)
    corridor.get_by_test_id("speed").fill("5")
    corridor.get_by_test_id("speed").blur()
    corridor.keyboard.press("Space")  # plays to the end
    expect_step(corridor, 4)
    expect(corridor.get_by_test_id("play")).to_have_attribute("aria-label", "Play (space)")


def test_arrow_keys_step_unless_the_editor_has_the_focus(corridor: Page) -> None:
    for key, step in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 4), ("Home", 0)):
        corridor.keyboard.press(key)
        expect_step(corridor, step)
    corridor.keyboard.press("ArrowRight")
    corridor.get_by_test_id("editor").focus()
    for key in ("ArrowRight", "End", "Home"):
        corridor.keyboard.press(key)
    expect_step(corridor, 1)


def test_playback_has_the_chosen_speed(visitor: Visitor) -> None:
    page = visitor.open(link("DEF run m( " + "turnLeft " * 200 + "m)"))
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    position = page.get_by_test_id("position")
    for power, rate in ((3, 8), (5, 32)):
        page.get_by_test_id("speed").fill(str(power))
        page.get_by_test_id("to-start").click()
        page.get_by_test_id("play").click()
        expect(page.get_by_test_id("play")).to_have_attribute("aria-label", "Pause (space)")
        page.clock.run_for(2000)
        page.get_by_test_id("play").click()
        assert int(position.get_attribute("data-position") or 0) == pytest.approx(2 * rate, abs=0.15 * rate)


def test_visit_starts_playing_and_space_pauses(visitor: Visitor) -> None:
    page = visitor.open(reduced_motion="no-preference")
    until(lambda: page.get_by_test_id("position").get_attribute("data-position") != "0", "a step")
    page.keyboard.press("Space")
    expect(page.get_by_test_id("play")).to_have_attribute("aria-label", "Play (space)")


def test_new_worlds_changes_the_seed(visitor: Visitor, studio: Served) -> None:
    page = visitor.open(link(PROGRAM, "maze"))
    before = picture(page, "rollout-0")
    page.get_by_test_id("new-worlds").click()
    until(lambda: picture(page, "rollout-0") != before, "another maze")
    seed = int(page.get_by_test_id("seed").input_value())
    assert seed != 0
    expect_return(page, "new", studio.mean(PROGRAM, "maze", seed))
    enter(page, "seed", 0)
    until(lambda: picture(page, "rollout-0") == before, "the maze of before")


def test_number_of_worlds_can_be_chosen(visitor: Visitor) -> None:
    page = visitor.open(link(PROGRAM, "harvester"))
    worlds = page.locator(".slot")
    for count in (6, 1, 2):
        choose(page, f"count-{count}")
        expect(worlds).to_have_count(count)
    page.get_by_test_id("rollout-1").click()
    expect(page.get_by_test_id("rollout-1")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("rollout-0")).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_test_id("world-number")).to_have_value("1")
    enter(page, "world-number", 77)
    expect(page.get_by_test_id("rollout-1").locator("canvas")).to_have_attribute(
        "aria-label", "World 77, 8 × 8 cells"
    )


def test_marks_belong_to_the_selected_world(visitor: Visitor) -> None:
    """A maze that turns left at once, and one that does not, differ in the first step."""
    program = "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( turnLeft e) m)"
    page = visitor.open(link(program, "maze"))
    choose(page, "count-6")
    expect(page.locator(".slot")).to_have_count(6)
    page.get_by_test_id("step-forward").click()
    seen = set()
    for slot in range(6):
        page.get_by_test_id(f"rollout-{slot}").click()
        expect(page.get_by_test_id(f"rollout-{slot}")).to_have_attribute("aria-pressed", "true")
        clear = page.get_by_test_id("perception-frontIsClear").inner_text().endswith("true")
        expect(page.get_by_test_id("running")).to_have_text("move" if clear else "turnLeft")
        seen.add(clear)
    assert seen == {True, False}


def test_worlds_of_100_cells_a_side(visitor: Visitor, studio: Served) -> None:
    page = visitor.open(link("DEF run m( WHILE c( frontIsClear c) w( move w) m)", "four-corner"))
    enter(page, "height", 100)
    enter(page, "width", 1000)  # the maximum is used instead
    expect(page.get_by_test_id("width")).to_have_value("100")
    expect(page.get_by_test_id("rollout-0").locator("canvas")).to_have_attribute(
        "aria-label", "World 0, 100 × 100 cells"
    )
    result = studio.ask("/api/evaluate", program=text_of(page), task="four-corner", size=[100, 100])
    expect_return(page, "new", result["mean"])
    expect(page.get_by_test_id("position")).to_have_text(f"0 / {max(result['steps'][:4])}")


def test_another_task_loads_its_program_unless_the_program_was_edited(page: Page, studio: Served) -> None:
    programs = {task["name"]: task["program"].strip() for task in studio.ask("/api/about")["tasks"]}
    page.get_by_test_id("task").select_option("maze")
    until(lambda: text_of(page).strip() == programs["maze"], "maze's program")
    wait_for_run(page)
    paste(page, PROGRAM)
    page.get_by_test_id("task").select_option("top-off")
    expect_return(page, "new", studio.mean(PROGRAM, "top-off"))
    assert text_of(page) == PROGRAM
    page.get_by_test_id("task-program").click()
    until(lambda: text_of(page).strip() == programs["top-off"], "top-off's program")
    assert value_of(page.get_by_test_id("score-new")) is not None
