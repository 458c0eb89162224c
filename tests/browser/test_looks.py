"""Appearance and accessibility: desktop and phone, light and dark, screen readers.

The pictures of every mode stay in out/browser, for people to judge.
"""

from typing import Any

import pytest

from tests.browser.harness import (
    DESKTOP,
    MODES,
    PHONE,
    ROOT,
    Page,
    Visitor,
    choose,
    enter,
    expect,
    paste,
    until,
    wait_for_run,
)

PICTURES = ROOT / "out" / "browser"
ON_A_PHONE: dict[str, Any] = {
    "viewport": PHONE,
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}
TARGET = 40
"""minimum size of a control for fingers, in pixels"""

CONTROLS = "button, select, input, textarea, summary, a[href], [role=slider], [tabindex='0']"
TOO_SMALL = """([controls, least]) => [...document.querySelectorAll(controls)].flatMap((element) => {
  if (!element.checkVisibility({ visibilityProperty: true }) || element.matches('.skip')) return [];
  // Where a box has words beside it, they can be touched as well.
  const touched = element.matches('[type=checkbox]') ? element.labels[0] : element;
  const { width, height } = touched.getBoundingClientRect();
  const name = element.dataset.testid ?? element.className;
  return width < least - 0.5 || height < least - 0.5 ? [`${name}: ${width} × ${height}`] : [];
})"""

# Contrast, as defined by WCAG 2, of every visible text with its background.
FAINT_TEXTS = r"""() => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((part, i) => part * a + under[i] * (1 - a));
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const { width, height } = element.getBoundingClientRect();
    if (!node.data.trim() || width < 2 || height < 2) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (element.closest(':disabled, .unseen, .stale, svg, canvas, option')) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const [a, b] = [light(over(rgba(style.color), ground)), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const needed = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
    seen += 1;
    if (ratio < needed) found.set(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`, node.data);
  }
  return [seen, [...found].map(([where, text]) => `${where}: ${text.trim().slice(0, 40)}`)];
}"""

TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
ASKING_FOR_NAMES = {
    "button",
    "checkbox",
    "combobox",
    "image",
    "img",
    "link",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "textbox",
    "application",
    "dialog",
    "group",
    "radiogroup",
    "region",
}


def enter_mode(page: Page, mode: str) -> None:
    page.get_by_test_id(f"mode-{mode}").click()
    expect(page.get_by_test_id("main")).to_have_attribute("data-mode", mode)
    if mode in ("space", "search"):
        page.get_by_test_id(f"{mode}-map").wait_for()
    wait_for_run(page)


def test_pictures_of_every_mode(page: Page) -> None:
    """Save screenshots for people; the test checks only that none is empty."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    looks = (
        ("desktop", DESKTOP, "light"),
        ("desktop", DESKTOP, "dark"),
        ("phone", PHONE, "dark"),
        ("phone", PHONE, "light"),
    )
    for mode in MODES:
        page.set_viewport_size(DESKTOP)
        enter_mode(page, mode)
        if mode == "study":
            page.get_by_test_id("study-begin").click()
            expect(page.locator(".history-item")).to_have_count(1)
        if mode == "search":
            page.get_by_test_id("task").select_option("stair-climber")
            enter(page, "search-budget", 3000)
            page.get_by_test_id("search-start").click()
            expect(page.get_by_test_id("search-state")).to_have_attribute("data-state", "ended")
        if mode != "search":
            page.get_by_test_id("scrub").fill("12")
        for device, size, theme in looks:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            expect(page.locator("html")).to_have_attribute("data-theme", theme)
            page.evaluate(TWO_FRAMES)  # wait until the layout has its new size
            shot = page.screenshot(
                path=PICTURES / f"{mode}-{device}-{theme}.png",
                full_page=device == "phone",
                animations="disabled",
            )
            assert len(shot) > 20_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(visitor: Visitor, scheme: str) -> None:
    page = visitor.open(color_scheme=scheme)
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    page.get_by_test_id("scrub").fill("9")
    for mode in MODES:
        enter_mode(page, mode)
        seen, faint = page.evaluate(FAINT_TEXTS)
        assert seen > 50
        assert faint == [], mode
    page.get_by_test_id("mode-program").click()
    paste(page, "DEF run m( jump m)")
    expect(page.get_by_test_id("issue")).to_contain_text("Line 1")
    page.get_by_test_id("share").click()
    assert page.evaluate(FAINT_TEXTS)[1] == []


def test_colours_follow_the_system_until_chosen(visitor: Visitor) -> None:
    page = visitor.open(color_scheme="dark")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    dark = root.evaluate("root => getComputedStyle(root).backgroundColor")
    page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-theme", "light")
    light = root.evaluate("root => getComputedStyle(root).backgroundColor")
    assert dark != light
    page.get_by_test_id("theme").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_css("background-color", dark)


def names_of(page: Page) -> list[tuple[str, str]]:
    """Roles and names of all elements, as a screen reader gets them."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in ASKING_FOR_NAMES
    ]


def test_every_control_has_a_name(page: Page) -> None:
    for mode in MODES:
        enter_mode(page, mode)
        named = names_of(page)
        assert len(named) > 15
        assert [role for role, name in named if not name] == [], mode
    page.get_by_test_id("share").click()
    expect(page.get_by_role("dialog", name="Share")).to_be_visible()
    named = names_of(page)
    assert ("dialog", "Share") in named
    assert [role for role, name in named if not name] == []


def test_phone_has_large_controls_and_no_horizontal_overflow(
    visitor: Visitor,
) -> None:
    page = visitor.open(**ON_A_PHONE)
    for mode in MODES:
        enter_mode(page, mode)
        assert page.evaluate(TOO_SMALL, [CONTROLS, TARGET]) == [], mode
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"], mode
    page.get_by_test_id("mode-study").click()
    page.get_by_test_id("study-begin").click()
    expect(page.locator(".history-item")).to_have_count(1)
    assert page.evaluate(TOO_SMALL, [CONTROLS, TARGET]) == []


def test_phone_steps_and_draws_by_touch(visitor: Visitor) -> None:
    page = visitor.open(**ON_A_PHONE)
    page.get_by_test_id("step-forward").tap()
    expect(page.get_by_test_id("rollout-0")).to_have_attribute("data-step", "1")
    page.get_by_test_id("mode-draw").tap()
    choose(page, "tool-wall")
    board = page.get_by_test_id("board")
    board.scroll_into_view_if_needed()
    before = board.evaluate("canvas => canvas.toDataURL()")
    board.tap(position={"x": 60, "y": 60})
    until(lambda: board.evaluate("canvas => canvas.toDataURL()") != before, "a wall")


def test_visitor_records_policy_violations_and_foreign_requests(visitor: Visitor) -> None:
    page = visitor.open()
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.2/'}))")
    until(
        lambda: any("Content Security Policy" in complaint for complaint in visitor.complaints), "a complaint"
    )
    with pytest.raises(AssertionError, match="Content Security Policy"):
        visitor.leave()
    visitor.complaints.clear()
    visitor.requests.append("http://127.0.0.2/")
    with pytest.raises(AssertionError, match=r"127\.0\.0\.2"):
        visitor.leave()
    visitor.requests.clear()
