"""A collection with pages of the sample web and documents, behind the doors of programs."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx

import crivello
from crivello.lab.web import SampleWeb
from crivello.settings import Serve
from crivello.web import Doors, Server
from crivello.web.api.tokens import FILE, Tokens

Value = TypeVar("Value")

DOCUMENTS = [
    {
        "id": f"d{number}",
        "url": f"https://{host}.example/{number}",
        "title": title,
        "body": body,
        "language": language,
        "type": kind,
        "date": day,
    }
    for number, (host, title, body, language, kind, day) in enumerate(
        [
            ("sea", "The Fresnel lens", "A lighthouse lens bends the light of one flame", "en", "text/html", "2024-05-01"),
            ("sea", "Keeping the light", "The keeper of the lighthouse trims the flame", "en", "text/html", "2023-02-11"),
            ("land", "La lanterna", "La lente del faro e la lighthouse inglese", "it", "application/pdf", "2022-12-24"),
            ("land", "Bees & honey", "A hive <hums> in the meadow, far from any sea", "en", "text/html", "2021-08-30"),
        ]
    )
]  # fmt: skip


def make(folder: Path) -> Path:
    """A collection of pages and documents, ranked."""
    with (
        SampleWeb(hosts=3, pages_per_host=4, slow=0) as web,
        crivello.create(folder, crawl={"delay": 0, "scope": "any"}) as collection,
    ):
        collection.crawl(web.seeds[0], progress=False)
        collection.index(progress=False)
        collection.rank(progress=False)
        collection.add(DOCUMENTS, progress=False)
    return folder


@contextmanager
def served(folder: Path, **settings: Any) -> Iterator[str]:
    """The URL of a server of a collection."""
    collection = crivello.open(folder)
    with Server(collection, doors=Doors(collection, Serve(**settings))) as server:
        yield server.url


@contextmanager
def asking(folder: Path, **settings: Any) -> Iterator[httpx.Client]:
    """A client of a server of a collection."""
    with served(folder, **settings) as url, httpx.Client(base_url=url) as client:
        yield client


def token(folder: Path, scope: str) -> str:
    """A token of a collection with a scope."""
    tokens = Tokens(folder / FILE)
    return tokens.add(f"{scope}-{len(tokens.list())}", scope)


def awaited(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """What a coroutine returns, in a thread of its own: Playwright may keep an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
