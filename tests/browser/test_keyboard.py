"""The page without a mouse."""

from tests.browser.harness import Page, expect, text_of, until

FOCUSED = "document.activeElement.dataset.testid ?? document.activeElement.className"
RINGED = """() => {
  const at = document.activeElement;
  return [at, at.closest('.cm-editor'), at.nextElementSibling].some((element) => {
    if (!element) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  });
}"""


def tab_to(page: Page, wanted: str, most: int = 60) -> None:
    """Press Tab until an element has the focus; each element on the way must show its focus ring."""
    for _ in range(most):
        page.keyboard.press("Tab")
        name = page.evaluate(FOCUSED)
        until(lambda: page.evaluate(RINGED), "one to see that this has the focus: " + name)
        if name == wanted:
            return
    raise AssertionError(f"{wanted!r} is not reached by Tab")


def test_tab_moves_to_the_editor_and_then_to_playback(page: Page) -> None:
    tab_to(page, "editor")
    page.keyboard.press("Control+End")
    page.keyboard.type(" ")
    until(lambda: text_of(page).endswith("m) "), "what was typed")
    tab_to(page, "step-forward")
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    expect(page.get_by_test_id("position")).to_have_attribute("data-position", "2")
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_test_id("play")).to_be_focused()


def test_modes_are_changed_and_dialogs_closed_with_keys(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the worlds")).to_be_focused()
    tab_to(page, "mode-study", most=5)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("main")).to_have_attribute("data-mode", "study")
    tab_to(page, "share", most=5)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("share-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("share-dialog")).to_have_count(0)
    expect(page.get_by_test_id("share")).to_be_focused()
    page.get_by_text("Skip to the worlds").focus()
    page.keyboard.press("Enter")
    tab_to(page, "count-4", most=2)  # the study fixes the task, so it is skipped
