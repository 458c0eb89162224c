"""A server that stops and restarts, and a server that needs a token."""

from tests.browser.harness import (
    Browser,
    Stoppable,
    Visitor,
    expect,
    paste,
    text_of,
    until,
    wait_for_run,
)

PROGRAM = "DEF run m( turnLeft m)"
TOKEN = "open/sesame+1"


def test_page_reconnects_to_a_restarted_server_without_loss(browser: Browser) -> None:
    server = Stoppable()
    visitor = Visitor(browser, f"http://127.0.0.1:{server.port}/")
    visitor.excused.append("net::ERR_")
    page = visitor.open()
    banner = page.get_by_test_id("banner")
    expect(banner).to_have_count(0)
    server.leave()
    paste(page, PROGRAM)
    expect(banner).to_contain_text("The server does not answer. Nothing is lost")
    assert text_of(page) == PROGRAM
    page.get_by_test_id("step-forward").click()  # loaded rollouts can still be watched
    expect(page.get_by_test_id("position")).to_have_attribute("data-position", "1")
    server = Stoppable(server.port)
    expect(banner).to_have_count(0)
    expect(page.get_by_test_id("issue")).to_contain_text("None. 5 tokens.")
    wait_for_run(page)
    assert text_of(page) == PROGRAM
    visitor.leave()
    server.leave()


def test_page_without_a_token_asks_the_user(browser: Browser) -> None:
    server = Stoppable(token=TOKEN)
    visitor = Visitor(browser, f"http://127.0.0.1:{server.port}/")
    visitor.excused.append("status of 401")
    page = visitor.open(ready=False)
    field = page.get_by_label("The server needs its token.")
    expect(field).to_be_visible()
    assert page.get_by_test_id("editor").count() == 0
    with page.expect_response("**/api/about") as answer:
        field.fill("a guess")
        field.press("Enter")
    assert answer.value.status == 401
    expect(field).to_be_visible()
    field.fill(TOKEN)
    page.get_by_test_id("token-send").click()
    wait_for_run(page)
    page.reload()  # the token is stored now
    wait_for_run(page)
    expect(page.get_by_test_id("token-form")).to_have_count(0)
    visitor.leave()
    server.leave()


def test_token_in_the_address_is_used_and_hidden(browser: Browser) -> None:
    server = Stoppable(token=TOKEN)
    visitor = Visitor(browser, f"http://127.0.0.1:{server.port}/")
    page = visitor.open("#token=open%2Fsesame%2B1")
    until(lambda: page.url == visitor.address, "an address without the token")
    assert "sesame" not in " ".join(visitor.requests)
    visitor.leave()
    server.leave()
