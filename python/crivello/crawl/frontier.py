"""What to visit next: the sieve, a queue for each host, and a heap of hosts by their first polite moment.

URLs leave the sieve in first-seen order into the queue of their host; at most ``QUEUED`` of them wait in
memory, the others in the sieve's file. Taking a host from the heap takes the right to fetch from it, and
only giving it back puts it there again: so no two fetches ever meet at a host.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from crivello.crawl.robots import Robots
from crivello.sieve import Checkpoint, Sieve

QUEUED = 100_000
_BATCH = 1000
# A crawl whose frontier runs dry spends at most one part in so many on deciding what is new.
_FLUSH_SHARE = 20


@dataclass(frozen=True, slots=True)
class Visit:
    """A URL to fetch, and how it was come by."""

    url: str
    offset: int
    depth: int
    chain: int
    redirects: int

    @classmethod
    def of(cls, entry: tuple[int, int, str]) -> Visit:
        """A visit from what the sieve gives out."""
        offset, tag, url = entry
        return cls(url, offset, tag >> 18, tag >> 6 & 0xFFF, tag & 0x3F)


def pack(depth: int, chain: int = 0, redirects: int = 0) -> int:
    """How a URL was come by, as the 32-bit tag that travels with it through the sieve."""
    return min(depth, 0x3FFF) << 18 | min(chain, 0xFFF) << 6 | min(redirects, 0x3F)


@dataclass(eq=False, slots=True)
class Host:
    """A host with the URLs that wait for it; ``name`` is scheme, host and port."""

    name: str
    queue: deque[Visit] = field(default_factory=deque)
    ready: float = 0.0
    waiting: bool = False
    robots: Robots | None = None
    fetched: int = 0
    failures: int = 0


def host_of(url: str) -> str:
    """The scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class Frontier:
    """The sieve and the hosts behind it."""

    def __init__(self, sieve: Sieve) -> None:
        self._sieve = sieve
        self.hosts: dict[str, Host] = {}
        self._heap: list[tuple[float, int, Host]] = []
        self._sequence = 0
        self._next_flush = 0.0
        # In the order of their offsets, because they leave the sieve in that order.
        self._unfinished: dict[int, None] = {}

    def add(self, urls: Sequence[str], tags: Sequence[int]) -> None:
        """Adds URLs, those that were seen before as well."""
        self._sieve.add(list(urls), list(tags))

    def take(self, *, idle: bool) -> list[Visit]:
        """The next URLs from the sieve, as far as there is room for them in memory.

        A sieve may have to merge its whole file of signatures to decide about the last URLs. It is made to
        only while no host may be fetched from, and for a small part of the time; or when all is ``idle``.
        """
        room = min(_BATCH, QUEUED - len(self._unfinished))
        if room <= 0:
            return []
        entries = self._sieve.take_ready(room)
        started = time.monotonic()
        resting = not self._heap or self._heap[0][0] > started
        if not entries and resting and (idle or started >= self._next_flush):
            entries = self._sieve.take(room)
            ended = time.monotonic()
            self._next_flush = ended + (ended - started) * _FLUSH_SHARE
        return [Visit.of(entry) for entry in entries]

    def enqueue(self, visit: Visit) -> None:
        """Puts a URL into the queue of its host."""
        self._unfinished[visit.offset] = None
        name = host_of(visit.url)
        host = self.hosts.get(name) or self.hosts.setdefault(name, Host(name))
        host.queue.append(visit)
        self._wait(host)

    def next_host(self, now: float) -> Host | None:
        """The host that may be fetched from first, if its moment has come."""
        if not self._heap or self._heap[0][0] > now:
            return None
        _, _, host = heapq.heappop(self._heap)
        return host

    def next_moment(self) -> float | None:
        """When there may be something to do: a host to fetch from, or new URLs to decide about."""
        moments = [self._heap[0][0]] if self._heap else []
        if self._sieve.waiting and len(self._unfinished) < QUEUED:
            moments.append(self._next_flush)
        return min(moments, default=None)

    def give_back(self, host: Host, ready: float) -> None:
        """Ends the right to fetch from a host until ``ready``."""
        host.ready = ready
        host.waiting = False
        if host.queue:
            self._wait(host)

    def finish(self, visit: Visit) -> None:
        """Says that a URL has its row and need not be visited again."""
        del self._unfinished[visit.offset]

    def flush(self) -> None:
        """Decides about every URL, so that ``seen`` and ``waiting`` are exact."""
        self._sieve.flush()

    def checkpoint(self) -> Checkpoint:
        """Makes the sieve durable; tells what to commit of it."""
        return self._sieve.checkpoint()

    def stats(self) -> dict[str, Any]:
        """How the sieve stands."""
        return self._sieve.stats()

    def close(self) -> None:
        """Lets go of the sieve's files."""
        self._sieve.close()

    @property
    def position(self) -> int:
        """Where to start after a crash: at the first URL that has no row yet."""
        return next(iter(self._unfinished), self._sieve.next)

    @property
    def seen(self) -> int:
        """How many different URLs were ever added."""
        return len(self._sieve)

    @property
    def waiting(self) -> int:
        """How many of them still have to be visited; those that the sieve did not decide about count too."""
        return self._sieve.waiting + len(self._unfinished)

    def _wait(self, host: Host) -> None:
        if not host.waiting:
            host.waiting = True
            self._sequence += 1
            heapq.heappush(self._heap, (host.ready, self._sequence, host))
