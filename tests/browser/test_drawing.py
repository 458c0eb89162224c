"""Worlds drawn by hand, and programs that run in them."""

import time
from collections.abc import Iterable
from typing import Any

import pytest

from tests.browser.harness import (
    PATIENCE,
    Page,
    Visitor,
    choose,
    enter,
    expect,
    kept,
    link,
    paste,
    picture,
    until,
)

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) putMarker m)"
ROOM = {"rows": ["#######", "#.....#", "#.....#", "#.....#", "#######"], "karel": [3, 1, 1]}


@pytest.fixture
def room(visitor: Visitor) -> Page:
    """An empty room with Karel at the lower left, after the program has run to its end."""
    page = visitor.open(link(WALK, world=ROOM))
    runs(page, "5 steps")
    return page


def centre_of(page: Page, row: int, column: int) -> tuple[float, float]:
    """Return the middle of a cell of the board."""
    box = page.get_by_test_id("board").bounding_box()
    world = kept(page).get("drawn", ROOM)
    assert box is not None
    height, width = len(world["rows"]), len(world["rows"][0])
    return box["x"] + (column + 0.5) * box["width"] / width, box["y"] + (row + 0.5) * box["height"] / height


def stroke(page: Page, tool: str, cells: Iterable[tuple[int, int]]) -> None:
    """Press the mouse button on the first cell, and drag over the others."""
    choose(page, f"tool-{tool}")
    first, *others = [centre_of(page, *cell) for cell in cells]
    page.mouse.move(*first)
    page.mouse.down()
    for cell in others:
        page.mouse.move(*cell, steps=4)
    page.mouse.up()


def expect_world(page: Page, *rows: str, karel: list[int]) -> None:
    world: dict[str, Any] = {"rows": list(rows), "karel": karel}
    end = time.monotonic() + PATIENCE
    while (drawn := kept(page).get("drawn")) != world and time.monotonic() < end:
        time.sleep(0.02)
    assert drawn == world


def runs(page: Page, words: str) -> None:
    expect(page.locator("figcaption", has_text="It runs here.")).to_have_text(f"It runs here. {words}")


def test_walls_markers_and_karel_are_drawn_with_the_mouse(room: Page) -> None:
    before = picture(room, "board")
    stroke(room, "floor", [(0, 2), (1, 0)])  # the border stays
    stroke(room, "wall", [(3, 1)])  # and Karel's cell
    stroke(room, "wall", [(3, 4), (2, 4)])
    expect_world(room, "#######", "#.....#", "#...#.#", "#...#.#", "#######", karel=[3, 1, 1])
    runs(room, "3 steps")
    stroke(room, "more", [(1, 1), (1, 2), (1, 3)])
    stroke(room, "more", [(1, 2)])
    expect_world(room, "#######", "#121..#", "#...#.#", "#...#.#", "#######", karel=[3, 1, 1])
    stroke(room, "less", [(1, 1), (1, 2)])
    stroke(room, "floor", [(2, 4)])
    expect_world(room, "#######", "#.11..#", "#.....#", "#...#.#", "#######", karel=[3, 1, 1])
    stroke(room, "karel", [(1, 1)])
    stroke(room, "karel", [(1, 1)])  # a second click turns
    expect_world(room, "#######", "#.11..#", "#.....#", "#...#.#", "#######", karel=[1, 1, 2])
    runs(room, "3 steps")
    assert picture(room, "board") != before


def test_program_runs_in_the_drawn_world(room: Page) -> None:
    stroke(room, "wall", [(3, 3)])
    runs(room, "2 steps")
    room.get_by_test_id("step-forward").click()
    expect(room.get_by_test_id("why")).to_contain_text("Went east to row 3, column 2.")
    room.get_by_test_id("step-forward").click()
    expect(room.get_by_test_id("running")).to_have_text("putMarker")
    expect(room.get_by_test_id("why-return")).to_have_count(0)
    paste(room, "DEF run m( turnLeft turnLeft turnRight move m)")
    runs(room, "4 steps")
    room.get_by_test_id("to-end").click()
    expect(room.get_by_test_id("why")).to_contain_text("Went north to row 2, column 1.")


def test_drawing_with_keys_and_a_return_with_rules(room: Page) -> None:
    room.get_by_test_id("task").select_option("four-corner")
    room.get_by_test_id("rules").check()
    runs(room, "5 steps, return 0.25")
    room.get_by_test_id("rules").uncheck()
    runs(room, "5 steps")
    choose(room, "tool-more")
    room.get_by_test_id("board").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter", "ArrowRight", "Enter", "Enter"):
        room.keyboard.press(key)
    expect_world(room, "#######", "#.....#", "#.12..#", "#.....#", "#######", karel=[3, 1, 1])


def test_room_can_be_made_larger_and_emptied(room: Page) -> None:
    stroke(room, "more", [(1, 1)])
    enter(room, "draw-width", 9)
    enter(room, "draw-height", 6)
    expect_world(
        room, "#########", "#1......#", "#.......#", "#.......#", "#.......#", "#########", karel=[3, 1, 1]
    )
    runs(room, "7 steps")
    room.get_by_test_id("draw-clear").click()
    expect_world(
        room, "#########", "#.......#", "#.......#", "#.......#", "#.......#", "#########", karel=[4, 1, 1]
    )


def test_both_sides_can_change_before_the_next_render(room: Page) -> None:
    room.evaluate("""() => {
        for (const [field, value] of [["draw-width", "9"], ["draw-height", "4"]]) {
            const input = document.querySelector(`[data-testid=${field}]`);
            input.value = value;
            input.dispatchEvent(new Event("change", { bubbles: true }));
        }
    }""")
    expect_world(room, "#########", "#.......#", "#.......#", "#########", karel=[2, 1, 1])


def test_typed_text_stays_while_the_page_changes(room: Page) -> None:
    stroke(room, "more", [(1, 1)])
    expect_world(room, "#######", "#1....#", "#.....#", "#.....#", "#######", karel=[3, 1, 1])
    room.get_by_test_id("draw-width").fill("9")
    room.get_by_test_id("draw-clear").dispatch_event("click")  # the field keeps its text
    expect_world(room, "#######", "#.....#", "#.....#", "#.....#", "#######", karel=[3, 1, 1])
    expect(room.get_by_test_id("draw-width")).to_have_value("9")
    room.get_by_test_id("draw-width").press("Enter")
    expect_world(room, "#########", "#.......#", "#.......#", "#.......#", "#########", karel=[3, 1, 1])


def test_watched_world_can_be_copied_and_edited(visitor: Visitor) -> None:
    page = visitor.open(link(WALK, "maze"))
    page.get_by_test_id("draw-this").click()
    expect(page.get_by_test_id("main")).to_have_attribute("data-mode", "draw")
    expect(page.get_by_test_id("rules")).to_be_checked()
    until(lambda: len(kept(page).get("drawn", {"rows": ()})["rows"]) == 8, "the maze on the board")
