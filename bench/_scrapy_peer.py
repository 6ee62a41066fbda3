"""Scrapy as in its tutorial: a spider that follows every link, obeys robots.txt and makes 64 concurrent
requests.

    python -m bench._scrapy_peer SECONDS URL...

It stores nothing; it prints pages, bytes and seconds as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Spider

CONCURRENT = 64


class Follow(Spider):
    """Fetches every page of the hosts of its seeds, until the time limit."""

    name = "follow"
    pages = 0
    size = 0
    took = 0.0
    started = 0.0

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        cls = type(self)
        now = time.perf_counter()
        # Its start-up and shutdown time is not counted.
        cls.started = cls.started or now
        if now - cls.started > self.seconds:
            raise CloseSpider("its time is over")
        cls.pages += 1
        cls.size += len(response.body)
        if isinstance(response, TextResponse):
            for link in self.links.extract_links(response):
                yield response.follow(link, self.parse)
        cls.took = time.perf_counter() - cls.started


def main() -> None:
    seconds, seeds = float(sys.argv[1]), sys.argv[2:]
    hosts = {urlsplit(url).netloc for url in seeds}
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": CONCURRENT,
            "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENT,
            "DOWNLOAD_DELAY": 0,
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    links = LinkExtractor(allow_domains=hosts)
    process.crawl(Follow, start_urls=seeds, links=links, seconds=seconds)
    process.start()
    print(json.dumps({"pages": Follow.pages, "bytes": Follow.size, "seconds": Follow.took}))


if __name__ == "__main__":
    main()
