"""A web written down as a table of answers, what its server saw, and crawls of it.

    with SmallWeb({"a.test": {"/": links("/b"), "/b": Answer("gone", status=410)}}) as web:
        crawled = web.crawl(tmp_path / "c", "a.test")

An answer is a page of HTML as text, an ``Answer``, or a function of the request. What is not in the table is
answered with 404, also robots.txt. Each host has an address of its own, 127.3.0.N, unless it is given one. A
request for a whole URL is answered like one for its path: the server is a proxy, too.

The end of a request is noted just before its answer is written and the beginning when it has arrived, so a
gap that the log shows is never shorter than the one that the client kept.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from crivello import Collection, settings
from crivello.crawl import Report, crawl
from crivello.store import Outcome, Row
from tests.politeness import Hit


@dataclass(frozen=True)
class Answer:
    """What is sent back, after ``wait`` seconds; without the last ``cut`` bytes, the server hangs up
    instead."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "text/html"
    wait: float = 0.0
    cut: int = 0

    def encoded(self) -> bytes:
        """The response, byte for byte."""
        content = self.body.encode() if isinstance(self.body, str) else self.body
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        lines += [f"Content-Type: {self.kind}", f"Content-Length: {len(content)}", "", ""]
        whole = "\r\n".join(lines).encode() + content
        return whole[: len(whole) - self.cut]


class Asked(NamedTuple):
    """A request as the server saw it; times are in seconds since 1970."""

    start: float
    end: float
    host: str
    path: str
    address: str
    connection: int
    headers: dict[str, str]
    request: str

    @property
    def hit(self) -> Hit:
        """The request as ``tests.politeness`` reads it."""
        return Hit(self.start, self.end, self.host, self.address, self.connection)


class Query(NamedTuple):
    """What a handler receives: the path, the headers, and the number of requests for it so far."""

    path: str
    headers: dict[str, str]
    times: int


Page = str | Answer | Callable[[Query], Answer]
Pages = Mapping[str, Page]


def links(*targets: str, text: str = "", head: str = "") -> str:
    """A page with links, each called by its address."""
    anchors = "\n".join(f'<a href="{target}">{target}</a>' for target in targets)
    return f"<html><head>{head}</head><body><p>{text}</p>{anchors}</body></html>"


def tagged(body: str) -> Page:
    """A page with a validator, which answers 304 to those who have it."""

    def answer(query: Query) -> Answer:
        tag = f'"{abs(hash(body))}"'
        if query.headers.get("if-none-match") == tag:
            return Answer(status=304, headers={"ETag": tag})
        return Answer(body, headers={"ETag": tag})

    return answer


def redirect(target: str, status: int = 302) -> Answer:
    """A redirect to somewhere."""
    return Answer(status=status, headers={"Location": target})


def rules(*lines: str) -> Answer:
    """A robots.txt."""
    return Answer("\n".join(lines) + "\n", kind="text/plain")


@dataclass(frozen=True)
class Crawled:
    """What a crawl left behind."""

    collection: Collection
    report: Report

    def rows(self) -> list[Row]:
        """What became of each URL."""
        return list(self.collection.pages())

    def row(self, url: str) -> Row:
        """What became of a URL."""
        row = self.collection.page(url)
        assert row is not None, f"nothing became of {url}"
        return row

    def fetched(self) -> set[str]:
        """The URLs that were answered with 200."""
        return {row.url for row in self.rows() if row.outcome is Outcome.FETCHED and row.status == 200}

    def decisions(self) -> list[dict[str, Any]]:
        """The log of decisions."""
        files = sorted((self.collection.folder / "log").glob("decisions-*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


class SmallWeb:
    """The hosts, served from threads until the end of the ``with`` statement."""

    def __init__(self, hosts: Mapping[str, Pages], addresses: Mapping[str, str] | None = None) -> None:
        self.hosts = hosts
        self._addresses = {name: f"127.3.0.{number}" for number, name in enumerate(hosts, 1)}
        self._addresses |= addresses or {}
        self.log: list[Asked] = []
        self._times: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()
        self._server = _Server(self)
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def paths(self, host: str, since: int = 0) -> list[str]:
        """The pages of a host in the order in which they were asked for."""
        asked = [each.path for each in self.log[since:] if each.host == host]
        return [path for path in asked if path != "/robots.txt"]

    def hits(self, host: str | None = None) -> list[Hit]:
        """The log as ``tests.politeness`` reads it."""
        return [each.hit for each in self.log if host in (None, each.host)]

    def gaps(self, host: str, path: str | None = None) -> list[float]:
        """The seconds between the end of a request and the beginning of the next."""
        ours = sorted(each for each in self.log if each.host == host and path in (None, each.path))
        return [after.start - before.end for before, after in pairwise(ours)]

    def write_hosts_file(self, file: Path) -> Path:
        """Writes the names with their addresses, in the form of /etc/hosts."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{address} {name}\n" for name, address in self._addresses.items()))
        return file

    def crawl(self, folder: Path, *seeds: str, **chosen: object) -> Crawled:
        """Crawls into a folder, from the first pages of hosts or from URLs, with no waiting unless it is
        asked for.

        A setting of None is left as it is by default. Without seeds an earlier crawl goes on.
        """
        chosen = {
            "delay": 0.0,
            "sitemaps": False,
            "feeds": False,
            "hosts_file": str(self.write_hosts_file(folder.with_suffix(".hosts"))),
        } | chosen
        flags = {"crawl": {name: value for name, value in chosen.items() if value is not None}}
        loaded = settings.load(flags=flags, environment={})
        urls = [seed if "://" in seed else self.url(seed) for seed in seeds]
        with Collection.write(folder, settings=loaded, create=not folder.exists()) as collection:
            report = crawl(collection, urls)
        return Crawled(Collection(folder), report)

    def answer(self, host: str, query: str, headers: dict[str, str]) -> Answer:
        """What a host says."""
        with self._lock:
            times = self._times[host, query] = self._times.get((host, query), 0) + 1
        page = self.hosts.get(host, {}).get(query, Answer("There is no such page.", status=404))
        if isinstance(page, str):
            return Answer(page)
        return page if isinstance(page, Answer) else page(Query(query, headers, times))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, web: SmallWeb) -> None:
        self.web = web
        self.connections = count()
        super().__init__(("0.0.0.0", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        """A client that leaves in the middle is not worth a word."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.number = next(self.server.connections)

    def do_GET(self) -> None:
        start, web = time.time(), self.server.web
        target = urlsplit(self.path)
        host = target.hostname or self.headers.get("Host", "").partition(":")[0]
        path = target._replace(scheme="", netloc="").geturl()
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = web.answer(host, path, headers)
        if answer.wait:
            time.sleep(answer.wait)
        address = self.request.getsockname()[0]
        lines = [self.requestline, *(f"{name}: {value}" for name, value in self.headers.items()), "", ""]
        request = "\r\n".join(lines)
        asked = Asked(start, time.time(), host, path, address, self.number, headers, request)
        web.log.append(asked)
        self.wfile.write(answer.encoded())
        self.close_connection = bool(answer.cut) or answer.headers.get("Connection") == "close"

    def log_message(self, *_: object) -> None:
        """The log is the web's."""


def words(number: int, word: str = "word") -> str:
    """So many different words, so that pages are no duplicates of each other."""
    return " ".join(f"{word}{place}" for place in range(number))


def urls(web: SmallWeb, host: str, paths: Sequence[str]) -> set[str]:
    """The URLs of some paths."""
    return {web.url(host, path) for path in paths}
