"""Whether a crawl starts on a private network.

The crawl itself resolves, checks and pins addresses in ``crates/core/src/fetch``; here only the seeds are
looked at, before anything is made.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from crivello.errors import CrawlError, StorageError

# Of a long list of seeds the first hosts speak for all: each may take a name server seconds.
_LOOKED_AT = 16


def is_private(address: str) -> bool:
    """Whether an address is not on the public internet."""
    parsed = ipaddress.ip_address(address.split("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return not parsed.is_global or parsed.is_multicast


def read_hosts_file(file: str) -> dict[str, str]:
    """Names and their addresses from a file in the form of ``/etc/hosts``; none where there is no file."""
    if not file:
        return {}
    try:
        lines = Path(file).read_text(errors="replace").splitlines()
    except OSError as error:
        raise StorageError.of(error, Path(file)) from None
    entries = (line.split("#")[0].split() for line in lines)
    return {name.lower(): address for address, *names in filter(None, entries) for name in names}


def any_is_private(urls: Iterable[str], known: Mapping[str, str] | None = None) -> bool:
    """Whether the host of any of the first URLs is on a private network; at least one of the hosts must exist.

    ``known`` are names whose addresses nobody is asked for."""
    known = known or {}
    hosts = {urlsplit(url).hostname or "": url for url in urls}
    addresses: list[str] = []
    for host in islice(hosts, _LOOKED_AT):
        if host in known:
            addresses.append(known[host])
            continue
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
