"""The map of programs: pointing, clicking, walks."""

from tests.browser.harness import (
    Page,
    Served,
    ViewportSize,
    Visitor,
    choose,
    expect,
    in_a_line,
    link,
    paste,
    picture,
    text_of,
    until,
    wait_for_run,
)

WALK = "DEF run m( WHILE c( frontIsClear c) w( move w) m)"
PICK = "DEF run m( REPEAT R=5 r( pickMarker turnLeft r) m)"


def show_map(page: Page) -> dict[str, float]:
    """Open the map, wait until it is drawn, and return its box."""
    page.get_by_test_id("mode-space").click()
    page.get_by_test_id("space-map").wait_for()
    box = page.get_by_test_id("space-map").bounding_box()
    assert box is not None
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def read_at(page: Page, x: float, y: float) -> str:
    """Point at a position on the map, which must be near a program."""
    page.mouse.move(x, y)
    page.get_by_test_id("space-program").wait_for()
    return page.get_by_test_id("space-program").inner_text().strip()


def test_pointing_shows_the_program_at_the_pointer(page: Page, studio: Served) -> None:
    box = show_map(page)
    places = {program: (x, y) for x, y, program in studio.ask("/api/space/map")["points"]}
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    read = [read_at(page, middle[0] + aside, middle[1] + below) for aside, below in ((-90, 60), (90, -60))]
    (west, south), (east, north) = (places[in_a_line(program)] for program in read)
    assert west < east
    assert south < north
    page.mouse.move(5, 5)
    expect(page.get_by_test_id("space-program")).to_have_count(0)


def test_click_loads_the_program(page: Page, studio: Served) -> None:
    box = show_map(page)
    point = (box["x"] + 0.45 * box["width"], box["y"] + 0.5 * box["height"])
    read = read_at(page, *point)
    page.mouse.click(*point)
    until(lambda: in_a_line(text_of(page)) == in_a_line(read), "the program in the editor")
    wait_for_run(page)
    indented = studio.ask("/api/check", program=read)["indented"].strip()
    assert text_of(page) == indented


def test_walk_from_a_to_b_is_decoded_and_taken(visitor: Visitor, studio: Served) -> None:
    page = visitor.open(link(WALK))
    show_map(page)
    walk = page.get_by_test_id("walk")
    expect(walk).to_be_disabled()
    page.get_by_test_id("set-a").click()
    expect(page.get_by_test_id("set-a")).to_contain_text("A: WHILE frontIsClear")
    paste(page, PICK)
    wait_for_run(page)
    page.get_by_test_id("set-b").click()
    expect(walk).to_be_enabled()
    decoded = studio.ask("/api/space/between", **{"from": WALK, "to": PICK, "steps": 21})["programs"]
    assert len(set(decoded)) > 2
    pictures = set()
    for index in (0, 11, 22):
        walk.fill(str(index))
        expect(page.get_by_role("heading", name=f"{round(100 * index / 22)} % from A to B")).to_be_visible()
        seen = page.get_by_test_id("space-program").inner_text()
        assert in_a_line(seen) == in_a_line(decoded[index])
        pictures.add(picture(page, "space-map"))
    assert len(pictures) == 2  # at the ends of the walk, A and B cover the marker
    page.get_by_test_id("space-take").click()
    until(lambda: in_a_line(text_of(page)) == in_a_line(decoded[22]), "the end of the walk in the editor")


def test_the_ends_of_a_walk_can_be_clicked_on_the_map(page: Page) -> None:
    box = show_map(page)
    for end, share in (("a", 0.4), ("b", 0.6)):
        choose(page, f"click-use-{end}")
        page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
        expect(page.get_by_test_id(f"set-{end}")).not_to_contain_text("take the editor's")
    expect(page.get_by_test_id("walk")).to_be_enabled()


def test_programs_are_listed(page: Page, studio: Served) -> None:
    show_map(page)
    page.get_by_test_id("space-filter").fill("while pickmarker")
    programs = [program for _, _, program in studio.ask("/api/space/map")["points"]]
    found = [program for program in programs if "WHILE" in program and "pickMarker" in program]
    listed = page.get_by_test_id("space-list").locator("button")
    expect(listed).to_have_count(min(60, len(found)))
    expect(page.get_by_text(f"{len(found):,} found")).to_be_visible()
    listed.nth(3).click()
    until(lambda: in_a_line(text_of(page)) == found[3], "the fourth in the editor")


def test_map_is_redrawn_for_another_size_and_other_colours(visitor: Visitor) -> None:
    size = ViewportSize(width=900, height=700)
    small = visitor.open(link(WALK), viewport=size, color_scheme="light")
    dark = visitor.open(link(WALK), viewport=size, color_scheme="dark")
    page = visitor.open(link(WALK), color_scheme="light")
    for one in (small, dark, page):
        with one.expect_response("**/api/space/place"):  # this answer is drawn last
            show_map(one)
    page.set_viewport_size(size)
    until(lambda: picture(page, "space-map") == picture(small, "space-map"), "the map of a small page")
    page.emulate_media(color_scheme="dark")
    until(lambda: picture(page, "space-map") == picture(dark, "space-map"), "the map of a dark page")
