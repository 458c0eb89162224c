from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # where there is no browser, this must still load
    from tests.browser.harness import Browser, Page, Served, Visitor


@pytest.fixture(scope="session")
def studio() -> "Iterator[Served]":
    from tests.browser.harness import command

    with command() as served:
        yield served


# Not of the session: as long as playwright is there, no test beside these could run an event loop.
@pytest.fixture(scope="package")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    from tests.browser.harness import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def visitor(browser: "Browser", studio: "Served") -> "Iterator[Visitor]":
    """Somebody who visits the studio, and whose browser must have nothing to complain about."""
    from tests.browser.harness import PATIENCE, Visitor, expect

    expect.set_options(timeout=1000 * PATIENCE)
    visitor = Visitor(browser, studio.address)
    yield visitor
    visitor.leave()


@pytest.fixture
def page(visitor: "Visitor") -> "Page":
    """A first visit."""
    return visitor.open()
