"""Whether a crawl was polite, from what the server saw: no two requests at once, and no gap shorter than allowed.

    python -m tests.politeness LOG --delay 0.2 [--address-delay S]
    python -m tests.politeness LOG --relative 0.2 [--address-delay S]

LOG is an access log of nginx in the format

    $msec $request_time $server_name $server_addr $connection $status $body_bytes_sent "$request_method $request_uri" …

A server notes that a request has arrived after the client began it, and that its answer is sent before the client
has it: what it sees of a pause is never shorter than the pause, if it takes the time before it writes. One that
takes it afterwards, or rounds it, may be some milliseconds off; ``tolerance`` is for those.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from crivello.lab.web import Request

EXACT = 0.001
ROUNDED = 0.005


class Hit(NamedTuple):
    """A request as its server saw it; times are in seconds."""

    start: float
    end: float
    host: str
    address: str
    connection: int


def from_nginx(log: Path) -> Iterator[Hit]:
    """The requests of an access log."""
    for line in log.read_text(errors="replace").splitlines():
        end, took, host, address, connection, _ = line.split(" ", 5)
        yield Hit(float(end) - float(took), float(end), host, address, int(connection))


def from_sample_web(log: Iterable[Request]) -> Iterator[Hit]:
    """The requests of a sample web, where a host is an address."""
    for request in log:
        yield Hit(request.time_start, request.time_end, request.host, request.host, request.connection_id)


def overlaps(hits: Iterable[Hit], tolerance: float = EXACT) -> list[str]:
    """Requests that began before another one at the same host or address had ended."""
    return too_close(hits, 0.0, 0.0, tolerance)


def too_close(
    hits: Iterable[Hit], delay: float, address_delay: float = 0.0, tolerance: float = EXACT
) -> list[str]:
    """Requests that began sooner than ``delay`` after the one before at their host, or ``address_delay`` at their
    address."""
    hits = list(hits)
    return [
        *_short_gaps(hits, lambda hit: hit.host, delay, tolerance),
        *_short_gaps(hits, lambda hit: hit.address, address_delay, tolerance),
    ]


def impatient(
    hits: Iterable[Hit],
    share: float,
    *,
    stay: float = 1.0,
    most: int = 10,
    address_delay: float = 0.0,
    tolerance: float = EXACT,
) -> list[str]:
    """Hosts whose requests cannot be told apart into visits that were polite in relation to what they took.

    A visit begins its requests within ``stay`` seconds, makes at most ``most`` of them, and is followed by a rest
    of at least what it took divided by ``share``. Requests to two hosts of one address belong to two visits, so
    ``address_delay`` lies between them.
    """
    hits = list(hits)
    found = overlaps(hits, tolerance)
    for host, ours in _grouped(hits, lambda hit: hit.host):
        stuck = _first_without_rest(ours, share, stay, most, tolerance)
        if stuck is not None:
            found.append(f"{host}: no polite visit begins or goes on at its request {stuck} of {len(ours)}")
    for address, ours in _grouped(hits, lambda hit: hit.address):
        for before, after in pairwise(ours):
            gap = after.start - before.end
            if before.host != after.host and gap < address_delay - tolerance:
                found.append(f"{address}: {gap:.4f} s between {before.host} and {after.host}")
    return found


def at_once(hits: Iterable[Hit]) -> int:
    """The most requests that were being answered at one moment, over all hosts."""
    changes = sorted(change for hit in hits for change in ((hit.start, 1), (hit.end, -1)))
    return max(accumulate(change for _, change in changes), default=0)


def _first_without_rest(
    hits: list[Hit], share: float, stay: float, most: int, tolerance: float
) -> int | None:
    """Where no division into visits gets past; None when one gets to the end."""
    may_begin = [True] + [False] * len(hits)
    for first in range(len(hits)):
        if not may_begin[first]:
            continue
        for last in range(first, min(first + most, len(hits))):
            if hits[last].start - hits[first].start > stay + tolerance:
                break
            rest = (hits[last].end - hits[first].start) / share
            at_the_end = last + 1 == len(hits)
            if at_the_end or hits[last + 1].start - hits[last].end >= rest - tolerance:
                may_begin[last + 1] = True
    return None if may_begin[-1] else max(place for place, may in enumerate(may_begin) if may)


def _short_gaps(
    hits: list[Hit], place: Callable[[Hit], str], least: float, tolerance: float
) -> Iterator[str]:
    for name, ours in _grouped(hits, place):
        for before, after in pairwise(ours):
            gap = after.start - before.end
            if gap < least - tolerance:
                yield f"{name}: {gap:.4f} s before a request to {after.host}, and {least:g} s are due"


def _grouped(hits: list[Hit], place: Callable[[Hit], str]) -> Iterator[tuple[str, list[Hit]]]:
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(place(hit), []).append(hit)
    for name, ours in groups.items():
        yield name, sorted(ours)


def main() -> int:
    parser = argparse.ArgumentParser(description="Was this crawl polite?")
    parser.add_argument("log", type=Path)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--relative", type=float)
    parser.add_argument("--address-delay", type=float, default=0.0)
    parser.add_argument("--tolerance", type=float, default=ROUNDED)
    said = parser.parse_args()
    hits = list(from_nginx(said.log))
    if said.relative is None:
        found = too_close(hits, said.delay, said.address_delay, said.tolerance)
    else:
        found = impatient(hits, said.relative, address_delay=said.address_delay, tolerance=said.tolerance)
    for line in found[:20]:
        print(line)
    print(
        f"{len(hits):,} requests to {len({hit.host for hit in hits}):,} hosts: {len(found):,} were impolite"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
