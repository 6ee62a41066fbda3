"""From a few URLs to stored pages: sieve, host queues, fetching, parsing, store."""

from crivello.crawl.crawler import Crawler, crawl
from crivello.crawl.report import Report

__all__ = ["Crawler", "Report", "crawl"]
