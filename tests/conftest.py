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


# Those that take longest begin first, so that no worker is left with one of them at the end.
_FIRST = (
    "index_job", "web_browser", "exchange", "cluster_view", "cluster_register", "cluster_deploy", "shards", "shell",
    "crawl_politeness", "crawl_kill", "politeness", "operate", "versions", "graph_spectral", "lab_duplicates",
    "export", "crawl", "effectiveness", "status", "dedup", "crawl_reach", "live", "refresh",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests go last: Playwright keeps an event loop running in this thread, and a test that comes after them
    could not call ``asyncio.run``."""
    ranks = {f"test_{name}": rank for rank, name in enumerate(_FIRST)}
    items.sort(
        key=lambda item: (
            item.get_closest_marker("browser") is not None,
            ranks.get(item.path.stem, len(ranks)),
        )
    )


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
