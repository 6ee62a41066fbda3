"""From a few URLs to stored pages: sieve, frontier, fetching, parsing, store."""

from crivello.crawl.crawler import Crawler, crawl
from crivello.crawl.report import Report
from crivello.extend import Priority

__all__ = ["Crawler", "Priority", "Report", "crawl"]
