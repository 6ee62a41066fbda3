"""What several tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from playwright.sync_api import Browser, sync_playwright
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from crivello.cluster import engine
from tests.chromium import ARGUMENTS, MissingBrowserError, chromium

# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# Most tests of the crawl count requests and pages; sitemaps have tests of their own.
os.environ.setdefault("CRIVELLO_CRAWL_SITEMAPS", "false")
os.environ.setdefault("CRIVELLO_CRAWL_FEEDS", "false")


# Their tests share one Ray, so one process runs them.
_WITH_RAY = ("cluster_engine", "dedup_job", "import_job", "index_job")

# Those that take longest begin first, so that no worker is left with one of them at the end.
_FIRST = (
    "cluster", "index_job", "import_job", "dedup_job", "web_browser", "exchange", "cluster_view", "cluster_register", "cluster_deploy", "shards", "shell",
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


class FilesWithRayTogether(LoadFileScheduling):
    """Each file's tests run in one process, and those of all files that use Ray in the same."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "ray" if file.endswith(tuple(f"test_{name}.py" for name in _WITH_RAY)) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    return FilesWithRayTogether(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """One Ray of this machine, for all tests of a process that need one: its start takes ten seconds."""
    with engine.connected() as ray:
        yield ray


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
