"""The editor: errors, completion, indentation, undo."""

from tests.browser.harness import (
    Locator,
    Page,
    Served,
    Visitor,
    expect,
    expect_return,
    link,
    paste,
    put_cursor,
    text_of,
    until,
)

INDENTED = """DEF run m(
  WHILE c( frontIsClear c) w(
    move
  w)
  turnLeft
m)"""
TOKENS = "DEF run m( WHILE c( frontIsClear c) w( move w) turnLeft m)"


def test_error_is_underlined_with_the_message_of_the_parser(visitor: Visitor, studio: Served) -> None:
    page = visitor.open(link(INDENTED))
    put_cursor(page, 2, 6)
    page.keyboard.type("x")
    wrong = INDENTED.replace("move", "moxve")
    expect(page.locator(".cm-lintRange-error")).to_have_text("moxve")
    problem = studio.ask("/api/check", program=wrong)["error"]["message"]
    expect(page.get_by_test_id("issue")).to_contain_text(f"Line 3: {problem}")
    page.locator(".cm-lintRange-error").hover()
    expect(page.locator(".cm-tooltip-lint")).to_contain_text(problem)
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("issue")).to_contain_text("None.")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)


def test_error_keeps_the_last_return_and_greys_it_out(page: Page) -> None:
    before = page.get_by_test_id("score-new").inner_text()
    paste(page, "DEF run m( jump m)")
    expect(page.get_by_test_id("score")).to_contain_class("stale")
    expect(page.get_by_test_id("score-new")).to_have_text(before)
    paste(page, "DEF run m( " + "move " * 1000 + "m)")
    expect(page.get_by_test_id("issue")).to_contain_text("Longer than 4,000 characters.")


def test_both_forms_can_be_pasted_and_formatted(visitor: Visitor, studio: Served) -> None:
    page = visitor.open(link("DEF run m( move m)", "maze"))
    for program in (INDENTED, TOKENS):
        paste(page, program)
        expect_return(page, "new", studio.mean(TOKENS, "maze"))
        expect(page.get_by_test_id("issue")).to_contain_text("None. 12 tokens.")
        assert text_of(page) == program
    page.get_by_test_id("format").click()
    until(lambda: text_of(page) == INDENTED, "the indented form")
    page.get_by_test_id("undo").click()
    until(lambda: text_of(page) == TOKENS, "the text as it was")


def test_completion_offers_the_tokens_that_the_mask_allows(page: Page, studio: Served) -> None:
    for text in (
        "",
        "DEF ",
        "DEF run m( ",
        "DEF run m( tu",
        "DEF run m( REPEAT ",
        "DEF run m( WHILE c( not ",
    ):
        paste(page, text)
        page.keyboard.press("Control+Space")
        allowed = studio.ask("/api/check", program=text, cursor=len(text))["complete"]
        typed = text[allowed["from"] :]
        # The list shows the allowed tokens that start with the typed letters.
        wanted = {option["label"] for option in allowed["options"] if option["label"].startswith(typed)}
        labels = page.locator(".cm-tooltip-autocomplete .cm-completionLabel")
        expect_labels(labels, wanted)
        page.keyboard.press("Escape")
        expect(labels).to_have_count(0)
    paste(page, "DEF run m( ")
    page.keyboard.type("WHI")
    chosen = page.locator(".cm-tooltip-autocomplete li[aria-selected=true] .cm-completionLabel")
    expect(chosen).to_have_text("WHILE")
    chosen.click()
    until(lambda: text_of(page) == "DEF run m( WHILE ", "WHILE and a space")
    expect(chosen).to_have_text("c(")  # the only word that may follow


def expect_labels(labels: Locator, wanted: set[str]) -> None:
    until(lambda: set(labels.all_text_contents()) == wanted, f"{wanted}, not {labels.all_text_contents()}")


def test_new_line_is_indented_like_its_block(page: Page) -> None:
    paste(page, "DEF run m(")
    page.keyboard.press("Enter")
    page.keyboard.type("IF c( frontIsClear c) i(")
    page.keyboard.press("Enter")
    page.keyboard.type("move ")
    page.keyboard.press("Enter")
    page.keyboard.type("i)")
    page.keyboard.press("Enter")
    page.keyboard.type("m)")
    lines = ["DEF run m(", "  IF c( frontIsClear c) i(", "    move ", "  i)", "m)"]
    until(lambda: text_of(page).split("\n") == lines, f"indented lines, not {text_of(page)!r}")


def test_the_bracket_at_the_cursor_and_its_partner_are_marked(visitor: Visitor) -> None:
    page = visitor.open(link(TOKENS))
    marked = page.locator(".bracket-matched")
    put_cursor(page, 0, TOKENS.index("w(") + 1)
    expect(marked).to_have_text(["w(", "w)"])
    put_cursor(page, 0, len(TOKENS))
    expect(marked).to_have_text(["m(", "m)"])
    page.keyboard.type(" m)")
    expect(marked).to_have_count(0)
    expect(page.locator(".bracket-lonely")).to_have_text("m)")


def test_undo_redo_original_and_colours(visitor: Visitor) -> None:
    page = visitor.open(link(INDENTED))
    expect(page.get_by_test_id("revert")).to_be_disabled()
    paste(page, TOKENS)
    page.get_by_test_id("undo").click()
    until(lambda: text_of(page) == INDENTED, "the text before")
    page.get_by_test_id("redo").click()
    until(lambda: text_of(page) == TOKENS, "the text after")
    page.get_by_test_id("revert").click()
    until(lambda: text_of(page) == INDENTED, "the original")
    colours = {
        page.locator(f".editor-host .token-{kind}").first.evaluate("word => getComputedStyle(word).color")
        for kind in ("action", "perception", "keyword", "bracket")
    }
    assert len(colours) == 4
