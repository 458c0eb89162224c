"""Tasks in environments: CartPole and MiniGrid, with their languages and pictures."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser.harness import (
    PHONE,
    ROOT,
    Browser,
    Locator,
    Page,
    Served,
    Visitor,
    choose,
    command,
    copied,
    enter,
    expect,
    expect_return,
    in_a_line,
    kept,
    link,
    paste,
    picture,
    put_cursor,
    text_of,
    until,
)

if find_spec("pygame") is None or find_spec("minigrid") is None:
    pytest.skip(
        "draws environments with pygame, in MiniGrid: pip install -e '.[dev]'", allow_module_level=True
    )

CART_POLE = f"{Path(__file__).parent / 'cart_pole.py'}:CART_POLE"
ROOMS = f"{Path(__file__).parent / 'rooms.py'}:ROOMS"
LEFT = "DEF run m( pushLeft pushLeft pushLeft m)"
BALANCE = (
    "DEF run m( REPEAT R=19 r( REPEAT R=19 r( WHILE c( willLeanRight c) w( pushRight w) pushLeft r) r) m)"
)
TO_GOAL = (
    "DEF run m( WHILE c( not c( atGoal c) c) w( IFELSE c( frontIsBlocked c) i( turnRight i) "
    "ELSE e( move e) w) m)"
)
OUT = ROOT / "out" / "browser"


@pytest.fixture(scope="module")
def cart_pole() -> Iterator[Served]:
    with command(CART_POLE) as served:
        yield served


@pytest.fixture(scope="module")
def rooms() -> Iterator[Served]:
    with command(ROOMS) as served:
        yield served


@pytest.fixture
def cart(browser: Browser, cart_pole: Served) -> Iterator[Visitor]:
    expect.set_options(timeout=30_000)
    visitor = Visitor(browser, cart_pole.address)
    yield visitor
    visitor.leave()


@pytest.fixture
def room(browser: Browser, rooms: Served) -> Iterator[Visitor]:
    expect.set_options(timeout=30_000)
    visitor = Visitor(browser, rooms.address)
    yield visitor
    visitor.leave()


def offered(page: Page) -> Locator:
    return page.locator(".cm-tooltip-autocomplete .cm-completionLabel")


def wait_for_picture(page: Page, slot: int, step: int) -> None:
    canvas = page.get_by_test_id(f"rollout-{slot}").locator("canvas")
    expect(canvas).to_have_attribute("data-picture", str(step))


def test_page_opens_with_the_task_and_its_language(cart: Visitor) -> None:
    page = cart.open()
    expect(page.get_by_test_id("task")).to_have_value("cart-pole")
    expect(page.get_by_test_id("task-summary")).to_contain_text("2 actions and 2 perceptions")
    assert in_a_line(text_of(page)) == (
        "DEF run m( REPEAT R=19 r( IFELSE c( willLeanRight c) i( pushLeft i) ELSE e( pushRight e) r) m)"
    )
    expect(page.locator(".cm-line .token-action")).to_have_text(["pushLeft", "pushRight"])
    expect(page.locator(".cm-line .token-perception")).to_have_text("willLeanRight")
    expect(page.locator(".cm-line .token-unknown")).to_have_count(0)
    expect(page.get_by_test_id("new-worlds")).to_have_text("New episodes")
    for mode, there in (("program", 1), ("study", 1), ("search", 1), ("space", 0), ("draw", 0)):
        expect(page.get_by_test_id(f"mode-{mode}")).to_have_count(there)
    for field in ("height", "width", "variant", "draw-this"):
        expect(page.get_by_test_id(field)).to_have_count(0)


def test_completion_offers_the_words_of_the_task(cart: Visitor) -> None:
    page = cart.open(link(LEFT, "cart-pole"))
    paste(page, "DEF run m( ")
    page.keyboard.type("WH")
    for word in ("WHILE", "c("):
        expect(offered(page)).to_have_text([word])
        page.wait_for_timeout(
            150
        )  # a list that has just opened ignores Enter, which may be meant for a new line
        page.keyboard.press("Enter")
    expect(offered(page)).to_have_text(["willBeRight", "willLeanRight", "not"])
    page.keyboard.press("Escape")
    paste(page, "DEF run m( ")
    page.keyboard.press("Control+Space")
    expect(offered(page)).to_have_text(["pushLeft", "pushRight", "IF", "IFELSE", "REPEAT", "WHILE"])


def test_errors_are_marked_at_their_position(cart: Visitor) -> None:
    page = cart.open()
    paste(page, "DEF run m( move m)")
    expect(page.get_by_test_id("issue")).to_contain_text("'move' is not a token of this language")
    expect(page.locator(".cm-lintRange-error")).to_have_text("move")
    expect(page.locator(".cm-line .token-unknown")).to_have_text("move")
    paste(page, LEFT)
    expect(page.get_by_test_id("issue")).to_contain_text("None. 7 tokens.")


def test_program_is_scored_on_the_chosen_number_of_episodes(cart: Visitor, cart_pole: Served) -> None:
    page = cart.open(link(BALANCE, "cart-pole", 3))
    asked = {"program": BALANCE, "task": "cart-pole", "seed": 3}
    for episodes in (20, 100):
        choose(page, f"episodes-{episodes}")
        result = cart_pole.ask("/api/evaluate", **asked, episodes=episodes)
        expect(page.get_by_test_id("score-new")).to_have_text(f"{result['mean']:.1f}")
        solved = sum(earned >= 500 for earned in result["returns"])
        expect(page.get_by_test_id("solved")).to_have_text(f"mean of {episodes} episodes, {solved} solved")
    expect(page.get_by_test_id("strip-says")).to_contain_text("Each bar is an episode, from 0 to 500")
    page.get_by_test_id("worst").click()
    expect(page.get_by_test_id("world-number")).to_have_value(str(result["worst"]))


def test_steps_are_shown_with_their_picture_reasons_and_value(cart: Visitor, cart_pole: Served) -> None:
    page = cart.open(link(BALANCE, "cart-pole"))
    result = cart_pole.ask("/api/rollout", program=BALANCE, task="cart-pole", index=0)
    wait_for_picture(page, 0, 0)
    first = picture(page, "rollout-0")
    for step in range(1, 6):
        page.get_by_test_id("step-forward").click()
        wait_for_picture(page, 0, step)
        statement = result["statements"][result["steps"]["statement"][step - 1]]
        expect(page.get_by_test_id("why-action")).to_have_text(statement["text"])
        expect(page.get_by_test_id("running")).to_have_text(statement["text"])
        expect(page.get_by_test_id("why-return")).to_have_text(f"{step}.00 so far +1 by this step")
        expect(page.get_by_test_id("why-state")).to_have_text(result["states"][step])
        for sense, name in enumerate(("willLeanRight", "willBeRight")):
            holds = result["steps"]["perceived"][step - 1][sense] == "1"
            expect(page.get_by_test_id(f"perception-{name}")).to_contain_text("true" if holds else "false")
        looked = [held for at, _, held in result["steps"]["tests"] if at == step - 1]
        assert page.locator(".tests li b").all_text_contents() == [
            "true" if held else "false" for held in looked
        ]
    late = min(result["shown"], 300)
    page.get_by_test_id("scrub").fill(str(late))
    wait_for_picture(page, 0, late)
    assert picture(page, "rollout-0") != first


def test_only_few_pictures_are_fetched_around_the_shown_step(cart: Visitor) -> None:
    page = cart.open(link(BALANCE, "cart-pole"))
    for slot in range(4):
        wait_for_picture(page, slot, 0)
    asked = [url for url in cart.requests if url.endswith("/api/pictures")]
    assert 4 <= len(asked) <= 8  # the chunk that is shown, and the next one


def test_the_pictures_play(cart: Visitor) -> None:
    page = cart.open(link(BALANCE, "cart-pole"), reduced_motion="no-preference")
    first = picture(page, "rollout-0")
    until(lambda: int(page.get_by_test_id("position").get_attribute("data-position") or 0) > 8, "steps")
    until(lambda: picture(page, "rollout-0") != first, "another picture")


def test_search_finds_a_program_and_can_be_stopped(cart: Visitor, cart_pole: Served) -> None:
    page = cart.open()
    page.get_by_test_id("mode-search").click()
    expect(page.get_by_test_id("method").locator("option")).to_have_count(2)
    expect(page.get_by_test_id("search-also")).to_have_count(0)
    expect(page.get_by_test_id("search-map")).to_have_count(0)
    enter(page, "search-budget", 5000)
    enter(page, "search-worlds", 2)
    page.get_by_test_id("search-start").click()
    state = page.get_by_test_id("search-state")
    expect(state).to_contain_text(re.compile(r"\d programs tried, best \d+"), timeout=60_000)
    expect(page.get_by_test_id("search-program")).to_contain_text("push")
    assert len(cart_pole.searches()) == 1
    page.get_by_test_id("search-stop").click()
    expect(state).to_contain_text("Stopped after")
    until(lambda: cart_pole.searches() == [], "the end of the search")
    found = page.get_by_test_id("search-program").inner_text()
    page.get_by_test_id("search-take").click()
    expect(page.get_by_test_id("main")).to_have_attribute("data-mode", "program")
    assert in_a_line(copied(page)) == in_a_line(found)


def test_search_runs_to_its_end(room: Visitor) -> None:
    page = room.open()
    page.get_by_test_id("mode-search").click()
    page.get_by_test_id("method").select_option("hc")
    enter(page, "search-budget", 64)
    enter(page, "search-worlds", 1)
    page.get_by_test_id("search-start").click()
    expect(page.get_by_test_id("search-state")).to_contain_text("on unseen episodes", timeout=120_000)
    expect(page.get_by_test_id("search-state")).to_have_attribute("data-state", "ended", timeout=120_000)


def test_task_with_another_language_loads_its_program_and_undo_restores_the_old_one(cart: Visitor) -> None:
    page = cart.open(link(LEFT, "cart-pole"))
    page.get_by_test_id("task").select_option("maze")
    expect(page.get_by_test_id("issue")).to_contain_text("None.")
    expect(page.locator(".cm-line .token-unknown")).to_have_count(0)
    expect(page.get_by_test_id("mode-draw")).to_have_count(1)
    expect(page.get_by_test_id("height")).to_have_value("8")
    page.get_by_test_id("undo").click()
    assert text_of(page) == LEFT
    expect(page.locator(".cm-line .token-unknown").first).to_have_text("pushLeft")
    page.get_by_test_id("mode-draw").click()
    page.get_by_test_id("task").select_option("cart-pole")
    expect(page.get_by_test_id("main")).to_have_attribute("data-mode", "program")
    expect(page.get_by_test_id("issue")).to_contain_text("None.")


def test_study_in_an_environment(cart: Visitor) -> None:
    page = cart.open()
    page.get_by_test_id("mode-study").click()
    page.get_by_test_id("study-program").select_option("task:cart-pole")
    page.get_by_test_id("study-begin").click()
    expect(page.get_by_test_id("budget-state")).to_have_attribute("data-used", "0")
    paste(page, text_of(page).replace("pushLeft", "pushRight"))
    expect(page.get_by_test_id("budget-state")).to_have_attribute("data-used", "1")
    page.get_by_test_id("study-finish").click()
    expect(page.get_by_test_id("study-summary")).to_be_visible()


def test_privileged_perceptions_are_named(room: Visitor) -> None:
    page = room.open(link(TO_GOAL, "rooms"))
    expect(page.get_by_test_id("privileged")).to_contain_text("Privileged: it uses atGoal")
    expect(page.get_by_test_id("perception-atGoal")).to_contain_text("privileged")
    expect(page.get_by_test_id("perception-frontIsClear")).not_to_contain_text("privileged")
    paste(page, "DEF run m( WHILE c( frontIsClear c) w( move w) m)")
    expect(page.get_by_test_id("privileged")).to_have_count(0)
    put_cursor(page, 0, len("DEF run m( WHILE c( "))
    page.keyboard.press("Control+Space")
    expect(page.locator(".cm-completionDetail", has_text="perception, privileged")).to_have_count(1)


def test_variant_is_chosen_scored_and_remembered(room: Visitor, rooms: Served) -> None:
    page = room.open(link(TO_GOAL, "rooms"))
    page.get_by_test_id("variant").select_option("small")
    result = rooms.ask("/api/evaluate", program=TO_GOAL, task="rooms", size="small", episodes=20)
    expect_return(page, "new", result["mean"])
    assert result["mean"] > 0.5
    wait_for_picture(page, 0, 0)
    until(lambda: kept(page).get("size") == "small", "the memory of it")
    page.reload()
    expect(page.get_by_test_id("variant")).to_have_value("small")
    expect_return(page, "new", result["mean"])


def test_image_observation_is_shown_as_its_shape(room: Visitor) -> None:
    page = room.open()
    expect(page.get_by_test_id("why-state")).to_contain_text("image 7×7×3 numbers")


def test_of_many_perceptions_only_those_of_the_program_are_shown(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "many.py"
    more = ", ".join(f'"p{number}": light_is_on' for number in range(20))
    source = (ROOT / "tests" / "gym" / "corridor.py").read_text()
    file.write_text(source.replace('"perceptions": {', '"perceptions": {' + more + ", "))
    with command(f"{file}:CORRIDOR") as served:
        visitor = Visitor(browser, served.address)
        page = visitor.open(link("DEF run m( IF c( p7 c) i( IF c( p3 c) i( left i) i) right m)", "corridor"))
        expect(page.locator("[data-testid^=perception-]")).to_have_count(2)
        expect(page.get_by_test_id("perception-p7")).to_be_visible()
        visitor.leave()


def test_environment_without_pictures_shows_its_observation(browser: Browser, tmp_path: Path) -> None:
    source = (ROOT / "tests" / "gym" / "corridor.py").read_text()
    file = tmp_path / "dark.py"
    file.write_text(source.replace("return picture", "return None"))
    with command(f"{file}:CORRIDOR") as served:
        visitor = Visitor(browser, served.address)
        visitor.excused.append("status of 422")
        page = visitor.open()
        expect(page.get_by_test_id("state-0")).to_contain_text("No picture.")
        expect(page.get_by_test_id("state-0")).to_contain_text("expected a picture from the environment")
        page.get_by_test_id("step-forward").click()
        result = served.ask("/api/rollout", program=text_of(page), task="corridor", index=0)
        expect(page.get_by_test_id("state-0").locator(".code")).to_have_text(result["states"][1])
        visitor.leave()


def test_film_and_a_link_of_an_episode(cart: Visitor) -> None:
    page = cart.open(link(LEFT, "cart-pole", 7))
    page.get_by_test_id("share").click()
    with page.expect_download() as download:
        page.get_by_test_id("gif").click()
    assert download.value.path().read_bytes().startswith(b"GIF8")
    address = page.get_by_test_id("share-link").input_value()
    other = cart.open(address.removeprefix(cart.address))
    assert text_of(other) == LEFT
    expect(other.get_by_test_id("seed")).to_have_value("7")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", ["desk", "phone"])
def test_pictures_and_layout(cart: Visitor, room: Visitor, theme: str, device: str) -> None:
    """Save screenshots in out/browser/, and check that nothing overflows the page."""
    OUT.mkdir(parents=True, exist_ok=True)
    wide: dict[str, Any] = {} if device == "desk" else {"viewport": PHONE}
    for visitor, name, program in ((cart, "cart-pole", BALANCE), (room, "rooms", TO_GOAL)):
        page = visitor.open(link(program, name), color_scheme=theme, **wide)
        page.get_by_test_id("scrub").fill("20")
        for place in range(4):
            page.get_by_test_id(f"rollout-{place}").locator("canvas[data-picture='']").wait_for(
                state="detached"
            )
        for mode in ("program", "search", "study"):
            page.get_by_test_id(f"mode-{mode}").click()
            page.screenshot(path=OUT / f"{name}-{mode}-{device}-{theme}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
