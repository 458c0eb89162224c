"""Links, files and films."""

import io
import json
from pathlib import Path

from PIL import Image

from tests.browser.harness import (
    Page,
    Served,
    Visitor,
    choose,
    expect,
    kept,
    link,
    paste,
    text_of,
    until,
    wait_for_run,
)

PROGRAM = "DEF run m(\n  move  # with ümlauts, and 🤖\n  turnLeft\nm)"
WORLD = {"rows": ["######", "#.#.1#", "#....#", "######"], "karel": [2, 1, 0]}


def shared_link(page: Page) -> str:
    page.get_by_test_id("share").click()
    return page.get_by_test_id("share-link").input_value()


def test_link_opens_program_task_seed_and_size_for_another_visitor(visitor: Visitor) -> None:
    page = visitor.open(link(PROGRAM, "maze", 4711, size=[10, 12]))
    address = shared_link(page)
    assert address.startswith(visitor.address)
    page.get_by_test_id("share-copy").click()
    expect(page.get_by_test_id("notice")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == address
    other = visitor.open(address.removeprefix(visitor.address))
    assert text_of(other) == PROGRAM
    expect(other.get_by_test_id("task")).to_have_value("maze")
    expect(other.get_by_test_id("seed")).to_have_value("4711")
    expect(other.get_by_test_id("height")).to_have_value("10")
    expect(other.get_by_test_id("width")).to_have_value("12")
    assert other.url == visitor.address  # without the fragment


def test_link_opens_a_drawn_world(visitor: Visitor) -> None:
    page = visitor.open(link(PROGRAM, "maze", 7, world=WORLD))
    choose(page, "tool-more")
    page.get_by_test_id("board").focus()
    page.keyboard.press("Enter")  # in the first cell
    drawn = {"rows": ["######", "#1#.1#", "#....#", "######"], "karel": [2, 1, 0]}
    until(lambda: kept(page).get("drawn") == drawn, "the drawing")
    other = visitor.open(shared_link(page).removeprefix(visitor.address))
    expect(other.get_by_test_id("main")).to_have_attribute("data-mode", "draw")
    expect(other.get_by_test_id("task")).to_have_value("maze")
    assert text_of(other) == PROGRAM
    until(lambda: kept(other).get("drawn") == drawn, "the drawing at somebody else's")
    expect(other.locator("figcaption", has_text="It runs here.")).to_contain_text("2 steps")


def test_broken_link_still_opens_the_page(visitor: Visitor, studio: Served) -> None:
    begin = studio.ask("/api/about")["start"]["task"]
    for hash_ in ("#s=e30", link("", "no-such-task", -1, size="x", world={"rows": 3})):
        page = visitor.open(hash_)
        expect(page.get_by_test_id("task")).to_have_value(begin)
        page.context.close()


def test_file_is_saved_and_opened(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.open(link(PROGRAM, "top-off", 99))
    page.get_by_test_id("share").click()
    with page.expect_download() as download:
        page.get_by_test_id("file-save").click()
    assert download.value.suggested_filename == "top-off.json"
    download.value.save_as(tmp_path / "top-off.json")
    saved = json.loads((tmp_path / "top-off.json").read_text())
    assert saved == {"program": PROGRAM, "task": "top-off", "seed": 99, "size": None}
    other = visitor.open()
    other.get_by_test_id("share").click()
    with other.expect_file_chooser() as chooser:
        other.get_by_test_id("file-open").click()
    chooser.value.set_files(tmp_path / "top-off.json")
    until(lambda: text_of(other) == PROGRAM, "the program of the file")
    expect(other.get_by_test_id("share-dialog")).to_have_count(0)
    expect(other.get_by_test_id("task")).to_have_value("top-off")
    expect(other.get_by_test_id("seed")).to_have_value("99")
    (tmp_path / "mine.karel").write_text("DEF run m( move m)")  # a file may be only a program
    other.get_by_test_id("share").click()
    other.get_by_test_id("file-input").set_input_files(tmp_path / "mine.karel")
    until(lambda: text_of(other) == "DEF run m( move m)", "the plain program")


def test_gif_of_the_selected_world(visitor: Visitor) -> None:
    page = visitor.open(link("DEF run m( move move turnLeft m)", "maze"))
    page.get_by_test_id("share").click()
    with page.expect_download() as download:
        page.get_by_test_id("gif").click()
    assert download.value.suggested_filename == "maze.gif"
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(b"GIF89a")
    with Image.open(io.BytesIO(content)) as film:
        assert getattr(film, "n_frames", 1) >= 4


def test_next_visit_restores_the_last_state(page: Page) -> None:
    paste(page, PROGRAM)
    page.get_by_test_id("task").select_option("top-off")
    page.get_by_test_id("mode-draw").click()
    until(
        lambda: (kept(page).get("program"), kept(page).get("mode")) == (PROGRAM, "draw"), "the memory of it"
    )
    page.reload()
    wait_for_run(page)
    assert text_of(page) == PROGRAM
    expect(page.get_by_test_id("task")).to_have_value("top-off")
    expect(page.get_by_test_id("main")).to_have_attribute("data-mode", "draw")
