"""A minimal crawler: aiohttp on uvloop, a set of seen URLs, and selectolax for links and text.

    python -m bench._aiohttp_peer SECONDS URL...

It stores nothing, ignores robots.txt, and stays on the hosts of its seeds; it prints pages, bytes and seconds
as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp
import uvloop
from selectolax.lexbor import LexborHTMLParser

WORKERS = 64


class Crawl:
    """A queue, a set and two counters."""

    def __init__(self, seeds: list[str]) -> None:
        self.hosts = {urlsplit(url).netloc for url in seeds}
        self.seen = set(seeds)
        self.queue: asyncio.Queue[str] = asyncio.Queue()
        for url in seeds:
            self.queue.put_nowait(url)
        self.pages = self.bytes = 0

    async def work(self, session: aiohttp.ClientSession) -> None:
        while True:
            url = await self.queue.get()
            try:
                async with session.get(url) as response:
                    body = await response.read()
                    final = str(response.url)
                    self.pages += 1
                    self.bytes += len(body)
                    if response.content_type == "text/html":
                        self.follow(final, body)
            except (aiohttp.ClientError, TimeoutError, ValueError):
                pass
            finally:
                self.queue.task_done()

    def follow(self, base: str, body: bytes) -> None:
        tree = LexborHTMLParser(body)
        if tree.body is not None:
            tree.body.text(separator=" ")
        links = [node.attributes["href"] or "" for node in tree.css("a[href]")]
        # The home page of some sites is only a meta refresh to another page.
        for node in tree.css('meta[http-equiv="refresh" i]'):
            links.append((node.attributes.get("content") or "").partition("url=")[2])
        for link in links:
            try:
                url = urldefrag(urljoin(base, link)).url
                netloc = urlsplit(url).netloc
            except ValueError:
                continue
            if url not in self.seen and netloc in self.hosts:
                self.seen.add(url)
                self.queue.put_nowait(url)


async def crawl(seconds: float, seeds: list[str]) -> dict[str, float]:
    started = time.perf_counter()
    made = Crawl(seeds)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=WORKERS)) as session:
        workers = [asyncio.create_task(made.work(session)) for _ in range(WORKERS)]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(made.queue.join(), seconds)
        took = time.perf_counter() - started
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return {"pages": made.pages, "bytes": made.bytes, "seconds": took}


if __name__ == "__main__":
    print(json.dumps(uvloop.run(crawl(float(sys.argv[1]), sys.argv[2:]))))
