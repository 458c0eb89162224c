from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # this module must load without a browser
    from tests.browser.harness import Browser, Page, Served, Visitor


@pytest.fixture(scope="session")
def studio() -> "Iterator[Served]":
    from tests.browser.harness import command

    with command() as served:
        yield served


# Not session-scoped: while playwright is running, no other test can run an event loop.
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
    """A visitor to the studio, whose browser must report no errors."""
    from tests.browser.harness import PATIENCE, Visitor, expect

    expect.set_options(timeout=1000 * PATIENCE)
    visitor = Visitor(browser, studio.address)
    yield visitor
    visitor.leave()


@pytest.fixture
def page(visitor: "Visitor") -> "Page":
    """A first visit."""
    return visitor.open()
