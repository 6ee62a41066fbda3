"""A feed and a sitemap, each with one page that nothing else links to."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from crivello.lab.web.features import Feature
from crivello.lab.web.resource import Resource
from crivello.lab.web.site import Site

FEED_TARGET = "/feed.xml"
FEED_LINK = f'<link rel="alternate" type="application/atom+xml" title="News" href="{FEED_TARGET}">\n'
_LISTED = 20


def add_feed(site: Site) -> dict[Feature, str]:
    """Add an Atom feed of the site's articles."""
    hidden = "/news/only-for-subscribers.html"
    text = "This note was sent to the subscribers of the feed, and no page of the site mentions it."
    only_in_feed = site.put(hidden, site.plain_page(hidden, "A note for subscribers", [text]))
    entries = [(placed.url, placed.article.title, placed.article.lead) for placed in site.articles[:_LISTED]]
    entries.append((only_in_feed, "A note for subscribers", text))
    body = "".join(
        f"<entry><id>{escape(url)}</id><title>{escape(title)}</title><link href={_attribute(url)}/>"
        f"<updated>2026-01-{1 + number % 28:02}T08:00:00Z</updated><summary>{escape(summary)}</summary></entry>\n"
        for number, (url, title, summary) in enumerate(entries)
    )
    feed = (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{site.home}</id><title>{escape(site.name)}</title><updated>2026-01-28T08:00:00Z</updated>\n"
        f"<author><name>{escape(site.name)}</name></author><link rel={_attribute('self')}"
        f" href={_attribute(site.url(FEED_TARGET))}/>\n{body}</feed>\n"
    )
    url = site.put(FEED_TARGET, Resource(feed.encode(), "application/atom+xml; charset=utf-8"))
    site.announce(FEED_TARGET, "Subscribe to the feed")
    return {Feature.FEED: url, Feature.ONLY_IN_FEED: only_in_feed}


def add_sitemap(site: Site) -> dict[Feature, str]:
    """Add the sitemap that the site's robots.txt names."""
    hidden = "/pages/only-in-the-sitemap.html"
    text = "The sitemap is the only way to this page, unless somebody guesses its address."
    only_in_sitemap = site.put(hidden, site.plain_page(hidden, "A page without visitors", [text]))
    urls = [site.home, *_urls(site), only_in_sitemap]
    body = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
    sitemap = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{body}</urlset>\n'
    )
    url = site.put("/sitemap.xml", Resource(sitemap.encode(), "application/xml"))
    return {Feature.SITEMAP: url, Feature.ONLY_IN_SITEMAP: only_in_sitemap}


def _urls(site: Site) -> Sequence[str]:
    return [placed.url for placed in site.articles[:_LISTED]]


def _attribute(value: str) -> str:
    return '"' + escape(value, {'"': "&quot;"}) + '"'
