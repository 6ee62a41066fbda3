"""Names to addresses: resolved once, checked, and pinned.

A name is resolved here and nowhere else, and the connection goes to an address that passed the check: so
a name cannot point to a public address when it is checked and to a private one when it is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult

from crivello.errors import CrawlError

_LIFETIME = 300.0
_REMEMBERED = 100_000


class PrivateAddress(OSError):
    """The name or address is on a private network, and that is not allowed."""


def is_private(address: str) -> bool:
    """Whether an address is not on the public internet."""
    parsed = ipaddress.ip_address(address.split("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return not parsed.is_global or parsed.is_multicast


def literal(host: str) -> str | None:
    """The address that a URL's host is, where it is one and not a name."""
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None


def any_is_private(urls: Iterable[str]) -> bool:
    """Whether the host of any of the URLs is on a private network; at least one of the hosts must exist."""
    hosts = {urlsplit(url).hostname or "": url for url in urls}
    addresses: list[str] = []
    for host in hosts:
        with contextlib.suppress(OSError):
            addresses += [
                str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            ]
    if hosts and not addresses:
        host, url = next(iter(hosts.items()))
        raise CrawlError(
            f"could not reach {url}: the name {host} does not resolve",
            hint="check the spelling and the network",
        )
    return any(map(is_private, addresses))


class Resolver(AbstractResolver):
    """Resolves names for aiohttp, and refuses private addresses unless they are allowed."""

    def __init__(self, *, allow_private: bool = False) -> None:
        self.allow_private = allow_private
        self._known: dict[tuple[str, int], tuple[float, list[ResolveResult]]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a host that may be connected to."""
        now = time.monotonic()
        known = self._known.get((host, port))
        if known and known[0] > now:
            return known[1]
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        results = [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST,
            )
            for kind, _, protocol, _, address in found
        ]
        usable = [result for result in results if self.allow_private or not is_private(result["host"])]
        if not usable:
            raise PrivateAddress(f"{host} is on a private network")
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[host, port] = now + _LIFETIME, usable
        return usable

    async def close(self) -> None:
        """Nothing to let go of."""
