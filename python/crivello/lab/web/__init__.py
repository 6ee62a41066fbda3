"""The sample web: a miniature web generated from a seed and served in-process, on several loopback addresses.

    >>> with SampleWeb(hosts=8, pages_per_host=10) as web:
    ...     crawl(web.seeds)

It has the features that make the real web hard (``Feature`` lists them), and it knows its own contents, so
that a test can compare what a crawl found with what there was to find, and ``log`` with what it was allowed
to fetch.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import BinaryIO, Self
from urllib.parse import urlsplit

import msgspec

from crivello.errors import CrawlError, InvalidArgument, StorageError
from crivello.lab.web.copies import Pair
from crivello.lab.web.features import Feature
from crivello.lab.web.message import Answer
from crivello.lab.web.resource import HTML, Resource
from crivello.lab.web.server import Host, Request, Server, listen
from crivello.lab.web.syndication import FEED_TARGET
from crivello.lab.web.world import World, make_world

__all__ = ["Feature", "Request", "SampleWeb"]

_FEWEST_HOSTS = 3
_FEWEST_PAGES = 4
_LAST_ADDRESS = 254


class SampleWeb:
    """A web with known contents. They are available once it has started, since URLs contain the port."""

    queries: tuple[str, ...] = ("volcano lava temperature", "queen bee swarm", "lighthouse lens")
    """Queries for demos, each with good results."""

    def __init__(
        self,
        *,
        seed: int = 2026,
        hosts: int = 9,
        pages_per_host: int = 75,
        port: int = 0,
        slow: float = 0.15,
        first_address: int = 11,
        log: Path | None = None,
    ) -> None:
        if hosts < _FEWEST_HOSTS or pages_per_host < _FEWEST_PAGES:
            raise InvalidArgument(
                f"a sample web of {hosts} hosts with {pages_per_host} pages each is too small",
                hint=f"take at least {_FEWEST_HOSTS} hosts and {_FEWEST_PAGES} pages",
            )
        if first_address < 1 or first_address + hosts - 1 > _LAST_ADDRESS:
            raise InvalidArgument(
                f"there are no {hosts} addresses from 127.0.0.{first_address} on",
                hint=f"the last one is 127.0.0.{_LAST_ADDRESS}",
            )
        self.hosts: list[str] = [f"127.0.0.{first_address + number}" for number in range(hosts)]
        self.port: int = port
        self._seed = seed
        self._pages_per_host = pages_per_host
        self._slow = slow
        self._log_path = log
        self._log_file: BinaryIO | None = None
        self._log: list[Request] = []
        self._log_lock = Lock()
        self._made: World | None = None
        self._answers: dict[str, dict[str, Answer]] = {}
        self._server: Server | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Choose the port, generate the pages and serve them."""
        if self._server is not None:
            raise CrawlError("the sample web is running already")
        self.port, sockets = listen(self.hosts, self.port)
        try:
            self._made = make_world(
                self._seed, [self._origin(host) for host in self.hosts], self._pages_per_host
            )
            self._open_log()
        except BaseException:
            for each in sockets:
                each.close()
            raise
        self._server = Server(self._served_hosts(self._made), sockets, self._record)
        self._server.start()

    def stop(self) -> None:
        """Drop every client and free the port; the contents remain available."""
        if self._server is None:
            return
        self._server.stop()
        self._server = None
        if self._log_file is not None:
            self._log_file.close()
            self._log_file = None

    @property
    def seeds(self) -> list[str]:
        """The home page of each host, so that a crawl restricted to its seeds' hosts also finds everything.

        Every page can be reached by links from the first one alone.
        """
        return [f"{self._origin(host)}/" for host in self.hosts]

    @property
    def pages(self) -> frozenset[str]:
        """The documents (HTML, text, PDF) that a polite crawl from the seeds finds, except the trap's."""
        return self._world.pages

    @property
    def forbidden(self) -> frozenset[str]:
        """The URLs that robots.txt forbids, all linked: part of the first host, all of the closed one."""
        return self._world.forbidden

    @property
    def redirects(self) -> dict[str, str]:
        """Every redirect and its target."""
        return self._world.redirects

    @property
    def broken(self) -> frozenset[str]:
        """Linked URLs that answer 404 or 410."""
        return self._world.broken

    @property
    def duplicates(self) -> list[Pair]:
        """Pairs of pages that are identical byte for byte."""
        return self._world.duplicates

    @property
    def near_duplicates(self) -> list[Pair]:
        """Pairs of pages that differ in a few words."""
        return self._world.near_duplicates

    @property
    def features(self) -> dict[Feature, str]:
        """The URL of each feature."""
        return self._world.features

    @property
    def spellings(self) -> tuple[str, ...]:
        """The spellings in which the home page of the second host links ``Feature.MANY_SPELLINGS``."""
        return self._world.spellings

    @property
    def resources(self) -> dict[str, Resource]:
        """The resource of each URL, except those of the trap."""
        return dict(self._world.resources)

    @property
    def log(self) -> list[Request]:
        """The requests so far, in the order of their answers."""
        with self._log_lock:
            return list(self._log)

    def publish(self, url: str, body: str, content_type: str = HTML) -> None:
        """Serve a document under a URL of the web, in place of what was there."""
        host = str(urlsplit(url).hostname)
        resource = Resource(body.encode(), content_type)
        self._world.resources[url] = resource
        self._answers[host][url.removeprefix(self._origin(host))] = Answer(resource, compresses=False)

    def publish_note(self, text: str) -> str:
        """Publish a note that the feed tells of and nothing else, or change it; returns its URL."""
        feed = self.features[Feature.FEED]
        url = f"{feed.removesuffix(FEED_TARGET)}/news/a-note-of-today.html"
        self.publish(url, f"<!DOCTYPE html>\n<title>A note of today</title>\n<p>{text}\n")
        announced = self.resources[feed].body.decode()
        if url not in announced:
            entry = f'<entry><id>{url}</id><title>A note of today</title><link href="{url}"/></entry>\n'
            self.publish(feed, announced.replace("<entry>", f"{entry}<entry>", 1), "application/atom+xml")
        return url

    def is_trap(self, url: str) -> bool:
        """Whether the URL belongs to the endless calendar."""
        return self._world.calendar.holds(url)

    @property
    def _world(self) -> World:
        if self._made is None:
            raise CrawlError(
                "the sample web has not started", hint="use it in a with statement, or call start()"
            )
        return self._made

    def _origin(self, host: str) -> str:
        return f"http://{host}:{self.port}"

    def _served_hosts(self, world: World) -> dict[str, Host]:
        answers = self._answers = {host: {} for host in self.hosts}
        compressing = self.hosts[world.compressing_host]
        for url, resource in world.resources.items():
            parts = urlsplit(url)
            host = str(parts.hostname)
            target = url.removeprefix(self._origin(host))
            answers[host][target] = Answer(resource, compresses=host == compressing)
        trap_host = urlsplit(world.calendar.entry).hostname
        return {
            host: Host(
                answers[host],
                world.calendar.page if host == trap_host else _nothing,
                self._slow if number == world.slow_host else 0.0,
            )
            for number, host in enumerate(self.hosts)
        }

    def _open_log(self) -> None:
        if self._log_path is None:
            return
        try:
            self._log_file = self._log_path.open("ab")
        except OSError as error:
            raise StorageError.of(error, self._log_path) from error

    def _record(self, request: Request) -> None:
        with self._log_lock:
            self._log.append(request)
        if self._log_file is not None:
            self._log_file.write(msgspec.json.encode(request) + b"\n")
            self._log_file.flush()


def _nothing(_: str) -> Resource | None:
    return None
