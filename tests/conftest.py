"""What several tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.chromium import ARGUMENTS, MissingBrowserError, chromium

# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# Most tests of the crawl count requests and pages; sitemaps have tests of their own.
os.environ.setdefault("CRIVELLO_CRAWL_SITEMAPS", "false")
os.environ.setdefault("CRIVELLO_CRAWL_FEEDS", "false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests go last: they are slow, and Playwright keeps an event loop running in this thread.

    A test that comes after them could not call ``asyncio.run``.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium, without a window."""
    try:
        path = chromium()
    except MissingBrowserError as error:
        pytest.skip(str(error))
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield running
        running.close()
