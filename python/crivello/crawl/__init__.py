"""From a few URLs to stored pages: sieve, frontier, fetching, parsing, store."""

from crivello.crawl.crawler import Crawler, crawl
from crivello.crawl.priority import Priority
from crivello.crawl.report import Report

__all__ = ["Crawler", "Priority", "Report", "crawl"]
