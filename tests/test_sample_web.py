"""The sample web holds what it says it holds: a slow crawl with the standard library finds exactly its pages."""

from __future__ import annotations

import gzip
import io
import json
import re
import socket
import threading
import time
import urllib.request
import zipfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPResponse
from importlib import import_module
from pathlib import Path
from urllib.parse import quote, urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree

import pytest

from crivello.errors import CrawlError, InvalidArgument, StorageError
from crivello.lab.web import Feature, SampleWeb
from crivello.lab.web.world import make_world

DOCUMENT_TYPES = ("text/html", "text/plain", "application/pdf")
SLOW = 0.02


@pytest.fixture(scope="module")
def web() -> Iterator[SampleWeb]:
    with SampleWeb(hosts=8, pages_per_host=10, slow=SLOW) as running:
        yield running


def ask(url: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=10)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    connection.request(
        method, target, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def exchange(web: SampleWeb, request: bytes) -> bytes:
    with socket.create_connection((web.hosts[0], web.port), timeout=10) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


class PageReader(HTMLParser):
    """The links that a crawler may follow, the title and the text of a page."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.nofollow: list[str] = []
        self.title = ""
        self._base = url
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        href = attributes.get("href")
        if tag == "base" and href:
            self._base = urljoin(self._base, href)
        if tag == "title":
            self._in_title = True
        if tag == "a" and href is not None:
            followed = "nofollow" not in (attributes.get("rel") or "")
            (self.links if followed else self.nofollow).append(canonical(urljoin(self._base, href.strip())))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data


def canonical(url: str) -> str:
    escaped = quote(urldefrag(url).url, safe=":/?&=%")
    return re.sub("%[0-9a-fA-F]{2}", lambda escape: escape[0].upper(), escaped)


def read_page(url: str, body: bytes) -> PageReader:
    reader = PageReader(url)
    reader.feed(body.decode("utf-8", "replace"))
    reader.close()
    return reader


class PoliteCrawl:
    """Breadth first over links and redirects, honouring robots.txt and keeping out of the trap."""

    def __init__(self, web: SampleWeb) -> None:
        self._web = web
        self._rules: dict[str, RobotFileParser] = {}
        self.documents: set[str] = set()
        self.refused: set[str] = set()
        self.missing: set[str] = set()
        self.redirected: dict[str, str] = {}
        waiting = deque(web.seeds[:1])
        seen = set(waiting)
        while waiting:
            url = waiting.popleft()
            new = [link for link in self._visit(url) if link not in seen and not web.is_trap(link)]
            waiting += dict.fromkeys(new)
            seen.update(new)

    def _visit(self, url: str) -> list[str]:
        if not self._allowed(url):
            self.refused.add(url)
            return []
        response, body = ask(url)
        if location := response.getheader("Location"):
            self.redirected[url] = canonical(urljoin(url, location))
            return [self.redirected[url]]
        if response.status != 200:
            self.missing.add(url)
            return []
        kind = response.getheader("Content-Type", "").partition(";")[0]
        if kind in DOCUMENT_TYPES:
            self.documents.add(url)
        return read_page(url, body).links if kind == "text/html" else []

    def _allowed(self, url: str) -> bool:
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        if origin not in self._rules:
            response, body = ask(f"{origin}/robots.txt")
            rules = RobotFileParser()
            unreadable = ["User-agent: *", "Disallow: /"] if response.status >= 500 else []
            rules.parse(body.decode().splitlines() if response.status == 200 else unreadable)
            self._rules[origin] = rules
        return self._rules[origin].can_fetch("tester", url)


@pytest.fixture(scope="module")
def crawl(web: SampleWeb) -> PoliteCrawl:
    return PoliteCrawl(web)


def test_a_crawl_finds_exactly_the_pages(web: SampleWeb, crawl: PoliteCrawl) -> None:
    assert crawl.documents == web.pages
    assert len(web.pages) > 7 * 10


def test_a_crawl_meets_exactly_the_obstacles(web: SampleWeb, crawl: PoliteCrawl) -> None:
    assert crawl.refused == web.forbidden
    assert crawl.missing == web.broken
    assert crawl.redirected == web.redirects


def test_the_smallest_web_is_exact_too() -> None:
    with SampleWeb(hosts=3, pages_per_host=4, slow=0) as small:
        crawl = PoliteCrawl(small)
        assert crawl.documents == small.pages
        assert crawl.refused == small.forbidden


def test_the_same_seed_makes_the_same_bytes() -> None:
    origins = [f"http://127.0.0.{number}:8000" for number in range(11, 15)]
    assert make_world(7, origins, 10).resources == make_world(7, origins, 10).resources
    assert make_world(7, origins, 10).resources != make_world(8, origins, 10).resources


def test_the_web_of_the_demo_is_large_and_varied() -> None:
    world = make_world(2026, [f"http://127.0.0.{number}:8000" for number in range(11, 20)], 75)
    pages = [
        world.resources[url].body.decode("utf-8", "replace")
        for url in world.pages
        if world.resources[url].content_type.startswith("text/html")
    ]
    assert len(pages) >= 600
    assert not [page for page in pages if re.search(r"[{}\[\]]", re.sub("<style>.*?</style>", "", page))]
    languages = [re.findall(r'<html lang="(..)">', page) for page in pages]
    assert all(languages.count([code]) > 10 for code in ("it", "fr", "de"))
    titles = {title for page in pages for title in re.findall("<title>(.*?)</title>", page)}
    assert len(titles) > 0.9 * len(pages)


@pytest.mark.parametrize("query", SampleWeb.queries)
def test_a_query_of_the_demo_has_answers(query: str) -> None:
    world = make_world(2026, [f"http://127.0.0.{number}:8000" for number in range(11, 20)], 75)
    texts = [world.resources[url].body.lower() for url in world.pages]
    answers = [text for text in texts if all(word.encode() in text for word in query.split())]
    assert len(answers) >= 5


def test_robots_txt_names_the_sitemap_and_allows_an_exception(web: SampleWeb) -> None:
    _, body = ask(urljoin(web.seeds[0], "/robots.txt"))
    assert f"Sitemap: {web.features[Feature.SITEMAP]}" in body.decode()
    assert b"Crawl-delay" not in body
    assert web.features[Feature.FORBIDDEN] in web.forbidden
    assert web.features[Feature.ALLOWED_EXCEPTION] in web.pages


def test_the_closed_host_answers_503_for_its_robots_txt(web: SampleWeb) -> None:
    home = web.features[Feature.CLOSED_HOST]
    assert ask(f"{home}robots.txt")[0].status == 503
    assert home in web.forbidden
    assert ask(home)[0].status == 200


def test_redirects(web: SampleWeb) -> None:
    chain = web.features[Feature.REDIRECT_CHAIN]
    assert ask(chain)[0].status == 301
    assert ask(web.redirects[chain])[0].status == 302
    assert web.redirects[web.redirects[chain]] in web.pages
    loop = web.features[Feature.REDIRECT_LOOP]
    assert web.redirects[web.redirects[loop]] == loop
    assert web.redirects[web.features[Feature.REDIRECT_TO_FORBIDDEN]] in web.forbidden
    across = web.features[Feature.REDIRECT_ACROSS_HOSTS]
    assert urlsplit(web.redirects[across]).netloc != urlsplit(across).netloc


def test_missing_pages(web: SampleWeb) -> None:
    assert ask(web.features[Feature.NOT_FOUND])[0].status == 404
    assert ask(web.features[Feature.GONE])[0].status == 410


def test_duplicates_are_equal_and_near_duplicates_nearly(web: SampleWeb) -> None:
    hosts = {urlsplit(url).netloc for pair in web.duplicates for url in pair}
    assert len(hosts) > 2
    for original, copy in web.duplicates:
        assert original != copy
        assert ask(original)[1] == ask(copy)[1]
    for original, copy in web.near_duplicates:
        words, other_words = ask(original)[1].split(), ask(copy)[1].split()
        assert words != other_words
        assert len(set(words) ^ set(other_words)) <= 8


def test_the_calendar_has_no_end(web: SampleWeb) -> None:
    url = web.features[Feature.CALENDAR]
    for _ in range(30):
        assert web.is_trap(url)
        response, body = ask(url)
        assert response.status == 200
        following = [link for link in read_page(url, body).links if web.is_trap(link)]
        assert len(following) == 2
        url = following[-1]
    assert url.endswith("/calendar/2028/07")
    assert ask(urljoin(url, "13"))[0].status == 404
    assert not any(map(web.is_trap, web.pages))


def test_the_feed_and_the_sitemap_know_a_page_that_nothing_links(web: SampleWeb) -> None:
    for listing, hidden, tag in (
        (Feature.FEED, Feature.ONLY_IN_FEED, "{http://www.w3.org/2005/Atom}link"),
        (Feature.SITEMAP, Feature.ONLY_IN_SITEMAP, "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"),
    ):
        tree = ElementTree.fromstring(ask(web.features[listing])[1])
        listed = {element.text or element.get("href") for element in tree.iter(tag)}
        assert web.features[hidden] in listed
        assert len(listed & web.pages) >= 10
        assert web.features[hidden] not in web.pages
        assert ask(web.features[hidden])[0].status == 200


def test_a_page_in_latin1_does_not_say_so(web: SampleWeb) -> None:
    response, body = ask(web.features[Feature.UNDECLARED_LATIN1])
    assert response.getheader("Content-Type") == "text/html"
    assert b"charset" not in body
    assert "crème brûlée" in body.decode("latin-1")
    with pytest.raises(UnicodeDecodeError):
        body.decode()


def test_the_pdf_has_text(web: SampleWeb) -> None:
    response, body = ask(web.features[Feature.PDF])
    assert response.getheader("Content-Type") == "application/pdf"
    document = import_module("pypdfium2").PdfDocument(body)
    text = document[0].get_textpage().get_text_range()
    title = document.get_metadata_value("Title")
    assert title and text.startswith(title)
    assert len(text.split()) > 150


def test_other_formats(web: SampleWeb) -> None:
    text = ask(web.features[Feature.PLAIN_TEXT])
    assert text[0].getheader("Content-Type") == "text/plain; charset=utf-8"
    assert len(text[1].split()) > 100
    assert ask(web.features[Feature.IMAGE])[1].startswith(b"\x89PNG")
    assert zipfile.ZipFile(io.BytesIO(ask(web.features[Feature.ARCHIVE])[1])).namelist() == ["readme.txt"]
    assert web.features[Feature.IMAGE] not in web.pages
    assert web.features[Feature.ARCHIVE] not in web.pages


def test_pages_with_markup_of_their_own(web: SampleWeb) -> None:
    def read(feature: Feature) -> tuple[bytes, PageReader]:
        body = ask(web.features[feature])[1]
        return body, read_page(web.features[feature], body)

    body, page = read(Feature.SCRIPT_TITLE)
    assert page.title == "<script>alert(1)</script>"
    assert b"<script" not in body
    assert b'<meta name="robots" content="noindex">' in read(Feature.NOINDEX)[0]
    assert web.features[Feature.BEHIND_BASE] in read(Feature.BASE_HREF)[1].links
    assert web.features[Feature.BEHIND_MALFORMED] in read(Feature.MALFORMED)[1].links
    assert {web.features[Feature.BEHIND_BASE], web.features[Feature.BEHIND_MALFORMED]} < web.pages


def test_a_nofollow_link_is_the_only_way_to_its_page(web: SampleWeb) -> None:
    url = web.features[Feature.NOFOLLOW_ONLY]
    home = urljoin(url, "/")
    assert url in read_page(home, ask(home)[1]).nofollow
    assert url not in web.pages


def test_all_spellings_lead_to_one_page(web: SampleWeb) -> None:
    url = web.features[Feature.MANY_SPELLINGS]
    home = urljoin(url, "/")
    assert len(set(web.spellings)) == len(web.spellings) >= 8
    assert {canonical(urljoin(home, spelling.strip())) for spelling in web.spellings} == {url}
    assert read_page(home, ask(home)[1]).links.count(url) == len(web.spellings)
    assert ask(url.replace("%C3%A9", "%c3%a9"))[0].status == 200


def test_compression_is_for_those_who_take_it(web: SampleWeb) -> None:
    url = web.features[Feature.COMPRESSED]
    plain = ask(url)
    packed = ask(url, Accept_Encoding="br, gzip")
    assert plain[0].getheader("Content-Encoding") is None
    assert packed[0].getheader("Content-Encoding") == "gzip"
    assert gzip.decompress(packed[1]) == plain[1]
    assert ask(url, Accept_Encoding="gzip;q=0")[0].getheader("Content-Encoding") is None
    assert ask(web.seeds[0], Accept_Encoding="gzip")[0].getheader("Content-Encoding") is None


def test_conditional_requests(web: SampleWeb) -> None:
    tag = ask(web.seeds[0])[0].getheader("ETag")
    assert tag is not None
    response, body = ask(web.seeds[0], If_None_Match=tag)
    assert (response.status, body) == (304, b"")
    assert ask(web.seeds[0], If_None_Match='"another"')[0].status == 200


def test_the_slow_host_takes_its_time(web: SampleWeb) -> None:
    ask(web.features[Feature.SLOW_HOST])
    request = web.log[-1]
    assert request.host == web.hosts[-2]
    assert request.time_end - request.time_start >= SLOW
    ask(web.seeds[0])
    assert web.log[-1].time_end - web.log[-1].time_start < SLOW


def test_a_client_that_does_not_wait_is_logged(web: SampleWeb) -> None:
    with socket.create_connection((web.hosts[-2], web.port)) as client:
        client.sendall(b"GET /impatient HTTP/1.1\r\nHost: x\r\n\r\n")
    deadline = time.monotonic() + 5
    while not any(request.path == "/impatient" for request in web.log):
        assert time.monotonic() < deadline
        time.sleep(SLOW)


def test_head_has_no_body(web: SampleWeb) -> None:
    response, body = ask(web.seeds[0], "HEAD")
    assert response.status == 200
    assert int(response.getheader("Content-Length", "0")) == len(ask(web.seeds[0])[1])
    assert body == b""


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET no-slash HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nnot a header\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /" + b"a" * 20_000,
    ],
)
def test_a_malformed_request_gets_400(web: SampleWeb, request_bytes: bytes) -> None:
    answer = exchange(web, request_bytes)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Connection: close" in answer


def test_other_methods_are_refused(web: SampleWeb) -> None:
    answer = exchange(web, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
    assert answer.startswith(b"HTTP/1.1 501 ")
    assert answer.count(b"HTTP/1.1") == 1


def test_one_connection_serves_many_requests(web: SampleWeb) -> None:
    connection = HTTPConnection(web.hosts[0], web.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/", headers={"User-Agent": "keeper"})
        assert connection.getresponse().read()
    connection.close()
    kept = [request for request in web.log if request.user_agent == "keeper"]
    assert len(kept) == 3
    assert len({request.connection_id for request in kept}) == 1
    assert all((request.path, request.status) == ("/", 200) for request in kept)


def test_many_clients_at_once(web: SampleWeb) -> None:
    urls = sorted(url for url in web.pages if not url.startswith(web.features[Feature.SLOW_HOST])) * 4
    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda url: ask(url, User_Agent="crowd"), urls))
    assert all(response.status == 200 for response, _ in answers)
    assert all(body == web.resources[url].body for url, (_, body) in zip(urls, answers, strict=True))
    assert sum(request.user_agent == "crowd" for request in web.log) == len(urls)


def test_stopping_frees_the_port_and_the_thread(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    web = SampleWeb(hosts=3, pages_per_host=4, log=log)
    threads = threading.active_count()
    with web:
        idle = socket.create_connection((web.hosts[0], web.port))
        assert ask(web.seeds[0])[0].status == 200
        with pytest.raises(CrawlError, match="cannot listen"):
            SampleWeb(hosts=3, pages_per_host=4, port=web.port).start()
    assert threading.active_count() == threads
    assert idle.recv(1) == b""
    idle.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((web.hosts[0], web.port))
    assert [json.loads(line)["path"] for line in log.read_text().splitlines()] == ["/"]
    with SampleWeb(hosts=3, pages_per_host=4, port=web.port) as again:
        assert again.seeds == web.seeds


def test_stopping_right_after_starting_does_not_hang() -> None:
    for _ in range(20):
        with SampleWeb(hosts=3, pages_per_host=4) as web:
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((web.hosts[0], web.port))


def test_mistakes_are_explained(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="too small"):
        SampleWeb(hosts=1)
    with pytest.raises(InvalidArgument, match="no 9 addresses"):
        SampleWeb(first_address=250)
    with pytest.raises(CrawlError, match="not started"):
        _ = SampleWeb().pages
    web = SampleWeb(hosts=3, pages_per_host=4, log=tmp_path / "missing" / "log")
    with pytest.raises(StorageError):
        web.start()


def test_a_note_is_published_while_the_web_is_served() -> None:
    with SampleWeb(hosts=3, pages_per_host=4) as web:
        feed = web.features[Feature.FEED]
        before = _body(feed)
        note = web.publish_note("One")
        assert "<p>One" in _body(note) and note not in before and _body(feed).count(f"<id>{note}</id>") == 1
        assert web.publish_note("Two") == note
        assert "<p>Two" in _body(note) and _body(feed).count(f"<id>{note}</id>") == 1


def _body(url: str) -> str:
    with urllib.request.urlopen(url) as answer:
        body: str = answer.read().decode()
    return body
