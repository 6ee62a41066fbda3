"""The features that the sample web shares with the real one."""

from __future__ import annotations

from enum import StrEnum


class Feature(StrEnum):
    """A key of ``SampleWeb.features``; the comments describe its URL."""

    FORBIDDEN = "forbidden"  # a page that robots.txt forbids
    ALLOWED_EXCEPTION = "allowed exception"  # a page that robots.txt allows inside what it forbids
    CLOSED_HOST = "closed host"  # the home page of the host whose robots.txt answers 503
    SLOW_HOST = "slow host"  # the home page of the host that takes its time
    REDIRECT_CHAIN = "redirect chain"  # 301, then 302, then a page
    REDIRECT_ACROSS_HOSTS = "redirect across hosts"  # 308 to a page on another host
    REDIRECT_LOOP = "redirect loop"  # leads back to itself in two steps
    REDIRECT_TO_FORBIDDEN = "redirect to forbidden"  # leads to a page that robots.txt forbids
    NOT_FOUND = "not found"  # 404
    GONE = "gone"  # 410
    CALENDAR = "calendar"  # the entry of the trap without end
    FEED = "feed"  # an Atom feed
    ONLY_IN_FEED = "only in feed"  # a page that no page links, but the feed does
    SITEMAP = "sitemap"  # the sitemap that a robots.txt names
    ONLY_IN_SITEMAP = "only in sitemap"  # a page that no page links, but the sitemap does
    UNDECLARED_LATIN1 = "undeclared latin-1"  # ISO-8859-1, and nothing says so
    PDF = "pdf"
    PLAIN_TEXT = "plain text"
    IMAGE = "image"
    ARCHIVE = "archive"  # a ZIP file
    SCRIPT_TITLE = "script title"  # its title reads <script>alert(1)</script>
    NOINDEX = "noindex"  # may be fetched but not indexed
    NOFOLLOW_ONLY = "nofollow only"  # a page that only a rel=nofollow link leads to
    BASE_HREF = "base href"  # its links are relative to a <base>
    BEHIND_BASE = "behind base"  # the page that only those links lead to
    MALFORMED = "malformed"  # unclosed tags and bad nesting
    BEHIND_MALFORMED = "behind malformed"  # the page that only its broken markup leads to
    COMPRESSED = "compressed"  # sent with gzip to clients that take it
    MANY_SPELLINGS = "many spellings"  # linked with several spellings of its one URL
