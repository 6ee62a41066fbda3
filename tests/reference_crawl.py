"""A crawler that is slow, exhaustive and obvious: what a fast one must find.

It has lxml's tree of a page, the standard library's HTTP and a set; one request at a time, in the order in which the
links were seen. It stays on the hosts of its seeds and knows no robots.txt, no limit and no trap. Canonical forms are
the product's, since tests of their own hold those to the standard.
"""

from __future__ import annotations

import http.client
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from email.message import Message
from urllib.parse import urlsplit

from lxml import etree, html

from crivello import _core

_TIMEOUT = 30.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MARKUP = frozenset({"text/html", "application/xhtml+xml"})
_LED_TO_BY_LINK = frozenset({"next", "prev", "alternate"})
_REFRESH = re.compile(r"^[^;,]*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_WITHOUT_LINKS = frozenset({"template", "svg"})


@dataclass(frozen=True)
class Answer:
    """A response, as far as it matters here."""

    status: int
    headers: Message
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get_content_type() if "content-type" in self.headers else "text/html"


def html_pages(seeds: Iterable[str], allowed: Callable[[str], bool] = lambda _: True) -> set[str]:
    """The URLs that answer with status 200 and text/html, of all that links lead to from the seeds."""
    client = Client()
    queue = deque(url for url in _core.canonical_urls(list(seeds)) if url is not None)
    hosts = {urlsplit(url).netloc for url in queue}
    seen = set(queue)
    pages = set()
    while queue:
        url = queue.popleft()
        answer = client.get(url)
        if answer.status == 200 and answer.content_type == "text/html":
            pages.add(url)
        for link in links(url, answer):
            if link not in seen and urlsplit(link).netloc in hosts and allowed(link):
                seen.add(link)
                queue.append(link)
    client.close()
    return pages


def links(url: str, answer: Answer) -> list[str]:
    """The canonical URLs that an answer leads to."""
    if answer.status in _REDIRECTS:
        return _resolved([answer.headers.get("location", "")], url)
    if answer.status != 200 or answer.content_type not in _MARKUP or not answer.body.strip():
        return []
    parser = html.HTMLParser(encoding=answer.headers.get_content_charset(), huge_tree=True)
    try:
        page = html.document_fromstring(answer.body, parser=parser)
    except etree.ParserError:  # nothing but comments or blanks
        return []
    if any(_forbids_following(element) for element in page.iter("meta")):
        return []
    base = next((element.get("href", "") for element in page.iter("base") if element.get("href")), "")
    [base_url] = _resolved([base], url) or [url]
    return _resolved(_addresses(page), base_url)


def _addresses(page: html.HtmlElement) -> Iterator[str]:
    """What the links of a page say, in page order."""
    for element in page.iter("a", "area", "link", "frame", "iframe", "meta"):
        if any(above.tag in _WITHOUT_LINKS for above in element.iterancestors()):
            continue
        relations = set(element.get("rel", "").lower().split())
        address: str | None = None
        if element.tag in ("a", "area") and "nofollow" not in relations:
            address = element.get("href")
        elif element.tag in ("frame", "iframe"):
            address = element.get("src")
        elif element.tag == "link" and relations & _LED_TO_BY_LINK and _is_markup(element):
            address = element.get("href")
        elif element.tag == "meta" and element.get("http-equiv", "").lower() == "refresh":
            found = _REFRESH.match(element.get("content", ""))
            address = found[1].strip() if found else None
        if address is not None:
            yield address


def _is_markup(link: html.HtmlElement) -> bool:
    """Whether a ``<link>`` says that it leads to a page, or does not say what else."""
    relations = link.get("rel", "").lower().split()
    return (
        link.get("type", "text/html").split(";")[0].strip().lower() in _MARKUP
        and "stylesheet" not in relations
    )


def _forbids_following(meta: html.HtmlElement) -> bool:
    rules = {word.strip().lower() for word in meta.get("content", "").split(",")}
    return meta.get("name", "").lower() == "robots" and bool(rules & {"nofollow", "none"})


def _resolved(addresses: Iterable[str], base: str) -> list[str]:
    return [url for url in _core.canonical_urls(list(addresses), base) if url is not None]


class Client:
    """A connection to each host, kept alive, and opened again when the server has closed it."""

    def __init__(self) -> None:
        self._connections: dict[str, http.client.HTTPConnection] = {}

    def get(self, url: str) -> Answer:
        """The answer to one request, with its body decoded."""
        try:
            return self._get(url)
        except (http.client.HTTPException, ConnectionError):
            self._connections.pop(urlsplit(url).netloc).close()
            return self._get(url)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def _get(self, url: str) -> Answer:
        parts = urlsplit(url)
        connection = self._connections.get(parts.netloc)
        if connection is None:
            connection = http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT)
            self._connections[parts.netloc] = connection
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", target, headers={"User-Agent": "reference", "Accept-Encoding": "gzip"})
        response = connection.getresponse()
        body = response.read()
        if response.headers.get("content-encoding") == "gzip":
            body = zlib.decompress(body, 16 + zlib.MAX_WBITS)
        return Answer(response.status, response.headers, body)
